--- Ways out through new namespaces, others' namespaces, and control groups.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

return {
  title = "Namespaces and control groups",

  {
    attack = "unshare a user namespace, to be root of it",
    naive = "gets every capability there, and the kernel's code behind them",
    ours = "EPERM",
    python = 'probe(lambda: in_child(lambda: call("unshare", 0x10000000)))',
    answer = "EPERM",
  },
  {
    attack = "unshare each of the other kinds of namespaces",
    naive = "gets them",
    ours = "EPERM for each, for the sandbox's root too",
    where = "namespaces",
    python = [[
attempts({name: (lambda flag=flag: call("unshare", flag)) for name, flag in {
    "mount": 0x20000, "cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000,
    "pid": 0x20000000, "net": 0x40000000, "time": 0x80}.items()})]],
    lacking = "EINVAL for.*",
    answer = "EPERM",
  },
  {
    attack = "clone into new namespaces, by each flag of clone",
    naive = "gets them: unshare alone was filtered",
    ours = "EPERM for each",
    where = "namespaces",
    python = [[
def clone(flag):
    parent = os.getpid()
    arguments = (flag | 17, 0, 0, 0, 0)
    call("clone", *arguments)
    if os.getpid() != parent or flag == 0x20000000 and os.getpid() == 1 and os.getppid() == 0:
        os._exit(0)
attempts({name: (lambda flag=flag: clone(flag)) for name, flag in {
    "mount": 0x20000, "cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000,
    "user": 0x10000000, "net": 0x40000000}.items()})]],
    answer = "EPERM",
  },
  {
    attack = "the same by clone3, whose flags a filter cannot see",
    naive = "gets them",
    ours = "ENOSYS: C libraries take clone then",
    python = [[
def clone3():
    arguments = ctypes.create_string_buffer(struct.pack("11Q", 0x10000000, *[0] * 3, 17, *[0] * 6))
    parent = os.getpid()
    call("clone3", arguments, 88)
    if os.getpid() != parent:
        os._exit(0)
probe(clone3)]],
    lacking = "ENOSYS",
    answer = "ENOSYS",
  },
  {
    attack = "join a namespace by its file below /proc, or by a process's descriptor",
    naive = "joins it",
    ours = "EPERM",
    where = "namespaces",
    python = [[
def by_file():
    fd = os.open("/proc/self/ns/uts", os.O_RDONLY)
    call("setns", fd, 0)
def by_process():
    call("setns", call("pidfd_open", os.getppid() or os.getpid(), 0), 0x04000000)
attempts({"file": by_file, "process": by_process})]],
    answer = "EPERM",
  },
  {
    attack = "open the namespaces of process 1",
    naive = "opens them",
    ours = "EACCES: nobody inside may look into the agent",
    where = "namespaces",
    python = [[
attempts({name: (lambda name=name: os.close(os.open("/proc/1/ns/" + name, os.O_RDONLY)))
    for name in ("mnt", "net", "pid", "user", "uts", "ipc")})]],
    answer = "EACCES",
  },
  {
    attack = "give oneself other ids: write uid_map, gid_map, setgroups",
    naive = "maps ids in a namespace of its own",
    ours = "EPERM, also without a filter: the maps are written once",
    users = { "user", "root" },
    python = [[
def write():
    with open("/proc/self/uid_map", "w") as file:
        file.write("0 @uid@ 1")
def unshared():
    call("unshare", 0x10000000)
    write()
if "@place@" == "outside":
    print(in_child(unshared))
else:
    attempts({"write": write})]],
    prepare = function()
      return {
        uid = (host.sh "id -u":gsub("%s", "")),
        outside = { place = "outside" }, inside = { place = "inside" },
      }
    end,
    answer = "EPERM|EACCES",
  },
  {
    attack = "the host's id behind one's own: see a map to the host's root or user",
    naive = "is root of the host, or its user",
    ours = "every id is an unprivileged one of the host",
    needs = attack.needs_root,
    python = [[
with open("/proc/self/uid_map") as file:
    maps = [[int(n) for n in line.split()] for line in file]
host = [outside + os.getuid() - inside for inside, outside, count in maps
        if inside <= os.getuid() < inside + count]
print("root" if host == [0] else "none of the host's" if host and host[0] > 60000 else host)]],
    works = "root",
    answer = "none of the host's",
  },
  {
    attack = "run a program on the host by a control group's release_agent",
    naive = "mounts a hierarchy of control groups, and names the program",
    ours = "there is none to be seen, and none to be mounted",
    needs = attack.needs_root,
    shell = [[
found=none
for file in $(find /sys/fs/cgroup -name release_agent -o -name cgroup.procs 2>/dev/null | head -n 3); do
  [ -w "$file" ] && found=writable
done
echo $found]],
    works = "writable",
    lacking = "none",
    answer = "none",
  },
  {
    attack = "see where one is in the host's control groups",
    naive = "reads the paths, with the names of the engine and its user",
    ours = "sees itself at the root of each",
    shell = [[
if [ -n "$(sed 's/^[^:]*:[^:]*://' /proc/self/cgroup | grep -v '^/$')" ]; then
  echo paths
else
  echo root
fi]],
    works = "paths",
    lacking = "root",
    answer = "root",
  },
}
