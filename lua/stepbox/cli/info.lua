--- stepbox info: what is known of a sandbox.

local json = require "stepbox.json_text"
local look = require "stepbox.cli.look"
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

-- What the local engine tells in addition: what it is called there and here, and its fields in order; those
-- without have all, by their names.
local DETAILS = {
  { "limits", "limits",
    { "by", "memoryMB", "cpuCount", "diskMB", "processes", "openFiles", "outputMB", "notEnforced" } },
  { "network", "network", { "access", "link", "allowOut", "denyOut", "egressProxy", "error" } },
  { "isolation", "isolation", { "ids", "systemTree" } },
  { "refusedCalls", "refused" },
}

--- A value as words in a line; nil for what says nothing.
local function words_of(value)
  if type(value) ~= "table" then return whole(value) end
  if value.address then return output.plain(value.address) end
  local words = {}
  for i, word in ipairs(value) do words[i] = output.plain(word) end
  return words[1] and table.concat(words, " ")
end

local function add_all(rows, prefix, values)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    rows[#rows + 1] = { prefix .. "." .. output.plain(name), whole(values[name]) }
  end
end

local function add_group(rows, group, values)
  if type(values) ~= "table" then return end
  if not group[3] then return add_all(rows, group[2], values) end
  for _, name in ipairs(group[3]) do
    local words = values[name] ~= nil and words_of(values[name])
    if words then rows[#rows + 1] = { group[2] .. "." .. name, words } end
  end
end

local function rows_of(info, form)
  local rows = {}
  for _, name in ipairs(FIELDS) do
    if info[name] ~= nil and info[name] ~= "" then rows[#rows + 1] = { name, form(name, info[name]) } end
  end
  for _, group in ipairs(DETAILS) do add_group(rows, group, info.details and info.details[group[1]]) end
  add_all(rows, "metadata", info.metadata)
  return rows
end

-- Fields of the details that are lists, also where they are empty.
local LISTS = { limits = { "notEnforced" }, network = { "allowOut", "denyOut" } }

local function as_json(info)
  for group, names in pairs(LISTS) do
    local values = info.details and info.details[group] or {}
    for _, name in ipairs(names) do
      if values[name] then json.list(values[name]) end
    end
  end
  return info
end

return function(arguments)
  local info = wait.call("asking", function()
    return status.check(look(arguments.id):info())
  end)
  if arguments.json then return output.json(as_json(info)) end
  local is_terminal = output.is_terminal()
  for _, row in ipairs(rows_of(info, is_terminal and for_people or for_pipes)) do
    output.line(is_terminal and ("%-20s %s"):format(row[1], row[2]) or row[1] .. "\t" .. row[2])
  end
end
