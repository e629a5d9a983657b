# Where things go. LuaRocks gives its own values (see the rockspec); packagers set PREFIX and DESTDIR.

LUA_VERSION  ?= 5.4
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
DATADIR      ?= $(PREFIX)/share/stepbox
LUA_LIBDIR   ?= $(PREFIX)/lib/lua/$(LUA_VERSION)
LUA_SHAREDIR ?= $(PREFIX)/share/lua/$(LUA_VERSION)
MANDIR       ?= $(PREFIX)/share/man
BASHDIR      ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR       ?= $(PREFIX)/share/zsh/site-functions
FISHDIR      ?= $(PREFIX)/share/fish/vendor_completions.d
INSTALL      ?= install

# The client looks for the engine beside itself and on PATH, and in BINDIR, which is compiled in: this file
# changes, and what depends on it is built anew, when BINDIR does.
$(BUILD)/bindir: FORCE
	@mkdir -p $(@D)
	@echo '$(BINDIR)' | cmp -s - $@ || echo '$(BINDIR)' > $@
.PHONY: FORCE

$(BUILD)/obj/core/engine_start.o: $(BUILD)/bindir
$(BUILD)/obj/core/engine_start.o: EXTRA += -DSTEPBOX_BINDIR='"$(BINDIR)"'

.PHONY: install-module install-engine install
install-module: all
	$(INSTALL) -d $(DESTDIR)$(LUA_LIBDIR)/stepbox
	$(INSTALL) -m 755 $(BUILD)/lua/stepbox/*.so $(DESTDIR)$(LUA_LIBDIR)/stepbox/
	for file in $(patsubst lua/%,%,$(wildcard lua/stepbox/*.lua lua/stepbox/*/*.lua)); do \
	    $(INSTALL) -D -m 644 lua/$$file $(DESTDIR)$(LUA_SHAREDIR)/$$file || exit 1; \
	done

# The engine finds agent and egress beside itself and the runners in ../share/stepbox/runners.
install-engine: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(addprefix $(BUILD)/bin/,stepboxd stepbox-agent stepbox-egress) $(DESTDIR)$(BINDIR)/
	for file in $(patsubst src/runners/%,%,$(RUNNERS)); do \
	    $(INSTALL) -D -m 644 src/runners/$$file $(DESTDIR)$(DATADIR)/runners/$$file || exit 1; \
	done
	for file in $(patsubst $(BUILD)/share/stepbox/runners/%,%,$(RUNNER_LIBS)); do \
	    $(INSTALL) -D -m 644 $(BUILD)/share/stepbox/runners/$$file $(DESTDIR)$(DATADIR)/runners/$$file || exit 1; \
	done
	[ ! -e $(JAVA_JAR) ] || $(INSTALL) -m 644 $(JAVA_JAR) $(DESTDIR)$(DATADIR)/runners/java/

# The program knows where its modules are, so that it runs from any prefix. Completions are made, not kept.
.PHONY: install-program
install-program: install-module
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	sed -e '1s|.*|#!/usr/bin/env $(LUA)|' -e 's|@LUA_SHAREDIR@|$(LUA_SHAREDIR)|' \
	    -e 's|@LUA_LIBDIR@|$(LUA_LIBDIR)|' bin/stepbox > $(BUILD)/stepbox
	$(INSTALL) -m 755 $(BUILD)/stepbox $(DESTDIR)$(BINDIR)/stepbox
	$(INSTALL) -m 644 share/man/stepbox.1 $(DESTDIR)$(MANDIR)/man1/stepbox.1
	LUA_PATH='lua/?.lua;;' $(LUA) bin/stepbox completion bash > $(DESTDIR)$(BASHDIR)/stepbox
	LUA_PATH='lua/?.lua;;' $(LUA) bin/stepbox completion zsh > $(DESTDIR)$(ZSHDIR)/_stepbox
	LUA_PATH='lua/?.lua;;' $(LUA) bin/stepbox completion fish > $(DESTDIR)$(FISHDIR)/stepbox.fish

install: install-module install-engine install-program ## install below PREFIX (default /usr/local); DESTDIR is respected
	$(INSTALL) -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 $(BUILD)/lib/libstepbox.a $(BUILD)/lib/libstepbox-archive.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(BUILD)/lib/libstepbox.so $(DESTDIR)$(LIBDIR)/libstepbox.so.0
	ln -sf libstepbox.so.0 $(DESTDIR)$(LIBDIR)/libstepbox.so
	$(INSTALL) -m 644 src/core/stepbox*.h src/archive/stepbox_archive.h $(DESTDIR)$(INCLUDEDIR)/
