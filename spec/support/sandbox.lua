--- What several specs of the client need: what the host has, programs run aside, and whether a sandbox is
--- still there.

local host = require "spec.support.host"
local stepbox = require "stepbox"

local M = {}
for name, value in pairs(host) do M[name] = value end

--- The path of this checkout, and of what was built from it (the test program says where).
M.root = assert(os.getenv "STEPBOX_ROOT", "run the specs by `make test` or `make spec`")
M.build = assert(os.getenv "STEPBOX_BUILD")

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
  local pipe = assert(io.popen("unset LD_PRELOAD; exec 3>&1; ( " .. command .. " ) >" .. (log or "/dev/null")
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

return M
