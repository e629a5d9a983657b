--- Sockets that reach more than a network: kinds that have no use in a sandbox, the host's own, and
--- descriptors sent over them. Addresses are another family.

local host = require "spec.support.host"

local LISTEN = [[/usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_UNIX)
s.bind(%s)
s.listen(9)
while True:
    s.accept()
"]]

local function search(name)
  local folders = "/tmp /mnt /media /srv /run /home /root /dev/shm /var/tmp"
  return (host.sh("find " .. folders .. " -name " .. name .. " 2>/dev/null"))
end

--- Sends the writing end of a pipe along, and sees whether it is closed soon.
local function send_descriptors(path)
  return { python = ([[
import select
s = socket.socket(socket.AF_UNIX)
s.connect("%s")
read, write = os.pipe()
for _ in range(3):
    socket.send_fds(s, [b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: "], [write] * 20)
os.close(write)
print("closed" if select.select([read], [], [], 1.5)[0] else "kept")]]):format(path) }
end

local function socket_kind(name, family, type, protocol, fields)
  local entry = {
    attack = "open " .. name,
    naive = "opens it",
    ours = "EPERM",
    python = ("probe(lambda: socket.socket(%s, %s, %s).close())"):format(family, type, protocol),
    answer = "EPERM",
  }
  for key, value in pairs(fields or {}) do entry[key] = value end
  return entry
end

return {
  title = "Sockets",

  socket_kind("a raw socket, to forge packets", 2, 3, 1, {
    naive = "root of a network namespace does", where = "namespaces" }),
  socket_kind("a packet socket, to see all packets", 17, 3, 0x300, {
    naive = "root of a network namespace does", where = "namespaces", lacking = "EAFNOSUPPORT" }),
  socket_kind("a socket to the virtual machine's host (vsock)", 40, 1, 0, {
    naive = "reaches the hypervisor: vsock knows no namespaces", lacking = "EAFNOSUPPORT" }),
  socket_kind("the kernel's ciphers as sockets (AF_ALG)", 38, 5, 0, { lacking = "EAFNOSUPPORT" }),
  {
    attack = "open the kernel's channels for settings and events, other than that for addresses (netlink)",
    naive = "opens them",
    ours = "EPERM, or as from a kernel without audit",
    python = [[
attempts({name: (lambda number=number: socket.socket(16, 3, number).close()) for name, number in {
    "sockets": 4, "events": 15, "generic": 16}.items()})]],
    answer = "EPERM",
  },
  {
    attack = "have the kernel compile filters of packets (SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF) until "
      .. "there is no room for others'",
    naive = "takes the room of all programs of the host: nobody gets a filter of system calls any more",
    ours = "ENOPROTOOPT, as from a kernel without",
    python = [[
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
filter = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
def attach(family, option):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, option, filter)
attempts({
    "UDP": lambda: attach(socket.AF_INET, 26),
    "unix": lambda: attach(socket.AF_UNIX, 26),
    "many": lambda: attach(socket.AF_INET, 51)})]],
    works = "ok|.*ok for UDP.*",
    answer = "ENOPROTOOPT",
  },
  {
    attack = "change an interface of the network",
    naive = "root of a network namespace does",
    ours = "refused, for the sandbox's root too",
    where = "namespaces",
    python = [[
import fcntl
request = b"lo".ljust(16, b"\0") + struct.pack("H", 0x48).ljust(24, b"\0")
probe(lambda: fcntl.ioctl(socket.socket(2, 2), 0x8914, request))]],
    answer = "ENOTTY|EPERM",
  },
  {
    attack = "connect to an abstract socket of the host",
    naive = "reaches it: a root of one's own does not hide it",
    ours = "ECONNREFUSED: a network of its own",
    prepare = function(frame)
      local name = "stepbox-probe-" .. frame:folder():match "[^.]+$"
      frame:start(LISTEN:format("'\\0" .. name .. "'"))
      assert(host.eventually(3, function() return host.read "/proc/net/unix":find("@" .. name, 1, true) end))
      return { name = name }
    end,
    python = 'probe(lambda: socket.socket(socket.AF_UNIX).connect("\\0@name@"))',
    answer = "ECONNREFUSED",
  },
  {
    attack = "connect to a named socket of the host",
    naive = "reaches it, as those of docker and D-Bus",
    ours = "ENOENT",
    prepare = function(frame)
      local path = frame:folder() .. "/socket"
      frame:start(LISTEN:format("'" .. path .. "'"))
      assert(host.eventually(3, function() return host.read "/proc/net/unix":find(path, 1, true) end))
      return { path = path }
    end,
    python = 'probe(lambda: socket.socket(socket.AF_UNIX).connect("@path@"))',
    answer = "ENOENT",
  },
  {
    attack = "connect to the engine, to rule over all sandboxes",
    naive = "reaches its supervisor's socket",
    ours = "ENOENT",
    prepare = function(frame)
      frame:box()
      return { path = assert(os.getenv "XDG_RUNTIME_DIR") .. "/stepbox/engine.sock" }
    end,
    python = 'probe(lambda: socket.socket(socket.AF_UNIX).connect("@path@"))',
    answer = "ENOENT",
  },
  {
    attack = "fill the engine with descriptors sent along with a request (SCM_RIGHTS)",
    naive = "keeps them until it has no more",
    ours = "keeps none: what was sent is closed at once",
    control = function(frame)
      -- A server that receives messages, as naive ones do, and keeps what comes.
      local path = frame:folder() .. "/keeper"
      frame:start([[/usr/bin/python3 -c "
import socket
s = socket.socket(socket.AF_UNIX)
s.bind(']] .. path .. [[')
s.listen(9)
c = s.accept()[0]
kept = socket.recv_fds(c, 1000, 100)
import time
time.sleep(60)
"]])
      assert(host.eventually(3, function() return host.read "/proc/net/unix":find(path, 1, true) end))
      frame:expect(frame:outside(send_descriptors(path)), "kept", "to a server that keeps them")
    end,
    attempt = function(frame)
      frame:box()
      local path = assert(os.getenv "XDG_RUNTIME_DIR") .. "/stepbox/engine.sock"
      frame:expect(frame:outside(send_descriptors(path)), "closed", "to the engine")
    end,
  },
  {
    attack = "leave files and sockets where programs of the host come by: the sandbox's /tmp and home",
    naive = "they are in a folder of the host, and a link in it leads programs of the host astray",
    ours = "no path of the host leads to them: they are on mounts that are there inside alone",
    control = function(frame)
      local name = frame:folder():match "[^/]+$" .. "-seen"
      host.write(frame:folder() .. "/" .. name, "x")
      assert(search(name) ~= "")
    end,
    attempt = function(frame)
      local name = frame:folder():match "[^/]+$" .. "-hidden"
      assert(frame:box().files:write("/tmp/" .. name, "x"))
      assert(frame:box().files:write("/home/user/" .. name, "x"))
      assert(search(name) == "", search(name))
    end,
  },
}
