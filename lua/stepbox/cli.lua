--- The program `stepbox`. Each command is a file in `cli/` that is loaded when it is asked for.

local status = require "stepbox.cli.status"

local cli = {}

-- The arguments of the command, once they are known: a failure is told in the form they ask for.
local parsed

local function tell(message, code)
  if not message then return end
  if parsed and parsed.json and code then
    require("stepbox.cli.output").json { failure = { code = code, message = message } }
  else
    require("stepbox.cli.output").err("stepbox: " .. message .. "\n")
  end
end

local function run(arguments)
  parsed = require("stepbox.cli.arguments").parse(arguments)
  return require("stepbox.cli." .. parsed.command_name)(parsed) or status.OK
end

--- The exit status for what was raised.
local function explain(raised)
  if not status.is_leave(raised) then
    tell("this is a fault of stepbox: " .. tostring(raised), "internal")
    return status.FAILED
  end
  tell(raised.message, raised.code)
  return raised.status
end

local function with_traceback(raised)
  if status.is_leave(raised) then return raised end
  return debug.traceback(tostring(raised), 2)
end

--- Does what the arguments say, and ends the program.
---@param arguments string[]
function cli.main(arguments)
  require("stepbox.console").restore_interrupt()
  local ok, result = xpcall(run, with_traceback, arguments)
  local number = result
  if not ok then
    local told, late = pcall(explain, result)
    -- Even the message could not be written.
    number = told and late or (status.is_leave(late) and late.status or status.FAILED)
  end
  os.exit(number, true)
end

return cli
