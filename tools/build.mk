# What is built: the C library, the Lua module, the engine and the agent.

CC      ?= cc
comma   := ,
OPT     := $(if $(filter asan,$(VARIANT)),-O1 -g -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer,-O2 -g)
CFLAGS  ?= $(OPT)
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=implicit -Wformat=2
override CFLAGS += -std=gnu11 -fPIC -fvisibility=hidden -pthread $(WARN) -D_GNU_SOURCE -MMD -MP
HARDEN  := $(if $(filter asan,$(VARIANT)),,-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
override CFLAGS += $(HARDEN)
LDFLAGS ?=
override LDFLAGS += $(filter -fsanitize%,$(CFLAGS)) -pthread -Wl,-z,relro,-z,now

pc = $(shell $(PKG_CONFIG) --$(1) $(2) 2>/dev/null)

CORE_PC   := libcurl jansson nettle
SERVER_PC := libmicrohttpd jansson
AGENT_PC  := nettle zlib
ENGINE_PC := libseccomp nettle
ARCHIVE_PC := libarchive
EDITOR_PC  := libedit
# libev ships no .pc file.
SERVER_LIBS = $(call pc,libs,$(SERVER_PC)) -lev -lm

src_of = $(wildcard src/$(1)/*.c)
obj_of = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(call src_of,$(1)))

CORE_OBJ   := $(call obj_of,core)
LUA_OBJ    := $(call obj_of,lua)
ARCHIVE_MODULE_OBJ := $(BUILD)/obj/archive/module.o
ARCHIVE_OBJ := $(filter-out $(ARCHIVE_MODULE_OBJ),$(call obj_of,archive))
EDITOR_OBJ := $(BUILD)/obj/console/editor.o
CONSOLE_OBJ := $(filter-out $(EDITOR_OBJ),$(call obj_of,console))
COMMON_OBJ := $(call obj_of,common)
ENGINE_OBJ := $(call obj_of,engine)
ZYGOTE_OBJ := $(call obj_of,zygote) $(BUILD)/obj/zygote/common/descriptors.o
AGENT_OBJ  := $(call obj_of,agent)
EGRESS_OBJ := $(call obj_of,egress)
RUNNERS    := $(filter-out %.c %.h,$(wildcard src/runners/*/*))
# Parts of runners that their language has no means for: libraries, loaded by the runner beside them. A file is
# one library; those of the folders named here, with what is shared, are one together: host.so.
HOST_FOLDERS := bash javascript lua r
HOST_SHARED := $(wildcard src/runners/shared/*.[ch])
HOST_LIBS   := $(HOST_FOLDERS:%=$(BUILD)/share/stepbox/runners/%/host.so)
SINGLE_LIBS := $(patsubst src/runners/%.c,$(BUILD)/share/stepbox/runners/%.so,\
	$(filter-out $(HOST_FOLDERS:%=src/runners/%/%) src/runners/shared/%,$(wildcard src/runners/*/*.c)))
RUNNER_LIBS := $(SINGLE_LIBS) $(HOST_LIBS)

$(CORE_OBJ):   EXTRA = $(call pc,cflags,$(CORE_PC))
$(LUA_OBJ):    EXTRA = -Isrc/core $(LUA_CFLAGS)
$(COMMON_OBJ): EXTRA = -Isrc/common $(call pc,cflags,$(SERVER_PC))
$(ENGINE_OBJ): EXTRA = -Isrc/common $(call pc,cflags,$(SERVER_PC) $(ENGINE_PC))
$(AGENT_OBJ): EXTRA = -Isrc/common $(call pc,cflags,$(SERVER_PC) $(AGENT_PC))
$(EGRESS_OBJ): EXTRA = -Isrc/common $(call pc,cflags,jansson)
$(ARCHIVE_OBJ): EXTRA = -Isrc/core $(call pc,cflags,$(ARCHIVE_PC))
$(ARCHIVE_MODULE_OBJ): EXTRA = -Isrc/core $(LUA_CFLAGS)
$(CONSOLE_OBJ): EXTRA = $(LUA_CFLAGS)
$(EDITOR_OBJ): EXTRA = $(LUA_CFLAGS) $(call pc,cflags,$(EDITOR_PC))
LUA_CFLAGS ?= $(call pc,cflags,$(LUA_PC))

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(EXTRA) -c -o $@ $<

$(BUILD)/lib/libstepbox.a: $(CORE_OBJ)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/lib/libstepbox.so: $(CORE_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libstepbox.so.0 $(LDFLAGS) -o $@ $^ $(call pc,libs,$(CORE_PC))

# The Lua module links the core statically, so that one file is enough.
$(BUILD)/lua/stepbox/core.so: $(LUA_OBJ) $(BUILD)/lib/libstepbox.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ $(call pc,libs,$(CORE_PC)) -lm

$(BUILD)/lib/libstepbox-archive.a: $(ARCHIVE_OBJ)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

# Of the core it takes the names of errors alone.
$(BUILD)/lua/stepbox/archive.so: $(ARCHIVE_MODULE_OBJ) $(BUILD)/lib/libstepbox-archive.a $(BUILD)/lib/libstepbox.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ $(call pc,libs,$(ARCHIVE_PC))

$(BUILD)/lua/stepbox/console.so: $(CONSOLE_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ -lm

$(BUILD)/lua/stepbox/editor.so: $(EDITOR_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ $(call pc,libs,$(EDITOR_PC))

# Core and binding in one archive, for hosts that link the module in.
$(BUILD)/lib/libstepbox-lua.a: $(LUA_OBJ) $(CORE_OBJ)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/examples/embed: examples/embed.c $(BUILD)/lib/libstepbox-lua.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LUA_CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $^ $(call pc,libs,$(LUA_PC) $(CORE_PC)) -lm

.PHONY: examples
examples: $(BUILD)/examples/embed ## build the example of a host program in C

# Loaded by a Python that was built without sanitizers, whatever the engine is built with.
ZYGOTE_CFLAGS = $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS))
$(BUILD)/obj/zygote/%.o: src/zygote/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ZYGOTE_CFLAGS) -Isrc/common -c -o $@ $<
$(BUILD)/obj/zygote/common/%.o: src/common/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ZYGOTE_CFLAGS) -c -o $@ $<

$(BUILD)/lib/zygote.so: $(ZYGOTE_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared $(filter-out -fsanitize%,$(LDFLAGS)) -Wl,--strip-debug -o $@ $^

# It is built into the engine, which gives it to the processes that need it.
$(BUILD)/obj/engine/zygote_image.o: $(BUILD)/lib/zygote.so
$(BUILD)/obj/engine/zygote_image.o: EXTRA += -DZYGOTE_LIBRARY='"\"$(BUILD)/lib/zygote.so\""'

$(BUILD)/bin/stepboxd: $(ENGINE_OBJ) $(COMMON_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(SERVER_LIBS) $(call pc,libs,$(ENGINE_PC))

$(BUILD)/bin/stepbox-agent: $(AGENT_OBJ) $(COMMON_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(SERVER_LIBS) $(call pc,libs,$(AGENT_PC))

# Of what is common it needs no HTTP server.
EGRESS_COMMON := $(addprefix $(BUILD)/obj/common/,bpf_program.o descriptors.o log.o net_ranges.o program_path.o text_file.o)
$(BUILD)/bin/stepbox-egress: $(EGRESS_OBJ) $(EGRESS_COMMON)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(call pc,libs,jansson) -lev

# The runners stand where the engine looks for them: ../share/stepbox/runners beside its own directory.
$(BUILD)/share/stepbox/runners/.stamp: $(RUNNERS)
	@mkdir -p $(@D)
	@find $(@D) -mindepth 2 -type f ! -name '*.so' ! -name '*.jar' -delete # what is no runner's any more
	cp -r src/runners/. $(@D)/ && rm -rf $(@D)/*/*.[ch] $(@D)/shared && touch $@

# What loads them was built without sanitizers.
RUNNER_CFLAGS = $(filter-out -fsanitize% -fno-sanitize% -MMD -MP,$(CFLAGS))
$(SINGLE_LIBS): $(BUILD)/share/stepbox/runners/%.so: src/runners/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(RUNNER_CFLAGS) -fvisibility=default -shared -Wl,-z,relro,-z,now -o $@ $<

.SECONDEXPANSION:
$(HOST_LIBS): $(BUILD)/share/stepbox/runners/%/host.so: $$(wildcard src/runners/$$*/*.[ch]) $(HOST_SHARED)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(RUNNER_CFLAGS) -Isrc/runners/shared $(call pc,cflags,jansson) $(if $(filter lua,$*),$(LUA_CFLAGS)) \
	    -shared -Wl,-z,relro,-z,now -o $@ $(filter %.c,$^) $(call pc,libs,jansson)

# Java's runner is compiled where there is a JDK that can. Elsewhere it is compiled whenever it starts.
JAVA_JAR     := $(BUILD)/share/stepbox/runners/java/runner.jar
JAVA_SOURCES := $(filter-out %/FromSource.java,$(wildcard src/runners/java/*.java))
JAVA_STAMP   := $(BUILD)/obj/runners/java/.stamp
$(JAVA_STAMP): $(JAVA_SOURCES)
	@rm -rf $(@D) $(JAVA_JAR) && mkdir -p $(@D)/classes $(dir $(JAVA_JAR))
	if javac --release 17 -version >/dev/null 2>&1; then \
	    javac --release 17 -Xlint:all -Werror -proc:none -d $(@D)/classes $(JAVA_SOURCES) && \
	    jar --create --file $(JAVA_JAR) -C $(@D)/classes . || exit 1; \
	fi
	@touch $@

.PHONY: all
all: $(BUILD)/lib/libstepbox.a $(BUILD)/lib/libstepbox.so $(BUILD)/lua/stepbox/core.so ## build everything
all: $(BUILD)/lib/libstepbox-archive.a $(BUILD)/lua/stepbox/archive.so
all: $(BUILD)/lua/stepbox/console.so $(BUILD)/lua/stepbox/editor.so
all: $(BUILD)/bin/stepboxd $(BUILD)/bin/stepbox-agent $(BUILD)/bin/stepbox-egress $(BUILD)/share/stepbox/runners/.stamp $(RUNNER_LIBS) $(JAVA_STAMP)

-include $(shell find $(BUILD)/obj $(BUILD)/spec -name '*.d' 2>/dev/null)
