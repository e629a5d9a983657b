--- Bytes as base64, and back.

local floor, byte, char = math.floor, string.byte, string.char

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local PAIRS, VALUES = {}, {} -- two digits by their 12 bits; the 6 bits of a digit
for high = 0, 63 do
  VALUES[DIGITS:sub(high + 1, high + 1)] = high
  for low = 0, 63 do
    PAIRS[high * 64 + low] = DIGITS:sub(high + 1, high + 1) .. DIGITS:sub(low + 1, low + 1)
  end
end

local function encode(bytes)
  local out, count = {}, 0
  for at = 1, #bytes, 3 do
    local a, b, c = byte(bytes, at, at + 2)
    local bits = a * 65536 + (b or 0) * 256 + (c or 0)
    count = count + 1
    out[count] = PAIRS[floor(bits / 4096)] .. PAIRS[bits % 4096]
    if not b then
      out[count] = out[count]:sub(1, 2) .. "=="
    elseif not c then
      out[count] = out[count]:sub(1, 3) .. "="
    end
  end
  return table.concat(out)
end

--- The bytes, or nil when it is no base64 with its padding.
local function decode(text)
  local digits, padding = text:match "^([%w+/]*)(=*)$"
  if not digits or #text % 4 ~= 0 or #padding > 2 then return nil end
  local out, count = {}, 0
  for at = 1, #digits, 4 do
    local bits, there = 0, 0
    for i = at, at + 3 do
      local value = VALUES[digits:sub(i, i)]
      if value then there = there + 1 end
      bits = bits * 64 + (value or 0)
    end
    count = count + 1
    out[count] = char(floor(bits / 65536), floor(bits / 256) % 256, bits % 256):sub(1, there - 1)
  end
  return table.concat(out)
end

return { encode = encode, decode = decode }
