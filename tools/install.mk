# Where things go. LuaRocks gives its own values (see the rockspec); packagers set PREFIX and DESTDIR.

LUA_VERSION  ?= 5.4
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
DATADIR      ?= $(PREFIX)/share/stepbox
LUA_LIBDIR   ?= $(PREFIX)/lib/lua/$(LUA_VERSION)
LUA_SHAREDIR ?= $(PREFIX)/share/lua/$(LUA_VERSION)
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

# The engine finds the agent beside itself and the runners in ../share/stepbox/runners.
install-engine: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(BUILD)/bin/stepboxd $(BUILD)/bin/stepbox-agent $(DESTDIR)$(BINDIR)/
	for file in $(patsubst src/runners/%,%,$(RUNNERS)); do \
	    $(INSTALL) -D -m 644 src/runners/$$file $(DESTDIR)$(DATADIR)/runners/$$file; \
	done

install: install-module install-engine ## install below PREFIX (default /usr/local); DESTDIR is respected
	$(INSTALL) -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 $(BUILD)/lib/libstepbox.a $(BUILD)/lib/libstepbox-archive.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(BUILD)/lib/libstepbox.so $(DESTDIR)$(LIBDIR)/libstepbox.so.0
	ln -sf libstepbox.so.0 $(DESTDIR)$(LIBDIR)/libstepbox.so
	$(INSTALL) -m 644 src/core/stepbox*.h src/archive/stepbox_archive.h $(DESTDIR)$(INCLUDEDIR)/
