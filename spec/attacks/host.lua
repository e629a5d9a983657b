--- What a sandbox could learn about the host and its users.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

local function reads_same(what, paths, fields)
  local entry = {
    attack = "read the host's " .. what,
    naive = "reads them",
    ours = "they are not there, or are the sandbox's own",
    prepare = function()
      local sums = {}
      for path in paths:gmatch "%S+" do
        sums[#sums + 1] = (host.sh("sha256sum " .. path .. " 2>/dev/null | cut -c1-64"):gsub("%s", ""))
      end
      return { sums = table.concat(sums, " "), paths = paths }
    end,
    python = [[
import glob, hashlib
known, seen = set("@sums@".split()), "none"
for path in [p for pattern in "@paths@".split() for p in glob.glob(pattern)]:
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content and hashlib.sha256(content).hexdigest() in known:
            seen = "the host's"
    except OSError:
        pass
print(seen)]],
    works = "the host's",
    lacking = "none",
    answer = "none",
  }
  for key, value in pairs(fields or {}) do entry[key] = value end
  return entry
end

-- Says whether the process has a text anywhere in its memory. It is given with each byte changed, so that
-- the search does not find itself.
local SEARCH = [[
import ctypes, os
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may look into itself
def search(changed):
    table = bytes(byte ^ 0x55 for byte in range(256))
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            try:
                memory.seek(start)
                content = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            if bytes(changed) in content.translate(table):
                return "found"
    return "not found"
]]

return {
  title = "The host and its users",

  reads_same("users and groups (/etc/passwd, /etc/group)", "/etc/passwd /etc/group"),
  reads_same("passwords (/etc/shadow, /etc/gshadow)", "/etc/shadow /etc/gshadow", {
    naive = "root reads them", needs = attack.needs_root }),
  reads_same("name and number (/etc/hostname, /etc/machine-id)",
    "/etc/hostname /etc/machine-id /var/lib/dbus/machine-id"),
  reads_same("addresses and names of others (/etc/hosts, /etc/resolv.conf)", "/etc/hosts /etc/resolv.conf"),
  {
    attack = "find keys, tokens and histories of the host's users, and its private certificates",
    naive = "finds those of whoever started it",
    ours = "none is there",
    prepare = function(frame)
      -- A home as users have them.
      local home = frame:folder() .. "/home"
      host.sh(("mkdir -p %s/.ssh; echo key > %s/.ssh/id_ed25519; chmod -R go= %s"):format(home, home, home))
      return { home = home }
    end,
    python = [[
import glob
patterns = [
    "@home@/.ssh/*", "/etc/ssh/*key*", "/etc/ssl/private/*", "/root/.ssh/*", "/home/*/.ssh/*", "/root/.aws/*",
    "/home/*/.aws/*", "/root/.gnupg/*", "/home/*/.netrc", "/root/.netrc", "/root/.*history",
    "/home/*/.*history", "/root/.docker/*", "/var/run/secrets/*", "/run/secrets/*", "/etc/apt/auth.conf*",
    "/etc/krb5.keytab", "/etc/wpa_supplicant/*", "/var/mail/*", "/var/spool/cron/*/*", "/var/log/*log",
    "/var/backups/*", "/etc/sudoers*", "/etc/NetworkManager/*/*"]
print("found" if any(glob.glob(p) for p in patterns) else "none")]],
    works = "found",
    answer = "none",
  },
  {
    attack = "read the engine's environment: in one's own, or in that of any process",
    naive = "inherits it",
    ours = "nothing of it is there",
    prepare = function(frame) frame:box() end,
    python = [[
import glob
names = ("STEPBOX_", "XDG_RUNTIME_DIR", "LUA_PATH", "SSH_", "E2B_API_KEY")
seen = any(name.startswith(names) for name in os.environ)
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(path, "rb") as file:
            parts = file.read().decode(errors="replace").split("\0")
        seen |= any(part.startswith(names) for part in parts)
    except OSError:
        pass
print("seen" if seen else "unseen")]],
    works = "seen",
    answer = "unseen",
  },
  {
    attack = "read the engine's environment, arguments and descriptors from a step's process, forked outside",
    naive = "a process that was forked from a warm one has them still",
    ours = "a clean environment; no descriptor but its own; no file of the host open or mapped writable",
    control = function(frame)
      local probe = { python = "print('seen' if 'XDG_RUNTIME_DIR' in os.environ else 'unseen')" }
      frame:expect(frame:outside(probe), "seen", "outside")
    end,
    attempt = function(frame)
      local result = assert(frame:box():step [[
import os
names = [n for n in os.environ if n.startswith(("STEPBOX", "XDG_RUNTIME", "LUA_", "SSH_"))]
descriptors = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
               if os.path.lexists(f"/proc/self/fd/{n}")]
files = [d for d in descriptors if d.startswith("/") and d not in ("/dev/null", "/dev/urandom")
         and not d.startswith("/proc/")]
with open("/proc/self/cmdline", "rb") as file:
    words = file.read()
writable = []
with open("/proc/self/maps") as maps:
    for line in maps:
        parts = line.split()
        if "w" in parts[1] and "s" in parts[1] and len(parts) > 5:
            writable.append(parts[5])
if names or files or writable or b"stepboxd" in words:
    print(names, files, writable, words)
else:
    print("clean")]])
      assert(result.stdout == "clean\n", result.stdout)
    end,
  },
  {
    attack = "search the memory of a step's process for what it was before it was forked",
    naive = "finds the environment, the paths and the code of who forked it",
    ours = "nothing of the engine's environment is in it",
    control = function(frame)
      local look = "print(search([b ^ 0x55 for b in os.environb[b'XDG_RUNTIME_DIR']]))"
      frame:expect(frame:outside { python = SEARCH .. look }, "found", "outside")
    end,
    attempt = function(frame)
      local changed = {}
      for byte in assert(os.getenv "XDG_RUNTIME_DIR"):gmatch "." do
        changed[#changed + 1] = tonumber(byte:byte()) ~ 0x55
      end
      local look = "print(search([" .. table.concat(changed, ", ") .. "]))"
      local result = assert(frame:box():step(SEARCH .. look))
      assert(result.stdout == "not found\n", result.stdout)
    end,
  },
  {
    attack = "learn the host's name (uname, gethostname)",
    naive = "learns it",
    ours = "\"stepbox\" everywhere",
    prepare = function() return { name = (host.sh "uname -n":gsub("%s", "")) } end,
    python = [[
names = {os.uname().nodename, socket.gethostname(), open("/proc/sys/kernel/hostname").read().strip()}
print("the host's" if names == {"@name@"} else "stepbox" if names == {"stepbox"} else names)]],
    works = "the host's",
    answer = "stepbox",
  },
  {
    attack = "recognise the machine by its firmware (DMI, device tree, firmware variables)",
    naive = "reads its maker, model and serial number",
    ours = "none of it is there",
    shell = [[
for path in /sys/class/dmi/id/* /sys/firmware/*/* /proc/device-tree/*; do
  [ -e "$path" ] && { echo found; exit; }
done
echo none]],
    works = "found",
    lacking = "none",
    answer = "none",
  },
  {
    attack = "learn the size and use of the host's disks (statfs of each mount)",
    naive = "learns them",
    ours = "each mount that holds files is the sandbox's own, or is as large as its bound, "
      .. "as long as /usr is a layer of its own",
    needs = function(frame)
      if not assert(frame:box().commands:run "stat -f -c %T /usr").stdout:find "overlay" then
        return "/usr is the host's own mount here, which tells the size of its disk"
      end
    end,
    prepare = function() return { blocks = (host.sh "stat -f -c %b /usr":gsub("%s", "")) } end,
    python = [[
with open("/proc/self/mounts") as mounts:
    places = [line.split()[1] for line in mounts]
seen = "unseen"
for place in places + ["/", "/usr", "/opt", "/usr/bin/env"]:
    try:
        status = os.statvfs(place)
        if status.f_blocks == @blocks@:
            seen = "seen"
    except OSError:
        pass
print(seen)]],
    works = "seen",
    answer = "unseen",
  },
}
