--- Devices, handles, watches and attributes: ways to files that are no paths, and what files give away.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

return {
  title = "Devices, handles and watches",

  {
    attack = "make a device node: of a disk, of memory, of the console",
    naive = "root makes it, and reads the host's disk",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
import stat
def make(kind, major, minor):
    name = f"node-{major}-{minor}"
    os.mknod(name, kind | 0o600, os.makedev(major, minor))
    os.remove(name)
attempts({
    "disk": lambda: make(stat.S_IFBLK, 8, 0),
    "memory": lambda: make(stat.S_IFCHR, 1, 1),
    "console": lambda: make(stat.S_IFCHR, 5, 1),
    "fuse": lambda: make(stat.S_IFCHR, 10, 229)})]],
    lacking = "EPERM",
    answer = "EPERM",
  },
  {
    attack = "name a file by a handle, and open handles of files without a path (open_by_handle_at)",
    naive = "root opens any file of the host's disk, from within a container",
    ours = "EPERM",
    needs = attack.needs_root,
    python = [[
def open_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.create_string_buffer(8)
    call("name_to_handle_at", -100, b"/tmp", handle, mount, 0)
    os.close(call("open_by_handle_at", os.open("/tmp", os.O_RDONLY), handle, 0))
probe(open_handle)]],
    lacking = "EOPNOTSUPP|EPERM",
    answer = "EPERM",
  },
  {
    attack = "watch everything that happens to files on a mount (fanotify)",
    naive = "root watches, and decides who may open what",
    ours = "EPERM",
    needs = attack.needs_root,
    python = 'probe(lambda: os.close(call("fanotify_init", 0, 0)))',
    lacking = "ENOSYS|EPERM",
    answer = "EPERM",
  },
  {
    attack = "watch which programs of /usr the host starts (inotify)",
    naive = "sees each of them: the files are the same",
    ours = "sees nothing, as long as /usr is a layer of the sandbox's own",
    needs = function(frame)
      if not assert(frame:box().commands:run "stat -f -c %T /usr").stdout:find "overlay" then
        return "/usr is the host's own mount here, whose files are the same"
      end
    end,
    prepare = function(frame)
      -- The host's programs.
      frame:start "sh -c 'for i in $(seq 400); do /usr/bin/od --version; sleep 0.05; done'"
    end,
    python = [[
import select
descriptor = libc.inotify_init()
libc.inotify_add_watch(descriptor, b"/usr/bin/od", 0x20 | 0x1)
print("seen" if select.select([descriptor], [], [], 1)[0] else "unseen")]],
    works = "seen",
    answer = "unseen",
  },
  {
    attack = "change what other sandboxes and the host run: write below /usr",
    naive = "root of a container that shares it changes it for all",
    ours = "root changes a layer of its own, or nothing; the host's file stays",
    control = function(frame)
      host.sh(("cp /usr/bin/od %s/od"):format(frame:folder()))
      frame:expect(frame:outside { shell = "echo changed >od; cat od" }, "changed", "outside")
    end,
    attempt = function(frame)
      local before = host.sh "sha256sum /usr/bin/od; stat -c '%a %u %Y %i' /usr/bin/od"
      local box = frame:box()
      for _, user in ipairs(frame:has_root() and { "user", "root" } or { "user" }) do
        box.commands:run("cd /usr/bin; echo changed >od; chmod 777 od; touch -d @0 od; mv od od2; rm -f od2",
          { user = user })
        assert(host.sh "sha256sum /usr/bin/od; stat -c '%a %u %Y %i' /usr/bin/od" == before)
        local other = frame:box "other"
        assert(assert(other.commands:run "/usr/bin/od --version >/dev/null; echo $?").stdout == "0\n")
      end
    end,
  },
  {
    attack = "learn the names, owners and times of the host's files beside /usr",
    naive = "lists /home, /root, /etc, /var, /srv, /opt of the host",
    ours = "lists its own: what a new system has",
    prepare = function(frame)
      local marker = host.sh("ls -A /home /root /srv /opt /var/lib /etc 2>/dev/null | sort -u")
      host.write(frame:folder() .. "/listing", marker)
      assert(frame:box().files:write("/tmp/listing", marker))
      return { outside = { names = frame:folder() .. "/listing" }, inside = { names = "/tmp/listing" } }
    end,
    python = [[
known = set(open("@names@").read().split())
seen = set()
for folder in ("/home", "/root", "/srv", "/opt", "/var/lib", "/etc"):
    try:
        seen |= set(os.listdir(folder))
    except OSError:
        pass
print("the host's" if len(known & seen) > 0.8 * len(known) else "its own")]],
    works = "the host's",
    answer = "its own",
  },
}
