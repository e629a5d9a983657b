--- stepbox new: makes a sandbox and lets go of it.

local stepbox = require "stepbox"
local create = require "stepbox.cli.create"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local id, info = wait.call(nil, function()
    local box = create(arguments, arguments.timeout)
    local info = arguments.json and status.check(box:info())
    return status.check(box:detach()), info
  end)
  if arguments.json then
    output.json { id = id, template = info.template, end_at = info.end_at, version = stepbox.version }
  else
    output.line(id)
  end
end
