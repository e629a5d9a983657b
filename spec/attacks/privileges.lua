--- Ways to more rights than one has: programs that give them, and calls that take them.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

local NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups "
local ROOT = { user = "root" }

local function run(frame, command, options)
  local result = assert(frame:box().commands:run(command, options))
  return ((result.stdout .. result.stderr):gsub("%s+$", ""))
end

--- The sandbox has a root, or the row is skipped.
local function needs_both(frame)
  return attack.needs_root(frame) or not frame:has_root() and "the sandbox has no root here" or nil
end

-- Sets a file's capabilities: cap_net_raw and others, effective at once.
local SET_CAPABILITIES = [[python3 -c "
import os, struct
os.setxattr('%s', 'security.capability', struct.pack('<5I', 0x02000001, 0x3ffff & ~0, 0, 0, 0))"]]

return {
  title = "More rights",

  {
    attack = "run a program with the setuid bit that the sandbox's root has made",
    naive = "user becomes root",
    ours = "runs as user: no_new_privs, and mounts without setuid",
    needs = needs_both,
    control = function(frame)
      local copy = frame:folder() .. "/id"
      host.sh(("chmod 755 %s; cp /usr/bin/id %s; chmod 4755 %s"):format(frame:folder(), copy, copy))
      local seen = host.sh(NOBODY .. copy .. " -u")
      if seen == "65534\n" then frame:skip "the temporary folder is mounted without setuid" end
      assert(seen == "0\n", seen)
    end,
    attempt = function(frame)
      for _, place in ipairs { "/usr/bin/id-0", "/var/tmp/id-0", "/opt/id-0" } do
        local made = run(frame, ("cp /usr/bin/id %s && chmod 4755 %s && stat -c %%a %s"):format(
          place, place, place), ROOT)
        if made == "4755" then
          assert(run(frame, place .. " -u") == "1000", place)
        else
          assert(place:find "^/usr" and made:find "ead-only", made)
        end
      end
    end,
  },
  {
    attack = "run a program of the host with the setuid bit: su",
    naive = "it runs as root, and takes a password, or has a fault",
    ours = "it runs as who runs it",
    needs = attack.needs_root,
    prepare = function() return { outside = { as = NOBODY }, inside = { as = "" } } end,
    python = [[
import subprocess
words = "@as@".split() + ["su"]
with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL) as program:
    for _ in range(100):
        with open(f"/proc/{program.pid}/comm") as name:
            if name.read() == "su\n":
                break
        time.sleep(0.01)
    with open(f"/proc/{program.pid}/status") as file:
        ids = [line.split()[2] for line in file if line.startswith("Uid:")][0]
    program.stdin.close()
print("root" if ids == "0" else "user" if ids == str(os.geteuid()) else ids)]],
    works = "root",
    users = { "user" },
    answer = "user",
  },
  {
    attack = "become root by su or sudo, with no password or an empty one",
    naive = "who is root on the host already is asked for none",
    ours = "refused: no account has a password, and no program changes who one is",
    needs = attack.needs_root,
    users = { "user" },
    shell = "echo | su root -c 'id -u' 2>/dev/null || echo refused",
    works = "0",
    answer = "refused",
  },
  {
    attack = "run a program with capabilities in its file",
    naive = "has them",
    ours = "has none, also when the sandbox's root gives the file some",
    needs = needs_both,
    control = function(frame)
      local copy = frame:folder() .. "/cat"
      host.sh(("chmod 755 %s; cp /usr/bin/cat %s"):format(frame:folder(), copy))
      local said = host.sh(SET_CAPABILITIES:format(copy))
      local seen = host.sh(NOBODY .. copy .. " /proc/self/status")
      if not seen:find "CapEff:%s+0*[1-9a-f]" then frame:skip("files have no capabilities here: " .. said) end
    end,
    attempt = function(frame)
      local set = SET_CAPABILITIES:format "/var/tmp/cat"
      assert(run(frame, "cp /usr/bin/cat /var/tmp/cat; " .. set, ROOT) == "")
      local seen = run(frame, "/var/tmp/cat /proc/self/status")
      for _, kind in ipairs { "Inh", "Prm", "Eff", "Bnd", "Amb" } do
        assert(seen:find("Cap" .. kind .. ":%s+0+\n"), seen)
      end
    end,
  },
  {
    attack = "become root by setuid(0)",
    naive = "becomes root, where it was started as root and no id was given up for good",
    ours = "EPERM for user: no id is left to come back to",
    needs = attack.needs_root,
    users = { "user" },
    python = "probe(lambda: os.setresuid(0, 0, 0))",
    answer = "EPERM",
  },
  {
    attack = "take capabilities that one has not: capset, ambient ones",
    naive = "root has all of them",
    ours = "EPERM",
    where = "namespaces",
    python = [[
def take(number):
    data = struct.pack("6I", 1 << number, 1 << number, 0, 0, 0, 0)
    if libc.syscall(126 if MACHINE != "aarch64" else 91, struct.pack("II", 0x20080522, 0), data) < 0:
        raise OSError(ctypes.get_errno(), "capset")
attempts({name: (lambda number=number: take(number)) for name, number in {
    "net_admin": 12, "net_raw": 13, "sys_module": 16, "sys_ptrace": 19, "sys_admin": 21}.items()})]],
    answer = "EPERM",
  },
  {
    attack = "have root's rights over files reach those of the host's root: chown of a device",
    naive = "root in a container without a map of ids changes them",
    ours = "EPERM: each of its ids is another on the host",
    needs = attack.needs_root,
    users = { "root" },
    python = [[
def change():
    os.chown("/dev/null", 0, 0)
    os.chmod("/dev/null", 0o666)
probe(change)]],
    answer = "EPERM",
  },
  {
    attack = "run a program that is in no file (memfd)",
    naive = "runs it, and what watches files sees nothing",
    ours = "runs it, with no more rights than any other, and under the same filter",
    needs = attack.needs_root,
    users = { "user" },
    python = [[
fd = os.memfd_create("program")
with open("/usr/bin/grep", "rb") as program:
    os.write(fd, program.read())
sys.stdout.flush()
os.execve(fd, ["grep", "-E", "^(CapEff|Seccomp):", "/proc/self/status"], {})]],
    works = "CapEff:%s+%x*[1-9a-f]%x*\nSeccomp:.*",
    answer = "CapEff:%s+0+\nSeccomp:%s+2",
  },
  {
    attack = "switch off the random places of memory, or make all memory executable (personality)",
    naive = "switches them off, also for programs it starts",
    ours = "EPERM",
    python = [[
attempts({
    "places": lambda: call("personality", 0x0040000),
    "execution": lambda: call("personality", 0x0400000),
    "old kernel": lambda: call("personality", 0x0020000)})]],
    answer = "EPERM",
  },
  {
    attack = "answer system calls of a process in the kernel's place (a filter with a listener)",
    naive = "answers them",
    ours = "EPERM; filters that take more away are allowed",
    python = [[
def listen():
    instruction = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
    code = ctypes.create_string_buffer(instruction)
    program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
    libc.prctl(38, 1, 0, 0, 0)
    call("seccomp", 1, @flags@, program)
print(in_child(listen))]],
    prepare = function() return { flags = 8 } end,
    lacking = "EINVAL|EBUSY",
    answer = "EPERM",
  },
  {
    attack = "take the filter off again: no_new_privs, seccomp modes",
    naive = "there is none",
    ours = "EINVAL or EACCES: the kernel has no way back",
    needs = function()
      if host.read "/proc/self/status":find "Seccomp:%s+[12]" then
        return "the tests run under a filter themselves"
      end
    end,
    python = [[
with open("/proc/self/status") as file:
    status = file.read()
libc.prctl(38, 0, 0, 0, 0)
libc.prctl(22, 0, 0, 0, 0)
with open("/proc/self/status") as file:
    after = file.read()
print("filtered" if "Seccomp:\t2" in after and "NoNewPrivs:\t1" in after else "free")]],
    works = "free",
    answer = "filtered",
  },
}
