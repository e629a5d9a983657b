local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

describe("an engine's sandboxes", function()
  local daemon
  before_each(function() daemon = engine.start() end)
  after_each(function() if daemon then daemon:stop() end end)

  it("take no other sandbox's token", function()
    local one, two = daemon:create(), daemon:create()
    local function try(id, token)
      local request = daemon:execution({ sandboxID = id, envdAccessToken = token }, "print(1)")
      return curl.request(request).status
    end
    assert.equal(200, try(one.sandboxID, one.envdAccessToken))
    assert.equal(200, try(two.sandboxID, two.envdAccessToken))
    assert.equal(401, try(two.sandboxID, one.envdAccessToken))
    assert.equal(401, try(one.sandboxID, two.envdAccessToken))
    assert.equal(401, try(one.sandboxID, ""))
    -- A pause and a snapshot change nothing about that.
    local path = "/sandboxes/" .. one.sandboxID
    assert.equal(204, daemon:call("POST", path .. "/pause").status)
    assert.equal(201, daemon:call("POST", "/v2" .. path .. "/connect").status)
    local snapshot = daemon:call("POST", path .. "/snapshots").json.snapshotID
    local copy = daemon:create { templateID = snapshot }
    assert.are_not.equal(one.envdAccessToken, copy.envdAccessToken)
    assert.equal(200, try(one.sandboxID, one.envdAccessToken))
    assert.equal(401, try(copy.sandboxID, one.envdAccessToken))
    assert.equal(200, try(copy.sandboxID, copy.envdAccessToken))
    assert.equal(204, daemon:call("DELETE", "/templates/" .. snapshot:gsub(":", "%%3A")).status)
  end)

  it("end with what is under way when the engine stops, and nothing new begins", function()
    local running, paused = daemon:create(), daemon:create()
    assert.equal(204, daemon:call("POST", "/sandboxes/" .. paused.sandboxID .. "/pause").status)
    local step = curl.start(daemon:execution(running, "import time\nprint('on', flush=True)\ntime.sleep(60)"))
    os.execute "sleep 0.5"
    -- On a connection that stands, a request comes together with the signal to stop.
    local requests = engine.sh(("timeout 20 python3 -c '%s' %s %d"):format([[
import os, signal, socket, sys, time
engine = int(sys.argv[2])
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /health HTTP/1.1\r\nHost: l\r\n\r\n")
print(s.recv(4096).decode())
os.kill(engine, signal.SIGSTOP)
os.kill(engine, signal.SIGTERM)
body = b"{\"templateID\":\"base\"}"
s.sendall(b"POST /v2/sandboxes HTTP/1.1\r\nHost: l\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
os.kill(engine, signal.SIGCONT)
try: print(s.recv(4096).decode() or "the end")
except ConnectionResetError: print("the end")
]], daemon.socket, daemon.engine_pid))
    assert.truthy(requests:find("HTTP/1.1 204", 1, true), requests)
    assert.truthy(requests:find("HTTP/1.1 503", 1, true) or requests:find("the end", 1, true), requests)
    -- What was under way is cut, not ended as if it was complete.
    local answer, text = step.finish()
    assert.is_nil(answer)
    assert.truthy(text:find("closed", 1, true), text)
    assert(engine.eventually(5, function() return not engine.is_alive(daemon.pid) end))
  end)

  it("are listed truly by the next engine after this one was killed", function()
    local below = engine.descendants(daemon.pid)
    local sandbox = daemon:create { autoPause = true }
    local snapshot = daemon:call("POST", "/sandboxes/" .. sandbox.sandboxID .. "/snapshots").json.snapshotID
    os.execute("kill -9 " .. daemon.engine_pid)
    for _, pid in ipairs(below) do
      assert(engine.eventually(5, function() return not engine.is_alive(pid) end))
    end
    engine.sh("rm -f " .. daemon.socket)
    daemon:stop()
    daemon = engine.start()
    assert.equal(0, #daemon:call("GET", "/v2/sandboxes").json)
    assert.equal(0, #daemon:call("GET", "/snapshots").json)
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = snapshot }), 404, "not found")
  end)

  it("are no reason to leave as idle, nor are snapshots", function()
    daemon:stop()
    daemon = engine.start { arguments = "--idle-timeout 1" }
    local sandbox = daemon:create()
    local path = "/sandboxes/" .. sandbox.sandboxID
    assert.equal(204, daemon:call("POST", path .. "/pause").status)
    os.execute "sleep 1.5"
    local snapshot = daemon:call("POST", path .. "/snapshots").json.snapshotID
    assert.equal(204, daemon:call("DELETE", path).status)
    os.execute "sleep 1.5"
    assert.equal(snapshot, daemon:call("GET", "/snapshots").json[1].snapshotID)
    assert.equal(204, daemon:call("DELETE", "/templates/" .. snapshot:gsub(":", "%%3A")).status)
    assert(engine.eventually(4, function() return not engine.is_alive(daemon.pid) end))
  end)
end)
