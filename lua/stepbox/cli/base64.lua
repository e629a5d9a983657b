--- Bytes as base64, for JSON and for the terminals that show images.

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local digits = {}
for i = 0, 63 do digits[i] = ALPHABET:sub(i + 1, i + 1) end

local function triple(a, b, c)
  local n = a * 65536 + (b or 0) * 256 + (c or 0)
  return digits[math.floor(n / 262144)] .. digits[math.floor(n / 4096) % 64]
    .. (b and digits[math.floor(n / 64) % 64] or "=") .. (c and digits[n % 64] or "=")
end

local function encode(bytes)
  local out = {}
  for i = 1, #bytes, 3 do out[#out + 1] = triple(bytes:byte(i, i + 2)) end
  return table.concat(out)
end

return { encode = encode }
