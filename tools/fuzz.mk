# Fuzzing (see fuzz/README.md): fuzz/ROOM/NAME.c is a program that gives one parser of src/ROOM what nobody would
# think of. They are built by clang, with libFuzzer, AddressSanitizer and UBSan, into build-fuzz.

FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 600
FUZZ_JOBS    ?= $(shell nproc)
# What to run, such as core/answer.
FUZZ_TARGETS ?= $(patsubst fuzz/%.c,%,$(wildcard fuzz/*/*.c))

fuzz_flags := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
fuzz_make = $(MAKE) --no-print-directory --silent BUILD=build-fuzz VARIANT=fuzz CC='$(FUZZ_CC)' OPT='$(fuzz_flags)' HARDEN= \
	WARN='$(WARN) -Wno-format-nonliteral' \
	FUZZ_TARGETS='$(FUZZ_TARGETS)'

fuzz_programs = $(patsubst fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard fuzz/$(1)/*.c))
FUZZ_ALL := $(foreach room,core archive common engine agent egress runners,$(call fuzz_programs,$(room)))

build_fuzz = @mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer -Isrc/$(notdir $(@D)) -Isrc/core \
	-Isrc/common $(call pc,cflags,$(CORE_PC) $(SERVER_PC) $(ENGINE_PC) $(AGENT_PC)) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) \
	$(call pc,libs,$(CORE_PC) $(AGENT_PC)) $(SERVER_LIBS)

# As libraries, so that a target can stand in for a file of the room.
$(BUILD)/fuzz/engine.a: $(call without_main,$(ENGINE_OBJ)) $(COMMON_OBJ)
$(BUILD)/fuzz/agent.a: $(call without_main,$(AGENT_OBJ)) $(COMMON_OBJ)
$(BUILD)/fuzz/egress.a: $(call without_main,$(EGRESS_OBJ)) $(COMMON_OBJ)
$(BUILD)/fuzz/engine.a $(BUILD)/fuzz/agent.a $(BUILD)/fuzz/egress.a:
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^

$(FUZZ_ALL): fuzz/fuzz.h
$(call fuzz_programs,core): $(BUILD)/fuzz/core/%: fuzz/core/%.c $(BUILD)/lib/libstepbox.a
	$(build_fuzz)
$(call fuzz_programs,archive): $(BUILD)/fuzz/archive/%: fuzz/archive/%.c $(BUILD)/lib/libstepbox-archive.a $(BUILD)/lib/libstepbox.a
	$(build_fuzz) $(call pc,libs,$(ARCHIVE_PC))
$(call fuzz_programs,common): $(BUILD)/fuzz/common/%: fuzz/common/%.c $(COMMON_OBJ)
	$(build_fuzz)
$(call fuzz_programs,engine): $(BUILD)/fuzz/engine/%: fuzz/engine/%.c $(BUILD)/fuzz/engine.a
	$(build_fuzz) $(call pc,libs,$(ENGINE_PC))
$(call fuzz_programs,agent): $(BUILD)/fuzz/agent/%: fuzz/agent/%.c $(BUILD)/fuzz/agent.a
	$(build_fuzz)
$(call fuzz_programs,runners): $(BUILD)/fuzz/runners/%: fuzz/runners/%.c $(wildcard src/runners/shared/*.c)
	$(build_fuzz)
$(call fuzz_programs,egress): $(BUILD)/fuzz/egress/%: fuzz/egress/%.c $(BUILD)/fuzz/egress.a $(BUILD)/fuzz/engine.a
	$(build_fuzz) $(call pc,libs,$(ENGINE_PC))

# Inputs that a program failed at stay in build/fuzz/.
.PHONY: $(FUZZ_TARGETS:%=fuzz-run/%)
$(FUZZ_TARGETS:%=fuzz-run/%): fuzz-run/%: $(BUILD)/fuzz/%
	@tools/fuzz $< $* $(FUZZ_ARGS)

.PHONY: fuzz-runs
fuzz-runs: $(FUZZ_TARGETS:%=fuzz-run/%)

.PHONY: fuzz
fuzz: ## give the parsers of foreign bytes inputs for a minute: the corpus, and what is made of it
	@tools/bootstrap test
	@$(fuzz_make) -j$(FUZZ_JOBS) fuzz-runs FUZZ_ARGS=short

.PHONY: fuzz-long
fuzz-long: ## the same for FUZZ_SECONDS (600) each; FUZZ_TARGETS chooses among them
	@tools/bootstrap test
	@$(fuzz_make) -j$(FUZZ_JOBS) fuzz-runs FUZZ_ARGS=$(FUZZ_SECONDS)
