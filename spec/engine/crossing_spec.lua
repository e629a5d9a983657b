--- What happens to a sandbox while something else does: starts that are slow or fail, pauses, snapshots.

local engine = require "spec.support.engine"
local curl = require "spec.support.curl"

describe("a sandbox", function()
  local daemon, folder
  setup(function()
    folder = engine.temporary()
    local file = assert(io.open(folder .. "/bwrap", "w"))
    file:write(([[#!/bin/sh
[ -e %s/fail ] && exit 1
[ -e %s/slow ] && sleep 1.5
exec bwrap "$@"
]]):format(folder, folder))
    file:close()
    engine.sh(("chmod 755 %s %s/bwrap"):format(folder, folder))
    daemon = engine.start { arguments = "--bwrap " .. folder .. "/bwrap" }
  end)
  teardown(function()
    daemon:stop()
    engine.sh("rm -rf " .. folder)
  end)

  local function path(sandbox, below) return "/sandboxes/" .. sandbox.sandboxID .. (below or "") end

  local function state(sandbox) return daemon:call("GET", path(sandbox)).json.state end

  local function kill(sandbox) assert.equal(204, daemon:call("DELETE", path(sandbox)).status) end

  --- While the start of sandboxes is like that.
  local function with(start, run)
    engine.sh(("touch %s/%s"):format(folder, start))
    local ok, fault = pcall(run)
    engine.sh(("rm %s/%s"):format(folder, start))
    if not ok then error(fault, 0) end
  end

  it("is paused when its time is over before it has started, and that was asked for", function()
    local sandbox
    with("slow", function() sandbox = daemon:create { timeout = 1, autoPause = true } end)
    assert(engine.eventually(3, function() return state(sandbox) == "paused" end))
    assert.equal(201, daemon:call("POST", path(sandbox, "/connect"), { timeout = 1 }).status)
    assert(engine.eventually(3, function() return state(sandbox) == "paused" end))
    kill(sandbox)
  end)

  it("is not made when its time is over before it has started, and the answer says so", function()
    with("slow", function()
      local answer = daemon:call("POST", "/v2/sandboxes", { templateID = "base", timeout = 1 })
      engine.assert_error(answer, 504, "its time (1 second) was over before it had started")
    end)
    assert.same({}, daemon:call("GET", "/sandboxes").json)
  end)

  it("stays paused when that was asked for while a snapshot of it began", function()
    local sandbox = daemon:create()
    for _ = 1, 10 do
      local said = daemon:outside(([[
import socket
sent = []
for what in ("snapshots", "pause"):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect("%s")
    sent.append((s, b"POST /sandboxes/%s/" + what.encode() +
        b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
for s, request in sent: s.sendall(request)
for s, _ in sent: print(s.makefile("rb").read().split()[1].decode(), end=" ")]]):format(
        daemon.socket, sandbox.sandboxID))
      -- In whichever order they were read: the pause is one.
      assert.truthy(said == "201 204 " or said == "409 204 ", said)
      assert.equal("paused", state(sandbox))
      assert.equal(201, daemon:call("POST", path(sandbox, "/resume"), { timeout = 100 }).status)
    end
    kill(sandbox)
    for _, snapshot in ipairs(daemon:call("GET", "/snapshots").json) do
      local id = snapshot.snapshotID:gsub(":", "%%3A")
      assert.equal(204, daemon:call("DELETE", "/templates/" .. id).status)
    end
  end)

  it("has its snapshot taken while others fail to start", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, [[
import os
with open("/home/user/large", "wb") as f:
    for _ in range(200): f.write(os.urandom(1 << 20))]])
    local request = curl.start {
      socket = daemon.socket, method = "POST", url = "http://localhost" .. path(sandbox, "/snapshots"),
    }
    with("fail", function()
      for _ = 1, 5 do
        assert.equal(503, daemon:call("POST", "/v2/sandboxes", { templateID = "base" }).status)
      end
    end)
    local answer = engine.decode(assert(request.finish()))
    assert.equal(201, answer.status, answer.body)
    kill(sandbox)
    local id = answer.json.snapshotID:gsub(":", "%%3A")
    assert.equal(204, daemon:call("DELETE", "/templates/" .. id).status)
  end)

  it("that cannot be paused lives as long as it was asked to meanwhile", function()
    local sandbox = daemon:create { timeout = 1, autoPause = true }
    -- Its agent is one of the two processes of that name; the other one is bubblewrap.
    local agent
    for _, pid in ipairs(engine.descendants(daemon.pid)) do
      local status = engine.read("/proc/" .. pid .. "/status")
      if status:find "Name:%s+stepbox%-agent" and status:find "NSpid:%s+%d+%s+1\n" then agent = pid end
    end
    os.execute("kill -STOP " .. agent)
    os.execute "sleep 1.3"
    local answer = daemon:call("POST", "/v2" .. path(sandbox, "/connect"), { timeout = 100 })
    os.execute("kill -CONT " .. agent)
    assert.equal(201, answer.status, answer.body)
    assert.equal("2\n", daemon:run(sandbox, "print(1 + 1)"))
    os.execute "sleep 1.5"
    assert.equal("running", state(sandbox))
    kill(sandbox)
  end)
end)
