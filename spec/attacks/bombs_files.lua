--- Bombs in the file system, and of descriptors.

local assert = require "luassert"
local bomb = require "spec.support.bomb"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

-- Sends descriptors that nobody receives, until the kernel says that its user has too many of them.
local HOG = [[
import array, os, resource, socket
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
kept, why = [], None
try:
    while True:
        one, other = socket.socketpair()
        one.setblocking(False)
        kept += [one, other]
        try:
            while True:
                one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 250))])
        except BlockingIOError:
            pass
except OSError as error:
    why = error.errno
]]

-- Another process of the same user, with the same limit.
local HOG_AND_VICTIM = HOG .. [[
if os.fork() == 0:
    one, other = socket.socketpair()
    try:
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
        print("sent", flush=True)
    except OSError as error:
        print("refused", error.errno, flush=True)
    os._exit(0)
os.wait()
]]

return {
  title = "Bombs: files",
  alone = "its bombs take all processors",

  bomb.entry {
    attack = "fill the disk",
    naive = "fills the host's",
    ours = "ENOSPC; the files are gone with the sandbox",
    mark = [[
def fill():
    path = "probe-fill"
    try:
        with open(path, "wb", buffering=0) as file:
            for _ in range(40):
                if file.write(bytes(1 << 20)) < 1 << 20:
                    file.write(b"x")
        return "ok"
    finally:
        os.unlink(path)
probe(fill)]],
    answer = "ENOSPC",
    burn = "with open('/tmp/x', 'wb') as f:\n  while True: f.write(bytes(1 << 16))",
    ends = "error OSError.*No space left.*",
    seconds = 10,
    after = function(box)
      local done, _, code = box.files:write("/home/user/y", ("y"):rep(1 << 20))
      assert(not done and code == "no_space", code)
      assert(assert(box:step "6 * 7").text == "42")
    end,
  },
  bomb.entry {
    attack = "the other places that can be written: /dev/shm, /run, /var/tmp, the home",
    naive = "each has its own space, or none",
    ours = "ENOSPC in all: there is one space for all of them",
    mark = [[
def fill():
    made = []
    try:
        for place in @places@:
            for number in range(2):
                made.append(f"{place}/probe-{number}")
                with open(made[-1], "wb", buffering=0) as file:
                    for _ in range(8):
                        if file.write(bytes(1 << 20)) < 1 << 20:
                            file.write(b"x")
        return "ok"
    finally:
        for path in made:
            os.unlink(path)
probe(fill)]],
    places = { outside = '["."]', inside = '["/dev/shm", "/var/tmp", "/home/user"]' },
    answer = "ENOSPC",
    burn = "for p in ['/dev/shm', '/var/tmp', '/home/user', '/tmp']:\n  with open(p + '/x', 'wb') as f:\n"
      .. "    for _ in range(20): f.write(bytes(1 << 20))",
    ends = "error OSError.*No space left.*",
    seconds = 10,
  },
  bomb.entry {
    attack = "very many empty files",
    naive = "the disk has room, and no inodes for anybody",
    ours = "ENOSPC",
    small = "open('/tmp/small', 'w').close() or 'ok'",
    burn = "import itertools\nfor i in itertools.count(): open(f'/tmp/{i}', 'w').close()",
    ends = "error OSError.*No space left.*",
    seconds = 60,
    after = function(box)
      local listed, _, code = box.files:list "/tmp"
      assert(listed or code, "a folder of so many files is neither listed nor refused")
      assert(assert(box:step "6 * 7").text == "42")
    end,
  },
  bomb.entry {
    attack = "folders in folders, deeper than any path can name; names as long as they can be",
    naive = "whoever lists or removes them recurses until it falls",
    ours = "they are listed and removed, or refused with an error",
    small = "import os; os.makedirs('/tmp/a/b/c') or 'ok'",
    burn = [[
import os
os.mkdir("/tmp/deep")
os.chdir("/tmp/deep")
for i in range(3000):
    os.mkdir("d" * (255 if i < 10 else 8))
    os.chdir("d" * (255 if i < 10 else 8))
os.chdir("/")
i]],
    ends = "text 2999",
    seconds = 20,
    after = function(box)
      local listed, _, code = box.files:list("/tmp/deep", { depth = 1000 })
      assert(listed or code)
      local removed, message = box.files:remove "/tmp/deep"
      assert(removed or message)
      assert(assert(box:step "6 * 7").text == "42")
    end,
  },
  bomb.entry {
    attack = "descriptors until there are none",
    naive = "the host has none left for anybody",
    ours = "EMFILE at the limit of open files",
    mark = [[
def descriptors():
    for _ in range(600):
        os.dup(0)
    return "ok"
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
print(in_child(descriptors))]],
    answer = "EMFILE",
    burn = "import os\nwhile True: os.open('/etc/hostname', os.O_RDONLY)",
    ends = "error OSError.*Too many open files.*",
  },
  {
    attack = "descriptors in flight: sent to sockets, and never received",
    naive = "the kernel counts them by user: his other processes can send none any more",
    ours = "ETOOMANYREFS at half of what the engine has: it can hand connections to all sandboxes",
    control = function(frame)
      -- root of the host is above this limit.
      local as = frame:is_root() and "setpriv --reuid 65534 --regid 65534 --clear-groups " or ""
      local path = frame:folder() .. "/hog.py"
      host.write(path, HOG_AND_VICTIM)
      local command = "chmod 711 %s; ulimit -n 256; %s/usr/bin/python3 -I %s"
      local said = host.sh(command:format(frame:folder(), as, path))
      assert.equal("refused 109", (said:gsub("%s+$", "")))
    end,
    attempt = function(frame)
      local daemon = engine.start { environment = "ulimit -n 1024;" }
      frame:finally(function() daemon:stop() end)
      local client = assert(require("stepbox").client { socket = daemon.socket })
      local hog, neighbour = assert(client:create()), assert(client:create())
      local result = assert(hog:step(HOG .. "why", { timeout = 30 }))
      assert.equal("109", result.text)
      for _, box in ipairs { neighbour, hog } do
        -- A new connection each: each is a descriptor that the engine sends.
        local answer = daemon:call("GET", "/health", nil, { ["E2b-Sandbox-Id"] = box.id })
        assert.equal(204, answer.status)
        assert.equal("42", assert(box:step "6 * 7").text)
      end
      hog:kill()
      neighbour:kill()
    end,
  },
  bomb.entry {
    attack = "things of the kernel that are no files: timers, inotify watches, epoll sets in epoll sets",
    naive = "the user's share of them on the host is gone",
    ours = "an error at the limit of open files, or of the kernel",
    small = "import select; select.epoll().close() or 'ok'",
    burn = [[
import ctypes, select
libc = ctypes.CDLL(None, use_errno=True)
kept = []
while True:
    if libc.timerfd_create(1, 0) < 0 or libc.inotify_init1(0) < 0:
        raise OSError(ctypes.get_errno(), "Too many open files")
    kept.append(select.epoll())
    if len(kept) > 1:
        kept[-1].register(kept[-2].fileno())]],
    ends = "error OSError.*|error BlockingIOError.*",
  },
  bomb.entry {
    attack = "a watch on a folder in which files come and go without end",
    naive = "keeps every event for a reader that never comes",
    ours = "the agent keeps so many, says that some are missing, and answers others meanwhile",
    small = "'ok'",
    seconds = 3,
    act = function(box)
      assert(box.files:make_dir "/tmp/watched")
      local watch = assert(box.files:watch "/tmp/watched")
      local done, message, code = box:step([[
import os, time
end = time.time() + 2
while time.time() < end:
    for i in range(100):
        open(f"/tmp/watched/{i}", "w").close()
        os.rename(f"/tmp/watched/{i}", f"/tmp/watched/{i}x")
        os.unlink(f"/tmp/watched/{i}x")
"done"]], { timeout = 20 })
      assert(done, ("code %s: %s"):format(code, message))
      local count = 0
      local _, why = pcall(function()
        for _ in watch:events() do count = count + 1 end
      end)
      watch:stop()
      return (count > 1000 and "many" or count) .. " changes, then: " .. tostring(why)
    end,
    ends = "many changes, then: .*changes were lost: they were not read fast enough"
      .. "|many changes, then: .*changes were lost: there were too many at once",
  },
}
