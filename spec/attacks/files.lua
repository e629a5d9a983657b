--- Devices, handles, watches and attributes: ways to files that are no paths, and what files give away.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

-- Of the host; few have it in use.
local KEPT = "/usr/bin/ptx"

local FORGET = [[
size = os.path.getsize("/usr/bin/ptx")
file = os.open("/usr/bin/ptx", os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
libc.mmap.restype = ctypes.c_void_p
at = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(size), 1, 2, file, 0))
ctypes.string_at(at, size) if @touch@ else None
libc.madvise(at, ctypes.c_size_t(size), 21)
print("done")]]

--- Has what the host keeps of a file forgotten by a function that runs a program, in each way there is; says
--- what came of it.
local function try_to_forget(run)
  local said, left
  for _, touch in ipairs { "False", "True" } do
    host.sh("cat " .. KEPT .. " >/dev/null; sleep 0.2")
    said = run((FORGET:gsub("@touch@", touch)))
    left = tonumber((host.sh("fincore --bytes --noheadings --output RES " .. KEPT)))
    if left == 0 then break end
  end
  return said .. (left == 0 and ": gone" or ": kept")
end

return {
  title = "Devices, handles, watches and attributes",

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
    attack = "learn what files and mounts are marked with (listxattr, getxattr): user.*, security.*, "
      .. "trusted.*",
    naive = "reads the host's labels, notes and checksums, and where the layers of its own root are",
    ours = "those of the host's files are not there; none on any mount, no trusted.* anywhere, and nothing "
      .. "of layers on files that root has changed. What is on files below /usr can be read as they can",
    prepare = function(frame)
      local marked = frame:folder() .. "/marked"
      host.write(marked, "x")
      local said = frame:outside { python = ("os.setxattr(%q, 'user.note', b'of the host')"):format(marked) }
      if said ~= "" then frame:skip("files have no attributes here: " .. said) end
      if frame:has_root() then
        frame:box().commands:run("touch /usr/local/share/changed /usr/bin/od; rm -f /usr/bin/yes; "
          .. "mkdir -p /usr/share/changed /var/lib/dpkg/changed", { user = "root" })
      end
      return { marked = marked }
    end,
    python = [[
def names(path):
    try:
        # Where the host labels all files, those of a sandbox have the label of what is nobody's.
        return [n for n in os.listxattr(path, follow_symlinks=False) if n != "security.selinux"]
    except OSError:
        return []
def reads(path, name):
    try:
        os.getxattr(path, name)
        return True
    except OSError:
        return False
with open("/proc/self/mounts") as mounts:
    places = [line.split()[1] for line in mounts]
places += ["/", "/usr", "/usr/bin", "/etc", "/home", "/tmp", "/usr/local/share/changed",
           "/usr/share/changed", "/var/lib/dpkg/changed", "@marked@"]
seen = {place: names(place) for place in places if names(place)}
hidden = ["trusted.overlay.opaque", "trusted.overlay.origin", "trusted.overlay.redirect",
          "user.overlay.opaque", "user.overlay.origin", "security.ima", "security.evm",
          "system.posix_acl_access"]
seen.update({place: name for place in places for name in hidden if reads(place, name)})
for folder, _, files in os.walk("/usr/bin"):
    for file in files:
        found = [n for n in names(folder + "/" + file) if n.startswith(("trusted.", "user.overlay."))]
        if found:
            seen[folder + "/" + file] = found
print("seen: " + "user.note" if "@marked@" in seen else seen or "nothing")]],
    works = "seen: user.note",
    answer = "nothing",
  },
  {
    attack = "mark files with what the host's kernel believes: trusted.* and security.* attributes",
    naive = "root sets them, and with them the labels and layers of what others run",
    ours = "EPERM, for the sandbox's root too",
    needs = attack.needs_root,
    python = [[
import shutil
shutil.copy("/bin/true", "marked")
attempts({name: (lambda name=name: os.setxattr("marked", name, b"x")) for name in (
    "trusted.note", "trusted.overlay.redirect", "security.note")})]],
    lacking = ".*EOPNOTSUPP.*|EPERM",
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
    attack = "watch which of the kernel's settings the host's programs read and write (inotify, /proc/sys)",
    naive = "sees them, where the files are those of the host's /proc, the engine's for new sandboxes too",
    ours = "sees nothing: a /proc of its own",
    prepare = function(frame)
      frame:start "sh -c 'for i in $(seq 400); do cat /proc/sys/kernel/ostype; sleep 0.05; done'"
    end,
    python = [[
import select
descriptor = libc.inotify_init()
for path in (b"/proc/sys/kernel", b"/proc/sys/kernel/ostype"):
    libc.inotify_add_watch(descriptor, path, 0x20 | 0x1)
print("seen" if select.select([descriptor], [], [], 1)[0] else "unseen")]],
    works = "seen",
    answer = "unseen",
  },
  {
    attack = "watch when programs of the host open and write devices (inotify on /dev/null)",
    naive = "sees each of them: the devices are the host's files",
    ours = "sees nothing, where the engine may make devices: they are files of the sandbox's own",
    needs = attack.needs_own_devices,
    prepare = function(frame)
      frame:start "sh -c 'for i in $(seq 400); do echo >/dev/null; sleep 0.05; done'"
    end,
    python = [[
import select
descriptor = libc.inotify_init()
for path in (b"/dev/null", b"/dev"):
    libc.inotify_add_watch(descriptor, path, 0x20 | 0x2)
print("seen" if select.select([descriptor], [], [], 1)[0] else "unseen")]],
    works = "seen",
    answer = "unseen",
  },
  {
    attack = "have the host forget what it keeps of the files in /usr (fadvise, madvise), so that "
      .. "everybody's programs come from its disk again",
    naive = "it forgets them: the file under a layer is the same",
    ours = "it keeps them",
    needs = function(frame)
      return not (frame:is_root() and host.sh "command -v fincore" ~= "")
        and "fincore (util-linux) tells the host's root alone what is kept" or nil
    end,
    control = function(frame)
      frame:expect(try_to_forget(function(python) return frame:outside { python = python } end),
        "done: gone", "outside")
    end,
    attempt = function(frame)
      for _, user in ipairs(frame:has_root() and { "user", "root" } or { "user" }) do
        frame:expect(try_to_forget(function(python) return frame:inside({ python = python }, user) end),
          "done: kept", "as " .. user)
      end
    end,
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
