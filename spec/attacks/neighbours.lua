--- Other sandboxes of the same engine: their files, processes, sockets, locks, and what they share in the
--- kernel. "Outside" are two plain processes, as two sandboxes without namespaces would be.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

local function trim(text) return (text:gsub("%s+$", "")) end

--- Runs a command in the sandbox of that name, which must succeed.
local function run(frame, name, command, options)
  local result = assert(frame:box(name).commands:run(command, options))
  assert(result.exit_code == 0, command .. ": " .. result.stderr .. result.stdout)
  return trim(result.stdout)
end

--- Starts one there that goes on, when it has said so.
local function start(frame, name, python, options)
  frame.files_made = (frame.files_made or 0) + 1
  local path = ("/tmp/neighbour-%d"):format(frame.files_made)
  assert(frame:box(name).files:write(path, python))
  run(frame, name, ("python3 -I %s >%s.out 2>&1 & "
    .. "for i in $(seq 1000); do [ -s %s.out ] && break; sleep 0.02; done; grep -q ready %s.out"):format(
    path, path, path, path), options)
end

local function start_outside(frame, python)
  local path = frame:folder() .. "/neighbour-outside"
  os.remove(path .. ".out")
  host.write(path, python)
  local pid = frame:start(("sh -c 'exec /usr/bin/python3 -I %s >%s.out 2>&1'"):format(path, path))
  assert(host.eventually(20, function() return host.read(path .. ".out"):find "ready" end),
    host.read(path .. ".out"))
  return pid
end

--- A row where one sandbox goes on with `there`, and another tries `here`.
local function pair(fields)
  return {
    attack = fields.attack, naive = fields.naive, ours = fields.ours, needs = fields.needs,
    control = function(frame)
      local pid = start_outside(frame, fields.there)
      frame:expect(frame:outside { python = fields.here }, fields.works or "ok", "between plain processes")
      os.execute("kill -9 " .. pid)
    end,
    attempt = function(frame)
      start(frame, "other", fields.there)
      frame:expect(frame:inside({ python = fields.here }, "user"), fields.answer, "as user")
      if frame:has_root() then
        frame:expect(frame:inside({ python = fields.here }, "root"), fields.answer, "as root")
      end
      if fields.after then fields.after(frame) end
    end,
  }
end

-- For plain processes: a user of the host that nobody else is.
local AS_ONE_USER = [[
import os
os.setgroups([])
os.setresgid(61235, 61235, 61235)
os.setresuid(61235, 61235, 61235)
]]

local FILL_SIGNALS = [[
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
while libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0:
    pass
print("ready", flush=True)
time.sleep(300)]]

local MAKE_TIMER = [[
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
timer = ctypes.c_void_p()
if libc.timer_create(0, None, ctypes.byref(timer)) == 0:
    print("ok")
else:
    print(errno.errorcode[ctypes.get_errno()])]]

local WATCH = [[
def watch():
    if libc.inotify_init() < 0:
        raise OSError(ctypes.get_errno(), "")
probe(watch)]]

local DEVICES = '("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")'
local SETTINGS = '("/proc/sys/kernel/ostype", "/proc/sys/net/core/somaxconn", "/proc/sys/fs/file-max", '
  .. '"/proc/sys/vm/swappiness", "/proc/sys/user/max_user_namespaces")'

return {
  title = "Other sandboxes",

  pair {
    attack = "read another sandbox's files in /tmp, /var/tmp, /dev/shm, /home and /run",
    naive = "reads them",
    ours = "not there",
    there = [[
for folder in ("/tmp", "/var/tmp", "/dev/shm"):
    open(folder + "/of-neighbour", "w").write("secret")
print("ready", flush=True)
import time; time.sleep(300)]],
    here = [[
found = [f for f in ("/tmp", "/var/tmp", "/dev/shm") if os.path.exists(f + "/of-neighbour")]
for f in found:
    os.remove(f + "/of-neighbour")
print("ok" if found else "unseen")]],
    answer = "unseen",
  },
  pair {
    attack = "see another sandbox's processes and signal them",
    naive = "sees and ends them",
    ours = "not there: process ids of its own",
    there = [[
import ctypes, time
ctypes.CDLL(None).prctl(15, b"neighbour", 0, 0, 0)
print("ready", flush=True)
time.sleep(300)]],
    here = [[
import glob
def name(path):
    try:
        return open(path).read()
    except OSError:
        return ""
print("ok" if any(name(path) == "neighbour\n" for path in glob.glob("/proc/[0-9]*/comm")) else "unseen")]],
    answer = "unseen",
  },
  pair {
    attack = "connect to another sandbox's abstract socket",
    naive = "reaches it",
    ours = "ECONNREFUSED",
    there = [[
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("\0of-neighbour")
s.listen(1)
print("ready", flush=True)
while True:
    s.accept()]],
    here = 'probe(lambda: socket.socket(socket.AF_UNIX).connect("\\0of-neighbour"))',
    answer = "ECONNREFUSED",
  },
  pair {
    attack = "connect to a port of another sandbox's loopback",
    naive = "reaches it",
    ours = "ECONNREFUSED",
    there = [[
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 39471))
s.listen(1)
print("ready", flush=True)
while True:
    s.accept()]],
    here = 'probe(lambda: socket.create_connection(("127.0.0.1", 39471), 3).close())',
    answer = "ECONNREFUSED",
  },
  pair {
    attack = "open another sandbox's shared memory by its key",
    naive = "opens it",
    ours = "ENOENT",
    there = [[
import ctypes, signal
libc = ctypes.CDLL(None)
id = libc.shmget(0x57eb0c6, 4096, 0o1666)
print("ready" if id >= 0 else "not", flush=True)
libc.shmat(id, None, 0)
signal.pause()]],
    here = [[
def get():
    id = libc.shmget(0x57eb0c6, 0, 0)
    if id < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmctl(id, 0, None)
probe(get)]],
    answer = "ENOENT",
  },
  pair {
    attack = "talk to another sandbox by locks of a file that both have (a covert channel, or a hold-up)",
    naive = "sees the lock: the file is one for both",
    ours = "sees none, as long as /usr is a layer of the sandbox's own",
    needs = function(frame)
      local made = frame:box().commands:run "stat -f -c %T /usr"
      if not made.stdout:find "overlay" then
        return "/usr is the host's own mount here, whose locks are one for all"
      end
    end,
    there = [[
import fcntl, time
file = open("/usr/bin/env")
fcntl.flock(file, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(300)]],
    here = [[
import fcntl
try:
    fcntl.flock(open("/usr/bin/env"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("free")
except BlockingIOError:
    print("held")]],
    works = "held",
    answer = "free",
  },
  pair {
    attack = "the same by locks of devices, which all can open (/dev/null)",
    naive = "sees the lock: the devices are the host's files",
    ours = "sees none, where the engine may make devices: they are files of the sandbox's own",
    needs = attack.needs_own_devices,
    there = ([[
import fcntl, time
files = [open(path) for path in DEVICES]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(300)]]):gsub("DEVICES", DEVICES),
    here = ([[
import fcntl
held = []
for path in DEVICES:
    try:
        fcntl.flock(open(path), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.append(path)
print(*held or ["free"])]]):gsub("DEVICES", DEVICES),
    works = "/dev/.*",
    answer = "free",
  },
  pair {
    attack = "the same by locks of the kernel's settings, which all can read (/proc/sys)",
    naive = "sees the lock: what covers them, so that nobody changes them, is the host's /proc",
    ours = "sees none: they are files of a /proc of its own",
    there = ([[
import fcntl, time
files = [open(path) for path in SETTINGS]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(300)]]):gsub("SETTINGS", SETTINGS),
    here = ([[
import fcntl
held = []
for path in SETTINGS:
    try:
        fcntl.flock(open(path), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.append(path)
print(*held or ["free"])]]):gsub("SETTINGS", SETTINGS),
    works = "/proc/sys/.*",
    answer = "free",
  },
  {
    attack = "use up the inotify instances that the kernel counts for each user",
    naive = "uses up everybody's, as all are one user",
    ours = "uses up its own share: others can watch on",
    needs = attack.needs_root,
    control = function(frame)
      -- As a user of the host that nobody else is.
      local try = "setpriv --reuid 61234 --regid 61234 --clear-groups /usr/bin/python3 -Ic "
        .. "'import ctypes; print(ctypes.CDLL(None).inotify_init())'"
      local pid = start_outside(frame, [[
import ctypes, os, time
os.setgroups([])
os.setresgid(61234, 61234, 61234)
os.setresuid(61234, 61234, 61234)
libc = ctypes.CDLL(None)
kept = 0
while kept < 100000 and libc.inotify_init() >= 0:
    kept += 1
print("ready", flush=True)
time.sleep(300)]])
      frame:expect(trim(host.sh(try)), "-1", "between plain processes")
      os.execute("kill -9 " .. pid)
    end,
    attempt = function(frame)
      start(frame, "other", [[
import ctypes, os, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
libc = ctypes.CDLL(None)
for _ in range(8):
    if os.fork() == 0:
        while libc.inotify_init() >= 0:
            pass
        time.sleep(300)
time.sleep(0.5)
print("ready", flush=True)
time.sleep(300)]])
      frame:expect(frame:inside({ python = WATCH }, "user"), "ok", "as user")
      local watch = assert(frame:box().files:watch "/tmp")
      watch:stop()
    end,
  },
  {
    attack = "use up the pending signals and timers that the kernel counts for each user",
    naive = "uses up everybody's: timers can no longer be made",
    ours = "uses up its own share: others make timers on",
    needs = attack.needs_root,
    control = function(frame)
      local pid = start_outside(frame, AS_ONE_USER .. FILL_SIGNALS)
      local path = frame:folder() .. "/timer"
      host.write(path, AS_ONE_USER .. MAKE_TIMER)
      frame:expect(trim(host.sh("/usr/bin/python3 -I " .. path)), "EAGAIN", "between plain processes")
      os.execute("kill -9 " .. pid)
    end,
    attempt = function(frame)
      start(frame, "other", FILL_SIGNALS)
      frame:expect(frame:inside({ python = MAKE_TIMER }, "user"), "ok", "as user")
    end,
  },
  {
    attack = "be mistaken for another sandbox's user on the host",
    naive = "has the same id there",
    ours = "ids of its own, where the host has enough: no two sandboxes share one",
    needs = function(frame) return not frame:has_root() and "sandboxes have no range of ids here" or nil end,
    control = function(frame)
      local ids = { python = "print(open('/proc/self/uid_map').read().split()[1])" }
      assert(frame:outside(ids) == frame:outside(ids))
    end,
    attempt = function(frame)
      local own = run(frame, nil, "awk '{ print $2 }' /proc/self/uid_map")
      local others = run(frame, "other", "awk '{ print $2 }' /proc/self/uid_map")
      assert(own ~= others, own)
    end,
  },
  {
    attack = "end another sandbox by ending its first process, or all of one's own",
    naive = "ends the supervisor of all",
    ours = "ends its own alone: its caller is told `sandbox_lost`, the others go on",
    control = function(frame)
      -- What a supervisor leaves behind that is ended so.
      local note = frame:folder() .. "/child"
      local pid = frame:start(("sh -c 'sleep 300 & echo $! >%s; wait'"):format(note))
      assert(host.eventually(20, function() return host.read(note) ~= "" end))
      os.execute("kill -9 " .. pid)
      local child = trim(host.read(note))
      -- The shell may have written its number before it became that program.
      assert(host.eventually(20, function() return host.read("/proc/" .. child .. "/comm") == "sleep\n" end))
      os.execute("kill -9 " .. child)
    end,
    attempt = function(frame)
      frame:box()
      local engine = require "spec.support.engine"
      local pid = assert(require "stepbox.engine".status()).pid
      local known, first = {}, nil
      for _, process in ipairs(engine.descendants(pid)) do known[process] = true end
      local box = frame:box "victim"
      assert(box:step "x = 1")
      for _, process in ipairs(engine.descendants(pid)) do
        local status = host.read("/proc/" .. process .. "/status")
        if not known[process] and status:find "NSpid:[%s%d]+%s1\n" then first = process end
      end
      assert(first, "the first process of the sandbox is not found")
      host.sh("kill -9 " .. first)
      -- For a moment the engine may not know yet why nobody answers.
      local told = host.eventually(3, function()
        local result, _, code = box:step "x"
        return not result and (code == "sandbox_lost" or code == "not_found")
      end)
      assert(told, "the caller is not told")
      assert(assert(frame:box():step "1 + 1").text == "2")
      assert(run(frame, "other", "echo there") == "there")
    end,
  },
}
