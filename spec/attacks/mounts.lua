--- Ways out through the tree of mounts, by the old calls and the new ones.

local attack = require "spec.support.attack"

--- Where a probe may mount something: outside in the family's folder, which goes with it.
local function place(name, inside)
  return function(frame)
    local outside = frame:folder() .. "/" .. name
    return { outside = { place = outside }, inside = { place = inside or "/tmp/" .. name } }
  end
end

return {
  title = "Mounts",

  {
    attack = "mount a file system, bind a directory, change how mounts spread",
    naive = "mounts: root of a user namespace may",
    ours = "EPERM, for the sandbox's root too",
    where = "namespaces",
    prepare = place "m",
    python = [[
os.makedirs("@place@", exist_ok=True)
target, BIND, PRIVATE = b"@place@", 0x1000, 0x44000
attempts({
    "tmpfs": lambda: call("mount", b"none", target, b"tmpfs", 0, None),
    "proc": lambda: call("mount", b"none", target, b"proc", 0, None),
    "bind": lambda: call("mount", b"/usr", target, None, BIND, None),
    "spread": lambda: call("mount", None, b"/", None, PRIVATE, None),
})]],
    answer = "EPERM",
  },
  {
    attack = "mount by the new calls: fsopen, fspick, open_tree, fsmount, move_mount",
    naive = "mounts: a filter of mount alone does not see them",
    ours = "EPERM, for the sandbox's root too",
    where = "namespaces",
    prepare = place "t",
    python = [[
def mount_tmpfs():
    fs = call("fsopen", b"tmpfs", 0)
    call("fsconfig", fs, 6, None, None, 0)
    call("fsmount", fs, 0, 0)

def bind():
    tree = call("open_tree", -100, b"/usr", 1)
    os.makedirs("@place@", exist_ok=True)
    call("move_mount", tree, b"", -100, b"@place@", 4)

attempts({
    "tmpfs": mount_tmpfs,
    "bind": bind,
    "pick": lambda: call("fspick", -100, b"/proc", 0),
})]],
    lacking = "ENOSYS",
    answer = "EPERM",
  },
  {
    attack = "make a read-only mount writable: remount, mount_setattr",
    naive = "writes to what was read-only",
    ours = "EPERM, and the file stays unwritable",
    where = "namespaces",
    prepare = place("ro", "/opt/stepbox"),
    python = [[
path = b"@place@"
def bind():
    os.makedirs(path, exist_ok=True)
    call("mount", b"tmp", path, b"tmpfs", 0, None)
    call("mount", None, path, None, 0x1021, None)
if path != b"/opt/stepbox":
    bind()
def old():
    call("mount", None, path, None, 0x1020, None)
    open(path + b"/new", "w").close()
def new():
    call("mount_setattr", -100, path, 0, struct.pack("4Q", 0, 1, 0, 0), 32)
    open(path + b"/new", "w").close()
attempts({"old": old, "new": new})]],
    lacking = "ENOSYS for new, ok for old",
    answer = "EPERM",
  },
  {
    attack = "detach what covers a file: umount",
    naive = "shows what is under it",
    ours = "EPERM, and the file stays covered",
    where = "namespaces",
    prepare = place("u", "/proc/keys"),
    python = [[
path = b"@place@"
if path != b"/proc/keys":
    os.makedirs(path, exist_ok=True)
    call("mount", b"tmp", path, b"tmpfs", 0, None)
probe(lambda: call("umount2", path, 2))]],
    answer = "EPERM",
  },
  {
    attack = "pivot_root to the tree one was put into",
    naive = "moves the root",
    ours = "EPERM",
    where = "namespaces",
    prepare = place "p",
    python = [[
new = b"@place@"
os.makedirs(new, exist_ok=True)
try:
    call("mount", None, b"/", None, 0x44000, None)
    call("mount", b"tmp", new, b"tmpfs", 0, None)
    os.makedirs(new + b"/old", exist_ok=True)
except OSError:
    pass
probe(lambda: call("pivot_root", new, new + b"/old"))]],
    answer = "EPERM",
  },
  {
    attack = "climb out of a chroot by a directory kept open, up to the first root there is",
    naive = "finds the host's root, where chroot was all there was",
    ours = "root's chroot leads back to the sandbox's own root; user has none",
    where = "namespaces",
    prepare = function(frame)
      local values = place "cell" (frame)
      values.outside.marker, values.inside.marker = frame:folder(), frame:folder()
      return values
    end,
    python = [[
def climb():
    cell = "@place@"
    os.makedirs(cell + "/inner", exist_ok=True)
    os.chroot(cell)
    os.chdir("/")
    outer = os.open("/", os.O_RDONLY)
    os.chroot("inner")
    os.fchdir(outer)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return "outside" if os.path.exists("@marker@") else "inside"
probe(climb)]],
    works = "outside",
    answer = { user = "EPERM", root = "inside" },
  },
  {
    attack = "find a directory of the host through the mounts: /proc/mounts, /proc/1/root, /..",
    naive = "sees the host's tree, as chroot and a plain child do",
    ours = "the host's file is nowhere below any mount",
    prepare = function(frame) return { marker = frame:folder() } end,
    python = [[
found = set()
roots = {"/", "/..", "/proc/self/root", "/proc/1/root", "/proc/1/cwd", "/proc/self/cwd/../../../.."}
with open("/proc/self/mounts") as mounts:
    roots |= {line.split()[1] for line in mounts}
for root in roots:
    try:
        if os.path.exists(root + "@marker@"):
            found.add("found")
    except OSError:
        pass
print(*found or {"nowhere"})]],
    works = "found",
    answer = "nowhere",
  },
  {
    attack = "ask the kernel for the mounts by statmount and listmount",
    naive = "lists them",
    ours = "ENOSYS",
    python = [[
def listed():
    ids = (ctypes.c_uint64 * 64)()
    call("listmount", struct.pack("IIQQ", 24, 0, 0xffffffffffffffff, 0), ids, 64, 0)
probe(listed)]],
    lacking = "ENOSYS",
    answer = "ENOSYS",
  },
  {
    attack = "use a file of the file system as swap, or count users' space: swapon, quotactl",
    naive = "EINVAL: the kernel gets as far as to look at the file",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
with open("probe-swap", "w") as file:
    file.write("x" * 8192)
probe(lambda: call("swapon", b"probe-swap", 0))]],
    works = "EINVAL",
    answer = "EPERM",
  },
}
