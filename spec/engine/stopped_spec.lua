--- Code that stops every process of its user, also those that its agent is just starting.

local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

describe("an agent whose new processes are stopped by others", function()
  local daemon, sandbox
  setup(function()
    daemon = engine.start()
    sandbox = daemon:create()
  end)
  teardown(function() daemon:stop() end)

  local function url(path) return "http://49983-" .. sandbox.sandboxID .. ".local" .. path end

  local function start(seconds)
    local message = (" "):rep(100000) .. '{"process":{"cmd":"true"}}'
    return curl.start {
      socket = daemon.socket,
      method = "POST",
      seconds = seconds,
      url = url "/process.Process/Start",
      headers = {
        ["X-Access-Token"] = sandbox.envdAccessToken,
        ["Content-Type"] = "application/connect+json",
      },
      body = string.pack(">Bs4", 0, message),
    }
  end

  it("answers all the while, and starts processes again afterwards", function()
    daemon:run(sandbox, [[
import subprocess
code = """
import os, signal, time
end = time.monotonic() + 4
while time.monotonic() < end:
    try: os.kill(-1, signal.SIGSTOP)
    except OSError: pass
"""
subprocess.Popen(["setsid", "python3", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL)]])
    os.execute "sleep 0.3"
    local hit = 0
    for _ = 1, 12 do
      local process = start(1)
      assert.equal(204, curl.request { socket = daemon.socket, seconds = 5, url = url "/health" }.status)
      local answer = process.finish()
      if not (answer and answer.body:find '"exited":true') then hit = hit + 1 end
    end
    assert.is_true(hit > 0, "nothing was stopped: this shows nothing")
    assert(engine.eventually(10, function()
      local answer = start(2).finish()
      return answer and answer.body:find '"exited":true'
    end))
  end)
end)
