# stepbox: `make help` lists what can be made.
#
# Everything is built below $(BUILD). VARIANT=asan builds with AddressSanitizer and UBSan into build-asan.

VARIANT ?= release
BUILD   ?= $(if $(filter asan,$(VARIANT)),build-asan,build)
PREFIX  ?= /usr/local
DESTDIR ?=
LUA     ?= lua5.4
LUA_PC  ?= lua5.4
PKG_CONFIG ?= pkg-config

# Demo and tests are for the local engine, also where an account is configured.
LOCAL := -u E2B_API_KEY -u E2B_DOMAIN -u E2B_API_URL -u E2B_SANDBOX_URL -u STEPBOX_SOCKET

# Builds use all processors, unless make is told how many.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

include tools/build.mk
include tools/test.mk
include tools/fuzz.mk
include tools/install.mk

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: bootstrap
bootstrap: ## install the system packages that are missing
	@tools/bootstrap

.PHONY: languages
languages: ## install all languages that sandboxes can run: R, Java, Jupyter's kernels and the others
	@tools/bootstrap languages

.PHONY: demo
demo: ## install what is missing, build, and run examples/steps.lua on the local engine
	@tools/bootstrap
	@$(MAKE) --no-print-directory --silent $(PARALLEL) all
	@env $(LOCAL) tools/run examples/steps.lua

.PHONY: run
run: all ## run a script of your own: make run FILE=script.lua
	@tools/run $(FILE) $(ARGS)

.PHONY: clean
clean: ## remove what was built
	rm -rf build build-asan build-fuzz build-luarocks
