--- Ways out through the tree of mounts, by the old calls and the new ones.

return {
  title = "Mounts",

  {
    attack = "mount a file system, bind, remount, move or detach one",
    naive = "mounts: root of a user namespace may",
    ours = "EPERM, also for the sandbox's root",
    where = "namespaces",
    python = [[
os.makedirs("/tmp/probe-m", exist_ok=True)
target = b"/tmp/probe-m"
BIND, PRIVATE = 0x1000, 0x40000 | 0x4000
attempts({
    "tmpfs": lambda: call("mount", b"none", target, b"tmpfs", 0, None),
    "proc": lambda: call("mount", b"none", target, b"proc", 0, None),
    "bind": lambda: call("mount", b"/usr", target, None, BIND, None),
    "private": lambda: call("mount", None, b"/", None, PRIVATE, None),
})]],
    works = "ok",
    answer = "EPERM",
  },
  {
    attack = "mount by the new calls: fsopen, fsmount, open_tree, move_mount, mount_setattr",
    naive = "mounts: a filter for mount alone does not see them",
    ours = "EPERM, also for the sandbox's root",
    where = "namespaces",
    python = [[
attempts({
    "fsopen": lambda: call("fsopen", b"tmpfs", 0),
    "open_tree": lambda: call("open_tree", -100, b"/usr", 1),
    "fspick": lambda: call("fspick", -100, b"/proc", 0),
})]],
    works = "ok",
    lacking = "ENOSYS",
    answer = "EPERM",
  },
}
