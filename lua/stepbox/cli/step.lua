--- stepbox step: runs code in a sandbox that is there.

local stepbox = require "stepbox"
local progress = require "stepbox.cli.progress"
local show = require "stepbox.cli.show"
local source = require "stepbox.cli.source"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

return function(arguments)
  if arguments.lang and arguments.context then arguments.fail "--lang and --context do not go together" end
  local code, language = source.of_step(arguments)
  if not arguments.context then arguments.lang = arguments.lang or language end
  local running = {}
  progress.set "connecting"
  return wait.run(function(state)
    local box, message, failure = stepbox.connect(arguments.id)
    if state.status then return state.status end
    running.box = status.check(box, message, failure)
    return (show.step(box, code, arguments, state))
  end, { on_interrupt = show.on_interrupt(running, arguments) })
end
