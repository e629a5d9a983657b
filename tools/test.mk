# The tests. Unit programs in C (cmocka) mirror src/: spec/core/x_test.c tests what src/core has.

unit_bins = $(patsubst spec/%.c,$(BUILD)/spec/%,$(wildcard spec/$(1)/*_test.c))
CORE_TESTS   := $(call unit_bins,core)
COMMON_TESTS := $(call unit_bins,common)
ENGINE_TESTS := $(call unit_bins,engine)
AGENT_TESTS  := $(call unit_bins,agent)
UNIT_TESTS   := $(CORE_TESTS) $(COMMON_TESTS) $(ENGINE_TESTS) $(AGENT_TESTS)

without_main = $(filter-out %/main.o,$(1))

build_unit = @mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -Isrc/core -Isrc/common -Isrc/engine -Isrc/agent \
	$(call pc,cflags,$(CORE_PC) $(SERVER_PC)) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) \
	$(call pc,libs,cmocka) $(call pc,libs,$(CORE_PC)) $(SERVER_LIBS)

$(CORE_TESTS): $(BUILD)/spec/core/%: spec/core/%.c $(BUILD)/lib/libstepbox.a
	$(build_unit)
$(COMMON_TESTS): $(BUILD)/spec/common/%: spec/common/%.c $(COMMON_OBJ)
	$(build_unit)
$(ENGINE_TESTS): $(BUILD)/spec/engine/%: spec/engine/%.c $(call without_main,$(ENGINE_OBJ)) $(COMMON_OBJ)
	$(build_unit)
$(AGENT_TESTS): $(BUILD)/spec/agent/%: spec/agent/%.c $(call without_main,$(AGENT_OBJ)) $(COMMON_OBJ)
	$(build_unit)

.PHONY: units
units: $(UNIT_TESTS) ## build and run the unit tests in C
	@for t in $(UNIT_TESTS); do echo "== $$t"; $$t || exit 1; done
