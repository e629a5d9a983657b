--- JSON text with its names in order, and with lists that are lists when they are empty: an empty table is
--- either in Lua, and the versions of lua-cjson differ about it; here it is what its mark says. Bytes that
--- are no UTF-8 become U+FFFD.

local cjson = require "cjson"
local clean = require("stepbox.utf8_text").clean

local List, Raw = {}, {}

--- Marks a table as a list.
local function list(items) return setmetatable(items or {}, List) end

--- JSON that is text already.
local function raw(json) return setmetatable({ json = json }, Raw) end

--- What stands for a value that is not there.
local null = cjson.null

local write

local function write_list(value, out)
  out[#out + 1] = "["
  for i = 1, #value do
    if i > 1 then out[#out + 1] = "," end
    write(value[i], out)
  end
  out[#out + 1] = "]"
end

local function write_object(value, out)
  local names = {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  out[#out + 1] = "{"
  for i, name in ipairs(names) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = cjson.encode((clean(name))) .. ":"
    write(value[name], out)
  end
  out[#out + 1] = "}"
end

--- JSON has no infinities; whole numbers are written as such.
local function encode_number(value)
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  if value % 1 == 0 and value > -1e15 and value < 1e15 then return ("%d"):format(value) end
  return ("%.14g"):format(value)
end

function write(value, out)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = cjson.encode((clean(value)))
  elseif kind == "number" then
    out[#out + 1] = encode_number(value)
  elseif kind ~= "table" then
    out[#out + 1] = value == null and "null" or tostring(value)
  elseif getmetatable(value) == Raw then
    out[#out + 1] = value.json
  elseif getmetatable(value) == List or value[1] ~= nil then
    write_list(value, out)
  elseif next(value) ~= nil and type((next(value))) ~= "string" then
    error "json_text: names must be strings"
  else
    write_object(value, out)
  end
end

--- The value as one line of JSON. A table without a mark is a list when it has a first entry, else an object.
---@param value any
---@return string
local function encode(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

return { list = list, raw = raw, null = null, encode = encode }
