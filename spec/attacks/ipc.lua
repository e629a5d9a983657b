--- What processes of one host share besides files: shared memory, queues, keys.

local host = require "spec.support.host"

local function remove(kind)
  return function() host.sh("ipcrm " .. kind .. " 0x57eb0c5") end
end

local function shared(make, kind)
  return {
    prepare = function(frame)
      frame:expect(frame:outside { python = make }, "ok", "outside")
    end,
    release = remove(kind),
  }
end

local memory = shared([[probe(lambda: None if libc.shmget(0x57eb0c5, 4096, 0o1666) >= 0 else 1 / 0)]], "-M")
local queue = shared([[probe(lambda: None if libc.msgget(0x57eb0c5, 0o1666) >= 0 else 1 / 0)]], "-Q")
local set = shared([[probe(lambda: None if libc.semget(0x57eb0c5, 1, 0o1666) >= 0 else 1 / 0)]], "-S")

local CHECK = [[
def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
]]

return {
  title = "Shared memory, queues and keys",

  {
    attack = "open System V shared memory of the host by its key",
    naive = "opens it",
    ours = "ENOENT: a namespace of its own",
    prepare = memory.prepare, release = memory.release,
    python = CHECK .. "probe(lambda: check(libc.shmget(0x57eb0c5, 0, 0)))",
    answer = "ENOENT",
  },
  {
    attack = "open a System V queue of messages of the host",
    naive = "opens it",
    ours = "ENOENT",
    prepare = queue.prepare, release = queue.release,
    python = CHECK .. "probe(lambda: check(libc.msgget(0x57eb0c5, 0)))",
    answer = "ENOENT",
  },
  {
    attack = "open System V semaphores of the host",
    naive = "opens them",
    ours = "ENOENT",
    prepare = set.prepare, release = set.release,
    python = CHECK .. "probe(lambda: check(libc.semget(0x57eb0c5, 0, 0)))",
    answer = "ENOENT",
  },
  {
    attack = "open a POSIX queue of messages of the host",
    naive = "opens it",
    ours = "ENOENT",
    prepare = function(frame)
      local made = frame:outside { python = [[
probe(lambda: call("mq_open", b"stepbox-probe", os.O_CREAT | os.O_RDWR, 0o666, None))]] }
      if made == "ENOSYS" then frame:skip "this kernel has no POSIX queues" end
      frame:expect(made, "ok", "outside")
    end,
    release = function(frame) frame:outside { python = "libc.mq_unlink(b'/stepbox-probe')" } end,
    python = 'probe(lambda: call("mq_open", b"stepbox-probe", os.O_RDONLY, 0, None))',
    answer = "ENOENT",
  },
  {
    attack = "open POSIX shared memory of the host (/dev/shm)",
    naive = "opens it",
    ours = "ENOENT: a directory of its own, within the sandbox's bound",
    prepare = function() host.write("/dev/shm/stepbox-probe", "x") end,
    release = function() os.remove "/dev/shm/stepbox-probe" end,
    python = 'probe(lambda: open("/dev/shm/stepbox-probe").close())',
    answer = "ENOENT",
  },
  {
    attack = "keep, find or ask for keys in the kernel's rings (add_key, keyctl, request_key)",
    naive = "finds those of its user's sessions, as rings have no namespaces",
    ours = "EPERM",
    python = [[
attempts({
    "add": lambda: call("add_key", b"user", b"stepbox-probe", b"x", 1, -2),
    "look": lambda: call("keyctl", 0, -3, 1),
    "join": lambda: call("keyctl", 1, None)})]],
    lacking = "ENOSYS",
    answer = "EPERM",
  },
}
