-- JSON of plain values: what a result carries beside its text.
--
-- A table is plain when it has no metatable and is a sequence or has strings as keys. What JSON cannot say
-- makes no JSON at all, so that nobody takes a part for the whole; but NaN and infinity are null, as in the
-- results of Python.

local quote = (...).host.quote
local concat, sort = table.concat, table.sort
local floor, huge, kind_of = math.floor, math.huge, math.type
local format = string.format
local length = utf8.len
local getmetatable, next, type = debug.getmetatable, next, type

local DEPTH_MAX = 60
local BYTES_MAX = 1024 * 1024

-- What is being written: pieces of text, and the tables around the current one.
local Writer = {}

local function put(writer, text)
  writer.bytes = writer.bytes + #text
  writer[#writer + 1] = text
  return writer.bytes <= BYTES_MAX
end

local function put_string(writer, text)
  return #text <= BYTES_MAX and length(text) ~= nil and put(writer, quote(text))
end

local function put_number(writer, number)
  if kind_of(number) == "integer" then return put(writer, format("%d", number)) end
  if number ~= number or number == huge or number == -huge then return put(writer, "null") end
  if floor(number) == number and number > -1e15 and number < 1e15 then
    return put(writer, format("%.1f", number))
  end
  return put(writer, format("%.17g", number))
end

local function put_sequence(writer, list, count)
  if not put(writer, "[") then return false end
  for i = 1, count do
    if i > 1 then put(writer, ", ") end
    if not Writer.put_value(writer, list[i]) then return false end
  end
  return put(writer, "]")
end

local function put_object(writer, object, keys)
  sort(keys)
  if not put(writer, "{") then return false end
  for i = 1, #keys do
    if i > 1 then put(writer, ", ") end
    if not put_string(writer, keys[i]) then return false end
    put(writer, ": ")
    if not Writer.put_value(writer, object[keys[i]]) then return false end
  end
  return put(writer, "}")
end

local function put_table(writer, value)
  if getmetatable(value) or writer.around[value] or writer.depth == DEPTH_MAX then return false end
  local keys, count, strings = {}, 0, 0
  for key in next, value do
    count = count + 1
    if type(key) == "string" then
      strings = strings + 1
      keys[strings] = key
    end
    if count > BYTES_MAX then return false end
  end
  if strings ~= count and (strings > 0 or #value ~= count) then return false end
  writer.around[value], writer.depth = true, writer.depth + 1
  local done
  if strings == count then
    done = put_object(writer, value, keys)
  else
    done = put_sequence(writer, value, count)
  end
  writer.around[value], writer.depth = nil, writer.depth - 1
  return done
end

function Writer.put_value(writer, value)
  local kind = type(value)
  if kind == "string" then return put_string(writer, value) end
  if kind == "number" then return put_number(writer, value) end
  if kind == "boolean" then return put(writer, value and "true" or "false") end
  if kind == "table" then return put_table(writer, value) end
  return false
end

local function encode(value)
  local writer = { bytes = 0, depth = 0, around = {} }
  if Writer.put_value(writer, value) then return concat(writer) end
end

return { encode = encode }
