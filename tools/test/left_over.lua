-- What a test run leaves behind: processes of engines and sandboxes, and sockets.

local M = {}

function M.capture(command)
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  pipe:close()
  return (output:gsub("%s+$", ""))
end

-- The processes of engines and sandboxes: process id -> {name, parent}. Zombies are init's business.
local function processes()
  local found = {}
  for line in M.capture("grep -h -s -E '[(](stepbox|bwrap)' /proc/[0-9]*/stat"):gmatch "[^\n]+" do
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

-- Those that were not there before the run.
local function rest(folder, before)
  local lines, found = {}, processes()
  for pid, process in pairs(found) do
    if not before[pid] and not is_foreign(pid, found, folder) then
      lines[#lines + 1] = process.name .. " " .. pid
    end
  end
  return table.concat(lines, "\n")
end

--- Begins to watch. What this returns is to be called at the end: it asks the run's engines, which leave by
--- themselves a while after their last use, to leave now, and returns what is there after that, as text.
function M.watch(folder)
  local before = processes()
  return function()
    os.execute("sleep 0.5")
    for pid in rest(folder, before):gmatch "stepboxd (%d+)" do os.execute("kill " .. pid) end
    os.execute("sleep 1.5")
    return rest(folder, before) .. M.capture("find " .. folder .. " -type s")
  end
end

return M
