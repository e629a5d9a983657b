local cjson = require "cjson"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

--- A server in the sandbox that answers with its path, and keeps connections.
local server = [[
import http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.path)))
        self.end_headers()
        self.wfile.write(self.path.encode())
    def log_message(self, *a): pass
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever,
  daemon=True).start()
]]

describe("traffic for a sandbox that wants a token", function()
  local daemon
  setup(function() daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key key" } end)
  teardown(function() daemon:stop() end)

  local function get(sandbox, port, headers, path)
    return engine.decode(curl.request { socket = daemon.socket, headers = headers,
      url = ("http://%d-%s.local%s"):format(port, sandbox.sandboxID, path or "/there") })
  end

  local function serve(sandbox)
    local answer = curl.request { socket = daemon.socket, method = "POST", body = cjson.encode {
      code = server },
      url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
      headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json",
        ["E2b-Traffic-Access-Token"] = sandbox.trafficAccessToken } }
    assert.equal(200, answer.status, answer.body)
    assert(not answer.body:find('"error"', 1, true), answer.body)
  end

  it("is refused without it, and with another's", function()
    local open, guarded = daemon:create(), daemon:create { network = { allowPublicTraffic = false } }
    local other = daemon:create { network = { allowPublicTraffic = false } }
    serve(open)
    serve(guarded)
    assert.is_nil(open.trafficAccessToken)
    assert.equal(200, get(open, 8000).status)
    local answer = get(guarded, 8000)
    assert.equal(403, answer.status)
    assert.equal(guarded.sandboxID, answer.json.sandboxId)
    assert.equal(403, get(guarded, 8000, { ["e2b-traffic-access-token"] = other.trafficAccessToken }).status)
    assert.equal(403, get(guarded, 8000, { ["e2b-traffic-access-token"] = guarded.envdAccessToken }).status)
    answer = get(guarded, 8000, { ["e2b-traffic-access-token"] = guarded.trafficAccessToken })
    assert.equal(200, answer.status)
    assert.equal("/there", answer.body)
    -- By header, too.
    local headers = { ["E2b-Sandbox-Id"] = guarded.sandboxID, ["E2b-Sandbox-Port"] = "8000" }
    local function by_header()
      return curl.request { socket = daemon.socket, url = "http://localhost/x", headers = headers }.status
    end
    assert.equal(403, by_header())
    headers["E2B-Traffic-Access-Token"] = guarded.trafficAccessToken
    assert.equal(200, by_header())
    -- Not known to who asks what there is.
    assert(not daemon:call("GET", "/sandboxes/" .. guarded.sandboxID).body:find(guarded.trafficAccessToken,
      1, true))
  end)

  it("does not get in behind a request that had it", function()
    local guarded = daemon:create { network = { allowPublicTraffic = false } }
    serve(guarded)
    local url = "http://8000-" .. guarded.sandboxID .. ".local/"
    -- One curl process, one host: it would use the connection again if it could.
    local output = engine.sh(("curl -sS -o /dev/null -w '%%{http_code} ' --unix-socket %s -H '%s' %s"
      .. " --next -sS -o /dev/null -w '%%{http_code}' --unix-socket %s %s"):format(daemon.socket,
      "e2b-traffic-access-token: " .. guarded.trafficAccessToken, url, daemon.socket, url))
    assert.equal("200 403", output)
    -- And in one go, which a server that keeps connections would answer twice.
    local script = ([[
import socket
s = socket.socket(socket.AF_UNIX); s.connect(%q); s.settimeout(3)
one = "GET /%%s HTTP/1.1\r\nHost: 8000-%s.local\r\n%%s\r\n"
s.sendall((one %% ("one", "e2b-traffic-access-token: %s\r\n") + one %% ("two", "")).encode())
text = b""
while (data := s.recv(4096)): text += data
print(b"/one" in text, b"/two" in text)
]]):format(daemon.socket, guarded.sandboxID, guarded.trafficAccessToken)
    local path = daemon.folder .. "/two.py"
    local file = assert(io.open(path, "w"))
    file:write(script)
    file:close()
    assert.equal("True False\n", (engine.sh("/usr/bin/python3 " .. path)))
  end)

  it("needs it for the agent's port as well, when the agent itself wants none", function()
    local fields = { templateID = "base", network = { allowPublicTraffic = false } }
    local guarded = daemon:call("POST", "/sandboxes", fields).json
    assert.is_nil(guarded.envdAccessToken)
    assert.equal(403, get(guarded, 49999, nil, "/health").status)
    assert.equal(200, get(guarded, 49999,
      { ["e2b-traffic-access-token"] = guarded.trafficAccessToken }, "/health").status)
    local secure = daemon:create { network = { allowPublicTraffic = false } }
    assert.equal(200, get(secure, 49999, nil, "/health").status)
  end)
end)
