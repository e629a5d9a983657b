--- Forked runners: they are like those that are started, have nothing of others in them, and come and go
--- whatever happens to the process that they are forked from.

local cjson = require "cjson"
local contexts = require "spec.support.contexts"
local engine = require "spec.support.engine"

--- What a process can find out about itself, as JSON; only what differs between any two is left out.
local SELF = [[
import ctypes, gc, json, locale, os, resource, signal, sys, threading, warnings
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
def kind(fd):
    return os.readlink("/proc/self/fd/%d" % fd).split(":[")[0]
limits = {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")}
environment = {k: v for k, v in os.environ.items() if not k.startswith("E2B_")}
prctl = ctypes.CDLL(None).prctl
dumpable = prctl(3, 0, 0, 0, 0)
prctl(4, 1, 0, 0, 0)  # may look into itself
wanted = "Cap Sig Shd Uid Gid Gro NoN Sec Uma Thr PPi Nam Tra".split()
print(json.dumps({
    "status": {k: status[k].strip() for k in status if k[:3] in wanted and k != "SigQ"},
    "arguments": open("/proc/self/cmdline").read().split("\0"),
    "path": sys.path, "flags": str(sys.flags), "argv": sys.argv, "orig_argv": sys.orig_argv,
    "executable": sys.executable, "recursion": sys.getrecursionlimit(),
    "bytecode": sys.dont_write_bytecode,
    "encodings": [sys.stdout.encoding, sys.stdin.encoding, sys.getfilesystemencoding(),
                  locale.getpreferredencoding()],
    "environment": environment, "cwd": os.getcwd(),
    "session": os.getsid(0) == os.getpid() == os.getpgrp(),
    "nice": os.nice(0), "scheduler": os.sched_getscheduler(0), "oom": open("/proc/self/oom_score_adj").read(),
    "limits": limits, "root": os.readlink("/proc/self/root"), "exe": os.readlink("/proc/self/exe"),
    "low": [kind(fd) for fd in (0, 1, 2)],
    "descriptors": sorted({kind(int(n)) for n in os.listdir("/dev/fd") if os.path.exists("/dev/fd/" + n)}),
    "signals": [str(signal.getsignal(n)).split(" at ")[0] for n in (1, 2, 13, 15, 17, 25)],
    "main": [__name__, sys.modules["__main__"].__dict__ is globals()], "thread": threading.main_thread().name,
    "names": sorted(n for n in globals() if not n.startswith("_i")),
    "history": [In[0], len(In), Out, _, __, ___],
    "home": os.path.expanduser("~"), "warnings": [str(f) for f in warnings.filters],
    "dumpable": dumpable, "frozen": gc.isenabled(),
    "namespaces": sorted(os.listdir("/proc/self/ns")),
}))]]

--- What is drawn at random, a name and a value a line.
local RANDOM = [[
import os, random, secrets, ssl, tempfile, uuid, multiprocessing
print("random", random.random())
print("getrandbits", random.getrandbits(64))
print("uuid1", uuid.uuid1().clock_seq, uuid.uuid1().hex[:8])
print("uuid4", uuid.uuid4())
print("secrets", secrets.token_hex())
print("urandom", os.urandom(8).hex())
print("ssl", ssl.RAND_bytes(8).hex())
print("name", next(tempfile._get_candidate_names()))
print("authkey", bytes(multiprocessing.current_process().authkey).hex())
try:
    import numpy
    print("numpy", numpy.random.random())
except ImportError:
    pass]]

--- Whether the text is in the memory of this process but for the places that the search itself makes.
local function search(reversed)
  return ([[
import ctypes
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may look into itself
wanted = bytes(reversed(b"%s"))
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        bounds, rights = line.split()[:2]
        if rights[0] != "r" or "[v" in line:
            continue
        begin, end = (int(n, 16) for n in bounds.split("-"))
        try:
            memory.seek(begin)
            part = memory.read(end - begin)
        except (OSError, ValueError):
            continue
        found += part.count(wanted)
        del part
print(found > 1)]]):format(reversed)
end

--- An engine, once it has zygotes ready (or at once, with a configuration that has none).
local function start(config, environment)
  local folder = engine.temporary()
  local file = assert(io.open(folder .. "/engine.json", "w"))
  file:write(config or "{}")
  file:close()
  local arguments = "--config " .. folder .. "/engine.json"
  local daemon = engine.start { arguments = arguments, environment = environment }
  engine.sh("rm -rf " .. folder)
  return daemon
end

local function zygotes(daemon) return daemon:call("GET", "/engine").json.host.zygotes end

--- Waits for as many that no sandbox has had.
local function wait_fresh(daemon, count)
  local function is_ready() return zygotes(daemon).fresh >= count end
  assert(engine.eventually(30, is_ready), "no zygote is ready")
end

--- The processes of the zygotes.
local function zygote_pids(daemon)
  local found = {}
  for _, pid in ipairs(engine.descendants(daemon.pid)) do
    if engine.read("/proc/" .. pid .. "/comm") == "stepbox-zygote\n" then found[#found + 1] = pid end
  end
  return found
end

local function lines(text)
  local values = {}
  for name, value in text:gmatch "(%w+) ([^\n]+)\n" do values[name] = value end
  return values
end

describe("a forked runner", function()
  local daemon, reason

  setup(function()
    daemon = start(nil, "SECRET_OF_THE_HOST=tsoh-eht-fo-terces")
    contexts.box(daemon)
    engine.eventually(30, function()
      local told = zygotes(daemon)
      reason = told.why
      return reason or told.ready >= 2
    end)
  end)
  teardown(function() daemon:stop() end)

  local function test(name, fn)
    it(name, function()
      if reason then return pending("there are no zygotes here: " .. reason) end
      fn()
    end)
  end

  test("finds itself as one that was started does", function()
    local plain = start('{"forkRunners": false}', "umask 077; A=1")
    local started, forked = contexts.box(plain), contexts.box(daemon)
    local expected, found = cjson.decode(started:run(SELF)), cjson.decode(forked:run(SELF))
    assert.equal(0, started:runners().forked)
    assert(forked:runners().forked > 0)
    plain:stop()
    -- Without root of the sandbox the agent cannot offer what it starts to the kernel before itself.
    assert.equal("1000\n", found.oom)
    expected.oom = nil
    for name, value in pairs(expected) do assert.same(value, found[name], name) end
    assert.equal("0000000000000000", found.status.CapBnd)
    assert.equal(0, found.dumpable)
    assert.equal("1", found.status.NoNewPrivs)
    assert.equal("2", found.status.Seccomp)
    assert.equal("1", found.status.PPid)
  end)

  test("draws nothing at random that another has drawn", function()
    wait_fresh(daemon, 2)
    local first, second = contexts.box(daemon), contexts.box(daemon)
    local same_box = first:context()
    local values = { lines(first:run(RANDOM)), lines(second:run(RANDOM)), lines(first:run(RANDOM, same_box)) }
    for name, value in pairs(values[1]) do
      assert(value ~= values[2][name], name .. " is the same in two sandboxes")
      assert(value ~= values[3][name], name .. " is the same in two contexts")
    end
    local hash = "print(hash('x'), end='')"
    -- The probe sees what is shared: runners of one zygote have the seed in common.
    assert.equal(first:run(hash), first:run(hash, same_box))
    assert(first:runners().zygote ~= second:runners().zygote, "two sandboxes share a zygote")
    assert(first:run(hash) ~= second:run(hash), "two sandboxes share the seed of hashes")
  end)

  test("has nothing of the host's environment, nor of another sandbox, in its memory", function()
    local one = contexts.box(daemon)
    one:run "kept = 'planted-' * 3 + 'in-one'; kept = kept.encode() + b'!'; again = bytes(bytearray(kept))"
    local reversed = "!eno-ni-detnalp"
    assert.equal("True\n", one:run(search(reversed)))
    for _ = 1, 3 do
      local other = contexts.box(daemon)
      assert.equal("False\n", other:run(search(reversed)))
      assert.equal("False\n", other:run(search "tsoh-eht-fo-terces"))
      assert.equal("False\n", other:run(search "TSOH_EHT_FO_TERCES"))
      assert.equal("False\n", other:run(search((one.id:reverse()))))
    end
    for _, pid in ipairs(zygote_pids(daemon)) do
      assert(not engine.read("/proc/" .. pid .. "/environ"):find "SECRET_OF_THE_HOST")
    end
    assert(engine.read("/proc/" .. daemon.engine_pid .. "/environ"):find "SECRET_OF_THE_HOST")
  end)

  test("gives its children no descriptor but the three", function()
    local box = contexts.box(daemon)
    assert.equal("0 1 2\n", box:run [[
import subprocess
code = """import os
print(*sorted(int(fd) for fd in os.listdir("/dev/fd") if os.path.exists("/dev/fd/" + fd)))"""
done = subprocess.run(["/usr/bin/python3", "-c", code], stdout=-1, text=True, close_fds=False)
print(done.stdout, end="")]])
  end)

  test("takes no word of its children's, nor of another context's, for its own", function()
    local box = contexts.box(daemon)
    local other = box:context()
    local victim = box:run("import os; print(os.getpid(), end='')", other)
    local printed = box:run((([[
import os, subprocess, sys
forged = b'{"type": "end"}\n{"type": "error", "name": "Forged", "value": "", "traceback": "forged"}\n'
child = r'''
import os, sys
for fd in range(0, 1100):
    try:
        os.write(fd, sys.argv[1].encode())
    except OSError:
        pass
'''
subprocess.run(["/usr/bin/python3", "-c", child, forged.decode()], close_fds=False)
try:
    print("descriptors", os.listdir("/proc/@/fd"))
except PermissionError:
    print("no descriptors")
print("still here")]]):gsub("@", victim)))
    assert(printed:find("no descriptors\nstill here\n", 1, true), printed)
    assert.equal("2\n", box:run("print(1 + 1)", other))
  end)

  test("finds what was installed in its sandbox before it began", function()
    local box = contexts.box(daemon)
    box:run [[
import os, site
folder = site.getusersitepackages()
os.makedirs(folder)
os.makedirs("/home/user/elsewhere")
open(folder + "/own_package.py", "w").write("value = 5")
open("/home/user/elsewhere/linked.py", "w").write("value = 6")
open(folder + "/some.pth", "w").write("/home/user/elsewhere\n")]]
    assert.equal("5 6 1\n", box:run([[
import sys, own_package, linked, site
order = sys.path.index(site.getusersitepackages()) < sys.path.index(site.getsitepackages()[1])
print(own_package.value, linked.value, int(order))]], box:context()))
  end)

  test("is not what gets settings of the interpreter: that is started", function()
    local box = contexts.box(daemon, { envVars = { PYTHONHASHSEED = "0" } })
    local code = "print(hash('x'), end='')"
    local expected = engine.sh("PYTHONHASHSEED=0 /usr/bin/python3 -c \"" .. code .. '"')
    assert.equal(expected, box:run(code))
    assert.equal(expected, box:run(code, box:context()))
  end)

  test("shares most of its memory", function()
    wait_fresh(daemon, 1)
    local box = contexts.box(daemon)
    local own = [[
print(sum(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Private")))]]
    local context = box:context()
    local forked = tonumber(box:run(own, context))
    local plain = start '{"forkRunners": false}'
    local started = tonumber(contexts.box(plain):run(own))
    plain:stop()
    assert(started > 15000, "the probe sees what is not shared")
    assert(forked < 7168, forked .. " KB are a context's own")
  end)

  test("is replaced when code has ended the one that was ready", function()
    local box = contexts.box(daemon)
    box:run [[
import os, signal, time
time.sleep(0.5)
for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
    if pid not in (1, os.getpid()):
        os.kill(pid, signal.SIGKILL)]]
    for _ = 1, 3 do assert.equal("2\n", box:run("print(2)", box:context())) end
  end)

  test("comes also while zygotes are killed, and nothing is left of either", function()
    local box = contexts.box(daemon)
    box:run "1"
    local killer = io.popen(([[
unset LD_PRELOAD; exec sh -c 'for i in $(seq 40); do for p in $(pgrep -P %d); do
  [ "$(cat /proc/$p/comm)" = stepbox-zygote ] && kill -9 $p; done; sleep 0.05; done' 2>/dev/null]]):format(
      daemon.engine_pid))
    for i = 1, 12 do assert.equal(i .. "\n", box:run("print(" .. i .. ")", box:context())) end
    killer:close()
    wait_fresh(daemon, 1)
    assert.equal("13\n", box:run("print(13)", box:context()))
    assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. box.id).status)
  end)

  test("comes from the user that owns the sandboxes, not from root", function()
    for _, pid in ipairs(zygote_pids(daemon)) do
      local uid = engine.read("/proc/" .. pid .. "/status"):match "\nUid:%s+(%d+)"
      assert(uid ~= "0", "a zygote is root")
      -- One without the engine ends.
      assert.equal(1, #engine.sh("ls -d /proc/" .. pid):match "^(/)")
    end
  end)
end)

describe("zygotes", function()
  --- An engine that stops when the test is over.
  local function start_own(config)
    local daemon = start(config)
    finally(function() daemon:stop() end)
    return daemon
  end

  --- Why there are none here, once so many are there where there can be.
  local function why_none(daemon, kind, count, seconds)
    assert(engine.eventually(seconds, function()
      return zygotes(daemon).why or zygotes(daemon)[kind] >= count
    end))
    return zygotes(daemon).why
  end

  --- Makes five sandboxes at once, of which no two have the seed of their hashes in common.
  local function make_five(daemon)
    local boxes, seen = {}, {}
    for i = 1, 5 do boxes[i] = contexts.box(daemon) end
    for _, box in ipairs(boxes) do
      local hash = box:run "print(hash('x'))"
      assert(not seen[hash], "two sandboxes share the seed of hashes")
      seen[hash] = true
    end
    return boxes
  end

  it("are not shared", function()
    local daemon = start_own()
    make_five(daemon)
  end)

  it("are fresh for the next sandbox also when many are there", function()
    local daemon = start_own()
    local seen = {}
    for i = 1, 10 do
      local box = contexts.box(daemon)
      if i == 1 and zygotes(daemon).why then
        pending("no zygotes here: " .. zygotes(daemon).why)
        break
      end
      local hash = box:run "print(hash('x'))"
      assert(not seen[hash], "two sandboxes share the seed of hashes")
      seen[hash] = true
      wait_fresh(daemon, 1)
    end
  end)

  it("are as many as the configuration says, each for one of as many sandboxes at once", function()
    local daemon = start_own '{"freshZygotes": 5}'
    contexts.box(daemon)
    local reason = why_none(daemon, "fresh", 5, 60)
    if reason then return pending("no zygotes here: " .. reason) end
    for _, box in ipairs(make_five(daemon)) do
      local runners = box:runners() -- one is asked for in advance
      assert(runners.forked >= 1 and runners.refused == 0, runners.forked .. " and " .. runners.refused)
    end
  end)

  it("are shared by sandboxes that come in a rush, if that is allowed", function()
    local daemon = start_own '{"shareZygotes": true}'
    local first = contexts.box(daemon)
    local reason = why_none(daemon, "ready", 2, 30)
    if reason then return pending("no zygotes here: " .. reason) end
    local seen, shared = { [first:run "print(hash('x'))"] = true }, false
    for _ = 1, 8 do
      local hash = contexts.box(daemon):run "print(hash('x'))"
      shared = shared or seen[hash]
      seen[hash] = true
    end
    assert(shared, "nine sandboxes at once have nine zygotes")
  end)

  it("end with an engine that is killed", function()
    local daemon = start_own()
    contexts.box(daemon)
    why_none(daemon, "ready", 2, 30)
    local pids = zygote_pids(daemon)
    os.execute("kill -9 " .. daemon.engine_pid)
    for _, pid in ipairs(pids) do
      assert(engine.eventually(3, function() return not engine.is_alive(pid) end), "a zygote is left")
    end
  end)
end)
