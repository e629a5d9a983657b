local cjson = require "cjson"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local UNKNOWN = "i0000000000000000000"

local assert_error = engine.assert_error

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
