-- A pipeline of blocks: a sandbox is set up once, at some length, and ten steps go on in it by its id, each
-- from a process of its own. Then the same with ten CodeExecutionBlocks, each with the set-up anew.
--   make run FILE=examples/pipeline.lua
-- STEPBOX_STEPS and STEPBOX_ROWS make it shorter or longer.
local blocks = require "stepbox.blocks"

local steps = tonumber(os.getenv "STEPBOX_STEPS" or 10)
local rows = tonumber(os.getenv "STEPBOX_ROWS" or 300000)

local function code_of(number) return ("int(table.n[table.day %% 10 == %d].sum())"):format(number) end

if arg[1] then -- the process of one step: pipeline.lua SANDBOX_ID NUMBER
  local out = blocks.StepExecutionBlock:collect { sandbox_id = arg[1], step_code = code_of(arg[2]) }
  print(out.error or out.response)
  os.exit(not out.error)
end

local program = "python3 -c 'for i in range(%d): print(i, i * i %% 97, sep=\",\")' > n.csv"
local commands = { program:format(rows) }
local imports = "import pandas\ntable = pandas.read_csv('n.csv', names=['day', 'n'])\n"

local function now()
  local file = assert(io.open "/proc/uptime")
  local seconds = file:read "n"
  file:close()
  return seconds
end

local start = now()
local made = blocks.InstantiationBlock:collect {
  setup_commands = commands, setup_code = imports, timeout = 600,
}
assert(made.sandbox_id, made.error)
print(("set up once in %.2f s: sandbox %s"):format(now() - start, made.sandbox_id))

local sums = {}
for number = 0, steps - 1 do
  local process = assert(io.popen(("'%s' '%s' %s %d"):format(arg[-1], arg[0], made.sandbox_id, number)))
  sums[number] = process:read "l"
  assert(process:close(), sums[number])
end
local shared = now() - start
assert(not blocks.StepExecutionBlock:collect({ sandbox_id = made.sandbox_id, dispose_sandbox = true }).error)

start = now()
for number = 0, steps - 1 do
  local out = blocks.CodeExecutionBlock:collect {
    setup_commands = commands, code = imports .. code_of(number), timeout = 600,
  }
  assert(out.response == sums[number], out.error or "another sum")
end
local apart = now() - start

print(("%d steps by id, from %d processes: %.2f s, the set-up included"):format(steps, steps, shared))
print(("%d CodeExecutionBlocks: %.2f s"):format(steps, apart))
print(("saved: %.2f s (%.1f times as fast)"):format(apart - shared, apart / shared))
