--- For attacks on the engine's interface: an engine with two sandboxes, and a naive gateway with two of its
--- own, which get the same bytes.

local cjson = require "cjson"
local attack = require "spec.support.attack"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

local M = { KEY = "e2b_0123456789abcdef0123456789abcdef" }

local ROOT = os.getenv "STEPBOX_ROOT" or "."

local Target = {}
Target.__index = Target

--- Sends each text on a connection of its own, at the same time. Returns a list of {reply, open}. Ends before
--- so many seconds, 1 by default, when a reply has the words `enough`.
function M.send(address, texts, seconds, enough)
  local path = os.tmpname()
  -- Bytes of a text are characters to JSON: written by hand, since cjson would take them for UTF-8.
  local requests = {}
  for i, text in ipairs(texts) do
    requests[i] = '"' .. text:gsub('[%c"\\\127-\255]', function(c)
      return ("\\u%04x"):format(c:byte())
    end) .. '"'
  end
  host.write(path, ('{"address": %s, "requests": [%s], "seconds": %s, "enough": "%s"}'):format(
    cjson.encode(address), table.concat(requests, ","), seconds or 1, enough or ""))
  local output, status = host.sh(("python3 %s/spec/support/raw_http.py %s"):format(ROOT, path))
  os.remove(path)
  assert(status == 0, output)
  return cjson.decode(output)
end

--- Puts the target's names into a text: @A@ and @B@ are sandboxes, @TA@ and @TB@ their tokens, @KEY@ the key.
function Target:fill(text)
  return (text:gsub("@([AB])@", function(name) return self[name].id end)
    :gsub("@T([AB])@", function(name) return self[name].token end)
    :gsub("@KEY@", M.KEY))
end

--- Sends texts, over "tcp" or, to ours, "unix".
function Target:send(texts, over, seconds, enough)
  local filled = {}
  for i, text in ipairs(texts) do filled[i] = self:fill(text) end
  local address = over == "unix" and self.socket or { "127.0.0.1", self.port }
  return M.send(address, filled, seconds, enough)
end

--- The engine; made at its first use.
function M.ours(frame)
  if frame.api then return frame.api end
  local daemon = engine.start {
    arguments = "--listen 127.0.0.1:0 --domain sandboxes.test",
    environment = "STEPBOX_API_KEY=" .. M.KEY,
  }
  frame:finally(function() daemon:stop() end)
  local self = setmetatable({ daemon = daemon, socket = daemon.socket, port = tonumber(daemon.port) }, Target)
  for _, name in ipairs { "A", "B" } do
    local made = daemon:create()
    self[name] = { id = made.sandboxID, token = made.envdAccessToken }
  end
  frame.api = self
  return self
end

--- A naive gateway. `alone`: that serves one client at a time.
function M.naive(frame, alone)
  local name = alone and "naive_alone" or "naive"
  if frame[name] then return frame[name] end
  local self = setmetatable({
    A = { id = "inaivenaivenaivenaia", token = ("a1"):rep(16) },
    B = { id = "inaivenaivenaivenaib", token = ("b2"):rep(16) },
  }, Target)
  local report = frame:folder() .. "/" .. name
  self.pid = frame:start(("sh -c 'exec python3 %s %s %s %s %s %s %s >%s'"):format(
    ROOT .. "/spec/support/naive_gateway.py", self.A.id, self.B.id, self.A.token, self.B.token, M.KEY,
    alone and "alone" or "", report))
  assert(host.eventually(20, function() return host.read(report):find "\n" end), "no naive gateway")
  self.port = tonumber(host.read(report))
  frame[name] = self
  return self
end

--- Seconds that an answer of the engine's health takes, the middle of five: others may disturb one.
function M.health_seconds(daemon)
  local times = {}
  for i = 1, 5 do
    local before = host.now()
    assert(daemon:call("GET", "/health").status == 204)
    times[i] = host.now() - before
  end
  table.sort(times)
  return times[3]
end

--- Bytes of memory that a process has.
function M.memory(pid)
  return tonumber(host.read(("/proc/%s/status"):format(pid)):match "VmRSS:%s*(%d+) kB") * 1024
end

--- By how much the memory of a process may have grown for it to have kept no more than that. A sanitizer
--- keeps for a while what a program has given back.
function M.growth(bytes)
  return bytes + ((os.getenv "STEPBOX_BUILD" or ""):find "asan" and 256 * 1024 * 1024 or 0)
end

--- An entry whose texts must each give a secret away at the naive gateway, and at ours be answered as
--- `answer` says, with no word of what is behind. fields.answer: patterns of the status; fields.one: that
--- nothing follows the first answer.
function M.entry(fields)
  local over = fields.over or "tcp"
  function fields.control(frame)
    for i, got in ipairs(M.naive(frame):send(fields.texts, "tcp", 5, "SECRET")) do
      if not got.reply:find "SECRET" then
        error(("the naive gateway gives nothing away to text %d, and said: %s"):format(i, got.reply), 0)
      end
    end
  end
  function fields.attempt(frame)
    local ours = M.ours(frame)
    for i, got in ipairs(ours:send(fields.texts, over)) do
      local status = got.reply:match "^HTTP/1.1 (%d+)" or (got.reply == "" and "none") or "?"
      local wrong = not attack.matches(status, fields.answer) and "status " .. status
        or fields.one and got.reply:find("HTTP/1.1", 2, true) and "a second answer"
        or got.reply:find('"sandboxID"', 1, true) and "a list of sandboxes"
      if wrong then error(("text %d: %s: %s"):format(i, wrong, got.reply), 0) end
    end
    assert(M.health_seconds(ours.daemon) < 1, "the engine is slow afterwards")
  end
  return fields
end

return M
