--- Times as servers write them, "2026-01-31T12:00:00.000Z".

--- Days from 1970 to a date of the Gregorian calendar.
local function days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  local leap = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return 365 * year + leap + math.floor((153 * month - 457) / 5) + day - 719469
end

--- Unix seconds of an RFC 3339 time, or nil when it is none.
---@param text any
---@return number|nil
local function parse(text)
  if type(text) ~= "string" then return nil end
  local year, month, day, hour, minute, second, zone =
    text:match "^(%d%d%d%d)%-(%d%d)%-(%d%d)[Tt ](%d%d):(%d%d):(%d%d%.?%d*)(.+)$"
  if not year then return nil end
  local shift = 0
  if zone ~= "Z" and zone ~= "z" then
    local sign, hours, minutes = zone:match "^([+-])(%d%d):(%d%d)$"
    if not sign then return nil end
    shift = (hours * 60 + minutes) * (sign == "-" and -60 or 60)
  end
  return days(tonumber(year), tonumber(month), tonumber(day)) * 86400
    + hour * 3600 + minute * 60 + tonumber(second) - shift
end

return { parse = parse }
