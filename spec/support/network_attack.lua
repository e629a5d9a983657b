--- For attacks by network: an engine on the host of the tests' own network (spec/support/network.lua), which
--- plain processes on that host reach all of, and sandboxes with different rules.

local engine = require "spec.support.engine"
local host = require "spec.support.host"
local network = require "spec.support.network"

local M = { KEY = "e2b_0123456789abcdef0123456789abcdef" }

--- What a sandbox of that name is made with. "own" is also the one that the frame's probes run in.
local POLICIES = {
  own = { allow_internet = true },
  other = { allow_internet = true },
  closed = {},
  names = { network = {
    allow_out = { "allowed.example", "*.allowed.example" }, deny_out = { "0.0.0.0/0" } } },
  one_name = { network = { allow_out = { "allowed.example" }, deny_out = { "0.0.0.0/0" } } },
  proxy = { network = { deny_out = { "198.51.100.8" } },
    egress_proxy = { address = "203.0.113.1:1080", username = "me", password = "secret" } },
}

--- Probes beside those of spec/support/network.lua. Each prints one line: what came, or "no: " and why not.
local PROBES = network.probes .. [[
import os, struct, time
def attempt(action):
    try: print((action() or "no: nothing").strip())
    except OSError as error: print("no: %s" % error)
def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET
def ping(host):
    six = ":" in host
    def echo():
        protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
        try: s = socket.socket(family_of(host), socket.SOCK_RAW, protocol)
        except OSError: s = socket.socket(family_of(host), socket.SOCK_DGRAM, protocol)
        kind = 128 if six else 8
        s.settimeout(1)
        s.sendto(struct.pack(">BBHHH", kind, 0, 0xffff - (kind << 8) - 7, 0, 7), (host, 0))
        s.recv(1000)
        return "answered"
    attempt(echo)
def send(host, word):
    def one():
        with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
            s.sendto(word.encode(), (host, 5353))
        return "sent"
    attempt(one)
def forge(host, word, option, sender="203.0.113.77"):  # option: of IP; None: a packet made by hand
    def one():
        if option is None:
            size = 28 + len(word)
            packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 7, 0, 64, 17, 0,
                                 socket.inet_aton(sender), socket.inet_aton(host))
            packet += struct.pack(">HHHH", 4000, 5353, size - 20, 0) + word.encode()
            with socket.socket(socket.AF_INET, socket.SOCK_RAW, 255) as s:
                s.sendto(packet, (host, 0))
            return "sent"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(0, option, 1)
            s.bind((sender, 0))
            s.sendto(word.encode(), (host, 5353))
        return "sent"
    attempt(one)
def stream(host, protocol):
    def one():
        with socket.socket(family_of(host), socket.SOCK_STREAM, protocol) as s:
            s.settimeout(2)
            s.connect((host, 8080))
            return s.recv(100).decode()
    attempt(one)
def say(host, text, port=80):
    print(ask(host, port, text.encode()))
def serves(host, port):
    try:
        with socket.create_connection((host, port), 2) as s:
            s.settimeout(2)
            s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            return s.recv(100).split(b"\r\n")[0].decode()
    except OSError: return ""
def query(host, name, kind=1, over_tcp=False):  # kind: 1 A, 16 TXT
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"
    text = b"\0\7\1\0\0\1\0\0\0\0\0\0" + labels + struct.pack(">HH", kind, 1)
    def one():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM if over_tcp else socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            s.connect((host, 53))
            s.send(struct.pack(">H", len(text)) + text if over_tcp else text)
            got = s.recv(1000)[2 if over_tcp else 0:]
            return "answered" if got and got[3] & 15 == 0 else "no: refused by the resolver" if got else ""
    attempt(one)
def socks(host, port, target, name=None):
    address = b"\3" + bytes([len(name)]) + name.encode() if name else b"\1" + socket.inet_aton(target)
    request = b"\5\1\0" + address + struct.pack(">H", 8080)
    def one():
        with socket.create_connection((host, port), 3) as s:
            s.settimeout(3)
            s.sendall(b"\5\1\0")
            if s.recv(2) != b"\5\0": return "no: the proxy wants more"
            s.sendall(request)
            s.recv(10)
            return s.recv(100).decode()
    attempt(one)
def named(name, port):  # asks the resolver for the name by hand: libraries take some for addresses
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"
    def one():
        resolver = [l.split()[1] for l in open("/etc/resolv.conf") if l.startswith("nameserver")][0]
        with socket.socket(family_of(resolver), socket.SOCK_DGRAM) as s:
            s.settimeout(2)
            s.sendto(b"\0\7\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\1\0\1", (resolver, 53))
            got = s.recv(1000)
        if got[7] == 0: return "no: such name"
        return ask(socket.inet_ntoa(got[-4:]), port)
    attempt(one)
def hello(host, server_name):
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    connection = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=server_name)
    try: connection.do_handshake()
    except ssl.SSLWantReadError: pass
    print(ask(host, 443, out.read()))
def routers():
    found = []
    for line in open("/proc/net/route").read().splitlines()[1:]:
        gateway = line.split()[2]
        if gateway != "00000000": found.append(socket.inet_ntoa(bytes.fromhex(gateway)[::-1]))
    if os.path.exists("/proc/net/ipv6_route"):
        for line in open("/proc/net/ipv6_route"):
            gateway, device = line.split()[4], line.split()[9]
            if gateway != "0" * 32:
                text = socket.inet_ntop(socket.AF_INET6, bytes.fromhex(gateway))
                found.append(text + "%" + device if text.startswith("fe80") else text)
    return found
]]

--- The network with the engine; made at its first use. Skips where it cannot be.
function M.world(frame)
  if frame.world then return frame.world end
  local why = network.missing()
  if why then frame:skip(why) end
  local stepbox = require "stepbox"
  local world = network.start { arguments = "--listen 0.0.0.0:0 --api-key " .. M.KEY }
  frame.world, frame.client = world, assert(stepbox.client { socket = world.daemon.socket })
  frame:finally(function()
    for _, box in pairs(frame.sandboxes) do box:kill() end
    frame.sandboxes, frame.client = {}, nil
    collectgarbage()
    world:stop()
  end)
  M.box(frame, "own")
  return world
end

--- The sandbox with these rules; made at its first use.
function M.box(frame, name)
  M.world(frame)
  local box = frame.sandboxes[name] or assert(frame.client:create(assert(POLICIES[name], name)))
  frame.sandboxes[name] = box
  return box
end

local function lines_of(text, calls)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  assert(#lines == #calls, text)
  return lines
end

--- What calls of probes print on the host, a line each.
function M.outside(frame, calls)
  local text = M.world(frame):outside(PROBES .. table.concat(calls, "\n"))
  return lines_of((text:gsub("\n$", "")), calls)
end

--- The same in the sandbox with these rules.
function M.inside(frame, name, user, calls)
  local box = M.box(frame, name)
  return lines_of(frame:inside({ python = PROBES .. table.concat(calls, "\n") }, user, box), calls)
end

--- Calls fn(user) for each user of a sandbox.
function M.each_user(frame, fn)
  fn "user"
  if frame:has_root() then fn "root" end
end

function M.all_answered(calls, lines, where)
  for i, line in ipairs(lines) do
    if line:find "^no: " then error(("%s, %s was not answered: %s"):format(where, calls[i], line), 0) end
  end
end

function M.all_refused(calls, lines, where)
  for i, line in ipairs(lines) do
    if not line:find "^no: " then error(("%s, %s was answered: %s"):format(where, calls[i], line), 0) end
  end
end

--- An entry whose calls must all be answered on the host, and none in a sandbox with the rules `from`, "own"
--- by default. fields.inside: calls for there, when they are others; fields.noted: the servers whose notes
--- must have something after the calls outside, and nothing after those inside. fields.one_way: nothing is
--- answered: what the words of all calls are called outside, as patterns, and a call that is allowed inside,
--- with its own; once that has come, what was sent before it has come too, or never will.
function M.entry(fields)
  local from = fields.from or "own"
  local function notes(world)
    local text = ""
    for _, name in ipairs(fields.noted or {}) do text = text .. world:noted(name) end
    return text
  end
  function fields.control(frame)
    local world = M.world(frame)
    notes(world)
    M.all_answered(fields.calls, M.outside(frame, fields.calls), "outside")
    if fields.one_way then
      world:await_notes(fields.noted, fields.one_way.outside, 5)
    elseif fields.noted then
      world:await_notes(fields.noted, { "." }, 2)
      host.sleep(0.1)
      notes(world)
    end
  end
  function fields.attempt(frame)
    local calls = fields.inside or fields.calls
    M.each_user(frame, function(user)
      local lines = M.inside(frame, from, user, calls)
      if not fields.one_way then M.all_refused(calls, lines, "as " .. user) end
    end)
    local seen
    if fields.one_way then
      M.inside(frame, from, "user", { fields.one_way.allowed })
      seen = M.world(frame):await_notes(fields.noted, { fields.one_way.word }, 5)
      seen = seen:gsub(fields.one_way.word .. "[^\n]*\n", "")
    else
      if fields.noted then host.sleep(0.2) end
      seen = notes(M.world(frame))
    end
    assert(seen == "", "this came to the servers: " .. seen)
  end
  return fields
end

--- Starts Python in a sandbox that goes on, when it has said "ready".
function M.start_inside(frame, name, python)
  local box = M.box(frame, name)
  frame.count = (frame.count or 0) + 1
  local path = "/tmp/server-" .. frame.count
  assert(box.files:write(path, python))
  local result = assert(box.commands:run(("python3 -I %s >%s.out 2>&1 & for i in $(seq 200); do "
    .. "[ -s %s.out ] && break; sleep 0.02; done; grep -q ready %s.out"):format(path, path, path, path)))
  assert(result.exit_code == 0, "the server in the sandbox did not start")
end

--- Starts Python on the host of the network that goes on, when it has said "ready".
function M.start_outside(frame, python)
  local path = M.world(frame).folder .. "/server.py"
  host.write(path, python)
  local pid = frame:start(("sh -c 'exec nsenter --target %d --net --mount python3 %s >%s.out 2>&1'"):format(
    frame.world.daemon.engine_pid, path, path))
  assert(engine.eventually(5, function() return host.read(path .. ".out"):find "ready" end), "no server")
  return pid
end

return M
