--- Servers inside a sandbox, and clients for them.

local curl = require "spec.support.curl"
local sandbox = require "spec.support.sandbox"

local M = {}

local START = [=[
import os, subprocess, sys
server = subprocess.Popen([sys.executable, "-c", os.environ["SERVERS"]], stdout=subprocess.PIPE)
print(server.stdout.readline())
]=]

--- Starts the servers of port_servers.py in a sandbox.
function M.serve(box)
  local source = sandbox.read(sandbox.root .. "/spec/support/port_servers.py")
  local execution = assert(box:step(START, { envs = { SERVERS = source } }))
  assert(execution.stdout:find "ready", execution.stderr)
end

local function command(where, ...)
  local words = { "python3", sandbox.root .. "/spec/support/port_client.py", where, ... }
  for i, word in ipairs(words) do words[i] = curl.quote(word) end
  return table.concat(words, " ")
end

--- Runs a client of port_client.py; returns what it says.
function M.client(where, ...)
  return (sandbox.sh(command(where, ...)):gsub("\n$", ""))
end

--- Starts one, and returns when it has said "up". The handle's finish() gives what it says then.
function M.start_client(where, ...)
  local pipe = assert(io.popen("unset LD_PRELOAD; exec " .. command(where, ...) .. " 2>&1", "r"))
  local line
  repeat line = pipe:read "l" until line == "up" or not line
  assert(line, "the client ended early")
  return {
    finish = function()
      local rest = pipe:read "a":gsub("\n$", "")
      pipe:close()
      return rest
    end,
  }
end

--- GET by curl; returns the body, and what curl says otherwise.
function M.get(url, options)
  return (sandbox.sh("curl -sS --max-time 30 " .. (options or "") .. " " .. curl.quote(url)))
end

--- POSTs that many zeros by curl; returns what the server says of them.
function M.post_zeros(url, size)
  local post = "head -c %d /dev/zero | curl -sS --max-time 60 --data-binary @- %s/x"
  return (sandbox.sh(post:format(size, url)))
end

--- How many threads this process has.
function M.threads()
  local pid = sandbox.read("/proc/self/stat"):match "^%d+"
  return select(2, sandbox.sh("ls /proc/" .. pid .. "/task"):gsub("%d+", ""))
end

return M
