--- stepbox timeout: lets a sandbox live for so many seconds from now.

local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local info = wait.call("asking", function()
    local box = look(arguments.id)
    status.check(box:set_timeout(arguments.seconds))
    return arguments.json and status.check(box:info())
  end)
  if arguments.json then output.json { id = info.id, end_at = info.end_at } end
end
