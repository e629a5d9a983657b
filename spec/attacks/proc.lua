--- What /proc and /sys give away, and what can be changed through them.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

--- Says which of the files there can be opened so, or "none".
local function openable(mode, ...)
  local names = {}
  for _, name in ipairs { ... } do names[#names + 1] = '"' .. name .. '"' end
  return ([[
import glob
found = set()
for name in [p for pattern in (%s,) for p in glob.glob(pattern)]:
    try:
        fd = os.open(name, os.%s | os.O_NONBLOCK)
        if "%s" != "O_RDONLY" or os.read(fd, 1):
            found.add(name.split("/")[2])
        os.close(fd)
    except OSError:
        pass
print(*sorted(found) or ["none"])]]):format(table.concat(names, ", "), mode, mode)
end

return {
  title = "/proc and /sys",
  about = [[
What a sandbox can see of the host there, since the kernel has one of each for all: the load (`loadavg`,
`stat`, `uptime`, `pressure`, `vmstat`), the memory and the processors (`meminfo`, `cpuinfo`), the kernel's
version and what it has (`version`, `crypto`, `filesystems`, `devices`), and settings below `/proc/sys`.
`/proc/mounts` names the bounded file system, the layers over `/usr` and the devices, and no directory of the
host besides; it and `uid_map` tell the host's unprivileged ids that the sandbox has. `/sys` is empty.]],

  {
    attack = "see the processes of the host",
    naive = "lists them, with their arguments",
    ours = "sees those of the sandbox: process 1 is the agent",
    prepare = function(frame) return { pid = frame:start "sleep 300" } end,
    shell = [[
if grep -qs sleep /proc/@pid@/comm; then echo seen; else echo unseen; fi]],
    works = "seen",
    answer = "unseen",
  },
  {
    attack = "look into process 1: environ, mem, maps, fd, root, cwd, exe, auxv, stack",
    naive = "reads the supervisor's secrets, and walks out by its root",
    ours = "EACCES or EPERM for each, for the sandbox's root too",
    prepare = function(frame)
      return { outside = { pid = frame:start "sleep 300" }, inside = { pid = 1 } }
    end,
    python = [[
def link(name):
    os.listdir(f"/proc/@pid@/{name}/") if name != "exe" else os.readlink("/proc/@pid@/exe")
def file(name):
    with open(f"/proc/@pid@/{name}", "rb") as f:
        f.seek(0)
        f.read(1) if name != "mem" else None
def descriptors():
    for fd in os.listdir("/proc/@pid@/fd"):
        os.readlink("/proc/@pid@/fd/" + fd)
answers = {in_child(lambda: file(name)) for name in ("environ", "mem", "maps", "auxv", "syscall", "io")}
answers |= {in_child(lambda: link(name)) for name in ("root", "cwd", "exe")}
answers |= {in_child(descriptors)}
print(*sorted(answers))]],
    answer = "EACCES|EACCES EPERM|EPERM",
  },
  {
    attack = "read the kernel's memory, keys, messages, timers and address table",
    naive = "reads them: /proc is the host's",
    ours = "none of them",
    needs = attack.needs_root,
    python = openable("O_RDONLY", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg",
      "/proc/kallsyms", "/proc/timer_list", "/proc/kpagecount", "/proc/kpageflags", "/proc/slabinfo",
      "/proc/vmallocinfo",
      "/proc/modules", "/proc/sched_debug", "/proc/config.gz"),
    works = ".*kallsyms.*",
    answer = "none",
  },
  {
    attack = "learn the host's hardware and disks from /proc",
    naive = "reads the command line of its start, disks, swap, devices, interrupts, locks",
    ours = "none of them",
    python = openable("O_RDONLY", "/proc/cmdline", "/proc/diskstats", "/proc/partitions", "/proc/swaps",
      "/proc/interrupts", "/proc/softirqs", "/proc/locks", "/proc/bus/pci/devices", "/proc/bus/input/devices",
      "/proc/irq/*/smp_affinity", "/proc/scsi/scsi", "/proc/fs/*/*/*", "/proc/acpi/*", "/proc/driver/*",
      "/proc/consoles", "/proc/mdstat", "/proc/fb"),
    works = ".*cmdline.*",
    answer = "none",
  },
  {
    attack = "recognise the host by the number of its start (boot_id)",
    naive = "reads the host's",
    ours = "reads a number of the sandbox's own",
    prepare = function() return { id = host.read "/proc/sys/kernel/random/boot_id" } end,
    python = [[
with open("/proc/sys/kernel/random/boot_id") as file:
    print("the host's" if file.read() == """@id@""" else "another")]],
    works = "the host's",
    answer = "another",
  },
  {
    attack = "change settings of the kernel below /proc/sys",
    naive = "root changes core_pattern, and what it names runs on the host as root",
    ours = "none, not even those of the sandbox's own namespaces",
    needs = attack.needs_root,
    python = [[
found = []
for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        path = os.path.join(folder, name)
        try:
            os.close(os.open(path, os.O_WRONLY))
            found.append(path)
        except OSError:
            pass
print("the host's" if "/proc/sys/kernel/core_pattern" in found else found or "none")]],
    works = "the host's",
    answer = "none",
  },
  {
    attack = "press the host's emergency keys: /proc/sysrq-trigger",
    naive = "root restarts the host",
    ours = "EACCES",
    needs = attack.needs_root,
    python = 'probe(lambda: os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY)))',
    lacking = "ENOENT",
    answer = "EACCES",
  },
  {
    attack = "find devices, firmware, the kernel's debugging and control groups below /sys",
    naive = "finds the host's",
    ours = "/sys is empty",
    shell = "[ -n \"$(ls -A /sys)\" ] && echo full || echo empty",
    works = "full",
    answer = "empty",
  },
  {
    attack = "have the host's memory killer spare one: lower oom_score_adj",
    naive = "root lowers it, and processes of the host die first",
    ours = "EACCES",
    needs = attack.needs_root,
    python = [[
def lower():
    with open("/proc/self/oom_score_adj") as file:
        now = int(file.read())
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(max(now - 500, -1000)))
probe(lambda: in_child(lower))]],
    lacking = "EACCES",
    answer = "EACCES",
  },
}
