--- JSON as the program `stepbox` prints it: names in order, and lists that are lists when they are empty,
--- with every version of lua-cjson.

local cjson = require "cjson"

local List = {}

--- Marks a table as a list.
local function list(items) return setmetatable(items or {}, List) end

--- What stands for a value that is not there.
local null = cjson.null

--- The length of the UTF-8 character at `i`, or nil when there is none.
local function character_length(text, i)
  local a, b, c, d = text:byte(i, i + 3)
  local function is_tail(byte) return byte and byte >= 0x80 and byte < 0xC0 end
  if a < 0x80 then return 1 end
  if a < 0xC2 or a > 0xF4 or not is_tail(b) then return nil end
  if a < 0xE0 then return 2 end
  if not is_tail(c) then return nil end
  if a < 0xF0 then
    if (a == 0xE0 and b < 0xA0) or (a == 0xED and b > 0x9F) then return nil end
    return 3
  end
  if not is_tail(d) or (a == 0xF0 and b < 0x90) or (a == 0xF4 and b > 0x8F) then return nil end
  return 4
end

--- The text with U+FFFD for every byte that is no UTF-8.
local function to_utf8(text)
  if not text:find "[\128-\255]" then return text end
  local parts, i, start = {}, 1, 1
  while i <= #text do
    local length = character_length(text, i)
    if not length then
      parts[#parts + 1] = text:sub(start, i - 1) .. "\239\191\189"
      start = i + 1
    end
    i = i + (length or 1)
  end
  parts[#parts + 1] = text:sub(start)
  return table.concat(parts)
end

local encode

local function encode_list(value, out)
  out[#out + 1] = "["
  for i = 1, #value do
    if i > 1 then out[#out + 1] = "," end
    encode(value[i], out)
  end
  out[#out + 1] = "]"
end

local function encode_object(value, out)
  local names = {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  out[#out + 1] = "{"
  for i, name in ipairs(names) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = cjson.encode(to_utf8(name)) .. ":"
    encode(value[name], out)
  end
  out[#out + 1] = "}"
end

--- JSON has no infinities; whole numbers are written as such.
local function encode_number(value)
  if value ~= value or value == math.huge or value == -math.huge then return "null" end
  if value % 1 == 0 and value > -1e15 and value < 1e15 then return ("%d"):format(value) end
  return ("%.14g"):format(value)
end

function encode(value, out)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = cjson.encode(to_utf8(value))
  elseif kind == "number" then
    out[#out + 1] = encode_number(value)
  elseif kind ~= "table" then
    out[#out + 1] = value == null and "null" or tostring(value)
  elseif getmetatable(value) == List or value[1] ~= nil then
    encode_list(value, out)
  elseif next(value) ~= nil and type((next(value))) ~= "string" then
    error "json_text: names must be strings"
  else
    encode_object(value, out)
  end
end

--- The value as one line of JSON.
local function text(value)
  local out = {}
  encode(value, out)
  return table.concat(out)
end

return { list = list, null = null, text = text, to_utf8 = to_utf8 }
