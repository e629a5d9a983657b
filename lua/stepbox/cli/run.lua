--- stepbox run: runs a file in a sandbox of its own, which is killed at the end.

local create = require "stepbox.cli.create"
local notebook = require "stepbox.cli.notebook"
local show = require "stepbox.cli.show"
local source = require "stepbox.cli.source"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local function read(arguments)
  if arguments.file == "-" then return source.read_stdin() end
  arguments.lang = arguments.lang or source.language(arguments.file)
  return source.read_file(arguments.file)
end

--- The box is owned: should the kill fail or be interrupted, the end of the program sees to it.
local function run(code, arguments, running, state)
  local box = create(arguments, arguments.life)
  if state.status then status.leave(state.status) end
  running.box = box
  local ok, result = pcall(show.step, box, code, arguments, state)
  running.box = nil
  local number = notebook.write(box, arguments.notebook, ok and result)
  box:kill()
  if not ok then error(result, 0) end
  return number
end

return function(arguments)
  local code, running = read(arguments), {}
  notebook.check(arguments.notebook)
  return wait.run(function(state) return run(code, arguments, running, state) end,
    { on_interrupt = show.on_interrupt(running, arguments) })
end
