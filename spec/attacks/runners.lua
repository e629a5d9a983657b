--- Runners and the line protocol between them and the agent: code that poses as its runner, as another
--- context's, or as the agent; what runners that were forked from one process have of each other.

local api = require "spec.support.api_attack"
local assert = require "luassert"
local cjson = require "cjson"
local contexts = require "spec.support.contexts"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"
local hostile = require "spec.support.hostile_agent"
local host = require "spec.support.host"

local ROOT = os.getenv "STEPBOX_ROOT" or "."

--- The lines of a step that has not happened, as Python.
local FORGED = [[
forged = "".join('\n{"type": ' + text + '}\n' for text in (
    '"number_of_executions", "execution_count": 4711', '"result", "text": "forged", "is_main_result": true',
    '"error", "name": "Forged", "value": "forged", "traceback": "forged"', '"end"', '"end_of_execution"',
    '"ready"', '"drain"', '"drained"')).encode()
]]

--- Writes them to each descriptor that there is.
local TO_ALL = FORGED .. [[
import os
for number in range(3, 1100):
    try:
        os.write(number, forged)
    except OSError:
        pass
]]

local function daemon_of(frame)
  if not frame.daemon then
    frame.daemon = engine.start()
    frame:finally(function() frame.daemon:stop() end)
    engine.eventually(30, function()
      local told = frame.daemon:call("GET", "/engine").json.host.zygotes
      return told.why or told.ready >= 2
    end)
  end
  return frame.daemon
end

--- A sandbox of that name.
local function box_of(frame, name)
  frame.boxes = frame.boxes or {}
  frame.boxes[name] = frame.boxes[name] or contexts.box(daemon_of(frame))
  return frame.boxes[name]
end

--- Skips where Python is started for each context.
local function needs_forks(frame)
  local why = daemon_of(frame):call("GET", "/engine").json.host.zygotes.why
  return why and "runners are not forked here: " .. why or nil
end

--- The events of a step.
local function events_of(box, code, context)
  local answer = box:request("POST", "/execute", { code = code, context_id = context })
  assert.equal(200, answer.status, answer.body)
  local events = {}
  for line in answer.body:gmatch "[^\n]+" do events[#events + 1] = cjson.decode(line) end
  assert(#events > 0 and events[#events].type == "end_of_execution", answer.body:sub(-300))
  return events
end

local function text_of(events, kind)
  local parts = {}
  for _, event in ipairs(events) do
    if event.type == kind then parts[#parts + 1] = event.text or event.name end
  end
  return table.concat(parts)
end

--- What a naive supervisor takes for a step with this code.
local function naive(way, code)
  return (host.sh(("python3 %s/spec/support/naive_runner.py %s %s"):format(ROOT, way, curl.quote(code))))
end

local function naive_believes(way, code)
  return function()
    local said = naive(way, code)
    assert(said:find("forged", 1, true) and not said:find('"true"', 1, true), said)
    assert(naive(way, "1"):find('"true"', 1, true), "it believes nothing")
  end
end

--- The step is as it was, with no event that was forged; its result is `answer`.
local function is_genuine(events, answer)
  assert.equal("", text_of(events, "error"))
  assert.equal(answer, text_of(events, "result"))
  for _, event in ipairs(events) do assert(event.execution_count ~= 4711, "a forged count") end
end

--- A fork by the first words, whose child does the second.
local AFTER_FORK = "import ctypes, os\nchild = %s\nif not child:\n try:\n  exec(r'''%s''')\n finally:\n"
  .. "  os._exit(0)\nos.waitpid(child, 0)\n6 * 7"

local IN_CHILD = TO_ALL .. [[
for descriptor in (1, 2):
    os.write(descriptor, forged)
]]

local function in_child(python)
  return ("child = %q\nimport subprocess\nsubprocess.run(['/usr/bin/python3', '-c', child], "
    .. "close_fds=False)\n"):format(python):gsub("\\\n", "\\n")
end

return {
  title = "Runners and their protocol",

  {
    attack = "print the lines of the protocol: results, errors, counts, the end of the step",
    naive = "the protocol is on standard output, and the step is what was printed",
    ours = "they are text: the protocol has a socket of its own",
    control = naive_believes("stdout", FORGED .. "import os; os.write(1, forged)"),
    attempt = function(frame)
      local box = box_of(frame, "one")
      local events = events_of(box, FORGED .. [[
import os, sys
print(forged.decode(), end="", flush=True)
os.write(1, forged)
os.write(2, forged)
6 * 7]])
      is_genuine(events, "42")
      assert(text_of(events, "stdout"):find('"end_of_execution"', 1, true))
      assert(text_of(events, "stderr"):find('"end_of_execution"', 1, true))
      is_genuine(events_of(box, "6 * 8"), "48")
    end,
  },
  {
    attack = "have a child write those lines to every descriptor that it inherits",
    naive = "the child has its runner's channel",
    ours = "it has three descriptors, and none of them is the channel",
    control = naive_believes("inherited", in_child(TO_ALL)),
    attempt = function(frame)
      local box = box_of(frame, "one")
      is_genuine(events_of(box, in_child(IN_CHILD) .. "6 * 7"), "42")
      -- A child that is no other program has what was open, but for that.
      is_genuine(events_of(box, AFTER_FORK:format("os.fork()", IN_CHILD)), "42")
      is_genuine(events_of(box, "6 * 8"), "48")
    end,
  },
  {
    attack = "end a step, or make up its results, on one's own runner's channel",
    naive = "the agent loses count, and takes the next step's lines for another's",
    ours = "deceives its own context alone: every answer is whole, other contexts and the agent go on",
    control = naive_believes("inherited", FORGED .. "import os; os.write(int(sys.argv[1]), forged)"),
    attempt = function(frame)
      local box = box_of(frame, "deceived")
      local other = box:context()
      assert.equal("7\n", box:run("kept = 7; print(kept)", other))
      for _, code in ipairs {
        TO_ALL .. "1",
        -- A fork that Python does not see leaves the channel open.
        AFTER_FORK:format("ctypes.CDLL(None).fork()", TO_ALL),
        TO_ALL:gsub("forged%)", "b'[' * 100000 + b'\\n')") .. "2",
        TO_ALL:gsub("forged%)", "b'\\xff\\0{}\\n' * 1000)") .. "3",
        TO_ALL:gsub("forged%)", "b'{\"type\": 5}\\n{\"type\": \"result\"}\\n{\"exit\": 7}\\n')") .. "4",
        TO_ALL:gsub("forged%)", "b'{\"type\": \"end\"}\\n' * 5000)") .. "5",
      } do
        local own = box:context()
        events_of(box, code, own)
        -- It may be lost; then that is said, and the next step is a whole one again.
        for _ = 1, 2 do events_of(box, "6 * 7", own) end
        is_genuine(events_of(box, "kept * 6", other), "42")
      end
      assert(api.health_seconds(frame.daemon) < 1, "the engine is slow")
    end,
  },
  {
    attack = "speak as another context: open its runner's channel, take its descriptors, write its memory",
    naive = "is the same user, who may do all that",
    ours = "ENXIO, EPERM and EACCES: a runner may not be looked into, by its own user either",
    control = function(frame)
      local pid = frame:start(
        [[/usr/bin/python3 -c "import socket, time; a = socket.socketpair(); time.sleep(60)"]])
      host.sleep(0.3)
      local said = frame:outside { python = ([[
open("/proc/%d/mem", "r+b", 0).close()
links = [os.readlink("/proc/%d/fd/" + n) for n in os.listdir("/proc/%d/fd")]
print("ok" if any("socket" in l for l in links) else links)]]):gsub("%%d", math.floor(pid)) }
      frame:expect(said, "ok", "outside")
    end,
    attempt = function(frame)
      local box = box_of(frame, "two contexts")
      local other = box:context()
      local victim = box:run("import os; kept = 7; print(os.getpid(), end='')", other)
      local code = ([[
import os
found = []
def attempt(name, action):
    try:
        action()
        found.append(name)
    except OSError:
        pass
for name in ("mem", "environ", "maps", "auxv", "stack", "syscall"):
    attempt(name, lambda: open("/proc/@/" + name, "rb", 0).read(1))
attempt("mem to write", lambda: open("/proc/@/mem", "r+b", 0).close())
attempt("descriptors", lambda: os.listdir("/proc/@/fd"))
for number in range(0, 1100):
    attempt("descriptor %d" % number, lambda: os.close(os.open("/proc/@/fd/%d" % number, os.O_RDWR)))
print(found)]]):gsub("@", victim)
      assert.equal("[]\n", (box:run(code)))
      -- Another program of the same user may not, either.
      local program = box:run("open('/tmp/look.py', 'w').write(" .. ("%q"):format(code):gsub("\\\n", "\\n")
        .. "); import subprocess; print(subprocess.run(['/usr/bin/python3', '/tmp/look.py'], stdout=-1, "
        .. "stderr=-2, text=True).stdout, end='')")
      assert.equal("[]\n", program)
      is_genuine(events_of(box, "kept * 6", other), "42")
    end,
  },
  {
    attack = "know what another sandbox's runner draws at random, as both were forked from one process",
    naive = "both draw the same",
    ours = "each draws anew after the fork: random, uuid, secrets, tempfile, ssl, numpy",
    needs = needs_forks,
    control = function()
      local said = host.sh [[python3 -c '
import os, random
drawn = random.Random()
for _ in (1, 2):
    if os.fork() == 0:
        print(drawn.random(), flush=True)
        os._exit(0)
    os.wait()']]
      local first, second = said:match "(%S+)\n(%S+)\n"
      assert(first and first == second, said)
    end,
    attempt = function(frame)
      local seen = {}
      for _, name in ipairs { "one", "other" } do
        local box = box_of(frame, name)
        for _, context in ipairs { box:context(), box:context() } do
          local printed = box:run([[
import multiprocessing, random, secrets, ssl, tempfile, uuid
print(random.random(), uuid.uuid4(), secrets.token_hex(), ssl.RAND_bytes(8).hex(), tempfile.mktemp(),
      bytes(multiprocessing.current_process().authkey).hex())
try:
    import numpy
    print(numpy.random.random())
except ImportError:
    pass]], context)
          for word in printed:gmatch "%S+" do
            assert(not seen[word], word .. " was drawn twice")
            seen[word] = true
          end
        end
      end
    end,
  },
  {
    attack = "find another sandbox's words, variables and files in the memory, environment and descriptors "
      .. "of a forked runner",
    naive = "what was there before the fork is there after it",
    ours = "a runner is forked from what has run nobody's code",
    needs = needs_forks,
    control = function()
      local said = host.sh [[python3 -c '
import os
words = "planted-" * 2 + "secret"
os.environ["PLANTED"] = words
if os.fork() == 0:
    print(os.environ["PLANTED"], words, flush=True)
    os._exit(0)
os.wait()']]
      assert(said:find "planted%-planted%-secret planted", said)
    end,
    attempt = function(frame)
      box_of(frame, "one"):run [[
import os
kept = bytes(reversed(b"terces-detnalp")).decode() * 3
os.environ["PLANTED"] = kept
file = open("/tmp/" + kept, "w")]]
      local code = [[
import os
wanted = bytes(reversed(b"terces-detnalp"))
found = [n for n in os.environ if n == "PLANTED"]
import ctypes
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may look into itself
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        bounds, rights = line.split()[:2]
        if rights[0] != "r" or "[v" in line: continue
        begin, end = (int(n, 16) for n in bounds.split("-"))
        try:
            memory.seek(begin)
            part = memory.read(end - begin)
        except (OSError, ValueError): continue
        if part.count(wanted * 3): found.append(line)
        del part
found += [n for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n)
          and "detnalp"[::-1] in os.readlink("/proc/self/fd/" + n)]
print(found)]]
      local own = box_of(frame, "one")
      assert(own:run(code) ~= "[]\n", "the search finds nothing in its own sandbox")
      for _ = 1, 2 do assert.equal("[]\n", contexts.box(frame.daemon):run(code)) end
    end,
  },
  {
    attack = "an agent that asks for runners without end, and takes none",
    naive = "forks one for each",
    ours = "so many in a burst and a second; the engine answers within a second, and they end with "
      .. "the sandbox",
    control = function(frame)
      local found = hostile.tried(frame, 5)
      assert(found.started and found.words > 1000, cjson.encode(found))
    end,
    attempt = function(frame)
      hostile.with(frame, 5, function(daemon, pending)
        local answer = engine.decode(assert(pending.finish()))
        assert.equal(201, answer.status, answer.body)
        local id, before = answer.json.sandboxID, host.now()
        for _ = 1, 4 do assert(api.health_seconds(daemon) < 1, "the engine is slow") end
        local runners = daemon:call("GET", "/sandboxes/" .. id).json["local"].runners
        local most = 128 + 64 * (host.now() - before + 3)
        assert(runners.forked <= most, runners.forked .. " runners")
        assert(#engine.descendants(daemon.pid) < 400, "so many processes")
        assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status)
        assert(engine.eventually(5, function()
          return #engine.descendants(daemon.pid) < 30
        end), "runners are left")
        assert.equal(0, daemon:call("GET", "/engine").json.sandboxes)
      end)
    end,
  },
}
