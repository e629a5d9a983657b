--- Bytes that shall become text: UTF-8 checked and mended, and cut without breaking a character.

local byte = string.byte

local REPLACEMENT = "\239\191\189" -- U+FFFD

-- The least and the greatest second byte, where not all of 80 to BF will do.
local SECOND = {
  [0xE0] = { 0xA0, 0xBF }, [0xED] = { 0x80, 0x9F }, [0xF0] = { 0x90, 0xBF }, [0xF4] = { 0x80, 0x8F },
}

--- How many bytes the character at `at` has, or nil when there is none.
local function character(text, at)
  local first, second, third, fourth = byte(text, at, at + 3)
  if first < 0x80 then return 1 end
  if first < 0xC2 or first > 0xF4 then return nil end
  local range = SECOND[first]
  if not second or second < (range and range[1] or 0x80) or second > (range and range[2] or 0xBF) then
    return nil
  end
  if first < 0xE0 then return 2 end
  if not third or third < 0x80 or third > 0xBF then return nil end
  if first < 0xF0 then return 3 end
  if not fourth or fourth < 0x80 or fourth > 0xBF then return nil end
  return 4
end

--- The text with U+FFFD for each byte that is no UTF-8.
---@param text string
---@return string text
---@return boolean was_clean
local function clean(text)
  local pieces, from, at = {}, 1, text:find "[\128-\255]"
  while at do
    local length = character(text, at)
    if not length then
      pieces[#pieces + 1] = text:sub(from, at - 1)
      pieces[#pieces + 1] = REPLACEMENT
      from = at + 1
    end
    at = text:find("[\128-\255]", at + (length or 1))
  end
  if from == 1 then return text, true end
  pieces[#pieces + 1] = text:sub(from)
  return table.concat(pieces), false
end

local function is_inside(text, at)
  local value = byte(text, at)
  return value ~= nil and value >= 0x80 and value < 0xC0
end

--- At most the first `most` bytes, without a broken character at the end.
local function head(text, most)
  if #text <= most then return text end
  local last = most
  while last > 0 and last > most - 3 and is_inside(text, last + 1) do last = last - 1 end
  return text:sub(1, last)
end

--- At most the last `most` bytes, without a broken character at the start.
local function tail(text, most)
  if #text <= most then return text end
  local first = #text - most + 1
  while first < #text - most + 4 and is_inside(text, first) do first = first + 1 end
  return text:sub(first)
end

return { clean = clean, head = head, tail = tail }
