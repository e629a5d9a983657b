--- The notebook that `run` and `repl` write at their end.

local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"

local notebook = {}

local function is_there(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

--- Sees to it now that the file can be written, and not when the work is done. What is there stays.
function notebook.check(path)
  if not path then return end
  local was_there = is_there(path)
  local file, message = io.open(path, "ab")
  if not file then status.usage("--notebook: " .. message) end
  file:close()
  if not was_there then os.remove(path) end
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
