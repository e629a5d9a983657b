-- Runs the test suites and prints one closing line, "N passed, N failed, N skipped".
--   lua5.4 tools/test.lua [SUITE...]     suites: units, runners, conformance, specs, and
--                                         attacks, a part of specs whose verdicts are printed
-- Called by `make test`, which says in the environment where things are: STEPBOX_ROOT, STEPBOX_BUILD, and in
-- STEPBOX_UNITS the unit programs. Each run has an engine of its own, in a runtime folder of its own, and
-- fails when that leaves a process or a socket behind.

local build = assert(os.getenv "STEPBOX_BUILD", "run this by `make test`")
local total = { passed = 0, failed = 0, skipped = 0 }

local function capture(command)
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  pipe:close()
  return (output:gsub("%s+$", ""))
end

-- How each runner says its counts. A pattern may match several times.
local counts = {
  function(line) -- cmocka
    return line:match "%[  PASSED  %] (%d+) test", line:match "%[  FAILED  %] (%d+) test", nil
  end,
  function(line) -- busted
    local passed, failed, errors, pending =
      line:match "(%d+) success%w* / (%d+) failures? / (%d+) errors? / (%d+) pending"
    if passed then return passed, failed + errors, pending end
  end,
  function(line) -- our own
    return line:match "^(%d+) passed, (%d+) failed"
  end,
}

-- unittest says "Ran 5 tests" and then "OK" or "FAILED (failures=1, errors=1, skipped=2)".
local function unittest(line, state)
  state.ran = tonumber(line:match "^Ran (%d+) test") or state.ran
  if not state.ran or not (line:match "^OK" or line:match "^FAILED %(") then return end
  local function number(word) return tonumber(line:match(word .. "=(%d+)")) or 0 end
  local failed, skipped = number "failures" + number "errors", number "skipped"
  local ran = state.ran
  state.ran = nil
  return ran - failed - skipped, failed, skipped
end

local function add(passed, failed, skipped)
  if not (passed or failed or skipped) then return false end
  total.passed = total.passed + (tonumber(passed) or 0)
  total.failed = total.failed + (tonumber(failed) or 0)
  total.skipped = total.skipped + (tonumber(skipped) or 0)
  return true
end

-- Runs one program, shows its output, and counts. One that fails without saying so is a failure.
local function run(name, command)
  print("== " .. name)
  io.stdout:flush()
  local before, counted, state = total.failed, false, {}
  local pipe = assert(io.popen(command .. " 2>&1"))
  for line in pipe:lines() do
    print(line)
    for _, count in ipairs(counts) do
      counted = add(count(line)) or counted
    end
    counted = add(unittest(line, state)) or counted
  end
  local ok = pipe:close()
  if not ok and total.failed == before then
    print(name .. ": ended with an error")
    add(0, 1, 0)
  elseif ok and not counted then
    print(name .. ": ran no test")
    add(0, 1, 0)
  end
end

-- The processes of engines and sandboxes: process id -> {name, parent}. Zombies are init's business.
local function processes()
  local found = {}
  for line in capture("grep -h -s -E '[(](stepbox|bwrap)' /proc/[0-9]*/stat"):gmatch "[^\n]+" do
    local pid, name, state, parent = line:match "^(%d+) %((.-)%) (%a) (%d+)"
    if state ~= "Z" then found[pid] = { name = name, parent = parent } end
  end
  return found
end

-- Whether a process belongs to an engine that somebody else started: this run's have its folder in their
-- environment. One whose engine is gone counts as ours.
local function is_foreign(pid, found, folder)
  while found[pid] do
    if found[pid].name == "stepboxd-watch" then
      local file = io.open("/proc/" .. pid .. "/environ", "rb")
      local environment = file and file:read "a" or ""
      if file then file:close() end
      return not environment:find(folder, 1, true)
    end
    pid = found[pid].parent
  end
  return false
end

-- Those that this run has left.
local before = processes()
local function left_over(folder)
  local rest, found = {}, processes()
  for pid, process in pairs(found) do
    if not before[pid] and not is_foreign(pid, found, folder) then
      rest[#rest + 1] = process.name .. " " .. pid
    end
  end
  return table.concat(rest, "\n")
end

local folder = capture "mktemp -d /tmp/sbt.XXXXXX"
local env = "env XDG_RUNTIME_DIR=" .. folder .. " "
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
  env = env .. "PATH=" .. folder .. "/bin:$PATH "
end
local suites = {
  units = function()
    for program in os.getenv("STEPBOX_UNITS"):gmatch "%S+" do run(program, env .. program) end
  end,
  runners = function()
    local discover = "/usr/bin/python3 -m unittest discover -s spec/runners -p '*_test.py'"
    run("spec/runners", env .. discover)
  end,
  conformance = function()
    local replay = "/usr/bin/python3 spec/conformance/replay.py --agent "
    run("spec/conformance", env .. replay .. build .. "/bin/stepbox-agent")
  end,
  specs = function() run("specs", env .. "busted " .. (os.getenv "BUSTED_ARGS" or "")) end,
  attacks = function()
    local verdicts = folder .. "/verdicts"
    run("attacks", env .. "STEPBOX_VERDICTS=" .. verdicts .. " busted spec/attack_spec.lua")
    os.execute((os.getenv "LUA" or "lua5.4") .. " tools/attacks.lua --verdicts " .. verdicts)
  end,
}

for _, name in ipairs(#arg > 0 and arg or { "units", "runners", "conformance", "specs" }) do
  assert(suites[name], "no suite " .. name)()
end

-- The engine leaves by itself a while after its last use; here it is asked to, and then nothing may be left.
os.execute("sleep 0.5")
for pid in left_over(folder):gmatch "stepboxd (%d+)" do os.execute("kill " .. pid) end
os.execute("sleep 1.5")
local rest = left_over(folder) .. capture("find " .. folder .. " -type s")
if rest ~= "" then
  print("left over after the tests:\n" .. rest)
  add(0, 1, 0)
end
os.execute("rm -rf " .. folder)

print(("%d passed, %d failed, %d skipped"):format(total.passed, total.failed, total.skipped))
os.exit(total.failed == 0)
