--- The notebook that `run` and `repl` write at their end.

local console = require "stepbox.console"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"

local notebook = {}

--- Sees to it now that the file can be written, and not when the work is done. What is there stays.
function notebook.check(path)
  if not path then return end
  local can, message = console.can_replace_file(path)
  if not can then status.usage("--notebook: " .. message) end
end

--- Writes it, when one is wanted. Returns the exit status: the one that is given unless that fails.
function notebook.write(box, path, number)
  if not path then return number end
  local cells, message = box:notebook(path)
  if cells then return number end
  output.err("stepbox: " .. message .. "\n")
  return status.FAILED
end

return notebook
