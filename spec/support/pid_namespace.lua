--- Process namespaces, by their names such as "pid:[4026532281]": which processes of a sandbox are there.

local host = require "spec.support.host"

local M = {}

--- That of a sandbox.
function M.of(box) return assert(box.commands:run "readlink /proc/self/ns/pid").stdout:match "pid:%[%d+%]" end

--- In hundredths of a second, as the kernel notes when a process began.
function M.now() return math.floor(host.now() * 100 + 0.5) end

--- Whether a process of the namespace that began before then is there. The kernel gives the number of a
--- namespace that has gone to the next one, so that there may be later ones that are another's.
function M.is_inhabited(name, moment)
  local pattern = name:gsub("[%[%]]", "?")
  local found = host.sh("find /proc/[0-9]*/ns/pid -lname '" .. pattern .. "' 2>/dev/null")
  for pid in found:gmatch "/proc/(%d+)/" do
    -- The fields after the name, which may have spaces.
    local began, field = nil, 0
    for word in host.read("/proc/" .. pid .. "/stat"):gsub("^.*%)", ""):gmatch "%S+" do
      field = field + 1
      if field == 20 then began = tonumber(word) end
    end
    if began and began <= moment then return true end
  end
  return false
end

return M
