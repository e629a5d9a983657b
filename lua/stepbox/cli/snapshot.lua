--- stepbox snapshot: keeps a sandbox's files.

local stepbox = require "stepbox"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local id = wait.call("keeping the files", function()
    local box = status.check(stepbox.connect(arguments.id, { resume = false }))
    return status.check(box:snapshot { name = arguments.name })
  end)
  if arguments.json then return output.json { id = id, box = arguments.id } end
  output.line(id)
end
