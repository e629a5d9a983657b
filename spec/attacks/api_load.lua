--- Clients that take more than their share: slow ones, many, large and deep requests.

local api = require "spec.support.api_attack"
local assert = require "luassert"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

local ROOT = os.getenv "STEPBOX_ROOT" or "."
local MIB = 1 << 20

--- Starts a crowd of slow clients; returns where it reports, once they are all there.
local function crowd(frame, address, count, seconds, text)
  frame.crowds = (frame.crowds or 0) + 1
  local report = ("%s/crowd-%d"):format(frame:folder(), frame.crowds)
  frame:start(("sh -c 'exec python3 %s/spec/support/crowd.py %s %d %s \"%s\" >%s'"):format(ROOT, address,
    count, seconds, text, report))
  assert(host.eventually(20, function() return host.read(report):find "opened" end), "no crowd")
  return report
end

--- Seconds until the health of a target is known, at most three.
local function health(target)
  local before = host.now()
  host.sh(("curl -sS -m 3 http://127.0.0.1:%s/health"):format(target.port))
  return host.now() - before
end

--- A request that says how long its body is and sends nothing of it.
local function announced(head, length, ...)
  return head .. " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " .. length
    .. "\r\n" .. table.concat({ ... }, "\r\n") .. "\r\n\r\n"
end

local function post(head, body, ...) return announced(head, #body, ...) .. body end

local SANDBOX, CODE = "E2b-Sandbox-Id: @A@", "E2b-Sandbox-Port: 49999"
local DEEP = ("["):rep(100000)

return {
  title = "The interface: load",
  alone = "its crowds of clients take what the machine has of them",

  {
    attack = "slow requests: three hundred heads that come a byte at a time",
    naive = "reads one request to its end before it takes the next client",
    ours = "others are answered at once; who has sent no head after ten seconds gets 408",
    control = function(frame)
      crowd(frame, "127.0.0.1:" .. api.naive(frame, true).port, 1, 6, "GET /health HTTP/1.1\\r\\nX: ")
      assert(health(api.naive(frame, true)) > 2.5, "the naive gateway answers beside a slow client")
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local report = crowd(frame, "127.0.0.1:" .. ours.port, 300, 14, "GET /health HTTP/1.1\\r\\nX: ")
      assert(health(ours) < 1 and api.health_seconds(ours.daemon) < 1)
      assert(host.eventually(16, function() return host.read(report):find "408 300" end), host.read(report))
    end,
  },
  {
    attack = "announce a large body without key or token, and never send it",
    naive = "waits for the body, and asks for the key then",
    ours = "401 or 403 before the body; contexts, which need no token, 413 over 64 KiB",
    control = function(frame)
      local got = api.naive(frame):send({ announced("POST /v2/sandboxes", 1000000) })[1]
      assert(got.open and got.reply == "", "the naive gateway does not wait for the body")
    end,
    attempt = function(frame)
      local texts = {
        announced("POST /v2/sandboxes", 1000000),
        announced("POST /v2/sandboxes", 1000000, "X-API-Key: wrong"),
        announced("POST /init", 16000000, SANDBOX),
        announced("POST /process.Process/List", 16000000, SANDBOX),
        announced("POST /files/compose", 16000000, SANDBOX),
        announced("POST /files?path=/tmp/x", 1000000000000, SANDBOX),
        announced("POST /nothing", 16000000, SANDBOX), announced("POST /execute", 16000000, SANDBOX, CODE),
        announced("POST /contexts", 16000000, SANDBOX, CODE),
      }
      for i, got in ipairs(api.ours(frame):send(texts)) do
        assert(got.reply:find "^HTTP/1.1 4[01][134]", ("text %d: %s"):format(i, got.reply))
      end
    end,
  },
  {
    attack = "bodies of strangers, many of them, kept open",
    naive = "keeps them in memory until they are whole",
    ours = "keeps nothing of who may not ask",
    control = function(frame)
      local naive = api.naive(frame)
      local before = api.memory(naive.pid)
      naive:send({ announced("POST /v2/sandboxes", 70 * MIB) .. ("x"):rep(16 * MIB) }, "tcp", 2)
      local peak = tonumber(host.read("/proc/" .. naive.pid .. "/status"):match "VmHWM:%s*(%d+)") * 1024
      assert(peak - before > 12 * MIB, "the naive gateway keeps nothing")
    end,
    attempt = function(frame)
      local ours, texts = api.ours(frame), {}
      local pid = ours.daemon.engine_pid
      for i = 1, 48 do texts[i] = announced("POST /v2/sandboxes", MIB) .. ("x"):rep(MIB - 1) end
      local before = api.memory(pid)
      ours:send(texts, "tcp", 3, " 401 ")
      local peak = tonumber(host.read("/proc/" .. pid .. "/status"):match "VmHWM:%s*(%d+)") * 1024
      assert(peak - before < api.growth(32 * MIB), "the engine kept " .. peak - before .. " bytes")
    end,
  },
  {
    attack = "bodies beyond all measure, with the key and the token",
    naive = "takes what is sent",
    ours = "413, in the control plane from 1 MiB, in the agent from 16 MiB",
    control = function(frame)
      local got = api.naive(frame):send({
        post("POST /v2/sandboxes", '"' .. ("x"):rep(20 * MIB) .. '"', "X-API-Key: @KEY@"),
      }, "tcp", 10, "SECRET")
      assert(got[1].reply:find "SECRET")
    end,
    attempt = function(frame)
      local body = '{"code": "' .. ("x"):rep(20 * MIB) .. '"}'
      local answers = api.ours(frame):send({
        post("POST /v2/sandboxes", body, "X-API-Key: @KEY@"),
        post("POST /execute", body, SANDBOX, CODE, "X-Access-Token: @TA@"),
        post("POST /process.Process/List", body, SANDBOX, "X-Access-Token: @TA@"),
      }, "tcp", 10, " 413 ")
      for i, got in ipairs(answers) do
        -- The answer may be lost to a client that is still sending when the connection ends.
        local refused = got.reply == "" and not got.open or got.reply:find "^HTTP/1.1 413"
        assert(refused, i .. ": " .. got.reply:sub(1, 300))
      end
      assert(api.health_seconds(api.ours(frame).daemon) < 1)
    end,
  },
  {
    attack = "JSON a hundred thousand levels deep",
    naive = "its parser recurses until the stack ends",
    ours = "400 or 422, at once",
    control = function(frame)
      local got = api.naive(frame):send({ post("POST /v2/sandboxes", DEEP, "X-API-Key: @KEY@") })[1]
      assert(got.reply == "" and not got.open, "the naive gateway answers: " .. got.reply)
    end,
    attempt = function(frame)
      local answers = api.ours(frame):send {
        post("POST /v2/sandboxes", DEEP, "X-API-Key: @KEY@"),
        post("POST /v2/sandboxes", '{"metadata":' .. ('{"a":'):rep(100000), "X-API-Key: @KEY@"),
        post("POST /execute", DEEP, SANDBOX, CODE, "X-Access-Token: @TA@"),
        post("POST /contexts", DEEP:sub(1, 60000), SANDBOX, CODE),
        post("POST /process.Process/List", DEEP, SANDBOX, "X-Access-Token: @TA@"),
        post("POST /filesystem.Filesystem/Stat", DEEP, SANDBOX, "X-Access-Token: @TA@"),
      }
      for i, got in ipairs(answers) do
        assert(got.reply:find "^HTTP/1.1 4[02][02]", ("text %d: %s"):format(i, got.reply:sub(1, 300)))
      end
    end,
  },
  {
    attack = "all of the engine's connections, taken over TCP by somebody with no key",
    naive = "nobody gets in any more, not even to stop it",
    ours = "503 for those that are too many; a quarter is for the unix socket",
    control = function(frame)
      frame.small = engine.start {
        arguments = "--listen 127.0.0.1:0",
        environment = "ulimit -n 400; STEPBOX_API_KEY=" .. api.KEY,
      }
      frame:finally(function() frame.small:stop() end)
      frame.report = crowd(frame, "127.0.0.1:" .. frame.small.port, 500, 4, "GET /health HTTP/1.1\\r\\nX: ")
    end,
    attempt = function(frame)
      assert(api.health_seconds(frame.small) < 1)
      local made = frame.small:create()
      assert.equal(204, frame.small:call("DELETE", "/sandboxes/" .. made.sandboxID).status)
      assert(host.eventually(10, function() return select(2, host.read(frame.report):gsub("\n", "")) > 1 end))
      assert(host.read(frame.report):find "\n503 %d%d", "nobody was refused: " .. host.read(frame.report))
    end,
  },
  {
    attack = "ask for output without end, and read none of it",
    naive = "keeps what cannot be sent",
    ours = "holds the code back: memory stays as it is",
    control = function(frame)
      local ours = api.ours(frame)
      local endless = post("POST /execute", '{"code": "while True: print(\\"x\\" * 1000)"}', SANDBOX, CODE,
        "X-Access-Token: @TA@")
      frame.endless = endless
      local got = ours:send({ endless }, "tcp", 2)[1]
      assert(#got.reply >= MIB, "no output to speak of")
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local before = api.memory(ours.daemon.engine_pid)
      local text = ours:fill(frame.endless):gsub("\r", "\\r"):gsub("\n", "\\n"):gsub('"', '\\042')
      host.write(frame:folder() .. "/endless", text)
      frame.crowds = frame.crowds or 0
      crowd(frame, "127.0.0.1:" .. ours.port, 1, 4, "$(cat " .. frame:folder() .. "/endless)")
      host.sleep(2)
      assert(api.memory(ours.daemon.engine_pid) - before < api.growth(8 * MIB))
      assert(api.health_seconds(ours.daemon) < 1)
      local made = ours.daemon:call("GET", "/sandboxes/" .. ours.A.id)
      assert.equal(200, made.status)
    end,
  },
}
