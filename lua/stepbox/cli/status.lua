--- How the program `stepbox` ends: its exit statuses, and the one way out from anywhere.

local status = {
  OK = 0,
  RAISED = 1, -- the code raised
  USAGE = 2,
  FAILED = 3, -- the world failed
  TIMED_OUT = 124,
  INTERRUPTED = 130,
}

-- What `leave` raises, and the main function catches.
local Leave = {}
Leave.__index = Leave

--- Ends the program with this status; a message goes to stderr, or with --json to stdout.
function status.leave(number, message, code)
  error(setmetatable({ status = number, message = message, code = code }, Leave), 0)
end

function status.is_leave(value) return getmetatable(value) == Leave end

--- The status of a failure of the library.
function status.of_code(code)
  if code == "timeout" then return status.TIMED_OUT end
  if code == "cancelled" then return status.INTERRUPTED end
  return status.FAILED
end

--- What was called wrongly.
function status.usage(message) status.leave(status.USAGE, message) end

--- Hands on what a call of the library gives, and ends the program when that is a failure.
function status.check(value, message, code, ...)
  if value == nil then status.leave(status.of_code(code), message, code) end
  return value, message, code, ...
end

return status
