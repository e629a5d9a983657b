-- The Lua runner: one interpreter per context, in which the agent's steps run one after the other.
--
--     lua5.4 main.lua FD
--
-- FD is an inherited stream socket to the agent; standard output and error are pipes that the agent reads.
-- The code shares the interpreter: everything that runs between its steps keeps what it needs of Lua's
-- library in locals, taken before any code has run.

local descriptor = arg and arg[1] and math.tointeger(tonumber(arg[1]))
if not descriptor or arg[2] then
  io.stderr:write "usage: main.lua FD\n"
  os.exit(2)
end

local directory = arg[0]:match "^(.*)/[^/]*$" or "."
arg = { [0] = "lua" }

-- Not by require: the code's package.loaded has nothing of ours.
local host = assert(package.loadlib(directory .. "/host.so", "luaopen_host"))()
local function part(name, ...) return assert(loadfile(directory .. "/" .. name .. ".lua"))(...) end

host.open(descriptor)
local parts = { host = host }
for _, name in ipairs { "plain_json", "inspection", "chunks", "failures", "steps" } do
  parts[name] = part(name, parts)
end
parts.steps.serve()
