local cjson = require "cjson"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local UNKNOWN = "i0000000000000000000"

--- The answer is an error of the control plane that mentions `text`.
local function assert_error(answer, status, text)
  assert.equal(status, answer.status, answer.body)
  assert.equal(status, answer.json.code)
  assert(answer.json.message:find(text, 1, true), answer.json.message .. " does not mention " .. text)
end

--- Starts making a sandbox, in a curl process of its own.
local function start_create(daemon)
  return curl.start {
    socket = daemon.socket,
    url = "http://localhost/v2/sandboxes",
    method = "POST",
    body = '{"templateID":"base"}',
  }
end

describe("the engine's control plane", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  it("makes, shows, lists and kills a sandbox", function()
    local made = daemon:create { metadata = { user = "ada" }, timeout = 100 }
    assert.truthy(made.sandboxID:find "^i" and #made.sandboxID == 20)
    assert.equal("base", made.templateID)
    assert.equal("local", made.clientID)
    assert.truthy(made.envdAccessToken:find "^%x+$" and #made.envdAccessToken == 32)

    local shown = daemon:call("GET", "/sandboxes/" .. made.sandboxID)
    assert.equal(200, shown.status)
    assert.equal("running", shown.json.state)
    assert.equal("ada", shown.json.metadata.user)
    assert.equal(made.envdAccessToken, shown.json.envdAccessToken)
    assert.equal("kill", shown.json.lifecycle.onTimeout)
    assert.truthy(shown.json.startedAt:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$")
    assert.truthy(shown.json.endAt > shown.json.startedAt)

    local listed = daemon:call("GET", "/sandboxes?metadata=user%3Dada")
    assert.equal(1, #listed.json)
    assert.equal(made.sandboxID, listed.json[1].sandboxID)
    assert.is_nil(listed.json[1].envdAccessToken)

    assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. made.sandboxID).status)
    assert_error(daemon:call("GET", "/sandboxes/" .. made.sandboxID), 404,
      'sandbox "' .. made.sandboxID .. '" not found')
    assert_error(daemon:call("DELETE", "/sandboxes/" .. made.sandboxID), 404, made.sandboxID)
  end)

  it("answers a kill when the processes are gone", function()
    local before = #engine.descendants(daemon.pid)
    local made = daemon:create()
    local processes = engine.descendants(daemon.pid)
    assert.equal(before + 2, #processes) -- bwrap and the agent
    assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. made.sandboxID).status)
    assert.equal(before, #engine.descendants(daemon.pid))
  end)

  it("has tokens and time to live by the generation of the API", function()
    local first = daemon:call("POST", "/sandboxes", { templateID = "code-interpreter-v1" })
    assert.equal(201, first.status)
    assert.is_nil(first.json.envdAccessToken)
    local secure = daemon:call("POST", "/sandboxes", { templateID = "code-interpreter-v1", secure = true })
    assert.truthy(secure.json.envdAccessToken)
    local second = daemon:create()
    local function life(id)
      local shown = daemon:call("GET", "/sandboxes/" .. id).json
      local function seconds(text)
        local hour, minute, second_ = text:match "T(%d+):(%d+):(%d+)"
        return hour * 3600 + minute * 60 + second_
      end
      return (seconds(shown.endAt) - seconds(shown.startedAt)) % 86400
    end
    assert.equal(15, life(first.json.sandboxID))
    assert.equal(300, life(second.sandboxID))
    for _, id in ipairs { first.json.sandboxID, secure.json.sandboxID, second.sandboxID } do
      assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status)
    end
  end)

  it("ends a sandbox when its time is over", function()
    local id = daemon:create({ timeout = 1 }).sandboxID
    assert.is_true(daemon:is_running(id))
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
  end)

  it("moves the end only when asked to", function()
    local id = daemon:create({ timeout = 1000 }).sandboxID
    local path = "/sandboxes/" .. id
    local function end_at() return daemon:call("GET", path).json.endAt end
    local before = end_at()
    -- Connecting extends, and never shortens.
    local connected = daemon:call("POST", "/v2" .. path .. "/connect")
    assert.equal(200, connected.status)
    assert.equal(id, connected.json.sandboxID)
    assert.truthy(connected.json.envdAccessToken)
    local second = daemon:call("POST", "/v2" .. path .. "/connect", { timeout = 5, memory = false })
    assert.equal(200, second.status)
    assert.equal(200, daemon:call("POST", path .. "/connect", { timeout = 5 }).status)
    assert.equal(204, daemon:call("POST", path .. "/refreshes", { duration = 5 }).status)
    assert.equal(204, daemon:call("POST", path .. "/refreshes").status)
    assert.equal(before, end_at())
    assert.equal(200, daemon:call("POST", path .. "/connect", { timeout = 2000 }).status)
    local extended = end_at()
    assert.truthy(extended > before)
    assert.equal(204, daemon:call("POST", path .. "/refreshes", { duration = 3600 }).status)
    assert.truthy(end_at() > extended)
    -- set_timeout does both.
    assert.equal(204, daemon:call("POST", path .. "/timeout", { timeout = 1 }).status)
    assert.truthy(end_at() < before)
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
    for _, operation in ipairs { "timeout", "refreshes", "connect" } do
      assert_error(daemon:call("POST", path .. "/" .. operation, { timeout = 5 }), 404, id)
    end
  end)

  it("pages through the list", function()
    local ids = {}
    for i = 1, 5 do ids[i] = daemon:create({ metadata = { page = "yes" } }).sandboxID end
    local seen, token = {}, nil
    for _ = 1, 3 do
      local answer = daemon:call("GET", "/v2/sandboxes?limit=2&metadata=page%3Dyes&state=running&state=paused"
        .. (token and "&nextToken=" .. token or ""))
      assert.equal(200, answer.status)
      assert.equal("5", answer.headers["x-total-running"])
      for _, item in ipairs(answer.json) do seen[#seen + 1] = item.sandboxID end
      token = answer.headers["x-next-token"]
    end
    assert.is_nil(token)
    for i = 1, 5 do assert.equal(ids[6 - i], seen[i]) end -- newest first
    assert.equal(0, #daemon:call("GET", "/v2/sandboxes?state=paused").json)
    for _, id in ipairs(ids) do daemon:call("DELETE", "/sandboxes/" .. id) end
  end)

  it("refuses by name what it does not know or cannot do", function()
    local id = daemon:create().sandboxID
    local path = "/sandboxes/" .. id
    local wrong = {
      { "POST", "/v2/sandboxes", { templateID = "base", timeout = 0 }, "timeout" },
      { "POST", "/v2/sandboxes", { templateID = "base", autoPause = true }, "autoPause" },
      { "POST", "/v2/sandboxes", { templateID = "base", allow_internet_access = true }, "no network" },
      { "POST", "/v2/sandboxes", { templateID = "base", envVars = { ["A B"] = "x" } }, "A B" },
      { "POST", "/v2/sandboxes", { templateID = "base", wish = 1 }, "wish" },
      { "POST", "/sandboxes", { timeout = 5 }, "templateID" },
      { "POST", "/sandboxes", "{", "JSON" },
      { "POST", "/sandboxes", "", "empty" },
      { "POST", path .. "/timeout", { timeout = 86401 }, "timeout" },
      { "POST", path .. "/timeout", {}, "timeout" },
      { "POST", path .. "/timeout", "", "empty" },
      { "POST", path .. "/refreshes", { duration = 3601 }, "duration" },
      { "POST", path .. "/connect", {}, "timeout" },
      { "POST", "/v2" .. path .. "/connect", { memory = 1 }, "memory" },
      { "GET", "/v2/sandboxes?limit=0", nil, "limit" },
      { "GET", "/v2/sandboxes?wish=1", nil, "wish" },
      { "GET", "/sandboxes?limit=1", nil, "limit" },
    }
    for _, case in ipairs(wrong) do
      assert_error(daemon:call(case[1], case[2], case[3]), 400, case[4])
    end
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "nope" }), 404, "nope")
    local lease = { ["Stepbox-Lease"] = "x" }
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base" }, lease), 400, "Stepbox-Lease")
    daemon:call("DELETE", path)
  end)

  it("refuses a body of more than a MiB", function()
    local body = '{"templateID":"' .. ("x"):rep(1024 * 1024) .. '"}'
    assert_error(daemon:call("POST", "/v2/sandboxes", body), 413, "large")
  end)

  it("tells unknown paths from wrong methods", function()
    assert_error(daemon:call("GET", "/nope"), 404, "/nope")
    assert_error(daemon:call("POST", "/sandboxes/" .. UNKNOWN .. "/pause"), 404, "pause")
    assert_error(daemon:call("GET", "/sandboxes/%ff"), 404, "not found")
    assert_error(daemon:call("GET", "/sandboxes/" .. ("x"):rep(500)), 404, "not found")
    local answer = daemon:call("PUT", "/v2/sandboxes")
    assert_error(answer, 405, "PUT")
    assert.equal("POST, GET", answer.headers.allow)
    assert.equal("GET, DELETE", daemon:call("POST", "/sandboxes/" .. UNKNOWN).headers.allow)
    assert.equal(204, daemon:call("GET", "/health").status)
  end)

  it("makes fifty at once", function()
    local handles, ids = {}, {}
    for i = 1, 50 do
      handles[i] = start_create(daemon)
    end
    for i = 1, 50 do
      local answer = engine.decode(assert(handles[i].finish()))
      assert.equal(201, answer.status, answer.body)
      ids[answer.json.sandboxID] = true
      handles[i] = curl.start {
        socket = daemon.socket,
        url = "http://localhost/sandboxes/" .. answer.json.sandboxID,
        method = "DELETE",
      }
    end
    local count = 0
    for _ in pairs(ids) do count = count + 1 end
    assert.equal(50, count)
    for i = 1, 50 do assert.equal(204, assert(handles[i].finish()).status) end
  end)
end)

describe("the engine's leases", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  --- A curl process that takes the lease and then stays, in a step that takes long.
  local function take_lease_and_linger(sandbox)
    return curl.start({
      socket = daemon.socket,
      method = "PUT",
      url = "http://localhost/sandboxes/" .. sandbox.sandboxID .. "/lease",
    }, {
      socket = daemon.socket,
      method = "POST",
      url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
      headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json" },
      body = '{"code": "import time; time.sleep(30)"}',
    })
  end

  it("end a sandbox with the process that made it", function()
    local id = daemon:create(nil, { ["Stepbox-Lease"] = "process" }).sandboxID -- curl has ended by now
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
  end)

  it("last as long as the process that took them, and no longer", function()
    local sandbox = daemon:create()
    local holder = take_lease_and_linger(sandbox)
    os.execute "sleep 0.5"
    assert.is_true(daemon:is_running(sandbox.sandboxID))
    os.execute("kill -9 " .. holder.pid)
    holder.finish()
    assert(engine.eventually(2, function() return not daemon:is_running(sandbox.sandboxID) end))
  end)

  it("can be released", function()
    local sandbox = daemon:create()
    local path = "/sandboxes/" .. sandbox.sandboxID
    local holder = take_lease_and_linger(sandbox)
    os.execute "sleep 0.5"
    assert.equal(204, daemon:call("DELETE", path .. "/lease").status)
    os.execute("kill -9 " .. holder.pid)
    holder.finish()
    os.execute "sleep 0.5"
    assert.is_true(daemon:is_running(sandbox.sandboxID))
    assert.equal(204, daemon:call("DELETE", path).status)
    assert_error(daemon:call("PUT", path .. "/lease"), 404, sandbox.sandboxID)
    assert_error(daemon:call("DELETE", path .. "/lease"), 404, sandbox.sandboxID)
  end)

  it("do not keep a sandbox whose creation nobody waits for", function()
    local before = #engine.descendants(daemon.pid)
    for _ = 1, 5 do
      local handle = start_create(daemon)
      os.execute("kill -9 " .. handle.pid)
      handle.finish()
    end
    -- Those that were answered before the kill live on; each of the others is gone.
    assert(engine.eventually(3, function()
      return #engine.descendants(daemon.pid) == before + 2 * #daemon:call("GET", "/v2/sandboxes").json
    end))
    for _, sandbox in ipairs(daemon:call("GET", "/v2/sandboxes").json) do
      daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
    end
  end)
end)

describe("the engine's gateway", function()
  local daemon, sandbox
  setup(function()
    daemon = engine.start()
    sandbox = daemon:create()
  end)
  teardown(function() daemon:stop() end)

  local function health(url, headers)
    return engine.decode(curl.request { socket = daemon.socket, url = url, headers = headers })
  end

  it("reaches a sandbox's ports by header", function()
    assert.equal(204, health("http://localhost/health", { ["E2b-Sandbox-Id"] = sandbox.sandboxID }).status)
    local headers = { ["e2b-sandbox-id"] = sandbox.sandboxID, ["e2b-sandbox-port"] = "49999" }
    local answer = health("http://localhost/health", headers)
    assert.equal(200, answer.status)
    assert.equal("close", answer.headers.connection:lower())
  end)

  it("reaches a sandbox's ports by host name", function()
    assert.equal(204, health("http://49983-" .. sandbox.sandboxID .. ".local/health").status)
    assert.equal(200, health("http://49999-" .. sandbox.sandboxID .. ".local:3000/health").status)
  end)

  it("says when a sandbox or a port is not there", function()
    local answer = health("http://49999-" .. UNKNOWN .. ".local/health")
    assert.equal(502, answer.status)
    assert.same({ sandboxId = UNKNOWN, message = "The sandbox was not found", code = 502 }, answer.json)
    answer = health("http://localhost/", { ["E2b-Sandbox-Id"] = UNKNOWN })
    assert.equal(502, answer.status)
    answer = health("http://1234-" .. sandbox.sandboxID .. ".local/")
    assert.equal(502, answer.status)
    assert.equal("The sandbox is running but port is not open", answer.json.message)
    assert.equal(1234, answer.json.port)
  end)

  it("refuses heads that are malformed, too long, or never end", function()
    assert_error(health("http://localhost/", { ["E2b-Sandbox-Id"] = "a/b" }), 400, "E2b-Sandbox-Id")
    local headers = { ["E2b-Sandbox-Id"] = sandbox.sandboxID, ["E2b-Sandbox-Port"] = "x" }
    assert_error(health("http://localhost/", headers), 400, "E2b-Sandbox-Port")
    assert_error(health("http://localhost/", { ["X-Long"] = ("x"):rep(70000) }), 431, "64 KiB")
  end)

  it("does not take a sandbox's request on a control connection", function()
    -- One curl process, one host, two requests: the second goes over the connection of the first.
    local command = "curl -sS --unix-socket %s http://localhost/health"
      .. " --next -i --unix-socket %s -H 'E2b-Sandbox-Id: %s' http://localhost/health"
    local output = engine.sh(command:format(daemon.socket, daemon.socket, sandbox.sandboxID))
    assert(output:find "^HTTP/1.1 421", output)
  end)

  it("passes bytes through, many of them", function()
    local answer = curl.request {
      socket = daemon.socket,
      method = "POST",
      url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
      headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json" },
      body = '{"code": "for _ in range(5000): print(\\"x\\" * 1000)"}',
    }
    assert.equal(200, answer.status)
    local count = 0
    for line in answer.body:gmatch "[^\n]+" do
      local event = cjson.decode(line)
      if event.type == "stdout" then count = count + select(2, event.text:gsub("x", "")) end
    end
    assert.equal(5000 * 1000, count)
  end)
end)

describe("the engine's sandboxes", function()
  local daemon, sandbox
  setup(function()
    daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key key" }
    for _ = 1, 3 do sandbox = daemon:create() end
  end)
  teardown(function() daemon:stop() end)

  --- What Python code prints in the sandbox.
  local function inside(code)
    local answer = curl.request {
      socket = daemon.socket,
      method = "POST",
      url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
      headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json" },
      body = cjson.encode { code = code },
    }
    local printed = {}
    for line in answer.body:gmatch "[^\n]+" do
      local event = cjson.decode(line)
      if event.type == "stdout" then printed[#printed + 1] = event.text end
      assert(event.type ~= "error", line)
    end
    return table.concat(printed)
  end

  --- What the same code prints on the host.
  local function outside(code)
    local path = daemon.folder .. "/probe.py"
    local file = assert(io.open(path, "w"))
    file:write(code)
    file:close()
    return (engine.sh("/usr/bin/python3 " .. path))
  end

  it("reach nothing of the host that was not given to them", function()
    local try = "import os, socket\ndef probe(name, what):\n  try: print(name, what())\n"
      .. "  except OSError: print(name, 'failed')\n"
    local file = assert(io.open(daemon.folder .. "/secret", "w"))
    file:write "secret"
    file:close()
    local probes = {
      { "file", ("open(%q).read()"):format(daemon.folder .. "/secret"), "secret" },
      { "process", ("os.path.exists('/proc/%d/stat') and open('/proc/%d/cmdline').read()[-8:]"):format(
        daemon.engine_pid, daemon.engine_pid), "xxx\0" },
      { "network", ("socket.create_connection(('127.0.0.1', %s), 2).fileno() > 0"):format(daemon.port),
        "True" },
      { "socket", ("socket.socket(socket.AF_UNIX).connect(%q)"):format(daemon.socket), "None" },
      { "write", "os.access('/etc', os.W_OK)", "True" },
    }
    for _, probe in ipairs(probes) do
      local code = try .. ("probe('%s', lambda: %s)"):format(probe[1], probe[2])
      local there, here = outside(code), inside(code)
      -- An ordinary user may not write to /etc outside either.
      if probe[1] ~= "write" or engine.sh "id -u" == "0\n" then
        assert(there:find(probe[3], 1, true), "outside: " .. there)
      end
      assert.is_nil(here:find(probe[3], 1, true), "inside: " .. here)
    end
  end)

  it("are an unprivileged user, on the host too", function()
    local status = inside "print(open('/proc/self/status').read())"
    assert(status:find "\nUid:%s+1000%s+1000%s+1000%s+1000\n")
    assert(status:find "\nCapBnd:%s+0000000000000000\n")
    assert(status:find "\nNoNewPrivs:%s+1\n")
    for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
      local uid = engine.read("/proc/" .. pid .. "/status"):match "\nUid:%s+(%d+)"
      assert.is_not.equal("0", uid)
    end
  end)

  it("see the environment they were given, and none of the engine's", function()
    local environment = inside "import os; print(sorted(os.environ.items()))"
    assert(environment:find("('E2B_SANDBOX_ID', '" .. sandbox.sandboxID .. "')", 1, true), environment)
    assert(environment:find("('HOME', '/home/user')", 1, true))
    assert.is_nil(environment:find("STEPBOX", 1, true), environment)
  end)

  it("can fill neither the disk nor the memory by writing where nothing is theirs", function()
    local places = inside [[
import os
agent = "/opt/stepbox/stepbox-agent"
for place in ("/ /dev /etc /opt/stepbox /usr /home /proc/sys/kernel/hostname " + agent).split():
    print(place, os.access(place, os.W_OK))
print(os.statvfs("/home/user").f_blocks * os.statvfs("/home/user").f_frsize)
for place in "/home/user /tmp /var/tmp /dev/shm /run".split():
    size = os.statvfs(place).f_blocks * os.statvfs(place).f_frsize
    print(place, os.access(place, os.W_OK), 0 < size <= 2**30)
]]
    assert.equal(8, select(2, places:gsub("False\n", "")), places)
    assert.equal(5, select(2, places:gsub("True True\n", "")), places)
    assert(places:find("\n" .. 1024 * 1024 * 1024 .. "\n", 1, true), places)
  end)

  it("hold no descriptor but their own", function()
    local agents = 0
    for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
      if engine.read("/proc/" .. pid .. "/cmdline"):find "^/opt/stepbox/stepbox%-agent" then
        agents = agents + 1
        local fds = engine.sh("ls -l /proc/" .. pid .. "/fd")
        assert.is_nil(fds:find("memfd", 1, true), fds)
        assert.is_nil(fds:find(daemon.folder, 1, true), fds)
        -- The control socket, and those of the runners that it has itself.
        local runners = #engine.descendants(pid)
        assert(select(2, fds:gsub("socket:", "")) <= 1 + runners, fds)
      end
    end
    assert.equal(3, agents)
  end)
end)

describe("the engine over TCP", function()
  local KEY = "e2b_0123456789abcdef"
  local daemon
  setup(function()
    daemon = engine.start {
      socket = false,
      arguments = "--listen 127.0.0.1:0 --domain sandboxes.test",
      environment = "STEPBOX_API_KEY=" .. KEY,
    }
  end)
  teardown(function() daemon:stop() end)

  local function call(method, path, headers, body)
    local url = "http://127.0.0.1:" .. daemon.port .. path
    return engine.decode(curl.request { url = url, method = method, headers = headers, body = body })
  end

  it("asks for the key, except for its health", function()
    assert.equal(204, call("GET", "/health").status)
    assert_error(call("GET", "/v2/sandboxes"), 401, "X-API-Key")
    assert_error(call("GET", "/v2/sandboxes", { ["X-API-Key"] = "" }), 401, "X-API-Key")
    assert_error(call("GET", "/v2/sandboxes", { ["X-API-Key"] = KEY .. "0" }), 401, "X-API-Key")
    assert_error(call("GET", "/v2/sandboxes", { ["X-API-Key"] = KEY:sub(1, -2) .. "0" }), 401, "X-API-Key")
    assert_error(call("GET", "/nope"), 401, "X-API-Key")
    local answer = call("GET", "/v2/sandboxes", { ["x-api-key"] = KEY })
    assert.equal(200, answer.status)
    assert.equal("close", answer.headers.connection:lower())
  end)

  it("serves sandboxes, but no leases", function()
    local key = { ["X-API-Key"] = KEY }
    local body = '{"templateID":"base"}'
    local made = call("POST", "/v2/sandboxes", key, body)
    assert.equal(201, made.status)
    assert.equal("sandboxes.test", made.json.domain)
    local id = made.json.sandboxID
    assert.equal(204, call("GET", "/health", { ["E2b-Sandbox-Id"] = id }).status)
    assert.equal(204, call("GET", "/health", { Host = "49983-" .. id .. ".sandboxes.test" }).status)
    assert_error(call("PUT", "/sandboxes/" .. id .. "/lease", key), 400, "unix socket")
    assert_error(call("DELETE", "/sandboxes/" .. id .. "/lease", key), 400, "unix socket")
    local lease = { ["X-API-Key"] = KEY, ["Stepbox-Lease"] = "process" }
    assert_error(call("POST", "/v2/sandboxes", lease, body), 400, "unix socket")
    assert.equal(204, call("DELETE", "/sandboxes/" .. id, key).status)
  end)

  it("lets no sandbox hear the next request on a connection", function()
    -- Copied to where the sandbox's user can read it.
    local program = daemon.folder .. "/bwrap"
    local copy = "cp %s/spec/support/listening_agent.py %s && chmod 755 %s %s"
    engine.sh(copy:format(os.getenv "STEPBOX_ROOT" or ".", program, daemon.folder, program))
    local hostile = engine.start {
      socket = false,
      arguments = "--listen 127.0.0.1:0 --bwrap " .. program,
      environment = "STEPBOX_API_KEY=" .. KEY,
    }
    finally(function() hostile:stop() end)
    local made = engine.decode(curl.request {
      url = "http://127.0.0.1:" .. hostile.port .. "/v2/sandboxes",
      method = "POST",
      headers = { ["X-API-Key"] = KEY },
      body = '{"templateID":"base"}',
    })
    local bytes = "POST /first HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: " .. made.json.sandboxID
      .. "\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
      .. "GET /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: " .. KEY .. "\r\n\r\n"
    local script = daemon.folder .. "/requests"
    local file = assert(io.open(script, "wb"))
    file:write(bytes)
    file:close()
    local command = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s; cat %s >&3; timeout 3 cat <&3'"
    local heard = engine.sh(command:format(hostile.port, script))
    assert(heard:find("POST /first", 1, true) and heard:find("body\r\n0\r\n", 1, true), heard)
    assert.is_nil(heard:find(KEY, 1, true), heard)
    assert.is_nil(heard:find("GET /v2", 1, true), heard)
  end)

  it("hides the key from other users", function()
    for _, pid in ipairs { daemon.pid, daemon.engine_pid } do
      assert.is_nil(engine.read("/proc/" .. pid .. "/environ"):find(KEY, 1, true))
    end
    local other = engine.start { socket = false, arguments = "--listen 127.0.0.1:0 --api-key " .. KEY }
    finally(function() other:stop() end)
    assert.is_nil(engine.read("/proc/" .. other.pid .. "/cmdline"):find(KEY, 1, true))
    assert.is_nil(engine.read("/proc/" .. other.engine_pid .. "/cmdline"):find(KEY, 1, true))
  end)
end)

describe("stepboxd", function()
  local folder
  before_each(function() folder = engine.temporary() end)

  --- Runs it with arguments; returns what it printed and its exit status.
  local function run(arguments) return engine.sh("timeout 20 " .. engine.program .. " " .. arguments) end

  --- The processes that have the folder in their arguments.
  local function processes()
    local pids = {}
    for pid in engine.sh("pgrep -f -- '--socket " .. folder .. "'; true"):gmatch "%d+" do
      if engine.read("/proc/" .. pid .. "/comm"):find "^stepboxd" then pids[#pids + 1] = tonumber(pid) end
    end
    return pids
  end

  --- Stops those, and waits until they are gone.
  local function stop_all()
    engine.sh("kill " .. table.concat(processes(), " "))
    assert(engine.eventually(5, function() return #processes() == 0 end))
  end

  after_each(function()
    stop_all()
    engine.sh("rm -rf " .. folder)
  end)

  it("explains itself", function()
    local output, status = run "--help"
    assert.equal(0, status)
    for _, option in ipairs { "socket", "daemon", "ready-fd", "listen", "api-key", "domain", "idle-timeout",
      "log-level", "help", "version", "bwrap", "agent", "runners" } do
      assert(output:find("--" .. option, 1, true), option .. " is not explained")
    end
    assert(run("--version"):find "^stepboxd %d+%.%d+%.%d+\n$")
  end)

  it("refuses wrong arguments by name", function()
    for arguments, text in pairs {
      ["--nope"] = "nope",
      ["extra"] = "extra",
      ["--listen 127.0.0.1:0"] = "STEPBOX_API_KEY",
      ["--listen nonsense --api-key x"] = "--listen",
      ["--listen 127.0.0.1:99999 --api-key x"] = "port",
      ["--listen ::1:80 --api-key x"] = "brackets",
      ["--api-key 'a b'"] = "--api-key",
      ["--idle-timeout -1"] = "--idle-timeout",
      ["--log-level loud"] = "--log-level",
      ["--ready-fd 77"] = "--ready-fd",
    } do
      local output, status = run(arguments)
      assert.equal(2, status, arguments .. ": " .. output)
      assert(output:find(text, 1, true), arguments .. ": " .. output)
    end
  end)

  it("refuses a directory that others could use", function()
    engine.sh(("cd %s && mkdir open && chmod 755 open && ln -s . link"):format(folder))
    local wrong = { ["open/s"] = "open to others", ["link/s"] = "cannot use", ["no/no/s"] = "cannot make" }
    for name, text in pairs(wrong) do
      local output, status = run("--socket " .. folder .. "/" .. name)
      assert.equal(1, status)
      assert(output:find(text, 1, true), output)
    end
    engine.sh("touch " .. folder .. "/file")
    local output, status = run("--socket " .. folder .. "/file")
    assert.equal(1, status)
    assert(output:find("is not a socket", 1, true), output)
    assert.is_true(engine.exists(folder .. "/file"))
    output, status = run("--socket " .. folder .. "/" .. ("x"):rep(100))
    assert.equal(1, status)
    assert(output:find("too long", 1, true), output)
  end)

  it("reports why it cannot start, also from the background", function()
    for _, mode in ipairs { "", "--daemon" } do
      local command = "%s --socket %s/s %s --agent /nonexistent --ready-fd 3 3>%s/report"
      local output, status = engine.sh(command:format(engine.program, folder, mode, folder))
      assert.equal(1, status, output)
      assert(output:find("/nonexistent", 1, true), output)
      assert(engine.read(folder .. "/report"):find("^error: .*/nonexistent.*\n$"))
      assert.is_false(engine.exists(folder .. "/s"))
    end
  end)

  it("is one engine when several are started at once", function()
    local command = {}
    for i = 1, 6 do
      local one = "( %s --socket %s/s --daemon --ready-fd 3 3>%s/report%d >/dev/null 2>&1; echo $? ) &"
      command[i] = one:format(engine.program, folder, folder, i)
    end
    assert.equal(("0\n"):rep(6), (engine.sh(table.concat(command, "\n") .. "\nwait")))
    for i = 1, 6 do assert.equal("ready\n", engine.read(folder .. "/report" .. i)) end
    -- A watchdog and an engine: those that were not needed are about to end.
    assert(engine.eventually(2, function() return #processes() == 2 end))
    stop_all()
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("replaces the socket that a killed engine left", function()
    engine.sh(engine.program .. " --socket " .. folder .. "/s --daemon")
    engine.sh("kill -9 " .. table.concat(processes(), " "))
    assert(engine.eventually(5, function() return #processes() == 0 end))
    assert.is_true(engine.exists(folder .. "/s"))
    local _, status = run("--socket " .. folder .. "/s --daemon")
    assert.equal(0, status)
    assert.equal(204, curl.request({ socket = folder .. "/s", url = "http://localhost/health" }).status)
  end)

  it("holds nothing of whoever started it", function()
    local command = "exec 9<>%s/held; %s --socket %s/s --daemon"
    local output = engine.sh(command:format(folder, engine.program, folder))
    assert.equal("", output)
    for _, pid in ipairs(processes()) do
      local fds = engine.sh("ls -l /proc/" .. pid .. "/fd")
      assert.is_nil(fds:find("/held", 1, true), fds)
      assert.equal(3, select(2, fds:gsub("/dev/null", "")), fds)
      assert.equal("/\n", (engine.sh("readlink /proc/" .. pid .. "/cwd")))
    end
  end)

  it("leaves when it has been idle", function()
    engine.sh(engine.program .. " --socket " .. folder .. "/s --daemon --idle-timeout 1")
    assert.equal(2, #processes())
    local made = curl.request {
      socket = folder .. "/s",
      url = "http://localhost/v2/sandboxes",
      method = "POST",
      body = '{"templateID":"base","timeout":2}',
    }
    assert.equal(201, made.status)
    os.execute "sleep 1.5"
    assert.equal(2, #processes()) -- not with a sandbox
    assert(engine.eventually(4, function() return #processes() == 0 end))
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("is never lost by a client that comes while it leaves", function()
    -- Engines that leave at once, and clients that start one when none answers, as the library does.
    local script = ([[
      for i in $(seq 20); do
        curl -sS --max-time 5 --unix-socket %s/s http://localhost/health >/dev/null 2>&1 && continue
        %s --socket %s/s --daemon --idle-timeout 0.05 || echo failed
      done
    ]]):format(folder, engine.program, folder)
    assert.equal("", (engine.sh("( " .. script .. " ) & ( " .. script .. " ) & wait")))
    assert(engine.eventually(5, function() return #processes() == 0 end))
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("says what to change where sandboxes are forbidden", function()
    local program = folder .. "/bwrap"
    local file = assert(io.open(program, "w"))
    file:write "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
    file:close()
    engine.sh("chmod 755 " .. folder .. " " .. program)
    local daemon = engine.start { arguments = "--bwrap " .. program }
    finally(function() daemon:stop() end)
    local answer = daemon:call("POST", "/v2/sandboxes", { templateID = "base" })
    assert_error(answer, 503, "setting up uid map: Permission denied")
    assert(answer.json.message:find("userns", 1, true), answer.json.message)
    assert(answer.json.message:find("No sandbox was made", 1, true))
    assert.equal(0, #daemon:call("GET", "/v2/sandboxes").json)
    engine.sh("rm " .. program)
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base" }), 503, "install the package")
  end)

  it("kills also what a bubblewrap that was killed too early leaves", function()
    local program = folder .. "/bwrap"
    local file = assert(io.open(program, "w"))
    file:write "#!/bin/sh\nsleep 600 &\nexec sleep 600\n"
    file:close()
    engine.sh("chmod 755 " .. folder .. " " .. program)
    local daemon = engine.start { arguments = "--bwrap " .. program }
    finally(function() daemon:stop() end)
    for _, victim in ipairs { "client", "engine" } do
      local handle = start_create(daemon)
      local below
      assert(engine.eventually(2, function()
        below = engine.descendants(daemon.engine_pid)
        return #below == 2
      end))
      engine.sh("kill -9 " .. (victim == "client" and handle.pid or daemon.engine_pid))
      handle.finish()
      for _, pid in ipairs(below) do
        assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
      end
    end
  end)

  for _, victim in ipairs { "engine", "watchdog", "agent", "bwrap" } do
    it("leaves nothing behind when its " .. victim .. " is killed", function()
      local daemon = engine.start()
      finally(function() daemon:stop() end)
      for _ = 1, 3 do daemon:create() end
      local below = engine.descendants(daemon.pid)
      local parts = { engine = daemon.engine_pid, watchdog = daemon.pid }
      for _, pid in ipairs(below) do
        local name = engine.read("/proc/" .. pid .. "/cmdline")
        if name:find "^bwrap" then parts.bwrap = pid end
        if name:find "^/opt/stepbox/stepbox%-agent" then parts.agent = pid end
      end
      engine.sh("kill -9 " .. parts[victim])
      if victim == "agent" or victim == "bwrap" then
        -- Only that sandbox is gone.
        assert(engine.eventually(2, function() return #daemon:call("GET", "/sandboxes").json == 2 end))
      else
        for _, pid in ipairs(below) do
          assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
        end
        assert(engine.eventually(2, function() return not engine.is_alive(daemon.pid) end))
        assert.is_false(engine.exists(daemon.socket))
      end
    end)
  end

  it("leaves nothing behind when it is killed while sandboxes start", function()
    local daemon
    finally(function() daemon:stop() end)
    for delay = 0, 9 do
      if daemon then daemon:stop() end
      daemon = engine.start()
      local handles = {}
      for i = 1, 4 do
        handles[i] = start_create(daemon)
      end
      os.execute("sleep 0.0" .. delay)
      local below = engine.descendants(daemon.pid)
      engine.sh("kill -9 " .. daemon.engine_pid)
      for i = 1, 4 do handles[i].finish() end
      for _, pid in ipairs(below) do
        assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
      end
    end
  end)
end)
