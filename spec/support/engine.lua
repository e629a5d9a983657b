--- An engine of its own for a spec: started in a folder of its own, and stopped with a check that nothing
--- is left over.

local cjson = require "cjson"
local assert = require "luassert"
local curl = require "spec.support.curl"
local host = require "spec.support.host"

local M = {
  sh = host.sh,
  eventually = host.eventually,
  temporary = host.temporary,
  read = host.read,
}

local build = os.getenv "STEPBOX_BUILD" or "build"
M.program = os.getenv "STEPBOX_ENGINE" or build .. "/bin/stepboxd"

function M.exists(path) return select(2, M.sh("test -e " .. curl.quote(path))) == 0 end

--- Whether a process is there and no zombie.
function M.is_alive(pid)
  local stat = M.read("/proc/" .. pid .. "/stat")
  local state = stat:match "%) (%a)"
  return state ~= nil and state ~= "Z"
end

--- The control groups that an engine made, as text.
function M.groups(engine_pid)
  return (M.sh(("find /sys/fs/cgroup -type d -name 'stepbox-*-%d-*' 2>/dev/null"):format(engine_pid)))
end

--- All processes below one, as a list.
function M.descendants(pid)
  local children, found = {}, {}
  for line in M.sh("ps -eo pid=,ppid="):gmatch "[^\n]+" do
    local child, parent = line:match "(%d+)%s+(%d+)"
    children[parent] = children[parent] or {}
    table.insert(children[parent], child)
  end
  local function add(parent)
    for _, child in ipairs(children[tostring(parent)] or {}) do
      found[#found + 1] = tonumber(child)
      add(child)
    end
  end
  add(pid)
  return found
end

--- bubblewrap and the agent of each sandbox, which are there from beginning to end, as a list.
function M.holders(pid)
  local found = {}
  for _, child in ipairs(M.descendants(pid)) do
    local name = M.read("/proc/" .. child .. "/comm")
    if name:find "^bwrap" or name:find "^stepbox%-agent" then found[#found + 1] = child end
  end
  return found
end

--- The answer is an error of the control plane that mentions `text`.
function M.assert_error(answer, status, text)
  assert.equal(status, answer.status, answer.body)
  assert.equal(status, answer.json.code)
  assert(answer.json.message:find(text, 1, true), answer.json.message .. " does not mention " .. text)
end

--- Starts making a sandbox, in a curl process of its own.
function M.start_create(daemon)
  return curl.start {
    socket = daemon.socket,
    url = "http://localhost/v2/sandboxes",
    method = "POST",
    body = '{"templateID":"base"}',
  }
end

local Engine = {}
Engine.__index = Engine

--- Starts one in the foreground; it is ready when this returns.
--- options.arguments, options.environment: shell text; options.socket: false for no unix socket;
--- options.wrapper:
--- a function that gets the folder and returns shell text in front of the program's.
function M.start(options)
  options = options or {}
  local self = setmetatable({ folder = M.temporary() }, Engine)
  self.socket = self.folder .. "/run/engine.sock"
  self.log = self.folder .. "/log"
  local socket = options.socket == false and "" or "--socket " .. self.socket
  local report = self.folder .. "/report"
  local wrapper = options.wrapper and options.wrapper(self.folder) or ""
  local command = ("%s exec %s %s %s --log-level info --ready-fd 3 %s >%s 2>&1 3>%s"):format(
    options.environment or "", wrapper, M.program, socket, options.arguments or "", self.log, report)
  local pipe = assert(io.popen("( unset LD_PRELOAD; " .. command .. " ) & echo $!", "r"))
  self.pid = tonumber(pipe:read "l") -- the watchdog: the engine is its child
  self.birth = host.birth(self.pid)
  pipe:close()
  if not M.eventually(10, function() return M.read(report):find "\n" end) or M.read(report) ~= "ready\n" then
    error("the engine did not start: " .. M.read(report) .. M.read(self.log))
  end
  self.engine_pid = M.descendants(self.pid)[1]
  if options.wrapper then self.engine_pid = math.floor(self:call("GET", "/engine").json.pid) end
  self.port = M.read(self.log):match "serving http://[^\n]*:(%d+)"
  return self
end

--- Sends a request to the control plane; body may be a table. Returns the answer, with `json` if it has any.
function Engine:call(method, path, body, headers)
  if type(body) == "table" then body = next(body) == nil and "{}" or cjson.encode(body) end
  return M.decode(curl.request {
    socket = self.socket, url = "http://localhost" .. path, method = method, body = body, headers = headers,
  })
end

function M.decode(answer)
  local kind = answer.headers["content-type"] or ""
  if kind:find "^application/json" then answer.json = cjson.decode(answer.body) end
  return answer
end

--- Makes a sandbox; returns what the engine answered.
function Engine:create(fields, headers)
  local body = { templateID = "base" }
  for name, value in pairs(fields or {}) do body[name] = value end
  local answer = self:call("POST", "/v2/sandboxes", body, headers)
  assert(answer.status == 201, answer.body)
  return answer.json
end

--- What Python code prints on the host, beside the engine; by a program that runs others, if one is given.
function Engine:outside(code, runner)
  local path = self.folder .. "/probe.py"
  local file = assert(io.open(path, "w"))
  file:write(code)
  file:close()
  return (M.sh((runner and runner .. " " or "") .. "/usr/bin/python3 " .. path))
end

--- The request that runs code in a sandbox, for curl.
function Engine:execution(sandbox, code)
  return {
    socket = self.socket,
    method = "POST",
    url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
    headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json" },
    body = cjson.encode { code = code },
  }
end

--- What the code printed, and what it raised, by the answer to that request.
function M.output_of(answer)
  local output = {}
  for line in answer.body:gmatch "[^\n]+" do
    local event = cjson.decode(line)
    if event.type == "stdout" then output[#output + 1] = event.text end
    if event.type == "error" then output[#output + 1] = event.value end
  end
  assert(answer.body:find '"end_of_execution"}\n$', answer.body)
  return table.concat(output)
end

--- Runs code in a sandbox; returns what it printed. Fails when it raised.
function Engine:inside(sandbox, code)
  local answer = curl.request(self:execution(sandbox, code))
  assert(not answer.body:find '"type": "error"', answer.body)
  return M.output_of(answer)
end

--- Runs code in a sandbox; returns what it printed, and what it raised.
function Engine:run(sandbox, code) return M.output_of(curl.request(self:execution(sandbox, code))) end

--- Runs a shell command as root of a sandbox; returns its exit status as text, nil when it did not run.
function Engine:as_root(sandbox, command)
  -- The spaces make it long enough to travel in a file: it has NULs.
  local message = (" "):rep(100000) .. cjson.encode { process = { cmd = "sh", args = { "-c", command } } }
  local answer = curl.request {
    socket = self.socket,
    method = "POST",
    url = "http://49983-" .. sandbox.sandboxID .. ".local/process.Process/Start",
    headers = {
      ["X-Access-Token"] = sandbox.envdAccessToken,
      ["Content-Type"] = "application/connect+json",
      Authorization = "Basic cm9vdDo=",
    },
    body = string.pack(">Bs4", 0, message),
  }
  return answer.body:match '"exitCode":(%d+)' or answer.body:match '"exited":true' and "0"
end

function Engine:is_running(id) return self:call("GET", "/sandboxes/" .. id).status == 200 end

--- Stops it; fails when it, a process of its sandboxes, or the socket is still there.
function Engine:stop()
  local function is_there()
    return self.birth and host.birth(self.pid) == self.birth and M.is_alive(self.pid)
  end
  local below = is_there() and M.descendants(self.pid) or {}
  host.kill(self.pid, self.birth, "TERM")
  local gone = M.eventually(5, function() return not is_there() end)
  local log = M.read(self.log)
  local socket_left = M.exists(self.socket)
  for _, pid in ipairs(below) do
    if not M.eventually(1, function() return not M.is_alive(pid) end) then
      error("process " .. pid .. " is left: " .. M.read("/proc/" .. pid .. "/cmdline"))
    end
  end
  M.sh("rm -rf " .. self.folder)
  assert(gone, "the engine does not stop")
  local groups = M.groups(self.engine_pid)
  assert(groups == "", "control groups are left: " .. groups)
  assert(not socket_left, "the socket is left")
  assert(not log:find "Sanitizer" and not log:find "runtime error", log)
end

return M
