--- Sandboxes with no internet, those whose traffic needs a token, and what could change or outlast the rules.

local api = require "spec.support.api_attack"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"
local host = require "spec.support.host"
local net = require "spec.support.network_attack"

--- For probes that need no network of the tests' own outside, but a sandbox with internet.
local function with_internet(frame)
  net.world(frame)
  return {}
end

local NO_LINK = "print(','.join(n for _, n in socket.if_nameindex()) if len(socket.if_nameindex()) > 1 "
  .. "else 'no: loopback alone')"

-- What changes a network, as commands. In each place the interface is another.
local COMMANDS = {
  "nft list ruleset", "nft insert rule inet stepbox filter accept", "ip link set @DEVICE@ mtu 1400",
  "ip addr add 10.9.9.1/24 dev @DEVICE@", "ip route add 10.0.0.0/8 dev @DEVICE@",
  "ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev @DEVICE@", "ip rule add from all lookup main pref 5",
  "ip -6 route add fd12:3456::/64 dev @DEVICE@", "ip link add other type veth",
  "ip tuntap add mode tun name t0",
  "ip link set @DEVICE@ down", "nft delete table inet stepbox", "nft flush ruleset",
}

--- The rules, addresses, routes and neighbours of the sandbox's network, as the host sees them.
local function state_of(frame)
  local shown = assert(net.box(frame, "own").commands:run "readlink /proc/self/ns/net").stdout
  local space = shown:match "net:%[%d+%]"
  for _, pid in ipairs(engine.descendants(net.world(frame).daemon.engine_pid)) do
    if host.sh("readlink /proc/" .. pid .. "/ns/net"):find(space, 1, true) then
      local state = host.sh(("PATH=$PATH:/usr/sbin:/sbin; nsenter --target %d --net sh -c '%s'"):format(pid,
        "nft list ruleset; ip -o addr; ip route; ip -6 route; ip rule; ip neigh show nud permanent"))
      assert(state:find "daddr", state)
      return (state:gsub("valid_lft %w+", ""):gsub("preferred_lft %w+", ""):gsub("expires %w+", ""))
    end
  end
  error("no process of the sandbox is found", 0)
end

--- The same once it is steady: an address of the link, the sandbox's or the host's, comes a second or two
--- after its interface, and the rules know all of the host's.
local function steady_state_of(frame)
  local state
  assert(host.eventually(20, function()
    local before = state
    state = state_of(frame)
    if state == before then return true end
    host.sleep(3)
  end), "the network does not come to rest")
  return state
end

local GUARDED = { network = { allowPublicTraffic = false } }

--- The status of a request for a port of a sandbox.
local function traffic(daemon, sandbox, token)
  return curl.request { socket = daemon.socket, url = ("http://8000-%s.local/"):format(sandbox.sandboxID),
    headers = { ["e2b-traffic-access-token"] = token } }.status
end

--- Starts a web server in a sandbox of the engine.
local function serve(daemon, sandbox)
  local request = daemon:execution(sandbox, [[
import subprocess, time, socket
server = subprocess.Popen(["/usr/bin/python3", "-m", "http.server", "8000"], stdout=-3, stderr=-3)
for _ in range(200):
    try:
        socket.create_connection(("127.0.0.1", 8000), 1).close()
        break
    except OSError:
        time.sleep(0.05)
print("serving")]])
  request.headers["e2b-traffic-access-token"] = sandbox.trafficAccessToken
  assert(engine.output_of(curl.request(request)) == "serving\n")
end

return {
  title = "Network: rules",

  net.entry {
    attack = "reach anything at all from a sandbox that has no internet: addresses, names, datagrams, ping",
    naive = "is on the host's network, or has at least a resolver that asks the world",
    ours = "loopback is all there is; names fail at once, and no query leaves the host",
    from = "closed",
    calls = { "tcp('198.51.100.7')", "tcp('2001:db8:2::7')", "name('public.example')",
      "query('198.51.100.53', 'public.example')", "query('198.51.100.53', 'public.example', 1, True)",
      "ping('198.51.100.7')", "tcp('203.0.113.2')", NO_LINK },
    inside = { "tcp('198.51.100.7')", "tcp('2001:db8:2::7')", "name('public.example')",
      "name('secret.public.example')", "query('198.51.100.53', 'public.example')",
      "query('127.0.0.1', 'public.example')", "query('127.0.0.53', 'public.example')",
      "query('127.0.0.1', 'public.example', 1, True)", "ping('198.51.100.7')", "tcp('203.0.113.2')",
      "tcp('192.0.2.1')", "print('no: nothing' if not routers() else routers())", NO_LINK },
    noted = { "dns" },
  },
  {
    attack = "change the firewall, the addresses, the routes and the neighbours (nft, ip, ARP), as root too",
    naive = "root of a network namespace does",
    ours = "refused, also to read the rules; what was closed stays closed",
    control = function(frame)
      net.world(frame)
      local lines = { "PATH=$PATH:/usr/sbin:/sbin", "ip link add up1 type veth peer name up2",
        "ip link set up1 up; ip link set up2 up", "nft add table inet stepbox",
        "nft add chain inet stepbox filter '{ type filter hook output priority 0; }'",
        "try() { \"$@\" >/dev/null || echo \"failed: $*\"; }" }
      for _, command in ipairs(COMMANDS) do lines[#lines + 1] = "try " .. command:gsub("@DEVICE@", "up1") end
      host.write(frame:folder() .. "/commands", table.concat(lines, "\n"))
      local said, status = host.sh("unshare --net sh " .. frame:folder() .. "/commands")
      assert(status == 0 and not said:find "failed", said)
    end,
    attempt = function(frame)
      local device = net.inside(frame, "own", "user", {
        "print([n for _, n in socket.if_nameindex() if n != 'lo'][0])" })[1]
      local before = steady_state_of(frame)
      net.each_user(frame, function(user)
        for _, command in ipairs(COMMANDS) do
          command = command:gsub("@DEVICE@", device)
          command = "PATH=$PATH:/usr/sbin:/sbin " .. command
          local result = assert(frame:box().commands:run(command, { user = user }))
          assert(result.exit_code ~= 0 and result.exit_code ~= 127, ("as %s, %s: %d %s"):format(user, command,
            result.exit_code, result.stdout .. result.stderr))
          assert(not (result.stdout .. result.stderr):find "daddr", "the rules are shown")
        end
      end)
      local after = state_of(frame)
      assert(after == before, "something has changed: " .. before .. "\n... has become:\n" .. after)
      local open, closed = { "tcp('198.51.100.7')" }, { "tcp('10.9.9.9')", "tcp('203.0.113.2')" }
      net.all_answered(open, net.inside(frame, "own", "user", open), "afterwards")
      net.all_refused(closed, net.inside(frame, "own", "user", closed), "afterwards")
    end,
  },
  {
    attack = "change interfaces, addresses, routes and neighbours by the old calls (ioctl)",
    naive = "root of a network namespace does",
    ours = "EPERM, or as from a kernel that does not know them",
    where = "namespaces",
    prepare = with_internet,
    python = [[
import fcntl
device = ([n for _, n in socket.if_nameindex() if n != "lo"] or ["lo"])[0].encode().ljust(16, b"\0")
def inet(address):
    return struct.pack("HH4s8x", 2, 0, socket.inet_aton(address))
def change(number, request):
    return lambda: fcntl.ioctl(socket.socket(2, 2), number, request.ljust(128, b"\0")) and None
attempts({
    "up": change(0x8914, device + struct.pack("H", 0x49)),
    "size": change(0x8922, device + struct.pack("i", 1400)),
    "address": change(0x8916, device + inet("10.9.9.1"))})]],
    works = "ok",
    answer = "ENOTTY|EPERM",
  },
  {
    attack = "send packets with a forged sender: made by hand, or from a socket of an address that is not "
      .. "one's own (IP_TRANSPARENT, IP_FREEBIND)",
    naive = "they arrive, and pass for another's",
    ours = "none arrives with that sender, and none at all at private addresses",
    control = function(frame)
      local world = net.world(frame)
      world:noted "udp"
      local calls = { "forge('198.51.100.7', 'a', None)", "forge('198.51.100.7', 'b', 19)",
        "forge('10.9.9.9', 'c', 19)" }
      net.all_answered(calls, net.outside(frame, calls), "outside")
      world:await_notes({ "udp" }, { "a from 203%.0%.113%.77", "b from 203", "c from 203" }, 3)
    end,
    attempt = function(frame)
      local world = net.world(frame)
      local refused = { "forge('198.51.100.7', 'public', None)", "forge('198.51.100.7', 'public', 19)",
        "forge('10.9.9.9', 'private', None)", "forge('10.9.9.9', 'private', 19)",
        -- This option needs no rights, and the kernel finds no way out for such a socket.
        "forge('198.51.100.7', 'public', 15)", "forge('10.9.9.9', 'private', 15)" }
      net.each_user(frame, function(user)
        net.all_refused(refused, net.inside(frame, "own", user, refused), "as " .. user)
        net.inside(frame, "own", user, { "send('198.51.100.7', 'honest')" })
      end)
      local seen = world:await_notes({ "udp" }, { "honest" }, 3)
      host.sleep(0.3)
      seen = seen .. world:noted "udp"
      assert(not seen:find "203%.0%.113%.77" and not seen:find "private" and not seen:find "public", seen)
    end,
  },
  {
    attack = "get a socket past the rules or for all packets: IP_TRANSPARENT, SO_MARK, raw and packet "
      .. "sockets",
    naive = "root of a network namespace does",
    ours = "EPERM",
    where = "namespaces",
    prepare = with_internet,
    python = [[
def set_option(level, number):
    with socket.socket(2, 2) as s:
        s.setsockopt(level, number, 1)
attempts({
    "transparent": lambda: set_option(0, 19),
    "mark": lambda: set_option(1, 36),
    "raw": lambda: socket.socket(2, 3, 255).close(),
    "raw IPv6": lambda: socket.socket(10, 3, 255).close(),
    "packets": lambda: socket.socket(17, 3, 0x300).close(),
    "datagrams of packets": lambda: socket.socket(17, 2, 0x300).close()})]],
    answer = "EPERM",
  },
  {
    attack = "change how the kernel treats packets: /proc/sys/net (forwarding, redirects, source routes)",
    naive = "root of a network namespace does",
    ours = "EROFS or EACCES",
    where = "namespaces",
    prepare = with_internet,
    python = [[
attempts({name: (lambda name=name: open("/proc/sys/net/ipv4/" + name, "r+").write("1") and None)
          for name in ("ip_forward", "conf/all/accept_redirects", "conf/all/accept_source_route",
                       "conf/all/route_localnet", "ip_nonlocal_bind")})]],
    answer = "EROFS|EACCES|ENOENT",
  },
  {
    attack = "keep a connection over a change that closes its address",
    naive = "what is open stays open",
    ours = "nothing more passes",
    control = function(frame)
      net.world(frame)
      local list = { "s = socket.create_connection(('198.51.100.7', 8080)); s.settimeout(2); s.recv(100); "
        .. "s.sendall(b'x'); print(s.recv(10).decode())" }
      assert(net.outside(frame, list)[1] == "x")
    end,
    attempt = function(frame)
      local box = net.box(frame, "other")
      local result = assert(box:step("import socket; s = socket.create_connection(('198.51.100.7', 8080)); "
        .. "s.settimeout(2); s.recv(100); s.sendall(b'x'); print(s.recv(10).decode())"))
      assert(result.stdout == "x\n", result.stdout)
      assert(box:set_network { allow_internet = true, deny_out = { "198.51.100.7" } })
      result = assert(box:step "s.sendall(b'y'); print(s.recv(10))")
      assert(result.error, "something came back: " .. result.stdout)
      assert(box:set_network { allow_internet = true })
    end,
  },
  {
    attack = "take all that passes connections on for a sandbox: hundreds that say nothing",
    naive = "serves no one else meanwhile",
    ours = "it is the sandbox's own: others and the engine answer, and so does it once they are closed",
    control = function(frame)
      local naive = api.naive(frame, true)
      local silent = frame:start(("/usr/bin/python3 -c 'import socket, time; "
        .. "s = socket.create_connection((\"127.0.0.1\", %d)); time.sleep(20)'"):format(naive.port))
      host.sleep(0.3)
      local got = naive:send({ "GET /health HTTP/1.1\r\nHost: x\r\n\r\n" }, "tcp", 1)[1]
      assert(got.reply == "", "the naive one answers: " .. got.reply)
      os.execute("kill -9 " .. silent)
    end,
    attempt = function(frame)
      local world, hello = net.world(frame), { "http('allowed.example')" }
      local box = net.box(frame, "names")
      local result = assert(box:step [[
import socket
held = []
for _ in range(700):
    try: held.append(socket.create_connection(("198.51.100.7", 80), 1))
    except OSError: pass
print(len(held))]])
      assert(tonumber(result.stdout) > 400, result.stdout)
      assert(api.health_seconds(world.daemon) < 1, "the engine is slow")
      net.all_answered(hello, net.inside(frame, "one_name", "user", hello), "in another sandbox")
      assert(box:step "for s in held: s.close()")
      assert(host.eventually(15, function()
        return not net.inside(frame, "names", "user", hello)[1]:find "^no: "
      end), "the sandbox stays cut off")
    end,
  },
  {
    attack = "reach a server in a sandbox whose traffic needs a token: with none, another sandbox's, the "
      .. "agent's",
    naive = "who knows the sandbox's id is in",
    ours = "403; the token is told at create alone",
    control = function(frame)
      local daemon = net.world(frame).daemon
      local open = daemon:create()
      serve(daemon, open)
      assert(traffic(daemon, open) == 200)
      daemon:call("DELETE", "/sandboxes/" .. open.sandboxID)
    end,
    attempt = function(frame)
      local daemon = net.world(frame).daemon
      local guarded, other = daemon:create(GUARDED), daemon:create(GUARDED)
      serve(daemon, guarded)
      assert(traffic(daemon, guarded, guarded.trafficAccessToken) == 200)
      local token = guarded.trafficAccessToken
      for _, wrong in ipairs { "", "x", other.trafficAccessToken, guarded.envdAccessToken, token:sub(2),
        token .. "0", token:upper(), token:sub(1, -2) .. "\t" } do
        if wrong ~= token then assert(traffic(daemon, guarded, wrong) == 403, "let in with " .. wrong) end
      end
      assert(traffic(daemon, guarded) == 403)
      local told = daemon:call("GET", "/sandboxes/" .. guarded.sandboxID).body
        .. daemon:call("GET", "/v2/sandboxes").body
      assert(not told:find(token, 1, true), "the token is told")
      for _, sandbox in ipairs { guarded, other } do
        daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
      end
    end,
  },
}
