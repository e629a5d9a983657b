/* language_table.c - see language_table.h. The names and aliases are E2B's, but for lua. */
#include "language_table.h"

/* The code of steps may call import(), and an interrupt may end it between two of Node's own
 * notes of what runs, which Node takes for a fault of its own. */
#define NODE_OPTIONS "--experimental-vm-modules", "--no-force-async-hooks-checks"
#define ACORN                                                                                      \
    "/usr/share/nodejs/acorn/dist/acorn.js:/usr/local/lib/node_modules/acorn/dist/acorn.js:"       \
    "/usr/lib/node_modules/acorn/dist/acorn.js"

const struct language language_table[] = {
    {.name = "python",
     .aliases = {"", "py", "python3"},
     .folder = "python",
     .file = "main.py",
     .programs = {"/usr/bin/python3", "python3"},
     .needs = {"/usr/lib/python3*/*-packages/IPython:/usr/local/lib/python3*/*-packages/IPython"},
     .packages = "python3-ipython"},
    {.name = "javascript",
     .aliases = {"js"},
     .folder = "javascript",
     .file = "main.js",
     .programs = {"/usr/bin/node", "node"},
     .options = {NODE_OPTIONS},
     .heap_option = "--max-old-space-size=",
     .needs = {ACORN},
     .packages = "nodejs node-acorn"},
    {.name = "typescript",
     .aliases = {"ts"},
     .folder = "javascript",
     .file = "main.js",
     .programs = {"/usr/bin/node", "node"},
     .options = {NODE_OPTIONS},
     .heap_option = "--max-old-space-size=",
     .variant = "typescript",
     .needs = {ACORN, "/usr/share/nodejs/typescript/lib/typescript.js:"
                      "/usr/local/lib/node_modules/typescript/lib/typescript.js:"
                      "/usr/lib/node_modules/typescript/lib/typescript.js"},
     .packages = "nodejs node-acorn node-typescript"},
    {.name = "bash",
     .aliases = {"sh"},
     .folder = "bash",
     .file = "main.sh",
     .programs = {"/bin/bash", "bash"},
     .options = {"--norc", "--noprofile", "-p"},
     .packages = "bash"},
    {.name = "r",
     .folder = "r",
     .file = "main.R",
     .programs = {"/usr/bin/Rscript", "Rscript"},
     .options = {"--vanilla"},
     .packages = "r-base-core"},
    {.name = "java",
     .folder = "java",
     .file = "start.sh",
     .programs = {"/bin/sh", "sh"},
     .needs = {"/usr/bin/java:/usr/local/bin/java",
               "/usr/lib/jvm/*/bin/jshell:/usr/bin/jshell:/usr/local/bin/jshell"},
     .packages = "default-jdk-headless"},
    {.name = "lua",
     .folder = "lua",
     .file = "main.lua",
     .programs = {"/usr/bin/lua5.4", "lua5.4"},
     .packages = "lua5.4"},
};

const size_t language_table_size = sizeof language_table / sizeof *language_table;
