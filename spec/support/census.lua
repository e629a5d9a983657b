--- The processes below some, seen from outside: how many there were at once, and in which state.

local host = require "spec.support.host"

local Census = {}
Census.__index = Census

--- Of the processes below `roots`, but for those that are in `others`.
local function new(roots, others)
  local known, own = {}, {}
  for _, pid in ipairs(others) do known[pid] = true end
  for _, pid in ipairs(roots) do
    if not known[pid] then own[#own + 1] = tostring(pid) end
  end
  assert(own[1], "there is no process to look at")
  return setmetatable({
    roots = own, most = { processes = 0, zombies = 0, stopped = 0, running = 0, memory = 0 },
  }, Census)
end

local STATES = { Z = "zombies", T = "stopped", R = "running" }

--- Counts them now, and keeps the highest numbers in `most`.
function Census:look()
  local children, facts = {}, {}
  for line in host.sh("ps -eo pid=,ppid=,stat=,rss="):gmatch "[^\n]+" do
    local pid, parent, state, kilobytes = line:match "(%d+)%s+(%d+)%s+(%a)%S*%s+(%d+)"
    if pid then
      children[parent] = children[parent] or {}
      table.insert(children[parent], pid)
      facts[pid] = { state = state, memory = tonumber(kilobytes) * 1024 }
    end
  end
  local now, counted = { processes = 0, zombies = 0, stopped = 0, running = 0, memory = 0 }, {}
  local function count(pid)
    if counted[pid] or not facts[pid] then return end
    counted[pid] = true
    now.processes = now.processes + 1
    now.memory = now.memory + facts[pid].memory
    local state = STATES[facts[pid].state]
    if state then now[state] = now[state] + 1 end
    for _, child in ipairs(children[pid] or {}) do count(child) end
  end
  for _, pid in ipairs(self.roots) do count(pid) end
  for what, number in pairs(now) do self.most[what] = math.max(self.most[what], number) end
end

return { new = new }
