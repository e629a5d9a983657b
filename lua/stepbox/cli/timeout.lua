--- stepbox timeout: lets a sandbox live for so many seconds from now.

local stepbox = require "stepbox"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local info = wait.call("asking", function()
    local box = status.check(stepbox.connect(arguments.id, { resume = false }))
    status.check(box:set_timeout(arguments.seconds))
    return arguments.json and status.check(box:info())
  end)
  if arguments.json then output.json { id = info.id, end_at = info.end_at } end
end
