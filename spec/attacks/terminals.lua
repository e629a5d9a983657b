--- Terminals: typing into somebody else's, and the host's consoles.

local attack = require "spec.support.attack"
local host = require "spec.support.host"

return {
  title = "Terminals",

  {
    attack = "type into the terminal one was started from (TIOCSTI)",
    naive = "the shell outside runs what was typed",
    ours = "EPERM, also for a terminal of one's own",
    python = [[
import fcntl, pty
child, master = pty.fork()
if child == 0:
    print("answer", answer(lambda: fcntl.ioctl(0, 0x5412, b"x")), flush=True)
    os._exit(0)
text = b""
try:
    while b"answer" not in text or not text.endswith(b"\n"):
        text += os.read(master, 1000)
except OSError:
    pass
print(text.decode().split("answer ")[1].split()[0])]],
    lacking = "EIO",
    answer = "EPERM",
  },
  {
    attack = "paste into the host's console (TIOCLINUX)",
    naive = "the kernel takes the call, and on a console does it",
    ours = "EPERM, whatever terminal it is for",
    python = [[
import fcntl, pty
probe(lambda: fcntl.ioctl(pty.openpty()[1], 0x541C, b"\3") and None)]],
    works = "ENOTTY",
    answer = "EPERM",
  },
  {
    attack = "have the kernel treat a terminal in another way (TIOCSETD), of which some have had faults",
    naive = "loads the module that does it",
    ours = "EPERM, also for a terminal of one's own",
    python = [[
import fcntl, pty
slave = pty.openpty()[1]
probe(lambda: fcntl.ioctl(slave, 0x5423, struct.pack("i", 0)))]],
    answer = "EPERM",
  },
  {
    attack = "open the terminal that one was started from (/dev/tty)",
    naive = "opens it",
    ours = "ENXIO: a session of its own, without one",
    control = function()
      local output = host.sh "script -qec 'echo seen >/dev/tty' /dev/null </dev/null"
      assert(output:find "seen", output)
    end,
    attempt = function(frame)
      for _, user in ipairs(frame:has_root() and { "user", "root" } or { "user" }) do
        local probe = { python = 'probe(lambda: open("/dev/tty").close())' }
        frame:expect(frame:inside(probe, user), "ENXIO", user)
      end
    end,
  },
  {
    attack = "open a terminal of the host by its name below /dev/pts",
    naive = "opens it, reads and writes",
    ours = "ENOENT: terminals of its own",
    prepare = function(frame)
      local note = frame:folder() .. "/terminal"
      frame:start([[/usr/bin/python3 -c "
import os, pty, time
os.umask(0)
ends = pty.openpty()
# Some that a sandbox's own are not taken for.
more = [pty.openpty() for _ in range(20)]
with open(']] .. note .. [[.new', 'w') as file:
    file.write(os.ttyname(more[-1][1]))
os.rename(']] .. note .. [[.new', ']] .. note .. [[')
time.sleep(300)
"]])
      assert(host.eventually(3, function() return host.read(note) ~= "" end))
      return { name = host.read(note) }
    end,
    python = 'probe(lambda: os.close(os.open("@name@", os.O_RDWR | os.O_NOCTTY)))',
    answer = "ENOENT",
  },
  {
    attack = "open consoles, serial lines, disks and memory of the host below /dev",
    naive = "root opens them",
    ours = "only null, zero, full, random, urandom, tty and pts are there",
    needs = attack.needs_root,
    python = [[
allowed = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "core", "stdin",
           "stdout", "stderr"}
print("more" if set(os.listdir("/dev")) - allowed else "those")]],
    works = "more",
    answer = "those",
  },
  {
    attack = "use up the terminals, whose number is one for all but the host itself",
    naive = "takes three thousand; nobody else gets one",
    ours = "ENOSPC for more than 128",
    python = [[
def take():
    for _ in range(150):
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
print(in_child(take))]],
    answer = "ENOSPC",
  },
}
