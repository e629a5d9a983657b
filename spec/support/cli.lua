--- Runs the program `stepbox` from the specs.

local cjson = require "cjson"
local host = require "spec.support.host"

local M = {}

M.program = assert(os.getenv "STEPBOX_ROOT") .. "/bin/stepbox"

function M.quote(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end

--- The words of a command line that runs it.
function M.line(...)
  local words = { M.program }
  for i = 1, select("#", ...) do words[i + 1] = M.quote((select(i, ...))) end
  return table.concat(words, " ")
end

--- Runs a shell command; returns stdout, stderr and the status.
function M.shell(command, input)
  local folder = host.temporary()
  host.write(folder .. "/in", input or "")
  local _, status = host.sh(("( %s ) <%s/in >%s/out 2>%s/err"):format(command, folder, folder, folder))
  local out, err = host.read(folder .. "/out"), host.read(folder .. "/err")
  os.execute("rm -r " .. folder)
  return out, err, status
end

--- Runs `stepbox` with these arguments and no input.
function M.run(...) return M.shell(M.line(...)) end

--- The same with input.
function M.feed(input, ...) return M.shell(M.line(...), input) end

--- The value that it prints as JSON, in one line, and the status.
function M.json(...)
  local out, err, status = M.run(...)
  assert(select(2, out:gsub("\n", "")) == 1 and out:sub(-1) == "\n", "not one line: " .. out .. err)
  return cjson.decode(out), status, out
end

--- Each of these command lines ends with 2, and says why.
function M.assert_called_wrongly(lines)
  for _, words in ipairs(lines) do
    local out, err, status = M.run(table.unpack(words))
    assert(status == 2 and out == "" and err:find "stepbox: ",
      ("%s ended with %d: %s%s"):format(table.concat(words, " "), status, out, err))
  end
end

--- Makes a sandbox and returns its id.
function M.new(...)
  local out, err, status = M.run("new", ...)
  assert(status == 0, err)
  return assert(out:match "^(%w+)\n$", out)
end

return M
