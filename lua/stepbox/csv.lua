--- Columns of data as comma-separated values (RFC 4180, with plain line ends).

local json = require "stepbox.json"
local json_text = require "stepbox.json_text"

local csv = {}

--- The index behind a JSON string that begins at `at`.
local function skip_string(text, at)
  at = at + 1
  while true do
    local found = text:find('["\\]', at)
    if not found then return #text + 1 end
    if text:sub(found, found) == '"' then return found + 1 end
    at = found + 2
  end
end

--- The names of a JSON object in their order, which no table of Lua's keeps.
local function names_in_order(text)
  local names, depth, at = {}, 0, 1
  while true do
    at = text:find('["%[%]{}]', at)
    if not at then return names end
    local c = text:sub(at, at)
    local behind = c == '"' and skip_string(text, at) or at + 1
    if c == '"' and depth == 1 and text:find("^%s*:", behind) then
      names[#names + 1] = json.decode("[" .. text:sub(at, behind - 1) .. "]")[1]
    elseif c == "{" or c == "[" then
      depth = depth + 1
    elseif c == "}" or c == "]" then
      depth = depth - 1
    end
    at = behind
  end
end

local function number(value)
  if value % 1 == 0 and value > -1e15 and value < 1e15 then return ("%d"):format(value) end
  for digits = 15, 16 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
  return ("%.17g"):format(value)
end

local function field(value)
  if value == nil or value == json_text.null then return "" end
  if type(value) == "number" then return number(value) end
  local text = type(value) == "table" and json_text.encode(value) or tostring(value)
  if text:find '[",\r\n]' or text:find "^%s" or text:find "%s$" then
    text = '"' .. text:gsub('"', '""') .. '"'
  end
  return text
end

--- The columns as text: a line of their names, and a line for each row. A column that is one value is a
--- column of one row.
---@param columns table lists by name
---@param text? string the JSON that they come from, which tells their order
---@return string
function csv.encode(columns, text)
  local names, is_known, rows, lines = {}, {}, 0, {}
  for _, name in ipairs(text and names_in_order(text) or {}) do
    if columns[name] ~= nil and not is_known[name] then names[#names + 1] = name end
    is_known[name] = true
  end
  if not names[1] then
    for name in pairs(columns) do names[#names + 1] = name end
    table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  end
  local lists, head = {}, {}
  for i, name in ipairs(names) do
    local column = columns[name]
    lists[i], head[i] = type(column) == "table" and column or { column }, field(name)
    rows = math.max(rows, #lists[i])
  end
  lines[1] = table.concat(head, ",")
  for row = 1, rows do
    local fields = {}
    for i, list in ipairs(lists) do fields[i] = field(list[row]) end
    lines[row + 1] = table.concat(fields, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

return csv
