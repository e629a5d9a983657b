-- Values as text for people: strings as they are, tables as Lua would write them, as far as they are small.

local concat, sort = table.concat, table.sort
local byte, find, format, gsub = string.byte, string.find, string.format, string.gsub
local rep, sub = string.rep, string.sub
local kind_of = math.type
local getmetatable, rawget, next, pcall, tostring, type =
  debug.getmetatable, rawget, next, pcall, tostring, type

local DEPTH_MAX = 5
local ENTRIES_MAX = 200      -- of one table
local STRING_MAX = 1000      -- bytes of one within a table
local BYTES_MAX = 64 * 1024  -- of the whole
local WIDTH = 80             -- a table that fits is on one line

local RESERVED = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then
  true until while]]):gmatch "%l+" do
  RESERVED[word] = true
end

local ESCAPES = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"', ["\\"] = "\\\\" }

local function escape(character) return ESCAPES[character] or format("\\x%02X", byte(character)) end

local function quoted(text)
  local cut = #text > STRING_MAX and sub(text, 1, STRING_MAX)
  return '"' .. gsub(cut or text, '[%c"\\]', escape) .. '"' .. (cut and "..." or "")
end

-- tostring() of a value of the code may raise, or return what is no string.
local function name_of(value)
  local ok, text = pcall(tostring, value)
  return ok and text or "(" .. type(value) .. " whose tostring() failed)"
end

local RANKS = { number = 1, string = 2, boolean = 3 }

-- Numbers, then strings, then the rest in the order of their text.
local function comes_before(a, b)
  local kind, other = type(a), type(b)
  if kind ~= other then return (RANKS[kind] or 4) < (RANKS[other] or 4) end
  if kind == "number" or kind == "string" then return a < b end
  return name_of(a) < name_of(b)
end

local show_value

local function show_key(key, state)
  if type(key) == "string" and find(key, "^[%a_][%w_]*$") and not RESERVED[key] then return key end
  return "[" .. (type(key) == "table" and name_of(key) or show_value(key, state)) .. "]"
end

local function keys_of(value)
  local keys, count = {}, 0
  for key in next, value do
    count = count + 1
    if count <= ENTRIES_MAX * 50 then keys[count] = key end
  end
  pcall(sort, keys, comes_before)
  return keys, count
end

local function entries_of(value, state)
  local entries, used, listed = {}, 0, 0
  while rawget(value, listed + 1) ~= nil and listed < ENTRIES_MAX do
    listed = listed + 1
    entries[listed] = show_value(rawget(value, listed), state)
    used = used + #entries[listed]
    if used > BYTES_MAX then break end
  end
  local keys, count = keys_of(value)
  local shown = listed
  for i = 1, #keys do
    local key = keys[i]
    if shown >= ENTRIES_MAX or used > BYTES_MAX then break end
    if not (kind_of(key) == "integer" and key >= 1 and key <= listed) then
      shown = shown + 1
      entries[shown] = show_key(key, state) .. " = " .. show_value(rawget(value, key), state)
      used = used + #entries[shown]
    end
  end
  if count > shown then entries[#entries + 1] = format("... (%d more)", count - shown) end
  return entries, used
end

local function show_table(value, state)
  if state.around[value] then return "<" .. name_of(value) .. ">" end
  if state.depth == DEPTH_MAX then return next(value) == nil and "{}" or "{...}" end
  state.around[value], state.depth = true, state.depth + 1
  local entries, used = entries_of(value, state)
  local indent = rep("  ", state.depth)
  state.around[value], state.depth = nil, state.depth - 1
  if #entries == 0 then return "{}" end
  local line = used < WIDTH and concat(entries, ", ")
  if line and #line < WIDTH - 4 and not find(line, "\n", 1, true) then return "{ " .. line .. " }" end
  return "{\n" .. indent .. concat(entries, ",\n" .. indent) .. "\n" .. sub(indent, 3) .. "}"
end

function show_value(value, state)
  if state.bytes > BYTES_MAX then return "..." end
  local text
  if type(value) == "string" then
    text = quoted(value)
  elseif type(value) == "table" then
    local meta = getmetatable(value)
    local has_name = type(meta) == "table" and (rawget(meta, "__tostring") or rawget(meta, "__name"))
    text = has_name and name_of(value) or show_table(value, state)
    if not has_name then return text end
  else
    text = name_of(value)
  end
  state.bytes = state.bytes + #text
  return text
end

-- What a result shows of a value.
local function show(value)
  if type(value) == "string" then return value end
  return show_value(value, { around = {}, depth = 0, bytes = 0 })
end

return { show = show, name_of = name_of }
