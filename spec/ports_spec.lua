local cjson = require "cjson"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"
local ports = require "spec.support.ports"
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"

local UNSERVED = 8005
--- curl tells the length of what it gets.
local LENGTH = "-o /dev/null -w '%{size_download}'"

--- Forwards of a test, closed after it.
local forwards = {}
local function forward_to(box, port, options)
  local made = assert(box:forward(port, options))
  forwards[#forwards + 1] = made
  return made
end
local function close_forwards()
  for _, made in ipairs(forwards) do made:close() end
  forwards = {}
end

describe("a server in a sandbox", function()
  local box, socket
  setup(function()
    box = assert(stepbox.create { timeout = 120 })
    ports.serve(box)
    socket = os.getenv "STEPBOX_SOCKET" or os.getenv "XDG_RUNTIME_DIR" .. "/stepbox/engine.sock"
  end)
  teardown(function() box:kill() end)

  after_each(close_forwards)

  local function forward(port, options) return forward_to(box, port, options) end

  local function request(fields)
    fields.socket = socket
    return engine.decode(curl.request(fields))
  end

  describe("by a forward", function()
    it("answers requests of every shape", function()
      local made = forward(8000)
      assert.equal("127.0.0.1", made.host)
      assert.equal("http://127.0.0.1:" .. made.port, made.url)
      assert.equal("hello from /a", ports.get(made.url .. "/a"))
      assert.equal("hello from /a", ports.get(made.url .. "/a", "--http1.0"))
      assert.equal("until the end", ports.get(made.url .. "/until-the-end"))
      assert.matches("^piece 0\n.*piece 99\n$", ports.get(made.url .. "/chunked"))
      -- Two requests on one connection.
      local twice = sandbox.sh(("curl -sv %s/a %s/b 2>&1"):format(made.url, made.url))
      assert.matches("hello from /b", twice, 1, true)
      assert.matches("Re-using existing", twice, 1, true)
    end)

    it("gets the request as it was sent", function()
      local made = forward(8000)
      local headers = cjson.decode(ports.get(made.url .. "/headers"))
      assert.equal("127.0.0.1:" .. made.port, headers.host)
      assert.is_nil(headers["e2b-sandbox-id"])
    end)

    it("takes and gives much", function()
      local made, size = forward(8000), 50 * 1024 * 1024
      local got = ports.post_zeros(made.url, size)
      assert.matches("^" .. size .. " %x+$", got)
      assert.equal(tostring(size), ports.get(made.url .. "/big/" .. size, LENGTH))
    end)

    it("speaks WebSockets and any other protocol", function()
      assert.equal("ok", ports.client(forward(8001).port, "ws"))
      assert.equal("ok", ports.client(forward(8002).port, "digest", 3000000))
      assert.equal("ok", ports.client(forward(8002).port, "digest", 0))
    end)

    it("may listen on ::1 alone", function()
      assert.equal("ok", ports.client(forward(8004).port, "digest", 10))
    end)

    it("has many connections at once", function()
      assert.equal("100 of 100", ports.client(forward(8002).port, "parallel", 100))
      -- More than are served at once: the others wait.
      local made = forward(8000)
      local many = "seq 300 | xargs -P 30 -n 10 sh -c 'for i; do curl -sS %s/x; done' -"
      assert.equal(300, select(2, sandbox.sh(many:format(made.url)):gsub("hello from /x", "")))
    end)

    it("that breaks off is seen to do so", function()
      assert.equal("half\nup\nreset", ports.client(forward(8003).port, "end", "x"))
    end)

    it("on a port that nobody serves is no connection", function()
      assert.equal("ConnectionResetError", ports.client(forward(UNSERVED).port, "digest", 10))
    end)

    it("is gone with the forward, which leaves neither port nor thread", function()
      forward(8002):close() -- what the first one starts for good
      local before = ports.threads()
      local made = assert(box:forward(8002))
      assert.equal(before + 1, ports.threads())
      local client = ports.start_client(made.port, "end")
      made:close()
      made:close()
      assert.matches("^closed after", client.finish())
      assert.equal(before, ports.threads())
      assert.equal("ConnectionRefusedError", ports.client(made.port, "digest", 1))
      assert.matches("closed", tostring(made))
      local again = forward(8002, { local_port = made.port })
      assert.equal(made.port, again.port)
      assert.equal("ok", ports.client(again.port, "digest", 10))
    end)

    it("is closed by the collector", function()
      forward(8002):close()
      local before = ports.threads()
      for _ = 1, 5 do assert(box:forward(8002)) end
      collectgarbage()
      collectgarbage()
      assert.equal(before, ports.threads())
    end)

    it("does not keep a program from ending", function()
      local code = [[
        box = assert(require("stepbox").connect(...))
        forward = assert(box:forward(8000))
        assert(io.popen("unset LD_PRELOAD; curl -sS " .. forward.url .. "/x"):read "a" == "hello from /x")
        %s]]
      for _, last in ipairs { "", "os.exit(0)", "os.exit(0, true)", "error 'x'" } do
        local start = sandbox.now()
        local output, status = sandbox.lua(code:format(last), box.id)
        assert.equal(last:find "error" and 1 or 0, status, output)
        assert.is_true(sandbox.now() - start < 3)
      end
    end)

    it("is found again when the box is not kept", function()
      local made = forward_to(assert(stepbox.connect(box.id)), 8002)
      made.box = nil
      collectgarbage()
      collectgarbage()
      assert.equal("ok", ports.client(made.port, "digest", 10))
    end)
  end)

  it("is gone with its sandbox, and its connections with it", function()
    local other = assert(stepbox.create { timeout = 60 })
    finally(function() other:kill() end)
    ports.serve(other)
    local made = forward_to(other, 8002)
    local client = ports.start_client(made.port, "end")
    assert(other:kill())
    assert.equal("reset", client.finish())
    assert.equal("ConnectionResetError", ports.client(made.port, "digest", 1))
    local nothing, message, code = other:forward(8002)
    assert.is_nil(nothing)
    assert.equal("closed", code)
    assert.matches("closed", message)
    assert.equal("closed", select(3, other:host(8002)))
  end)

  it("has a host name, which the engine's socket knows", function()
    local host = assert(box:host(8000))
    assert.equal("8000-" .. box.id .. ".stepbox", host)
    assert.equal("hello from /a", request({ url = "http://" .. host .. "/a" }).body)
    assert.equal("ok", ports.client(socket, "ws", "Host: " .. assert(box:host(8001))))
    local answer = request { url = "http://" .. assert(box:host(UNSERVED)) .. "/" }
    assert.equal(502, answer.status)
    assert.equal("The sandbox is running but port is not open", answer.json.message)
    assert.equal(UNSERVED, answer.json.port)
  end)

  it("is reached by headers", function()
    local headers = { ["E2b-Sandbox-Id"] = box.id, ["E2b-Sandbox-Port"] = "8000" }
    assert.equal("hello from /a", request({ url = "http://localhost/a", headers = headers }).body)
    local function ws(port)
      return ports.client(socket, "ws", "E2b-Sandbox-Id: " .. box.id, "E2b-Sandbox-Port: " .. port)
    end
    assert.equal("ok", ws(8001))
    assert.matches("^no upgrade: b'HTTP/1.1 200", ws(8000))
    -- What is sent behind a request that was not upgraded never gets there.
    local bytes = "GET /a HTTP/1.1\\r\\nE2b-Sandbox-Id: " .. box.id .. "\\r\\nE2b-Sandbox-Port: 8000\\r\\n"
      .. "Connection: close\\r\\n%s\\r\\nGET /b HTTP/1.1\\r\\n\\r\\n"
    for _, more in ipairs { "", "Connection: upgrade\\r\\nUpgrade: x\\r\\n" } do
      local answer = ports.client(socket, "raw", bytes:format(more))
      assert.matches("hello from /a", answer, 1, true)
      assert.is_nil(answer:find("/b", 1, true))
    end
  end)

  it("is reached by CONNECT, with any protocol", function()
    local by_name = "CONNECT %s:443 HTTP/1.1\\r\\n\\r\\n"
    local ok = "HTTP/1.1 200 Connection established ok"
    assert.equal(ok, ports.client(socket, "tunnel", by_name:format(box:host(8002))))
    local by_header = "CONNECT any:1 HTTP/1.1\\r\\nE2b-Sandbox-Id: " .. box.id
      .. "\\r\\nE2b-Sandbox-Port: 8002\\r\\n\\r\\n"
    assert.equal(ok, ports.client(socket, "tunnel", by_header))
    local refused = ports.client(socket, "tunnel", by_name:format(box:host(UNSERVED)))
    assert.matches("^HTTP/1.1 502 Bad Gateway\n", refused)
    assert.matches("port is not open", refused, 1, true)
    local unknown = ports.client(socket, "tunnel", by_name:format "8000-i0000000000000000000.x")
    assert.matches("^HTTP/1.1 502 .*The sandbox was not found", unknown)
    assert.matches("^HTTP/1.1 400 ", ports.client(socket, "tunnel", by_name:format "example.org"))
    -- The agent's own services are behind it as well, and what guards them.
    local proxied = "curl -sS --max-time 20 -p --proxy http://localhost --unix-socket %s"
      .. " -o /dev/null -w '%%{http_code}' "
    assert.equal("204", sandbox.sh(proxied:format(socket) .. "http://" .. box:host(49983) .. "/health"))
    assert.equal("401", sandbox.sh(proxied:format(socket) .. "http://" .. box:host(49983) .. "/envs"))
  end)

  it("is named by a port", function()
    for _, wrong in ipairs { 0, 65536, 1.5, -1, "80", 0 / 0 } do
      assert.has_error(function() box:host(wrong) end)
      assert.has_error(function() box:forward(wrong) end)
      assert.has_error(function() box:forward(80, { local_port = wrong }) end)
    end
    assert.error_matches(function() box:forward(8000, { port = 1 }) end, "unknown option 'port' of 'forward'")
    local made = forward(8000)
    local taken, message, code = box:forward(8000, { local_port = made.port })
    assert.is_nil(taken)
    assert.equal("system", code)
    assert.matches("127.0.0.1:" .. made.port .. ": Address already in use", message, 1, true)
  end)
end)

describe("a server in a sandbox far away", function()
  local KEY = "e2b_0123456789abcdef"
  local daemon, client, box
  setup(function()
    daemon = engine.start {
      socket = false,
      arguments = "--listen 127.0.0.1:0 --domain sandboxes.test",
      environment = "STEPBOX_API_KEY=" .. KEY,
    }
    local url = "http://127.0.0.1:" .. daemon.port
    client = assert(stepbox.client { api_url = url, sandbox_url = url, api_key = KEY })
    box = assert(client:create { timeout = 120 })
    ports.serve(box)
  end)
  teardown(function()
    box:kill()
    daemon:stop()
  end)

  after_each(close_forwards)

  local function forward(port, of) return forward_to(of or box, port) end

  it("has the host name that the server gives", function()
    assert.equal("8000-" .. box.id .. ".sandboxes.test", assert(box:host(8000)))
  end)

  it("answers requests through a forward, which rewrites them", function()
    local made = forward(8000)
    assert.equal("hello from /a", ports.get(made.url .. "/a"))
    assert.equal("hello from /a", ports.get(made.url .. "/a", "--http1.0"))
    assert.equal("until the end", ports.get(made.url .. "/until-the-end"))
    local more = "-H 'E2b-Sandbox-Id: other' -H 'X-Mine: 1'"
    local headers = cjson.decode(ports.get(made.url .. "/headers", more))
    assert.equal("127.0.0.1:" .. daemon.port, headers.host)
    assert.equal("close", headers.connection)
    assert.equal(box.id, headers["e2b-sandbox-id"])
    assert.equal("1", headers["x-mine"])
    assert.is_nil(headers["x-api-key"])
    assert.is_nil(headers["x-access-token"])
    local size = 20 * 1024 * 1024
    local got = ports.post_zeros(made.url, size)
    assert.matches("^" .. size .. " %x+$", got)
    assert.equal(tostring(size), ports.get(made.url .. "/big/" .. size, LENGTH))
    local answer = curl.request { url = forward(UNSERVED).url }
    assert.equal(502, answer.status)
    assert.matches("port is not open", answer.body, 1, true)
  end)

  it("speaks WebSockets by a forward and by its host name", function()
    assert.equal("ok", ports.client(forward(8001).port, "ws"))
    assert.equal("ok", ports.client(daemon.port, "ws", "Host: " .. box:host(8001)))
    local id = "E2b-Sandbox-Id: " .. box.id
    assert.equal("ok", ports.client(daemon.port, "ws", id, "E2b-Sandbox-Port: 8001"))
  end)

  it("gets HTTP alone through a forward", function()
    local answer = ports.client(forward(8002).port, "raw", "hello\\r\\n\\r\\n")
    assert.matches("^HTTP/1.1 400 Bad Request\r\n", answer)
    answer = ports.client(forward(8002).port, "raw", "CONNECT a:1 HTTP/1.1\\r\\n\\r\\n")
    assert.matches("^HTTP/1.1 400 Bad Request\r\n", answer)
    local long = "GET / HTTP/1.1\\r\\nX: " .. ("x"):rep(70000) .. "\\r\\n\\r\\n"
    assert.matches("^HTTP/1.1 4", ports.client(forward(8002).port, "raw", long))
  end)

  it("that cannot be reached is said to be so", function()
    local other = assert(stepbox.client {
      api_url = "http://127.0.0.1:" .. daemon.port, sandbox_url = "http://127.0.0.1:1", api_key = KEY,
    })
    local answer = curl.request { url = forward(8000, assert(other:connect(box.id))).url }
    assert.equal(502, answer.status)
    assert.matches("127.0.0.1 port 1", answer.body, 1, true)
  end)

  it("is seen to break off when its sandbox is killed", function()
    local other = assert(client:create { timeout = 60 })
    finally(function() other:kill() end)
    ports.serve(other)
    local by_name = "GET / HTTP/1.1\\r\\nHost: " .. other:host(8002) .. "\\r\\n\\r\\n"
    local request = ports.start_client(daemon.port, "held", by_name)
    local tunnel = "CONNECT " .. other:host(8002) .. ":1 HTTP/1.1\\r\\nX-API-Key: " .. KEY .. "\\r\\n\\r\\n"
    local tunnelled = ports.start_client(daemon.port, "held", tunnel)
    assert(other:kill())
    assert.equal("reset", request.finish())
    assert.equal("reset", tunnelled.finish())
  end)

  it("is open to CONNECT with the key alone", function()
    local request = "CONNECT " .. box:host(8002) .. ":80 HTTP/1.1\\r\\n%s\\r\\n"
    local function tunnel(header) return ports.client(daemon.port, "tunnel", request:format(header)) end
    assert.equal("HTTP/1.1 200 Connection established ok", tunnel("X-API-Key: " .. KEY .. "\\r\\n"))
    for _, wrong in ipairs { "", "X-API-Key: \\r\\n", "X-API-Key: " .. KEY .. "0\\r\\n" } do
      assert.matches("^HTTP/1.1 401 ", tunnel(wrong))
    end
  end)

  it("is reached with TLS", function()
    local folder, pid = sandbox.temporary(), nil
    finally(function()
      os.execute("rm -r " .. folder)
      if pid then os.execute("kill " .. pid) end
    end)
    local make = "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
      .. " -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key -out certificate"
    if select(2, sandbox.sh(make:format(folder))) ~= 0 then
      pending "no openssl to make a certificate with"
      return
    end
    local front = ("exec python3 spec/support/tls_front.py %s/port %s/certificate %s/key %s")
    pid = sandbox.background(front:format(folder, folder, folder, daemon.port))
    assert(sandbox.eventually(5, function() return engine.exists(folder .. "/port") end))
    local function connect(options)
      options.sandbox_url = "https://127.0.0.1:" .. sandbox.read(folder .. "/port"):match "%d+"
      options.api_url, options.api_key = "http://127.0.0.1:" .. daemon.port, KEY
      return assert(assert(stepbox.client(options)):connect(box.id))
    end
    local trusting = connect { ca_file = folder .. "/certificate" }
    local made = forward(8000, trusting)
    assert.equal("hello from /a", ports.get(made.url .. "/a"))
    assert.equal("20000000", ports.get(made.url .. "/big/20000000", LENGTH))
    local got = ports.post_zeros(made.url, 20000000)
    assert.matches("^20000000 %x+$", got)
    assert.equal("ok", ports.client(forward(8001, trusting).port, "ws"))
    local answer = curl.request { url = forward(8000, connect {}).url }
    assert.equal(502, answer.status)
    assert.matches("certificate", answer.body)
  end)
end)
