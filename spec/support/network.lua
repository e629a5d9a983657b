--- A network of the tests' own (spec/support/network/world.sh), with an engine on its "host".

local engine = require "spec.support.engine"

local M = {}

--- Why it cannot be had here; nil when it can.
function M.missing()
  if engine.sh "id -u" ~= "0\n" then return "only root can make a network for tests" end
  for _, program in ipairs { "ip", "nsenter", "unshare", "setpriv", "nft", "pasta" } do
    if select(2, engine.sh("PATH=$PATH:/usr/sbin:/sbin command -v " .. program)) ~= 0 then
      return program .. " is not installed"
    end
  end
  local _, status = engine.sh "unshare --net --mount true"
  if status ~= 0 then return "this root may not make network namespaces" end
end

--- Why an engine cannot run here as a user; nil when it can.
function M.closed_to(user)
  local test = ("setpriv --reuid %d --regid %d --clear-groups test -r %s"):format(user, user, engine.program)
  if user > 0 and select(2, engine.sh(test)) ~= 0 then return "needs a checkout that everybody may read" end
end

--- Whom engines run as in tests: number, in words, and the ids that their sandboxes have ("range" or
--- "single"). The last is one that has subordinate ids, where there is one.
function M.users()
  local users = { { number = 0, whose = "of root", ids = "range" },
    { number = 60999, whose = "of an ordinary user", ids = "single" } }
  local _, status = engine.sh "command -v newuidmap"
  for name in (status == 0 and engine.read "/etc/subuid" or ""):gmatch "([^:\n]+):%d+:%d+" do
    local number = tonumber((engine.sh(("id -u '%s'"):format(name))))
    if number and number > 0 then
      users[3] = { number = number, whose = "of a user with subordinate ids", ids = "range" }
      break
    end
  end
  return users
end

local World = {}
World.__index = World

--- Starts it; options.user: the number of the user that the engine runs as; options.environment: of the
--- engine, and options.arguments: more for it, as shell text.
function M.start(options)
  options = options or {}
  local self = setmetatable({ read = {} }, World)
  local function wrapper(folder)
    self.folder = folder
    engine.sh(("mkdir -m 700 %s/run; chmod 755 %s; chown -R %d %s"):format(folder, folder, options.user or 0,
      folder))
    return ("unshare --net --mount spec/support/network/world.sh %s %d"):format(folder, options.user or 0)
  end
  self.daemon = engine.start {
    wrapper = wrapper, arguments = "--idle-timeout 0 " .. (options.arguments or ""),
    environment = "XDG_CONFIG_HOME=/nonexistent PATH=$PATH:/usr/sbin:/sbin " .. (options.environment or ""),
  }
  return self
end

function World:stop() self.daemon:stop() end

--- Makes a sandbox; returns what the engine answered.
function World:create(fields) return self.daemon:create(fields) end

--- What Python code prints in a sandbox.
function World:inside(sandbox, code) return self.daemon:inside(sandbox, code) end

--- What it prints on the host of this network.
function World:outside(code)
  return self.daemon:outside(code, ("nsenter --target %d --net --mount"):format(self.daemon.engine_pid))
end

--- Changes the network of a sandbox; returns the answer.
function World:change(sandbox, fields)
  return self.daemon:call("PUT", "/sandboxes/" .. sandbox.sandboxID .. "/network", fields)
end

--- What a server has noted since the last time.
function World:noted(name)
  local text = engine.read(self.folder .. "/" .. name .. ".log")
  local read = self.read[name] or 0
  self.read[name] = #text
  return text:sub(read + 1)
end

--- Waits until the servers `names` have noted something for each pattern, at most `seconds`; returns all that
--- they noted meanwhile.
function World:await_notes(names, patterns, seconds)
  local seen = ""
  assert(engine.eventually(seconds, function()
    for _, name in ipairs(names) do seen = seen .. self:noted(name) end
    for _, pattern in ipairs(patterns) do
      if not seen:find(pattern) then return false end
    end
    return true
  end), "not all came to the servers: " .. seen)
  return seen
end

--- Python that defines what probes need. Each prints one line: who answered, or "no: " and why not.
M.probes = [[
import socket, ssl
def ask(host, port, say=b"", timeout=3):
    try:
        with socket.create_connection((host, port), timeout) as s:
            s.settimeout(timeout)
            s.sendall(say)
            data = more = s.recv(1000)
            while more and data.endswith(b"\r\n\r\n"):  # a head, whose body comes by itself
                more = s.recv(1000)
                data += more
            return data.decode().split("\r\n\r\n")[-1].strip() or "no: nothing"
    except OSError as error:
        return "no: %s" % error
def tcp(host, port=8080):
    print(ask(host, port))
def http(host, name=None):
    print(ask(host, 80, b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % (name or host).encode()))
def tls(host, name=None):
    out = ssl.MemoryBIO()
    connection = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=name or host)
    try: connection.do_handshake()
    except ssl.SSLWantReadError: pass
    print(ask(host, 443, out.read()))
def udp(host, port=53):
    query = b"\0\7\1\0\0\1\0\0\0\0\0\0\6public\7example\0\0\1\0\1"
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            s.sendto(query, (host, port))
            print("answered" if s.recv(1000) else "no: nothing")
    except OSError as error:
        print("no: %s" % error)
def name(host):
    try: print(socket.getaddrinfo(host, 80, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
    except OSError as error: print("no: %s" % error)
]]

--- The lines that calls of the probes print, inside (a sandbox) or outside (nil).
function World:probe(sandbox, calls)
  local code = M.probes .. table.concat(calls, "\n") .. "\n"
  local text = sandbox and self:inside(sandbox, code) or self:outside(code)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  assert(#lines == #calls, text)
  return lines
end

return M
