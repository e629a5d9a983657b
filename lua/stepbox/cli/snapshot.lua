--- stepbox snapshot: keeps a sandbox's files.

local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  local id = wait.call("keeping the files", function()
    local box = look(arguments.id)
    return status.check(box:snapshot { name = arguments.name })
  end)
  if arguments.json then return output.json { id = id, box = arguments.id } end
  output.line(id)
end
