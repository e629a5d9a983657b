--- The filter of system calls: what is refused in a sandbox, that it is counted, and that programs do not
--- miss it.

local engine = require "spec.support.engine"
local stepbox = require "stepbox"

--- Calls by way of the C library, each with arguments that do nothing. A line for each: its name, and what
--- came of it.
local PROBES = [[
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*map(ctypes.c_long, arguments))
    error = ctypes.get_errno()
    return "ok" if result != -1 else errno.errorcode[error]
def open_socket(*arguments):
    try:
        socket.socket(*arguments).close()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def number(x86, arm):
    return {"x86_64": x86, "aarch64": arm}[os.uname().machine]
print("mount", call("mount", 1, 1, 1, 0, 1))
print("umount2", call("umount2", 1, -1))
print("ptrace", call("ptrace", 99, 0, 0, 0))
print("unshare", call("unshare", 0))
print("setns", call("setns", -1, 0))
print("personality", call("personality", 0x40000))
print("process_vm_readv", call("process_vm_readv", os.getpid(), 0, 0, 0, 0, 1))
print("clock_settime", call("syscall", number(227, 112), 0, 1))
print("vmsplice", call("vmsplice", -1, 0, 0, 0))
print("name_to_handle_at", call("name_to_handle_at", -1, 1, 1, 1, 0))
print("seccomp", call("syscall", number(317, 277), 1, 8, 1))
print("io_uring_setup", call("syscall", 425, 0, 1))
print("keyctl", call("syscall", number(250, 219), 0, -3, 0))
print("ioctl", call("ioctl", -1, 0x100005412, 0))
print("socket", open_socket(socket.AF_NETLINK, socket.SOCK_RAW, 16))
print("syscall_511", call("syscall", 511))
print("socket unix", open_socket(socket.AF_UNIX, socket.SOCK_STREAM))
]]

--- A terminal whose own user types into it; prints what is read there then.
local TYPE_INTO = [[
import fcntl, os, pty, termios, select
child, terminal = pty.fork()
if child == 0:
    try:
        fcntl.ioctl(0, termios.TIOCSTI, b"!")
        print("typed", flush=True)
    except OSError as error:
        print("error", error.errno, flush=True)
    os._exit(0)
seen = b""
while select.select([terminal], [], [], 5)[0]:
    try:
        seen += os.read(terminal, 100)
    except OSError:
        break
print(seen.decode().split())
]]

--- What languages and tools do, and what it prints. `with`: a program that must be there for it.
local WORK = {
  { "threads", "python3", [[python3 -c '
import threading
done = []
t = [threading.Thread(target=done.append, args=(i,)) for i in range(8)]
[x.start() for x in t]; [x.join() for x in t]; print(len(done))']], "8" },
  { "asyncio with a server and a subprocess", "python3", [[python3 -c '
import asyncio
async def main():
    server = await asyncio.start_server(lambda r, w: (w.write(b"yes"), w.close()), "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
    p = await asyncio.create_subprocess_exec("echo", "no", stdout=-1)
    print((await r.read()).decode(), (await p.communicate())[0].decode())
asyncio.run(main())']], "yes no" },
  { "multiprocessing", "python3", [[python3 -c '
import multiprocessing as m
p = m.Pool(2); q = m.Queue(); q.put(3); v = m.Value("i", 4)
print(p.map(abs, [-1, 2]), q.get(), v.value)']], "[1, 2] 3 4" },
  { "numpy, pandas and matplotlib", "python3", [[python3 -c '
import numpy, pandas, matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as p
p.plot([1, 2]); p.savefig("/tmp/a.png")
square = numpy.ones((200, 200))
print(int((square @ square).sum()), pandas.DataFrame([1, 2]).sum()[0])']], "8000000 3" },
  { "files: locks, watches, attributes, memory maps", "python3", [[python3 -c '
import fcntl, mmap, os, tempfile, ctypes
f = tempfile.TemporaryFile(); f.write(b"x" * 4096); f.flush()
fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
m = mmap.mmap(f.fileno(), 4096); m[0] = 65
os.sendfile(os.memfd_create("a"), f.fileno(), 0, 10)
print(ctypes.CDLL(None).inotify_init1(0) > 0, os.pread(f.fileno(), 1, 0)); os.sync()']], "True b'A'" },
  { "git", "git", [[cd /tmp && git init -q r && cd r && git config user.email a@b && git config user.name n
    echo 1 > f && git add f && git commit -qm m && git gc -q && git clone -q /tmp/r /tmp/s &&
    git log --oneline | wc -l]], "1" },
  { "a compiler and threads in C", "gcc", [[cd /tmp && printf '%s\n' \
    '#include <pthread.h>' '#include <stdio.h>' \
    'void *f(void *p) { puts("c"); return p; }' \
    'int main(void) { pthread_t t; return pthread_create(&t, 0, f, 0) || pthread_join(t, 0); }' \
    > a.c && gcc -O2 -pthread a.c -o a.out && ./a.out]], "c" },
  { "job control of bash", "bash", [[bash -ic 'sleep 5 & kill %1; wait %1; echo $?' 2>/dev/null]], "143" },
  { "JavaScript", "node", [[node -e '
const { Worker } = require("worker_threads");
const { exec } = require("child_process");
const code = "require(\"worker_threads\").parentPort.postMessage(7)";
new Worker(code, { eval: true }).on("message", (m) =>
  require("fs").readFile("/etc/hostname", () => exec("echo 8", (e, o) => console.log(m, o))));
']], "7 8" },
  { "Java", "java", [[cd /tmp && echo 'class A { public static void main(String[] a) throws Exception {
      Thread t = new Thread(() -> System.out.print("t ")); t.start(); t.join();
      System.out.println(new ProcessBuilder("true").start().waitFor()); } }' > A.java
    java A.java]], "t 0" },
  { "R", "Rscript", [[Rscript -e 'cat(sum(unlist(parallel::mclapply(1:4, function(i) i))))']], "10" },
}

local function results(text)
  local found = {}
  for name, result in text:gmatch "([%w_ ]+) (%u*[%w]+)\n" do found[name] = result end
  return found
end

describe("the filter of system calls", function()
  local daemon, client, counted

  setup(function()
    daemon = engine.start()
    client = assert(stepbox.client { socket = daemon.socket })
    counted = daemon:call("GET", "/engine").json.host.seccomp.refusedCallsCounted
  end)
  teardown(function() daemon:stop() end)

  local function refused(box)
    return daemon:call("GET", "/sandboxes/" .. box.id).json["local"].refusedCalls
  end

  --- Gives the test a sandbox of its own.
  local function with_box(test)
    return function()
      local box = assert(client:create { timeout = 300 })
      local done, message = pcall(test, box)
      box:kill()
      if not done then error(message, 0) end
    end
  end

  local function output(box, command, options)
    local result = assert(box.commands:run(command, options))
    assert.equal(0, result.exit_code, result.stderr)
    return result.stdout
  end

  --- Fails unless the probes were refused inside, for another reason than they fail outside.
  local function assert_refused(inside)
    local there, here = results(daemon:outside(PROBES)), results(inside)
    for name, result in pairs(here) do
      if name == "socket unix" then
        assert.equal("ok", result)
      elseif name == "syscall_511" then
        assert.equal("ENOSYS", result) -- outside too: there is none
      else
        assert.equal("EPERM", result, name)
        assert.is_not.equal("EPERM", there[name], name .. " outside")
      end
    end
  end

  local function assert_counted(box, times)
    if not counted then return pending "this host gives no listener: refused calls are not counted" end
    local counts = refused(box)
    for _, name in ipairs { "mount", "umount2", "ptrace", "unshare", "setns", "personality",
      "process_vm_readv", "clock_settime", "vmsplice", "name_to_handle_at", "seccomp", "io_uring_setup",
      "keyctl", "ioctl", "socket", "syscall_511" } do
      assert.equal(times, counts[name], name)
      counts[name] = nil
    end
    assert.same({}, counts)
  end

  it("refuses calls of a step, counts them, and leaves its process alive", with_box(function(box)
    assert(box:step "kept = 20")
    local result = assert(box:step(PROBES))
    assert.is_nil(result.error)
    assert_refused(result.stdout)
    assert.equal("21", assert(box:step "kept + 1").text)
    assert_counted(box, 1)
    local told = 0
    for _, entry in ipairs(daemon:call("GET", "/sandboxes/" .. box.id .. "/logs").json.logEntries) do
      if entry.message:find "the system call mount was refused" then told = told + 1 end
    end
    assert.equal(counted and 1 or 0, told)
  end))

  it("is the same for commands, of root too", with_box(function(box)
    assert(box.files:write("/tmp/probe.py", PROBES))
    local users = { "user" }
    if daemon:call("GET", "/engine").json.host.isolation.ids == "range" then users[2] = "root" end
    for _, user in ipairs(users) do
      assert_refused(output(box, "python3 /tmp/probe.py", { user = user }))
      assert(output(box, "cat /proc/self/status", { user = user }):find "\nSeccomp:%s+2\n")
    end
    assert_counted(box, #users)
  end))

  it("is over every process of a sandbox", with_box(function(box)
    assert(box:step "1")
    assert(box.commands:run("sleep 100", { background = true }))
    local function look()
      local inside, free = 0, {}
      for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
        local status = engine.read("/proc/" .. pid .. "/status")
        -- One with two numbers is in a process namespace of its own.
        if status:find "\nNSpid:%s+%d+%s+%d+" then
          inside = inside + 1
          if not status:find "\nSeccomp:%s+2\n" then free[#free + 1] = status end
        end
      end
      local text = inside .. " processes, and these without a filter: " .. table.concat(free, "\n")
      return inside >= 3 and #free == 0, text
    end
    -- A runner that is just being made is not there yet.
    assert(engine.eventually(5, look), select(2, look()))
  end))

  it("lets nobody type into a terminal", with_box(function(box)
    assert(box.files:write("/tmp/type.py", TYPE_INTO))
    assert(output(box, "python3 /tmp/type.py"):find("['error', '1']", 1, true))
    local there = daemon:outside(TYPE_INTO)
    if not there:find("typed", 1, true) then
      return pending("this kernel lets nobody type into a terminal: " .. there)
    end
  end))

  for _, work in ipairs(WORK) do
    local name, program, command, expected = table.unpack(work)
    it("is not missed by " .. name, with_box(function(box)
      if assert(box.commands:run("command -v " .. program)).exit_code ~= 0 then
        return pending(program .. " is not installed")
      end
      local printed = output(box, command, { timeout = 120 })
      assert.equal(expected, (printed:gsub("%s+", " "):gsub(" $", "")))
      local missed = refused(box)
      missed.io_uring_setup = nil -- newer versions of Node ask whether it is to be had, and do without
      assert.same({}, missed)
    end))
  end

  it("answers a flood of refused calls at a bounded rate, and the neighbour at once", function()
    if not counted then return pending "this host gives no listener: the kernel answers" end
    local loud, quiet = assert(client:create { timeout = 300 }), assert(client:create { timeout = 300 })
    assert(quiet:step "1")
    local flood = assert(loud.commands:run([[python3 -c '
import ctypes, threading
libc = ctypes.CDLL(None)
def call():
    while True: libc.unshare(0)
for i in range(64): threading.Thread(target=call).start()']], { background = true }))
    assert(engine.eventually(10, function() return (refused(loud).unshare or 0) > 600 end))
    local function processor_ticks()
      local user, system = engine.read("/proc/" .. daemon.engine_pid .. "/stat"):match
        "%) %a[ %-%d]- %d+ %d+ %d+ %d+ %d+ %d+ %d+ %d+ %d+ (%d+) (%d+)"
      return tonumber(user) + tonumber(system)
    end
    local before, count = processor_ticks(), refused(loud).unshare
    assert(quiet:step "import time; start = time.time()")
    local steps = 0
    repeat
      local result = assert(quiet:step "import ctypes; ctypes.CDLL(None).unshare(0), time.time() - start > 2")
      steps = steps + 1
    until result.text:find "True"
    local used, answers = processor_ticks() - before, refused(loud).unshare - count
    assert(steps > 10, steps .. " steps in two seconds")
    assert(answers < 2.5 * 1200, answers .. " answers in two seconds")
    assert(used < 100, used .. " hundredths of a second of the processor in two seconds")
    flood:kill()
    loud:kill()
    quiet:kill()
  end)
end)

--- Starts an engine under a filter of the kind (spec/support/under_filter.py).
local function start_under(kind)
  local program = engine.program
  engine.program = ("/usr/bin/python3 %s/spec/support/under_filter.py %s %s"):format(
    os.getenv "STEPBOX_ROOT", kind, program)
  local done, daemon = pcall(engine.start)
  engine.program = program
  return done, daemon
end

describe("on a host that filters system calls itself,", function()
  it("calls are refused by the kernel alone where there can be no listener, and not counted", function()
    local started, daemon = start_under "listener"
    assert(started, daemon)
    assert.is_false(daemon:call("GET", "/engine").json.host.seccomp.refusedCallsCounted)
    local box = assert(assert(stepbox.client { socket = daemon.socket }):create { timeout = 300 })
    local printed = assert(box:step(PROBES)).stdout .. assert(box.commands:run(
      "python3 -c 'import os, ctypes; print(ctypes.CDLL(None).unshare(0))'")).stdout
    local detail = daemon:call("GET", "/sandboxes/" .. box.id).json["local"]
    box:kill()
    daemon:stop()
    for name, result in pairs(results(printed)) do
      local expected = name == "socket unix" and "ok" or name == "syscall_511" and "ENOSYS" or "EPERM"
      assert.equal(expected, result, name)
    end
    assert(printed:find "-1\n$", printed)
    assert.same({}, detail.refusedCalls)
    assert.is_false(detail.isolation.refusedCallsCounted)
  end)

  it("the engine does not start where it cannot filter any", function()
    local started, message = start_under "none"
    assert.is_false(started)
    assert(message:find("does not let programs filter system calls", 1, true), message)
  end)
end)
