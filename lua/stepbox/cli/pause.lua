--- stepbox pause: has everything in a sandbox stand still.

local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local paused = wait.call("pausing", function()
    return status.check(look(arguments.id):pause())
  end)
  if arguments.json then return output.json { id = arguments.id, paused = paused } end
  if not paused then output.err("stepbox: " .. arguments.id .. " was paused already\n") end
end
