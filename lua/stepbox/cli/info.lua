--- stepbox info: what is known of a sandbox.

local stepbox = require "stepbox"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local FIELDS = {
  "id", "template", "alias", "state", "started_at", "end_at", "cpu_count", "memory_mb", "disk_mb",
  "envd_version", "domain",
}

local function for_people(name, value)
  if name ~= "started_at" and name ~= "end_at" then return output.plain(value) end
  local away = value - os.time()
  return os.date("%Y-%m-%d %H:%M:%S", math.floor(value))
    .. (away >= 0 and " (in " .. output.duration(away) .. ")" or " (" .. output.duration(-away) .. " ago)")
end

local function for_pipes(_, value)
  return type(value) == "number" and ("%d"):format(math.floor(value)) or output.plain(value)
end

--- Numbers of JSON may have become floats.
local function whole(value)
  return type(value) == "number" and value % 1 == 0 and ("%d"):format(value) or output.plain(value)
end

local function rows_of(info, form)
  local rows = {}
  for _, name in ipairs(FIELDS) do
    if info[name] ~= nil and info[name] ~= "" then rows[#rows + 1] = { name, form(name, info[name]) } end
  end
  local limits = info.details and info.details.limits or {}
  for _, name in ipairs { "by", "memoryMB", "cpuCount", "diskMB", "processes", "openFiles" } do
    if limits[name] ~= nil then rows[#rows + 1] = { "limits." .. name, whole(limits[name]) } end
  end
  local names = {}
  for name in pairs(info.metadata) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    rows[#rows + 1] = { "metadata." .. output.plain(name), output.plain(info.metadata[name]) }
  end
  return rows
end

return function(arguments)
  local info = wait.call("asking", function()
    return status.check(status.check(stepbox.connect(arguments.id)):info())
  end)
  if arguments.json then return output.json(info) end
  local is_terminal = output.is_terminal()
  for _, row in ipairs(rows_of(info, is_terminal and for_people or for_pipes)) do
    output.line(is_terminal and ("%-14s %s"):format(row[1], row[2]) or row[1] .. "\t" .. row[2])
  end
end
