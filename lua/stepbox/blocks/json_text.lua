--- JSON text of tables whose lists are marked. An empty table is a list or an object in Lua, and the versions
--- of lua-cjson differ about it; here it is what its mark says.

local cjson = require "cjson"

local List, Text = {}, {}

--- Marks a table as a list.
local function list(values) return setmetatable(values or {}, List) end

--- JSON that is text already.
local function text(json) return setmetatable({ json = json }, Text) end

local write

local function write_list(value, out)
  out[#out + 1] = "["
  for i, inner in ipairs(value) do
    if i > 1 then out[#out + 1] = "," end
    write(inner, out)
  end
  out[#out + 1] = "]"
end

--- An object, in the order of its names, so that the same values give the same text.
local function write_object(value, out)
  local names = {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  out[#out + 1] = "{"
  for i, name in ipairs(names) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = cjson.encode(name)
    out[#out + 1] = ":"
    write(value[name], out)
  end
  out[#out + 1] = "}"
end

function write(value, out)
  if type(value) ~= "table" then
    out[#out + 1] = cjson.encode(value)
  elseif getmetatable(value) == Text then
    out[#out + 1] = value.json
  elseif getmetatable(value) == List then
    write_list(value, out)
  else
    write_object(value, out)
  end
end

--- The JSON text of a value. Tables that are not marked are objects.
---@param value any
---@return string
local function encode(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

return { encode = encode, list = list, text = text }
