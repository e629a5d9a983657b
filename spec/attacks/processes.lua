--- Ways into other processes: ptrace and its kin, descriptors, signals, what a crash leaves.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

local function victim(frame) return { pid = frame:start "sleep 300" } end

--- One that the probe starts itself: also a child is out of reach inside.
local CHILD = [[
value = ctypes.create_string_buffer(b"unchanged")
ready, done = os.pipe()
child = os.fork()
if child == 0:
    signal.pause()
try:
    probe(lambda: attack(child))
finally:
    os.kill(child, 9)
]]

-- Notes who has sent it a signal.
local SIGNALLED = [[
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
open(%q, "w").close()
while True:
    sender = signal.sigwaitinfo({signal.SIGUSR1}).si_pid
    with open(%q, "a") as file:
        file.write(f"{sender}\n")]]

local FORGE = [[
def forge():
    info = struct.pack("iiiiii", 10, 0, -1, 0, 4242, 0).ljust(128, b"\0")
    number = 129 if MACHINE != "aarch64" else 138
    if libc.syscall(number, %d, 10, info) < 0:
        raise OSError(ctypes.get_errno(), "rt_sigqueueinfo")
    for _ in range(100):
        seen = open(%q).read()
        if seen:
            return "it came from " + seen.strip()
        time.sleep(0.05)
    return "it did not come"
probe(forge)]]

return {
  title = "Processes and signals",

  {
    attack = "signal a process of the host by its number",
    naive = "reaches it, or tells that it is there (EPERM)",
    ours = "ESRCH: there is no such process",
    prepare = victim,
    python = "probe(lambda: os.kill(@pid@, 0))",
    answer = "ESRCH",
  },
  {
    attack = "signal it by a descriptor: pidfd_open",
    naive = "opens it",
    ours = "ESRCH",
    prepare = victim,
    python = 'probe(lambda: call("pidfd_send_signal", call("pidfd_open", @pid@, 0), 0, None, 0))',
    answer = "ESRCH",
  },
  {
    attack = "kill everything that can be reached: kill(-1)",
    naive = "ends all processes of its user",
    ours = "ends those of the sandbox; the agent stays, and so does every process outside",
    control = function(frame)
      frame.bystander = frame:start "sleep 300"
      local ended = host.sh("unshare --user --map-root-user --pid --fork sh -c "
        .. "'sleep 300 & p=$!; trap : TERM; kill -TERM -1; wait $p; echo $?'")
      assert(ended:find "143", ended)
    end,
    attempt = function(frame)
      local box = frame:box()
      for _, user in ipairs { "user", "root" } do
        if user ~= "root" or frame:has_root() then
          assert(box.commands:run("kill -9 -1; sleep 0.1", { user = user, timeout = 20 }))
          assert(assert(box.commands:run("echo alive")).stdout == "alive\n")
          assert(host.read("/proc/" .. frame.bystander .. "/comm") == "sleep\n")
        end
      end
    end,
  },
  {
    attack = "end or stop process 1: each signal there is, from inside",
    naive = "ends the supervisor, or stops it and every call with it",
    ours = "process 1 ignores them: the next call is answered",
    control = function(frame)
      for _, signal in ipairs { "KILL", "TERM", "SEGV", "USR1" } do
        local pid = frame:start "sleep 300"
        os.execute("kill -" .. signal .. " " .. pid)
        assert(host.eventually(2, function()
          return not host.read("/proc/" .. pid .. "/stat"):find "%) [SR]"
        end), "SIG" .. signal .. " ends no process here")
      end
    end,
    attempt = function(frame)
      local box = frame:box()
      for _, user in ipairs { "user", "root" } do
        if user ~= "root" or frame:has_root() then
          local sent = assert(box.commands:run(
            "for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; echo sent; cut -d' ' -f22 /proc/1/stat",
            { user = user }))
          local start = sent.stdout:match "^sent\n(%d+)"
          assert(start, sent.stdout .. sent.stderr)
          assert(assert(box.commands:run "cut -d' ' -f22,3 /proc/1/stat").stdout == "S " .. start .. "\n")
          assert(assert(box:step "20 + 1").text == "21")
        end
      end
    end,
  },
  {
    attack = "end the sandbox's first process by reboot(2)",
    naive = "root restarts the host, or ends its container",
    ours = "EPERM",
    where = "namespaces",
    python = [[
# Of what reboot does, that which has no effect, and takes the same rights.
probe(lambda: call("reboot", 0xfee1dead, 672274793, 0, None))]],
    works = "EINVAL",
    answer = "EPERM",
  },
  {
    attack = "trace a child: ptrace",
    naive = "traces it, and everything else of its user",
    ours = "EPERM, also for a child",
    python = 'def attack(child):\n    call("ptrace", 16, child, 0, 0)\n' .. CHILD,
    answer = "EPERM",
  },
  {
    attack = "trace the agent: ptrace of process 1",
    naive = "traces its supervisor",
    ours = "EPERM",
    prepare = function(frame)
      return { outside = victim(frame), inside = { pid = 1 } }
    end,
    python = 'probe(lambda: call("ptrace", 0x4206, @pid@, 0, 0))',
    answer = "EPERM",
  },
  {
    attack = "read another's memory: process_vm_readv",
    naive = "reads it",
    ours = "EPERM, also for a child",
    python = [[
def attack(child):
    address = struct.pack("QQ", ctypes.addressof(value), 9)
    call("process_vm_readv", child, address, 1, address, 1, 0)
]] .. CHILD,
    answer = "EPERM",
  },
  {
    attack = "write another's memory: process_vm_writev",
    naive = "writes it",
    ours = "EPERM, also for a child",
    python = [[
def attack(child):
    address = struct.pack("QQ", ctypes.addressof(value), 9)
    call("process_vm_writev", child, address, 1, address, 1, 0)
]] .. CHILD,
    answer = "EPERM",
  },
  {
    attack = "write the agent's memory by its file: /proc/1/mem",
    naive = "writes it, as it is the same user",
    ours = "EACCES or EPERM, for the sandbox's root too",
    prepare = function(frame)
      return { outside = victim(frame), inside = { pid = 1 } }
    end,
    python = 'probe(lambda: os.close(os.open("/proc/@pid@/mem", os.O_RDWR)))',
    answer = "EACCES|EPERM",
  },
  {
    attack = "take a descriptor out of another process: pidfd_getfd",
    naive = "takes it",
    ours = "EPERM, also from a child",
    python = 'def attack(child):\n    call("pidfd_getfd", call("pidfd_open", child, 0), 1, 0)\n' .. CHILD,
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "compare the kernel's objects of two processes (kcmp), move another's pages",
    naive = "learns how they lie in the kernel's memory",
    ours = "EPERM",
    python = [[
def attack(child):
    call("kcmp", os.getpid(), child, 2, 0, 0)
]] .. CHILD,
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "change the agent's limits: prlimit of process 1",
    naive = "takes its descriptors and processes away",
    ours = "EPERM, for the sandbox's root too",
    prepare = function(frame)
      return { outside = victim(frame), inside = { pid = 1 } }
    end,
    python = [[
import resource
def limit():
    now = resource.prlimit(@pid@, resource.RLIMIT_NOFILE)
    resource.prlimit(@pid@, resource.RLIMIT_NOFILE, (now[0] - 1, now[1]))
try:
    probe(limit)
except PermissionError:
    print("EPERM")]],
    answer = "EPERM",
  },
  {
    attack = "come before every process of the host: real-time scheduling, a higher priority",
    naive = "root takes the processors for itself",
    ours = "EPERM and EACCES",
    needs = attack.needs_root,
    python = [[
attempts({
    "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 5)})]],
    lacking = ".*EPERM for real time.*|EPERM|EACCES",
    answer = "EACCES for priority, EPERM for real time",
  },
  {
    attack = "choose the next process id, to stand where another process has ended: ns_last_pid",
    naive = "chooses it",
    ours = "EROFS",
    where = "namespaces",
    python = [[
def choose():
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write("300")
probe(choose)]],
    lacking = "ENOENT",
    answer = "EROFS",
  },
  {
    attack = "have a crash write its memory to a file (core dump)",
    naive = "writes it, wherever the host's core_pattern says",
    ours = "nothing is written, whatever limit is asked for",
    python = [[
import resource
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
child = os.fork()
if child == 0:
    os.abort()
status = os.waitpid(child, 0)[1]
print("dumped" if os.WCOREDUMP(status) else "not dumped")]],
    works = "dumped",
    lacking = "not dumped",
    answer = "not dumped",
  },
  {
    attack = "have a crash run the host's handler (core_pattern with a pipe), as the limit 0 allows",
    naive = "it runs as root of the host, on memory that the attacker has written",
    ours = "the limit is 1, which stops it, and stays 1: what would lower it does nothing",
    needs = function()
      if host.sh "ulimit -H -c" == "0\n" then return "the tests run under a limit of 0" end
    end,
    python = [[
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
page = ctypes.create_string_buffer(16)
libc.prlimit(0, 4, bytes(16), None)
libc.setrlimit(4, bytes(16))
print(*resource.getrlimit(resource.RLIMIT_CORE))]],
    works = "0 0",
    answer = "1 1",
  },
  {
    attack = "send a signal of the host's processes with a forged sender (rt_sigqueueinfo)",
    naive = "poses as another process",
    ours = "ESRCH for those of the host, which get no signal",
    control = function(frame)
      local note, code = frame:folder() .. "/sender", frame:folder() .. "/signalled.py"
      host.write(code, SIGNALLED:format(note, note))
      local pid = frame:start("/usr/bin/python3 -I " .. code)
      assert(host.eventually(10, function() return host.sh("ls " .. note):find "^/" end), "no victim")
      frame.forge, frame.senders = { python = FORGE:format(pid, note) }, note
      frame:expect(frame:outside(frame.forge), "it came from 4242", "outside")
    end,
    attempt = function(frame)
      for _, user in ipairs(frame:has_root() and { "user", "root" } or { "user" }) do
        frame:expect(frame:inside(frame.forge, user), "ESRCH", "as " .. user)
      end
      host.sleep(0.1)
      assert(host.read(frame.senders) == "4242\n", "a signal from inside came to a process of the host")
    end,
  },
}
