--- For bombs: code that takes what it can get, in a sandbox with small limits, while a neighbour and the
--- engine must go on answering within a second.
---
--- An entry has, besides its texts,
---
---     places          values for the mark, { outside = , inside = }
---     mark, answer    a Python probe that goes a harmless bit beyond a limit: outside it prints "ok", inside
---                     what `answer` says
---     small           or instead a step that is the bomb made small, and ends well
---     outside         or instead a probe (see attack.lua) that shows the same where nothing bounds it, and
---                     says `works`
---     burn            the bomb: the code of a step
---     run             or a shell command
---     act             or a function(box, place)
---     ends            how it ends, patterns of "error NAME: VALUE", "code CODE", "exit N", or "text TEXT"
---     peak            what the sandbox was seen to have at once while it burnt, at least, so that a bomb
---                     that does nothing is told from one that is held; well below what it is held at, since
---                     processes that come and go are not all seen at one look:
---                     { processes = , zombies = , stopped = , running = , memory = bytes }
---     seconds         what the step or command is given; 1.5 by default
---     lost            that the bomb ends the sandbox itself
---     bounded_by      "cgroup" when only a control group can bound it
---     after           a function(box) with more to see while the sandbox is there

local api = require "spec.support.api_attack"
local census = require "spec.support.census"
local engine = require "spec.support.engine"
local host = require "spec.support.host"
local pid_namespace = require "spec.support.pid_namespace"

local M = {}

local CONFIGURATION = [[{"limits": {"memoryMB": 256, "cpuCount": 1, "diskMB": 32, "processes": 64,
  "openFiles": 512}}]]

--- The engine of the family, with a neighbour in it.
function M.place(frame)
  if frame.place then return frame.place end
  local stepbox = require "stepbox"
  local file = frame:folder() .. "/engine.json"
  host.write(file, CONFIGURATION)
  local daemon = engine.start { arguments = "--config " .. file }
  frame:finally(function() daemon:stop() end)
  local client = assert(stepbox.client { socket = daemon.socket })
  local neighbour = assert(client:create { timeout = 600 })
  assert(neighbour:step "1")
  frame.place = { daemon = daemon, client = client, neighbour = neighbour, stepbox = stepbox }
  local detail = daemon:call("GET", "/sandboxes/" .. neighbour.id).json
  frame.place.by = detail["local"].limits.by or "rlimit"
  return frame.place
end

--- The one in the middle: the machine may be busy with something else for a moment.
local function median(times)
  table.sort(times)
  return times[(#times + 1) // 2]
end

--- What came of a step or command, as one line.
local function describe(done, message, code)
  if not done then return ("code %s: %s"):format(code, message) end
  if done.error then return ("error %s: %s"):format(done.error.name, done.error.value) end
  if done.exit_code then return "exit " .. done.exit_code end
  return "text " .. (done.text or "")
end

local function set_off(box, entry, place)
  local seconds = entry.seconds or 1.5
  if entry.act then return entry.act(box, place) end
  if entry.run then return describe(box.commands:run({ "bash", "-c", entry.run }, { timeout = seconds })) end
  return describe(box:step(entry.burn, { timeout = seconds, max_output = 1 << 20 }))
end

--- Asks the neighbour and the engine in turn while the bomb goes off, at least three times. Returns how it
--- ended, and the middle of the seconds that each took. What the sandbox has meanwhile is noted in `seen`.
local function watch(place, box, entry, seen)
  local steps, answers, ending = {}, {}, nil
  place.stepbox.run(function()
    local bomb = place.stepbox.spawn(set_off, box, entry, place)
    repeat
      local before = host.now()
      local result, message = place.neighbour:step("6 * 7", { timeout = 30 })
      assert(result and result.text == "42", message)
      steps[#steps + 1] = host.now() - before
      if seen then seen:look() end
      before = host.now()
      assert(place.neighbour:info())
      answers[#answers + 1] = host.now() - before
      if seen then seen:look() end
      place.stepbox.sleep(0.05)
    until bomb.done and #steps >= 3
    ending = bomb:wait()
  end)
  return ending, median(steps), median(answers)
end

local PRELUDE = host.read((os.getenv "STEPBOX_ROOT" or ".") .. "/spec/support/probe.py")

local function put(entry, place)
  return (entry.mark:gsub("@places@", entry.places and entry.places[place] or ""))
end

local function try_mark(frame, entry)
  local place = M.place(frame)
  local box = assert(place.client:create { timeout = 120 })
  -- The kernel may choose the probe itself.
  local said = frame:inside({
    shell = "python3 -I - <<'END' 2>&1\n" .. PRELUDE .. "\n" .. put(entry, "inside")
      .. "\nEND\n[ $? != 137 ] || echo killed by SIGKILL",
  }, "user", box):gsub("^Killed\n", "")
  box:kill()
  frame:expect(said, entry.answer, "inside")
end

local function attempt(frame, entry)
  local place = M.place(frame)
  if entry.bounded_by == "cgroup" and not place.by:find "cgroup" then
    frame:skip "no control group is to be had here, and nothing else bounds this"
  end
  if entry.mark then try_mark(frame, entry) end
  local holders = engine.holders(place.daemon.engine_pid)
  local box = assert(place.client:create { timeout = 120 })
  assert(box:step "1")
  local namespace = pid_namespace.of(box)
  assert(pid_namespace.is_inhabited(namespace, pid_namespace.now()), "the sandbox's processes are not seen")
  local seen = entry.peak and census.new(engine.holders(place.daemon.engine_pid), holders)
  local ending, step, answer = watch(place, box, entry, seen)
  frame:expect(ending, entry.ends, "inside")
  for what, least in pairs(entry.peak or {}) do
    assert(seen.most[what] >= least, ("the bomb did not go off: %s at most %d, and not %d"):format(
      what, seen.most[what], least))
  end
  assert(step < 1, ("a neighbour's step took %.2f s"):format(step))
  assert(answer < 1, ("an answer of the engine took %.2f s"):format(answer))
  assert(api.health_seconds(place.daemon) < 1, "the engine's health took longer than a second")
  if entry.after then entry.after(box, place) end
  local id = box.id
  if entry.lost then
    local function gone() return not place.daemon:is_running(id) end
    assert(host.eventually(5, gone), "the sandbox is still there")
  else
    assert(place.daemon:is_running(id), "the bomb ended the sandbox")
    assert(box:kill())
  end
  local ended = pid_namespace.now()
  assert(not place.daemon:is_running(id))
  assert(host.eventually(3, function() return not pid_namespace.is_inhabited(namespace, ended) end),
    "processes are left")
end

local function control(frame, entry)
  if entry.mark then
    frame:expect(frame:outside { python = put(entry, "outside") }, "ok", "outside")
    return
  end
  if entry.outside then
    frame:expect(frame:outside(entry.outside), entry.works or "ok", "outside")
    return
  end
  local place = M.place(frame)
  local box = assert(place.client:create { timeout = 120 })
  local ending = describe(box:step(entry.small, { timeout = 20 }))
  box:kill()
  frame:expect(ending, "text ok", "made small")
end

--- Makes an entry of the suite.
function M.entry(fields)
  assert(fields.ends and (fields.mark and fields.answer or fields.small or fields.outside), fields.attack)
  function fields.control(frame) control(frame, fields) end
  function fields.attempt(frame) attempt(frame, fields) end
  return fields
end

return M
