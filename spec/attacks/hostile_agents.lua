--- Agents that are out to harm the engine, as one that was taken over would be: programs in its place.

local api = require "spec.support.api_attack"
local assert = require "luassert"
local cjson = require "cjson"
local engine = require "spec.support.engine"
local host = require "spec.support.host"
local hostile = require "spec.support.hostile_agent"

local MIB = 1 << 20

local function answers(daemon) assert(api.health_seconds(daemon) < 1, "the engine is slow") end

local function refused(daemon, pending)
  local before = host.now()
  answers(daemon)
  local answer = engine.decode(assert(pending.finish()))
  assert(answer.status >= 500 and answer.json.message ~= "", answer.body)
  assert(host.now() - before < 10, "the sandbox took long to fail")
  assert.equal(0, daemon:call("GET", "/engine").json.sandboxes)
end

return {
  title = "Hostile agents",

  {
    attack = "an agent that answers rubbish when it is set up",
    naive = "parses it as what it should be",
    ours = "create answers 5xx; nothing is left",
    control = function(frame)
      local found = hostile.tried(frame, 1)
      assert(found.answer == 4096 and not found.started, cjson.encode(found))
    end,
    attempt = function(frame) hostile.with(frame, 1, refused) end,
  },
  {
    attack = "an agent whose answer never ends",
    naive = "reads it into memory",
    ours = "reads 64 bytes of it: create answers 5xx",
    control = function(frame) assert(hostile.tried(frame, 2).answer > 10 * MIB) end,
    attempt = function(frame)
      hostile.with(frame, 2, function(daemon, pending)
        local before = api.memory(daemon.engine_pid)
        refused(daemon, pending)
        assert(api.memory(daemon.engine_pid) - before < api.growth(8 * MIB))
      end)
    end,
  },
  {
    attack = "an agent that never answers",
    naive = "waits with everything else",
    ours = "the engine goes on; who gives up has the sandbox ended, else it ends after 30 seconds",
    control = function(frame)
      local found = hostile.tried(frame, 3)
      assert(found.answer == 0 and found.errors == 0)
    end,
    attempt = function(frame)
      hostile.with(frame, 3, function(daemon, pending)
        answers(daemon)
        assert.equal(1, daemon:call("GET", "/engine").json.sandboxes)
        host.sh("kill " .. pending.pid)
        assert(host.eventually(3, function()
          return daemon:call("GET", "/engine").json.sandboxes == 0
        end), "the sandbox is still there")
      end)
    end,
  },
  {
    attack = "an agent that floods its standard error, the control socket with words and descriptors, and "
      .. "each connection",
    naive = "is busy with it, keeps the descriptors, and runs out of memory",
    ours = "it gets its turn and no more: others are answered within a second, memory and descriptors stay, "
      .. "and it can be killed",
    control = function(frame)
      local found = hostile.tried(frame, 4)
      assert(found.started and found.errors > MIB and found.words > 1000 and found.descriptors > 1000,
        cjson.encode(found))
    end,
    attempt = function(frame)
      hostile.with(frame, 4, function(daemon, pending)
        local answer = engine.decode(assert(pending.finish()))
        assert.equal(201, answer.status, answer.body)
        local id, pid = answer.json.sandboxID, daemon.engine_pid
        local function descriptors() return select(2, host.sh("ls /proc/" .. pid .. "/fd"):gsub("\n", "")) end
        local memory, open = api.memory(pid), descriptors()
        -- Two that read, and one that does not.
        local readers = {}
        for _ = 1, 2 do
          readers[#readers + 1] = frame:start(("curl -sS -m 5 -o /dev/null --unix-socket %s "
            .. "-H 'E2b-Sandbox-Id: %s' http://x/"):format(daemon.socket, id))
        end
        for _ = 1, 4 do answers(daemon) end
        local more = api.memory(pid) - memory
        assert(more < api.growth(32 * MIB), "the engine has " .. more .. " bytes more")
        assert(descriptors() - open < 30, descriptors() .. " descriptors")
        assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status)
        assert.equal(0, daemon:call("GET", "/engine").json.sandboxes)
      end)
    end,
  },
}
