local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

--- Of all processes below one that have `text` in their arguments: their states, and clock ticks of processor
--- time.
local function processes(pid, text)
  local states, ticks = {}, 0
  for _, child in ipairs(engine.descendants(pid)) do
    if engine.read("/proc/" .. child .. "/cmdline"):gsub("%z", " "):find(text, 1, true) then
      local fields = {}
      for field in engine.read("/proc/" .. child .. "/stat"):match("%) (.*)"):gmatch "%S+" do
        fields[#fields + 1] = field
      end
      states[#states + 1] = fields[1]
      ticks = ticks + fields[12] + fields[13]
    end
  end
  return table.concat(states), ticks
end

--- Whether those use the processor.
local function are_busy(pid, text)
  local _, before = processes(pid, text)
  os.execute "sleep 0.4"
  local _, after = processes(pid, text)
  return after > before
end

describe("a sandbox that is paused", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  local function path(sandbox, below) return "/sandboxes/" .. sandbox.sandboxID .. (below or "") end

  local function pause(sandbox) assert.equal(204, daemon:call("POST", path(sandbox, "/pause")).status) end

  local function state(sandbox) return daemon:call("GET", path(sandbox)).json.state end

  it("is shown as such, found by its state, and not among the running", function()
    local sandbox, other = daemon:create { timeout = 100 }, daemon:create()
    local function found(query)
      local answer = daemon:call("GET", query)
      local ids = {}
      for i, item in ipairs(answer.json) do ids[i] = item.sandboxID .. " " .. item.state end
      return table.concat(ids, ","), answer.headers["x-total-running"]
    end
    local is_paused, runs = sandbox.sandboxID .. " paused", other.sandboxID .. " running"
    pause(sandbox)
    assert.equal("paused", state(sandbox))
    assert.equal(runs, (found "/sandboxes"))
    assert.same({ runs .. "," .. is_paused, "1" }, { found "/v2/sandboxes" })
    assert.same({ runs, "1" }, { found "/v2/sandboxes?state=running" })
    assert.same({ is_paused }, { found "/v2/sandboxes?state=paused" })
    assert.same({ runs .. "," .. is_paused, "1" }, { found "/v2/sandboxes?state=paused,running" })
    -- Pages go over both states.
    local first = daemon:call("GET", "/v2/sandboxes?limit=1")
    local second = daemon:call("GET", "/v2/sandboxes?limit=1&nextToken=" .. first.headers["x-next-token"])
    assert.equal("running", first.json[1].state)
    assert.equal("paused", second.json[1].state)
    assert.is_nil(second.headers["x-next-token"])
    -- Its life is over when it was paused, and begins anew when it goes on.
    local shown = daemon:call("GET", path(sandbox)).json
    assert.is_true(shown.endAt < daemon:call("GET", path(other)).json.startedAt:gsub("T%d%d", "T24"))
    assert.equal(201, daemon:call("POST", "/v2" .. path(sandbox, "/connect"), { timeout = 500 }).status)
    assert.equal("running", state(sandbox))
    assert.is_true(daemon:call("GET", path(sandbox)).json.endAt > shown.endAt)
    assert.same({ runs .. "," .. is_paused:gsub("paused", "running"), "2" }, { found "/v2/sandboxes" })
    for _, one in ipairs { sandbox, other } do daemon:call("DELETE", path(one)) end
  end)

  it("stands still with all its processes, and goes on where it was", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, [[
import subprocess
loop = "while :; do :; done # "
subprocess.Popen(["sh", "-c", loop + "1111"])
subprocess.Popen(["setsid", "sh", "-c", "setsid sh -c '" + loop + "2222' &"])
job = subprocess.Popen(["sh", "-c", "kill -STOP $$; sleep 4444"])
x = 41]])
    assert(engine.eventually(5, function() return processes(daemon.pid, "# 2222") ~= "" end))
    assert(engine.eventually(5, function() return processes(daemon.pid, "kill -STOP"):find "T" end))
    assert.is_true(are_busy(daemon.pid, "done # 1111"))
    assert.is_true(are_busy(daemon.pid, "done # 2222"))
    local step = curl.start(daemon:execution(sandbox, [[
import time
for i in range(10):
    print(i, flush=True)
    time.sleep(0.1)]]))
    os.execute "sleep 0.5"
    pause(sandbox)
    assert.is_false(are_busy(daemon.pid, "done # "))
    assert.is_false(are_busy(daemon.pid, "stepbox-agent"))
    assert_error(daemon:call("POST", path(sandbox, "/pause")), 409, "paused already")
    local resumed = daemon:call("POST", path(sandbox, "/resume"), { timeout = 100 })
    assert.equal(201, resumed.status)
    assert.equal(sandbox.envdAccessToken, resumed.json.envdAccessToken)
    assert_error(daemon:call("POST", path(sandbox, "/resume"), { timeout = 100 }), 409, "running already")
    assert.is_true(are_busy(daemon.pid, "done # 1111"))
    assert.is_true(are_busy(daemon.pid, "done # 2222"))
    -- What the code had stopped by itself stays so.
    assert.equal("T", (processes(daemon.pid, "kill -STOP")))
    assert.equal("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", engine.output_of(assert(step.finish())))
    assert.equal("42\n", daemon:run(sandbox, "print(x + 1)"))
    daemon:call("DELETE", path(sandbox))
  end)

  it("gives what runs in it as much time as it had left", function()
    local sandbox = daemon:create()
    -- With its NUL bytes the message goes through a file, which it does when it is long.
    local message = (" "):rep(100000) .. '{"process":{"cmd":"sh","args":["-c","sleep 1.4; echo done"]}}'
    local command = curl.start {
      socket = daemon.socket,
      method = "POST",
      url = "http://49983-" .. sandbox.sandboxID .. ".local/process.Process/Start",
      headers = {
        ["X-Access-Token"] = sandbox.envdAccessToken,
        ["Content-Type"] = "application/connect+json",
        ["Connect-Timeout-Ms"] = "2000",
      },
      body = string.pack(">Bs4", 0, message),
    }
    os.execute "sleep 0.3"
    pause(sandbox)
    os.execute "sleep 2"
    daemon:call("POST", path(sandbox, "/resume"))
    local answer = assert(command.finish())
    assert.equal(200, answer.status)
    assert.falsy(answer.body:find("deadline_exceeded", 1, true), answer.body)
    assert.truthy(answer.body:find("ZG9uZQo=", 1, true), answer.body)
    daemon:call("DELETE", path(sandbox))
  end)

  it("refuses what would need it to run, and says that it is paused", function()
    local sandbox = daemon:create()
    pause(sandbox)
    local answer = engine.decode(curl.request(daemon:execution(sandbox, "1")))
    assert.equal(502, answer.status)
    assert.same({
      sandboxId = sandbox.sandboxID, message = "The sandbox is paused", code = 502, canAutoResume = false,
    }, answer.json)
    assert_error(daemon:call("POST", path(sandbox, "/timeout"), { timeout = 5 }), 409, "is paused")
    assert_error(daemon:call("POST", path(sandbox, "/refreshes")), 409, "is paused")
    assert.equal("paused", state(sandbox))
    assert.equal(200, daemon:call("GET", path(sandbox, "/logs")).status)
    daemon:call("DELETE", path(sandbox))
  end)

  it("refuses by name what this engine does not have", function()
    local sandbox = daemon:create()
    assert_error(daemon:call("POST", path(sandbox, "/pause"), { wish = 1 }), 400, "wish")
    assert_error(daemon:call("POST", path(sandbox, "/pause"), { memory = 1 }), 400, "memory")
    assert_error(daemon:call("POST", path(sandbox, "/resume"), { timeout = 0 }), 400, "timeout")
    assert_error(daemon:call("POST", "/sandboxes/i0000000000000000000/pause"), 404, "not found")
    assert_error(daemon:call("POST", "/sandboxes/i0000000000000000000/resume"), 404, "not found")
    assert.equal("running", state(sandbox))
    daemon:call("DELETE", path(sandbox))
  end)

  it("does not end when its time would have been over, and is killed like any other", function()
    local before = processes(daemon.pid, "stepbox-agent")
    local sandbox = daemon:create { timeout = 1 }
    pause(sandbox)
    os.execute "sleep 1.5"
    assert.equal("paused", state(sandbox))
    assert.equal(#before + 2, #processes(daemon.pid, "stepbox-agent")) -- bwrap and the agent
    assert.equal(204, daemon:call("DELETE", path(sandbox)).status)
    assert_error(daemon:call("GET", path(sandbox)), 404, "not found")
    assert.equal(#before, #processes(daemon.pid, "stepbox-agent"))
  end)

  it("ends with the process that holds its lease", function()
    local sandbox = daemon:create()
    local holder = curl.start({
      socket = daemon.socket, method = "PUT", url = "http://localhost" .. path(sandbox, "/lease"),
    }, daemon:execution(sandbox, "import time; time.sleep(30)"))
    os.execute "sleep 0.5"
    pause(sandbox)
    os.execute("kill -9 " .. holder.pid)
    holder.finish()
    assert(engine.eventually(2, function() return not daemon:is_running(sandbox.sandboxID) end))
  end)

  it("is resumed once, however many ask", function()
    local sandbox = daemon:create()
    for _ = 1, 5 do
      local requests = {}
      for i = 1, 6 do
        local where = i % 2 == 0 and path(sandbox, "/pause") or "/v2" .. path(sandbox, "/connect")
        requests[i] = curl.start {
          socket = daemon.socket, method = "POST", url = "http://localhost" .. where, body = "{}",
        }
      end
      for i = 1, 6 do
        local answer = assert(requests[i].finish())
        local allowed = i % 2 == 0 and { [204] = true, [409] = true } or { [200] = true, [201] = true }
        assert.is_true(allowed[answer.status], answer.status .. answer.body)
      end
    end
    daemon:call("POST", "/v2" .. path(sandbox, "/connect"))
    assert.equal("2\n", daemon:run(sandbox, "print(1 + 1)"))
    daemon:call("DELETE", path(sandbox))
  end)

  it("pauses instead of ending when its time is over and that was asked for", function()
    local sandbox = daemon:create { timeout = 1, autoPause = true }
    assert.same({ onTimeout = "pause", autoResume = false },
      daemon:call("GET", path(sandbox)).json.lifecycle)
    daemon:run(sandbox, "x = 5")
    assert(engine.eventually(3, function() return state(sandbox) == "paused" end))
    assert.equal(201, daemon:call("POST", path(sandbox, "/connect"), { timeout = 1 }).status)
    assert.equal("5\n", daemon:run(sandbox, "print(x)"))
    -- Each time.
    assert(engine.eventually(3, function() return state(sandbox) == "paused" end))
    daemon:call("DELETE", path(sandbox))
  end)

  it("goes on by traffic when that was asked for", function()
    local sandbox = daemon:create { timeout = 1, autoPause = true, autoResume = { enabled = true } }
    assert.same({ onTimeout = "pause", autoResume = true }, daemon:call("GET", path(sandbox)).json.lifecycle)
    daemon:run(sandbox, "x = 6")
    assert(engine.eventually(3, function() return state(sandbox) == "paused" end))
    local requests = {}
    for i = 1, 4 do requests[i] = curl.start(daemon:execution(sandbox, "print(x)")) end
    for i = 1, 4 do
      assert.truthy(assert(requests[i].finish()).body:find('"6\\n"', 1, true))
    end
    assert.equal("running", state(sandbox))
    daemon:call("DELETE", path(sandbox))
  end)

  it("goes on by what comes on a connection that stands, where that was asked for", function()
    local sandbox = daemon:create { autoResume = { enabled = true } }
    local other = daemon:create()
    for _, one in ipairs { sandbox, other } do
      daemon:run(one, [[
import http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()]])
    end
    local output = engine.sh(("timeout 30 python3 -c '%s' %s %s %s"):format([[
import socket, sys
path, wakes, sleeps = sys.argv[1:]
def ask(s, host, path="/", method="GET", body=b""):
    head = "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n" % (method, path, host, len(body))
    s.sendall(head.encode() + body)
def answer(s, seconds):
    s.settimeout(seconds)
    text = b""
    try:
        while not text.endswith(b"hello"):
            piece = s.recv(4096)
            if not piece: break
            text += piece
    except TimeoutError: return "nothing"
    return text[-5:].decode()
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s
for sandbox in (wakes, sleeps):
    kept, host = connect(), "8000-%s.local" % sandbox
    ask(kept, host)
    print(answer(kept, 5))
    control = connect()
    ask(control, "l", "/sandboxes/%s/pause" % sandbox, "POST", b"{}")
    print(control.recv(4096).decode().split()[1])
    ask(kept, host)
    print(answer(kept, 5 if sandbox == wakes else 1))
    if sandbox == sleeps:
        ask(control, "l", "/v2/sandboxes/%s/connect" % sandbox, "POST", b"{}")
        print(control.recv(4096).decode().split()[1])
        print(answer(kept, 5))
]], daemon.socket, sandbox.sandboxID, other.sandboxID))
    assert.equal("hello\n204\nhello\nhello\n204\nnothing\n201\nhello\n", output)
    for _, one in ipairs { sandbox, other } do daemon:call("DELETE", path(one)) end
  end)

  it("is gone when the engine is, and the next engine knows nothing of it", function()
    local own = engine.start()
    local sandbox = own:create()
    assert.equal(204, own:call("POST", "/sandboxes/" .. sandbox.sandboxID .. "/pause").status)
    local below = engine.descendants(own.pid)
    assert.is_true(#below >= 3) -- engine, bwrap and agent at least
    os.execute("kill -9 " .. own.engine_pid)
    for _, pid in ipairs(below) do
      assert(engine.eventually(5, function() return not engine.is_alive(pid) end), "left: " .. pid)
    end
    engine.sh("rm -f " .. own.socket)
    own:stop()
    local next_one = engine.start()
    assert.equal(0, #next_one:call("GET", "/v2/sandboxes").json)
    next_one:stop()
  end)
end)
