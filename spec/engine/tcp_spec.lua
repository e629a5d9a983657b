local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

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
