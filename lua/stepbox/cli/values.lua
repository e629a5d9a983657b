--- What the values of options may be: each takes the text and returns the value, or nil and what was
--- expected.

local values = {}

function values.seconds(text)
  local value = tonumber(text)
  if value and value > 0 and value < math.huge then return value end
  return nil, "a number of seconds above 0 expected, got '" .. text .. "'"
end

function values.count(text)
  local value = tonumber(text)
  if value and value >= 1 and value <= 1000 and value % 1 == 0 then return math.floor(value) end
  return nil, "a whole number from 1 to 1000 expected, got '" .. text .. "'"
end

function values.pair(text)
  local name, value = text:match "^([^=]+)=(.*)$"
  if name then return { name, value } end
  return nil, "NAME=VALUE expected, got '" .. text .. "'"
end

function values.variable(text)
  local name, value = text:match "^([%a_][%w_]*)=(.*)$"
  if name then return { name, value } end
  return nil, "NAME=VALUE with a variable's name expected, got '" .. text .. "'"
end

function values.filled(text)
  if text ~= "" then return text end
  return nil, "it must not be empty"
end

local UNITS = { [""] = 1, K = 1024, M = 1024 ^ 2, G = 1024 ^ 3 }

--- Bytes, as 1500000, 512M or 1.5G.
function values.size(text)
  local number, unit = text:upper():match "^(%d+%.?%d*)([KMG]?)$"
  if number and tonumber(number) > 0 then return tonumber(number) * UNITS[unit] end
  return nil, "a number of bytes like 512M or 2G expected, got '" .. text .. "'"
end

function values.amount(text)
  local number = text:match "^%d+%.?%d*$" and tonumber(text)
  if number and number > 0 then return number end
  return nil, "a number above 0 expected, got '" .. text .. "'"
end

--- What a sandbox may reach, as the library has it; loaded for those who ask for it.
local function reach(name)
  return function(text)
    local wrong = require("stepbox.network").check { [name] = { text } }
    if not wrong then return text end
    return nil, (wrong:gsub("^[%w_]+: ", ""):gsub("entry 1 is", "got"))
  end
end

values.allowed, values.denied = reach "allow_out", reach "deny_out"

function values.proxy(text)
  local wrong = require("stepbox.network").check_proxy(text)
  if wrong then return nil, wrong .. ", got '" .. text .. "'" end
  return text
end

--- A whole number, however large.
function values.whole(text)
  if text:find "^%d+$" and #text < 10 and tonumber(text) > 0 then return tonumber(text) end
  return nil, "a whole number above 0 expected, got '" .. text .. "'"
end

return values
