--- Pauses that somebody inside does not want.

local engine = require "spec.support.engine"
local host = require "spec.support.host"

-- Stops itself, others and everybody, and has them go on, as fast as it can. The counter tells by its time of
-- the processors whether it stood still.
local STORM = [[
import os, signal, time
signal.signal(signal.SIGCONT, signal.SIG_IGN)
counter = os.fork()
if counter == 0:
    while True:
        pass
children = []
for kind in range(6):
    child = os.fork()
    if child == 0:
        while True:
            try:
                if kind == 0:
                    os.kill(os.getpid(), signal.SIGSTOP)
                elif kind in (1, 2):
                    os.kill(-1, signal.SIGCONT)
                elif kind == 3:
                    os.kill(counter, signal.SIGSTOP)
                    os.kill(counter, signal.SIGCONT)
                elif kind == 4:
                    for other in children:
                        os.kill(other, signal.SIGTSTP)
                elif os.fork() == 0:
                    os._exit(0)
                else:
                    os.wait()
            except OSError:
                pass
    children.append(child)
print("ready", flush=True)
time.sleep(600)]]

--- Clock ticks of the processors that processes have had.
local function ticks(pids)
  local sum = 0
  for _, pid in ipairs(pids) do
    local stat = host.read("/proc/" .. pid .. "/stat")
    local user, system = stat:match("%) " .. ("%S+ "):rep(11) .. "(%d+) (%d+)")
    sum = sum + (tonumber(user) or 0) + (tonumber(system) or 0)
  end
  return sum
end

--- Pauses and resumes a sandbox in which the storm rages, and kills it then, paused or not.
local function withstand(frame, daemon, user)
  local client = assert(require("stepbox").client { socket = daemon.socket })
  local neighbour = assert(client:create { timeout = 300 })
  local known = {}
  for _, pid in ipairs(engine.holders(daemon.engine_pid)) do known[pid] = true end
  local box = assert(client:create { timeout = 300, processes = 100 })
  assert(box.files:write("/tmp/storm", STORM))
  assert(box.commands:run("exec python3 -I /tmp/storm", { background = true, user = user }))
  local function own()
    local all = {}
    for _, holder in ipairs(engine.holders(daemon.engine_pid)) do
      if not known[holder] then
        for _, pid in ipairs(engine.descendants(holder)) do all[#all + 1] = pid end
      end
    end
    return all
  end
  assert(host.eventually(10, function() return #own() > 7 end), "the storm does not begin")
  for round = 1, 3 do
    local running = ticks(own())
    host.sleep(0.3)
    assert(ticks(own()) > running, "nothing runs, in round " .. round)
    local begun = host.now()
    assert(box:pause())
    assert(host.now() - begun < 5, "the pause takes " .. host.now() - begun .. " s")
    assert(box:info().state == "paused")
    local still = ticks(own())
    assert(still > 0)
    host.sleep(0.5)
    assert(ticks(own()) == still, "it does not stand still, in round " .. round)
    begun = host.now()
    assert(assert(neighbour:step "6 * 7").text == "42")
    assert(host.now() - begun < 1, "a neighbour waits")
    assert(box:resume())
    assert(assert(box.files:list "/tmp"))
  end
  -- Processes that a signal stops just then have held up a pause now and then.
  for _ = 1, 20 do
    local begun = host.now()
    assert(box:pause())
    assert(host.now() - begun < 5, "a pause takes " .. host.now() - begun .. " s")
    assert(box:resume())
  end
  if user == "root" then assert(box:pause()) end
  local left = own()
  assert(box:kill())
  assert(host.eventually(3, function()
    for _, pid in ipairs(left) do
      if engine.is_alive(pid) then return false end
    end
    return true
  end), "processes are left")
  neighbour:kill()
  frame:expect(tostring(daemon:is_running(box.id)), "false", "after the kill")
end

--- A naive pause: each process is told to stop, and one that was not told yet has them all go on.
local function naive_pause(frame)
  local note = frame:folder() .. "/pids"
  local code = [[
import os, signal, sys, time
counter = os.fork()
if counter == 0:
    while True:
        pass
other = os.fork()
if other == 0:
    while True:
        os.kill(counter, signal.SIGCONT)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{counter} {other}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)]]
  host.write(frame:folder() .. "/storm.py", code)
  os.remove(note)
  frame:start(("/usr/bin/python3 -I %s/storm.py %s"):format(frame:folder(), note))
  assert(host.eventually(5, function() return host.read(note) ~= "" end))
  local counter, other = host.read(note):match "(%d+) (%d+)"
  local goes_on = false
  for _ = 1, 50 do
    os.execute("kill -STOP " .. counter) -- and, a moment later, the next
    host.sleep(0.02)
    os.execute("kill -STOP " .. other)
    host.sleep(0.02)
    goes_on = goes_on or host.read("/proc/" .. counter .. "/stat"):find "%) [RS]" ~= nil
    os.execute(("kill -CONT %s %s"):format(counter, other))
    if goes_on then break end
  end
  os.execute(("kill -9 %s %s"):format(counter, other))
  assert(goes_on, "stopping one after the other holds them all here")
end

local function pause_row(how, user, options)
  return {
    attack = "stop and continue oneself and others without end while the sandbox is paused, resumed and "
      .. "killed, as " .. user .. (how ~= "" and ", " .. how or ""),
    naive = "stops one after the other, and those that it has not reached yet have the others go on",
    ours = "all stand still at once, for as long as it was asked for; others are answered; nothing "
      .. "outlives the kill",
    needs = function(frame)
      if user == "root" and not frame:has_root() then return "sandboxes have no root here" end
      if options and not frame:is_root() then return "root alone can hide control groups from an engine" end
    end,
    control = naive_pause,
    attempt = function(frame)
      local daemon = engine.start(options)
      local ok, message = xpcall(withstand, debug.traceback, frame, daemon, user)
      daemon:stop()
      if not ok then error(message, 0) end
    end,
  }
end

local WITHOUT_GROUPS = {
  wrapper = function()
    return [[unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh ]]
  end,
}

return {
  title = "Pauses",

  pause_row("", "user"),
  pause_row("", "root"),
  pause_row("where no control group can freeze them", "user", WITHOUT_GROUPS),
  pause_row("where no control group can freeze them", "root", WITHOUT_GROUPS),
}
