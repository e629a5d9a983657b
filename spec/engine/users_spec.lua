--- Whose rights a request to an agent has: what is asked for root is done by root, and nothing else is.

local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

describe("a request to an agent", function()
  local daemon, sandbox, reason
  setup(function()
    daemon = engine.start()
    sandbox = daemon:create()
    local shown = daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json["local"].isolation
    if shown.ids ~= "range" then reason = "sandboxes have no root here: " .. tostring(shown.why) end
  end)
  teardown(function() daemon:stop() end)

  local function with_root(name, test)
    it(name, function()
      if reason then return pending(reason) end
      test()
    end)
  end

  local function files(method, query, body, headers)
    return curl.request {
      socket = daemon.socket,
      method = method,
      url = "http://49983-" .. sandbox.sandboxID .. ".local/files?" .. query,
      headers = headers,
      body = body,
    }
  end

  --- Whether a shell command of root's succeeds.
  local function holds(command) return daemon:as_root(sandbox, command) == "0" end

  --- The signature of a request without a token.
  local function sign(path, operation, user)
    return (daemon:outside(([[
import base64, hashlib, urllib.parse
text = "%s:%s:%s:%s"
digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
print(urllib.parse.quote("v1_" + digest, safe=""), end="")]]):format(
      path, operation, user, sandbox.envdAccessToken)))
  end

  with_root("writes every file of a form as the user it names", function()
    local part = '--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\nx\r\n'
    local both = part:format "/root/one" .. part:format "/root/two" .. "--b--\r\n"
    local answer = files("POST", "username=root", both, {
      ["X-Access-Token"] = sandbox.envdAccessToken,
      ["Content-Type"] = "multipart/form-data; boundary=b",
    })
    assert.equal(200, answer.status, answer.body)
    assert.is_true(holds "test $(stat -c %u /root/one)$(stat -c %u /root/two) = 00")
    answer = files("POST", "", part:format "/root/three" .. "--b--\r\n", {
      ["X-Access-Token"] = sandbox.envdAccessToken,
      ["Content-Type"] = "multipart/form-data; boundary=b",
    })
    assert.equal(403, answer.status, answer.body)
  end)

  with_root("by a signature is the signed user's, whatever else it names", function()
    assert.is_true(holds "echo secret >/root/secret && chmod 600 /root/secret")
    local query = "path=/root/secret&signature=" .. sign("/root/secret", "read", "")
    local as_root = { Authorization = "Basic cm9vdDo=" }
    assert.equal(403, files("GET", query).status)
    assert.equal(403, files("GET", query, nil, as_root).status)
    query = "path=/root/secret&username=root&signature=" .. sign("/root/secret", "read", "root")
    assert.equal("secret\n", files("GET", query).body)
    -- With a token it may be either, and the query has the last word.
    as_root["X-Access-Token"] = sandbox.envdAccessToken
    assert.equal("secret\n", files("GET", "path=/root/secret", nil, as_root).body)
    assert.equal(403, files("GET", "path=/root/secret&username=user", nil, as_root).status)
  end)

  with_root("of root's runs no program of user's to move a file", function()
    daemon:run(sandbox, [[
import os
os.makedirs("/home/user/.local/bin", exist_ok=True)
with open("/home/user/.local/bin/mv", "w") as f: f.write("#!/bin/sh\nid -u >/tmp/mover\nexit 1\n")
os.chmod("/home/user/.local/bin/mv", 0o755)]])
    assert.is_true(holds "echo x >/root/file")
    local answer = curl.request {
      socket = daemon.socket,
      method = "POST",
      url = "http://49983-" .. sandbox.sandboxID .. ".local/filesystem.Filesystem/Move",
      headers = {
        ["X-Access-Token"] = sandbox.envdAccessToken,
        ["Content-Type"] = "application/json",
        Authorization = "Basic cm9vdDo=",
      },
      body = '{"source":"/root/file","destination":"/dev/shm/file"}',
    }
    assert.is_true(holds "test ! -e /tmp/mover")
    assert.equal(200, answer.status, answer.body)
    assert.is_true(holds "test -e /dev/shm/file && test ! -e /root/file")
  end)
end)
