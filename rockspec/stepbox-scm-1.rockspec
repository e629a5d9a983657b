rockspec_format = "3.0"
package = "stepbox"
version = "scm-1"

-- `luarocks make` builds the tree that the rockspec stands in; nothing is fetched.
source = { url = "git+file://." }

description = {
  summary = "Isolated sandboxes for code that nobody vouches for, used step by step",
  detailed = [[
Makes sandboxes, runs code in them step by step with the state kept, hands them on by id, and sees that they
are gone when nobody wants them. Speaks the E2B protocol, and brings a local engine on Linux namespaces.
]],
  license = "MIT",
}

supported_platforms = { "linux" }

dependencies = {
  "lua >= 5.4",
  "lua-cjson >= 2.1.0",
  "argparse >= 0.7.1",
}

-- Looked up as libraries: Debian keeps headers in folders that differ between architectures.
external_dependencies = {
  CURL = { library = "curl" },
  JANSSON = { library = "jansson" },
  MICROHTTPD = { library = "microhttpd" },
  EV = { library = "ev" },
  SECCOMP = { library = "seccomp" },
  NETTLE = { library = "nettle" },
  ARCHIVE = { library = "archive" },
  EDIT = { library = "edit" },
  Z = { library = "z" },
}

-- The engine stays inside the rock's own folder, where the module, which is told, finds it.
build = {
  type = "make",
  build_variables = {
    CFLAGS = "$(CFLAGS)",
    LUA_CFLAGS = "-I$(LUA_INCDIR)",
    BUILD = "build-luarocks",
    BINDIR = "$(PREFIX)/engine/bin",
  },
  build_target = "all",
  install_variables = {
    BUILD = "build-luarocks",
    CFLAGS = "$(CFLAGS)",
    LUA_CFLAGS = "-I$(LUA_INCDIR)",
    BINDIR = "$(PREFIX)/engine/bin",
    DATADIR = "$(PREFIX)/engine/share/stepbox",
    LUA_LIBDIR = "$(LIBDIR)",
    LUA_SHAREDIR = "$(LUADIR)",
  },
  install_target = "install-module install-engine",
  install = { bin = { "bin/stepbox" } },
}

test = { type = "command", command = "make test" }
