--- stepbox resume: lets a paused sandbox go on.

local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local resumed, info = wait.call("resuming", function()
    local box = look(arguments.id)
    local resumed = status.check(box:resume { timeout = arguments.timeout })
    return resumed, arguments.json and status.check(box:info())
  end)
  if arguments.json then
    return output.json { id = arguments.id, resumed = resumed, end_at = info.end_at }
  end
  if not resumed then output.err("stepbox: " .. arguments.id .. " was not paused\n") end
end
