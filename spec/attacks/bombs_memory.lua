--- Bombs that take memory: the heap, and what the kernel keeps for a process.

local assert = require "luassert"
local attack = require "spec.support.attack"
local bomb = require "spec.support.bomb"
local host = require "spec.support.host"
local pid_namespace = require "spec.support.pid_namespace"

-- Memory that stays when who made it is gone, of System V; another is sent whenever the kernel has ended one.
local SEGMENTS = [[
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
def fill(megabytes):
    made = []
    for _ in range(megabytes):
        made.append(libc.shmget(0, 1 << 20, 0o1600))
        if made[-1] < 0:
            break
        at = libc.shmat(made[-1], None, 0)
        ctypes.memset(at, 1, 1 << 20)
        libc.shmdt(ctypes.c_void_p(at))
    return made
]]

-- Says whether connections hold so many megabytes, or the last ones next to nothing.
local CONNECTIONS = [[
import socket, time
def fill(megabytes):
    listener, kept, sent = socket.create_server(("127.0.0.1", 0)), [], []
    while sum(sent) >> 20 < megabytes:
        if len(sent) > 16 and sum(sent[-16:]) < 4 << 20:
            return "held"
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
        kept += [one, other]
        one.setblocking(False)
        sent.append(0)
        for _ in range(100):
            try:
                sent[-1] += one.send(bytes(1 << 16))
            except BlockingIOError:
                time.sleep(0.0005)
    return "ok"
]]

-- What a new namespace has.
local UNBOUNDED = "18446744073692774399"

--- For `needs`: the kernel lets a sandbox be given bounds of its own.
local function needs_bounds(frame)
  local most = frame:inside({ shell = "cat /proc/sys/kernel/shmall" }, "user")
  return most == UNBOUNDED
    and "the kernel lets only the host's root bound System V objects of a namespace (before Linux 6.9), "
    .. "or sandboxes have no root" or nil
end

--- Takes the bounds away, as only the host's root can.
local function unbound(box)
  local name = pid_namespace.of(box):gsub("[%[%]]", "?")
  local pid = host.sh("find /proc/[0-9]*/ns/pid -lname '" .. name .. "' 2>/dev/null"):match "%d+"
  local enter = "nsenter --user --ipc --target " .. pid .. " --setuid 0 --setgid 0 "
  host.sh(enter .. "sh -c 'echo " .. UNBOUNDED .. " >/proc/sys/kernel/shmall'")
  assert(box:step("open('/proc/sys/kernel/shmall').read()").text:find(UNBOUNDED))
end

return {
  title = "Bombs: memory",
  alone = "its bombs take all processors",

  bomb.entry {
    attack = "the heap, in large pieces",
    naive = "the host swaps, or its kernel kills somebody",
    ours = "MemoryError in a step; other programs are killed",
    mark = [[
def heap():
    try:
        return "ok" if bytearray(280 << 20) else ""
    except MemoryError:
        return "MemoryError"
probe(heap)]],
    answer = "MemoryError|killed by SIGKILL",
    burn = "x = []\nwhile True: x.append(bytearray(1 << 20))",
    ends = "error MemoryError.*",
    seconds = 10,
  },
  bomb.entry {
    attack = "the heap, in small pieces, by several processes",
    naive = "each process has a limit of its own",
    ours = "the sandbox has one for all: MemoryError, or `context_lost` when the kernel had to choose",
    small = "'ok' * (len(bytearray(1 << 20)) > 0)",
    burn = [[
import os
for _ in range(3):
    os.fork()
x = []
while True:
    x.append(bytearray(100000))]],
    ends = "error MemoryError.*|code context_lost.*",
    seconds = 20,
    peak = { memory = 120 << 20 },
    bounded_by = "cgroup",
  },
  bomb.entry {
    attack = "memory that is no heap: shared mappings",
    naive = "a limit of the heap does not see it",
    ours = "`context_lost`: the kernel ends the process that asked; the sandbox goes on",
    mark = [[
import mmap
def shared():
    area = mmap.mmap(-1, 300 << 20)
    for at in range(0, len(area), 4096):
        area[at] = 1
    return "ok"
print(in_child(shared))]],
    answer = "killed by SIGKILL",
    burn = [[
import mmap
x = []
while True:
    x.append(mmap.mmap(-1, 1 << 20))
    x[-1].write(bytes(1 << 20))]],
    ends = "code context_lost.*",
    seconds = 20,
    bounded_by = "cgroup",
    after = function(box) assert(assert(box:step "6 * 7").text == "42") end,
  },
  bomb.entry {
    attack = "files that have no name: memfd_create",
    naive = "are no file system's, and no limit of a disk sees them",
    ours = "count as memory: `context_lost`",
    mark = [[
def nameless():
    fd = os.memfd_create("x")
    for _ in range(300):
        os.write(fd, bytes(1 << 20))
    return "ok"
print(in_child(nameless))]],
    answer = "killed by SIGKILL|Killed", -- the shell that says so may be chosen next
    burn = [[
import os
fd = os.memfd_create("x")
while True:
    os.write(fd, bytes(1 << 20))]],
    ends = "code context_lost.*",
    seconds = 20,
    bounded_by = "cgroup",
  },
  bomb.entry {
    attack = "memory that stays when its process is gone (System V segments), so that ending programs gives "
      .. "the kernel none back",
    naive = "it ends one process of the host after the other",
    ours = "ENOSPC at an eighth of the sandbox's memory: programs of the sandbox go on",
    outside = { python = SEGMENTS .. [[
child = os.fork()
if child == 0:
    with open("segments", "w") as file:
        file.write(" ".join(map(str, fill(40))))
    os._exit(0)
os.waitpid(child, 0)
left = [int(id) for id in open("segments").read().split()]
print("ok" if all(libc.shmctl(id, 0, None) == 0 for id in left) else "gone")]] },
    needs = needs_bounds,
    burn = SEGMENTS .. "made = fill(1000)\nsum(id >= 0 for id in made), ctypes.get_errno(), made[-1]",
    ends = "text %(32, 28, %-1%)",
    seconds = 20,
    after = function(box)
      assert(box.commands:run "head -c 40M /dev/zero >/tmp/rest")
      assert.equal("67108864", assert(box:step "len(b'x' * (64 << 20))").text)
    end,
  },
  bomb.entry {
    attack = "the same with queues of messages and sets of semaphores",
    naive = "makes 32,000 of each, for ever",
    ours = "ENOSPC after the few that programs have use for",
    mark = [[
def check(id):
    if id < 0:
        raise OSError(ctypes.get_errno(), "")
    return id
def objects():
    made = {"q": [], "s": []}
    try:
        for _ in range(130):
            made["q"].append(check(libc.msgget(0, 0o1600)))
            made["s"].append(check(libc.semget(0, 100, 0o1600)))
        return "ok"
    finally:
        for id in made["q"]:
            libc.msgctl(id, 0, None)
        for id in made["s"]:
            libc.semctl(id, 0, 0)
probe(objects)]],
    answer = "ENOSPC",
    needs = needs_bounds,
    burn = [[
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def count(make):
    number = 0
    while make() >= 0:
        number += 1
    return number, ctypes.get_errno()
count(lambda: libc.msgget(0, 0o1600)), count(lambda: libc.semget(0, 250, 0o1600))]],
    ends = "text %(%(4, 28%), %(128, 28%)%)",
    seconds = 20,
  },
  bomb.entry {
    attack = "the same where the kernel does not bound them, as before Linux 6.9, and aimed at the agent: "
      .. "with no program left, a call that has it take memory itself",
    naive = "its supervisor is ended, and leaves everything behind or takes everything with it",
    ours = "its programs are ended and it is told (`context_lost`), the agent last: then the sandbox ends, "
      .. "and whoever calls is told `sandbox_lost`; the engine and others go on",
    needs = attack.needs_root,
    mark = SEGMENTS .. [[
def segments():
    made = fill(300)
    for id in made:
        libc.shmctl(id, 0, None)
    return "ok" if min(made) >= 0 else "refused"
print(in_child(segments))]],
    answer = "killed by SIGKILL|refused",
    bounded_by = "cgroup",
    lost = true,
    seconds = 30,
    act = function(box, place)
      unbound(box)
      local fork = SEGMENTS .. "while True:\n  if os.fork() == 0: fill(1000)\n  os.wait()"
      local _, _, first = box:step(fork, { timeout = 20 })
      local fill = SEGMENTS .. "fill(1000)"
      for _ = 1, 3 do box.commands:run({ "python3", "-c", fill }, { timeout = 20 }) end
      local last
      for i = 1, 300 do
        local done, _, code = box.files:write("/home/user/" .. i, ("x"):rep(1 << 20))
        last = done and "written" or code
        if last == "sandbox_lost" then break end
      end
      local function told() return host.read(place.daemon.log):find "the kernel ended its agent" end
      assert(host.eventually(5, told), "the log does not say why")
      return ("%s, %s"):format(first, last)
    end,
    -- The kernel may find nobody else to end already while the first is dying.
    ends = "context_lost, sandbox_lost|sandbox_lost, sandbox_lost",
  },
  bomb.entry {
    attack = "the kernel's memory: pipes and sockets filled and not read, descriptors in flight",
    naive = "is nobody's, and cannot be swapped",
    ours = "OSError at the limit of open files, or `context_lost`",
    mark = [[
def pipes():
    for _ in range(300):
        os.pipe()
    return "ok"
print(in_child(pipes))]],
    answer = "EMFILE",
    burn = [[
import array, fcntl, os, socket
kept = []
while True:
    one, other = socket.socketpair()
    kept += [one, other]
    one.setblocking(False)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    try:
        for _ in range(50):
            one.sendmsg([b"x" * 4000], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                         array.array("i", [kept[0].fileno()]))])
        while True:
            one.send(bytes(1 << 16))
    except BlockingIOError:
        pass]],
    ends = "error OSError.*Too many.*|code context_lost.*",
    seconds = 20,
  },
  bomb.entry {
    attack = "the kernel's memory: connections of TCP over the loopback, filled and not read",
    naive = "is no part of its memory (control groups of version 1), and takes what all connections of the "
      .. "host have together",
    ours = "they take no more: at an eighth of the memory (version 1), or where it ends",
    needs = function()
      local pages = tonumber(host.read("/proc/sys/net/ipv4/tcp_mem"):match "(%d+)%s*$")
      return pages * 4096 < 600 << 20 and "this host has too little for them itself (net.ipv4.tcp_mem)" or nil
    end,
    mark = CONNECTIONS .. "print(in_child(lambda: fill(280)))",
    answer = "held|killed by SIGKILL|Killed",
    burn = CONNECTIONS .. "fill(280)",
    ends = "text held|code context_lost.*",
    seconds = 20,
    bounded_by = "cgroup",
  },
  bomb.entry {
    attack = "a number, a text or a pattern that takes for ever",
    naive = "hangs, and cannot be interrupted",
    ours = "MemoryError, or the step's time is over and the runner is replaced when it does not hear",
    small = "import re; re.match('(a+)+$', 'aaa') and 'ok'",
    burn = "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    ends = "code timeout.*",
    after = function(box)
      local done, _, code = box:step("9 ** 9 ** 9 ** 9", { timeout = 1 })
      assert(not done and code == "timeout" or done and done.error, code)
      assert(assert(box:step("6 * 7", { timeout = 20 })).text == "42")
    end,
  },
}
