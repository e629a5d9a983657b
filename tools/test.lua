-- Runs the test suites and prints one closing line, "N passed, N failed, N skipped".
--   lua5.4 tools/test.lua [SUITE...]     suites: units, runners, conformance, specs, and
--                                         attacks, a part of specs whose verdicts are printed
-- Called by `make test`, which says in the environment where things are: STEPBOX_ROOT, STEPBOX_BUILD, and in
-- STEPBOX_UNITS the unit programs. They run side by side, in as many lanes as LANES says, or one more than
-- there are processors, since most tests wait; each lane has an engine and a runtime folder of its own. Those
-- that take all of the machine run by themselves after that. A run fails when it leaves a process or a socket
-- behind.
--
-- With AGAIN=1, which is for machines that others use too, the programs that failed are run a second time by
-- themselves, up to three of them. One that passes then does not fail the run, but what it printed is shown
-- at the end: its tests depend on how busy the machine is, or there is a fault that shows now and then.

local counts = require "tools.test.counts"
local failed = require("tools.test.failed").new()
local lanes = require "tools.test.lanes"
local left_over = require "tools.test.left_over"

local build = assert(os.getenv "STEPBOX_BUILD", "run this by `make test`")
local total = counts.new()
local capture = left_over.capture

local folder = capture "mktemp -d /tmp/sbt.XXXXXX"
os.execute("chmod 711 " .. folder) -- other users, whom some tests become, may use the programs in it
local left_behind = left_over.watch(folder)
local jobs, alone = {}, {}

--- Adds a program to those that are to be run; reason: why it is to run by itself, or nil.
local function add(name, command, reason)
  table.insert(reason and alone or jobs, { name = name, command = command })
end

local env = ""
-- A sanitizer must be in the process before the module that is built with it: for this run `lua5.4` is a
-- script that sees to that. Other programs are left alone (spec/support/host.lua): not all of them bear it.
if build:find "asan" then
  os.execute("mkdir " .. folder .. "/bin")
  local function wrap(program, environment)
    local path = folder .. "/bin/" .. program
    local script = assert(io.open(path, "w"))
    script:write("#!/bin/sh\n", environment, "\nexec ", capture("command -v " .. program), ' "$@"\n')
    script:close()
    os.execute("chmod +x " .. path)
  end
  local library = capture "${CC:-cc} -print-file-name=libasan.so"
  wrap("lua5.4", "export ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=" .. library)
  wrap("curl", "unset LD_PRELOAD") -- which a script may start itself
  env = "env PATH=" .. folder .. "/bin:$PATH "
end

local function files(command)
  return capture(command .. " | LC_ALL=C sort"):gmatch "[^\n]+"
end

-- Why a spec is to run by itself: its head says so.
local function alone_because(path)
  local file = assert(io.open(path))
  local reason = file:read("a"):match "^%-%-%- Alone: ([^\n]+)" or nil
  file:close()
  return reason
end

-- A part of a spec whose tests come from tables; `setting` chooses it.
local function add_part(path, name, setting, reason)
  add(path .. " " .. name, env .. "env " .. setting .. name .. " busted " .. path, reason)
end

local function add_attacks(setting)
  for _, family in ipairs(require("spec.support.attack").families()) do
    add_part("spec/attack_spec.lua", family.name, setting .. "STEPBOX_ATTACKS=", family.alone)
  end
end

local suites = {}

function suites.units()
  for program in os.getenv("STEPBOX_UNITS"):gmatch "%S+" do add(program, env .. program) end
end

function suites.runners()
  for path in files "find spec/runners spec/conformance -name '*_test.py'" do
    local room, name = path:match "^(.*)/([^/]+)$"
    add(path, env .. ("/usr/bin/python3 -m unittest discover -s %s -p %s"):format(room, name))
  end
end

function suites.conformance()
  add("spec/conformance", env .. "/usr/bin/python3 spec/conformance/replay.py --agent " .. build
    .. "/bin/stepbox-agent")
end

function suites.specs()
  local arguments = os.getenv "BUSTED_ARGS" or ""
  if arguments ~= "" then return add("specs", env .. "busted " .. arguments) end
  add_attacks ""
  for path in files "find spec/languages -name '*.lua'" do
    add_part("spec/languages_spec.lua", path:match "([^/]+)%.lua$", "STEPBOX_LANGUAGES=")
  end
  for path in files "find spec -name '*_spec.lua' ! -name attack_spec.lua ! -name languages_spec.lua" do
    add(path, env .. "busted " .. path, alone_because(path))
  end
end

function suites.attacks() add_attacks("STEPBOX_VERDICTS=" .. folder .. "/verdicts ") end

local wanted = #arg > 0 and arg or { "conformance", "specs", "runners", "units" }
for _, name in ipairs(wanted) do
  assert(suites[name], "no suite " .. name)()
end

-- Shows what a program has printed, and returns its counts. One that fails without saying so is a failure.
local function read(job, output, status, seconds)
  print(("== %s (%.1f s)"):format(job.name, seconds))
  local own, counted = counts.new(), false
  for line in output:gmatch "([^\n]*)\n?" do
    counted = own:line(line) or counted
  end
  io.stdout:write(output, output:find "[^\n]$" and "\n" or "")
  if status ~= 0 and own.failed == 0 then
    print(job.name .. ": ended with " .. (status == 124 and "its time" or "status " .. status))
    own:add(0, 1, 0)
  elseif status == 0 and not counted then
    print(job.name .. ": ran no test")
    own:add(0, 1, 0)
  end
  io.stdout:flush()
  return own
end

local function show(job, output, status, seconds)
  local own = read(job, output, status, seconds)
  total:add(own.passed, own.failed, own.skipped)
  if own.failed > 0 then failed:add(job, output, own) end
end

local AGAIN_MOST = 3

local function run_failed_again()
  if #failed > AGAIN_MOST then return end
  for _, program in ipairs(failed) do
    lanes.run(folder, { program.job }, 1, function(...)
      local own = read(...)
      if own.failed > 0 then return end
      total:less(program.counts)
      total:add(own.passed, 0, own.skipped)
      program.passes_alone = true
    end)
  end
end

lanes.run(folder, jobs, tonumber(os.getenv "LANES") or tonumber(capture "nproc") + 1, show)
lanes.run(folder, alone, 1, show)
if os.getenv "AGAIN" == "1" then run_failed_again() end

local verdicts = io.open(folder .. "/verdicts")
if verdicts then
  verdicts:close()
  os.execute((os.getenv "LUA" or "lua5.4") .. " tools/attacks.lua --verdicts " .. folder .. "/verdicts")
end
local rest = left_behind()
if rest ~= "" then
  print("left over after the tests:\n" .. rest)
  total:add(0, 1, 0)
end
os.execute("rm -rf " .. folder)

failed:show()
print(tostring(total))
os.exit(total.failed == 0)
