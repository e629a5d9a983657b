--- What several specs need: time, processes, programs run aside, and a check that nothing is left over.

local stepbox = require "stepbox"

local M = {}

--- The path of this checkout, and of what was built from it (the test program says where).
M.root = assert(os.getenv "STEPBOX_ROOT", "run the specs by `make test` or `make spec`")
M.build = assert(os.getenv "STEPBOX_BUILD")

function M.read(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  return content
end

function M.write(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

--- Runs a shell command; returns its output (both streams) and exit status.
function M.sh(command)
  local pipe = assert(io.popen("( " .. command .. "\n) 2>&1", "r"))
  local output = pipe:read "a"
  local _, kind, status = pipe:close()
  return output, kind == "exit" and status or 128 + status
end

--- Seconds on a clock that only counts forward.
function M.now()
  local text = M.read "/proc/uptime"
  return tonumber(text:match "^[%d.]+")
end

function M.sleep(seconds) os.execute("sleep " .. seconds) end

--- Waits until fn() is true, at most `seconds`; returns whether it became true.
function M.eventually(seconds, fn)
  local deadline = M.now() + seconds
  repeat
    if fn() then return true end
    M.sleep(0.05)
  until M.now() > deadline
  return fn()
end

--- Runs Lua code in an interpreter of its own; returns output and exit status.
function M.lua(code, ...)
  local path = os.tmpname()
  M.write(path, code)
  local words = { "lua5.4", path }
  for i = 1, select("#", ...) do words[#words + 1] = "'" .. select(i, ...) .. "'" end
  local output, status = M.sh(table.concat(words, " "))
  os.remove(path)
  return output, status
end

--- Starts a shell command in the background; returns its process id.
function M.background(command, log)
  local pipe = assert(io.popen("exec 3>&1; ( " .. command .. " ) >" .. (log or "/dev/null")
    .. " 2>&1 3>&- & echo $! >&3", "r"))
  local pid = tonumber(pipe:read "l")
  pipe:close()
  return pid
end

--- Whether the engine lists the sandbox.
function M.listed(id)
  for info in assert(stepbox.list()) do
    if info.id == id then return true end
  end
  return false
end

--- Fails unless the sandbox is gone within two seconds.
function M.assert_gone(id)
  assert(M.eventually(2, function() return not M.listed(id) end), "sandbox " .. id .. " is still there")
end

function M.temporary()
  local pipe = assert(io.popen "mktemp -d")
  local path = pipe:read "l"
  pipe:close()
  return path
end

return M
