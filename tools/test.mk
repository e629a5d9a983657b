# The tests. Unit programs in C (cmocka) mirror src/: spec/core/x_test.c tests what src/core has.

unit_bins = $(patsubst spec/%.c,$(BUILD)/spec/%,$(wildcard spec/$(1)/*_test.c))
CORE_TESTS   := $(call unit_bins,core)
ARCHIVE_TESTS := $(call unit_bins,archive)
COMMON_TESTS := $(call unit_bins,common)
ENGINE_TESTS := $(call unit_bins,engine)
AGENT_TESTS  := $(call unit_bins,agent)
EGRESS_TESTS := $(call unit_bins,egress)
UNIT_TESTS   := $(CORE_TESTS) $(ARCHIVE_TESTS) $(COMMON_TESTS) $(ENGINE_TESTS) $(AGENT_TESTS) $(EGRESS_TESTS)

without_main = $(filter-out %/main.o,$(1))

# A room's own headers come first: some rooms have headers of the same name.
build_unit = @mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Isrc/$(notdir $(@D)) -Isrc/core -Isrc/common \
	$(call pc,cflags,$(CORE_PC) $(SERVER_PC) $(ENGINE_PC) $(AGENT_PC)) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) \
	$(call pc,libs,cmocka) $(call pc,libs,$(CORE_PC) $(AGENT_PC)) $(SERVER_LIBS)

$(CORE_TESTS): $(BUILD)/spec/core/%: spec/core/%.c $(BUILD)/lib/libstepbox.a
	$(build_unit)
$(ARCHIVE_TESTS): $(BUILD)/spec/archive/%: spec/archive/%.c $(BUILD)/lib/libstepbox-archive.a $(BUILD)/lib/libstepbox.a
	$(build_unit) $(call pc,libs,$(ARCHIVE_PC))
$(COMMON_TESTS): $(BUILD)/spec/common/%: spec/common/%.c $(COMMON_OBJ)
	$(build_unit)
$(ENGINE_TESTS): $(BUILD)/spec/engine/%: spec/engine/%.c $(call without_main,$(ENGINE_OBJ)) $(COMMON_OBJ)
	$(build_unit) $(call pc,libs,$(ENGINE_PC))
$(EGRESS_TESTS): $(BUILD)/spec/egress/%: spec/egress/%.c $(call without_main,$(EGRESS_OBJ)) $(COMMON_OBJ)
	$(build_unit)
$(AGENT_TESTS): $(BUILD)/spec/agent/%: spec/agent/%.c $(call without_main,$(AGENT_OBJ)) $(COMMON_OBJ)
	$(build_unit)

$(BUILD)/spec/support/fork_host: spec/support/fork_host.c $(BUILD)/lib/libstepbox-lua.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LUA_CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $< $(BUILD)/lib/libstepbox-lua.a \
	    $(call pc,libs,$(LUA_PC) $(CORE_PC)) -lm

root := $(CURDIR)
test_env = STEPBOX_ROOT=$(root) STEPBOX_BUILD=$(root)/$(BUILD) STEPBOX_ENGINE=$(root)/$(BUILD)/bin/stepboxd \
	LUA_PATH='$(root)/?.lua;$(root)/lua/?.lua;$(root)/lua/?/init.lua;;' LUA_CPATH='$(root)/$(BUILD)/lua/?.so;;' \
	STEPBOX_UNITS='$(UNIT_TESTS)'

.PHONY: test-programs
test-programs: all examples $(UNIT_TESTS) $(BUILD)/spec/support/fork_host

# The tests as such: SUITES chooses among units, runners, conformance, specs, attacks; BUSTED_ARGS goes to busted;
# LANES says how many run side by side; AGAIN=1 gives those that failed a second try (tools/test.lua).
.PHONY: check
check: test-programs
	@tools/peers $(BUILD)
	@env $(LOCAL) $(test_env) $(LUA) tools/test.lua $(SUITES)

.PHONY: test
test: ## install what is missing, build, and run every test
	@tools/bootstrap test
	@$(MAKE) --no-print-directory --silent $(PARALLEL) test-programs
	@$(MAKE) --no-print-directory check

.PHONY: test-asan
test-asan: ## the same tests on a build with AddressSanitizer and UBSan
	@tools/bootstrap test
	@$(MAKE) --no-print-directory --silent $(PARALLEL) VARIANT=asan test-programs
	@$(MAKE) --no-print-directory VARIANT=asan check

.PHONY: units
units: $(UNIT_TESTS) ## the unit tests in C
	@env $(LOCAL) $(test_env) $(LUA) tools/test.lua units

.PHONY: attack
attack: all ## try to break out of sandboxes, and print what each attack is answered
	@tools/bootstrap test
	@env $(LOCAL) $(test_env) $(LUA) tools/test.lua attacks

.PHONY: valgrind
valgrind: $(CORE_TESTS) $(ARCHIVE_TESTS) ## the core's unit tests under valgrind
	@for t in $(CORE_TESTS) $(ARCHIVE_TESTS); do \
	    valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=9 $$t || exit 1; \
	done

.PHONY: lint
lint: ## check the format of the C sources and the Lua code
	@tools/bootstrap test
	@echo "clang-format, luacheck, generated pages"
	@clang-format --dry-run -Werror $(wildcard src/*/*.[ch] src/runners/*/*.[ch] spec/*/*.[ch] fuzz/*.h fuzz/*/*.c examples/*.c)
	@luacheck -q .
	@$(LUA) tools/reference.lua --check
	@$(LUA) tools/differences.lua --check
	@$(LUA) tools/attacks.lua --check

.PHONY: docs
docs: ## make the pages that are made: reference.md, differences.md and attacks.md in docs/
	$(LUA) tools/reference.lua > docs/reference.md
	$(LUA) tools/differences.lua > docs/differences.md
	$(LUA) tools/attacks.lua > docs/attacks.md

.PHONY: bench
bench: all ## measure the local engine; TOPICS chooses among steps, sandboxes, commands, files, program
	@tools/peers $(BUILD)
	@env $(LOCAL) STEPBOX_BUILD=$(root)/$(BUILD) tools/run bench/run.lua $(TOPICS)
