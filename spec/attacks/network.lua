--- Addresses and names that a sandbox with the internet must not reach, in all spellings, over all protocols,
--- and its firewall. Outside is the host of a network of the tests' own, whose other end has servers on all
--- these addresses.

local host = require "spec.support.host"
local net = require "spec.support.network_attack"

--- Calls of a probe with each of a text's words.
local function calls(probe, words)
  local list = {}
  for word in words:gmatch "%S+" do list[#list + 1] = ("%s('%s')"):format(probe, word) end
  return list
end

--- Calls for every address in one spelling, which is a function of the four numbers.
local function spelt(spell)
  local words = {}
  for _, address in ipairs {
    { 10, 9, 9, 9 }, { 172, 16, 5, 5 }, { 192, 168, 77, 7 }, { 169, 254, 169, 254 },
  } do
    words[#words + 1] = spell(table.unpack(address))
  end
  return calls("tcp", table.concat(words, " "))
end

local function literal(how, spell)
  return net.entry {
    attack = "connect to private and metadata addresses: " .. how,
    naive = "reaches them",
    ours = "refused by the kernel, which sees the address and no spelling",
    calls = spelt(spell),
  }
end

local LOOPBACK = "127.0.0.1 127.1 0.0.0.0 :: ::1 ::ffff:127.0.0.1 localhost"

local function number(a, b, c, d) return ((a * 256 + b) * 256 + c) * 256 + d end

return {
  title = "Network: addresses",
  about = [[
The sandboxes have the internet (`allow_internet = true`). In those without it there is no address to try: the
rows of the family "Network: rules" say so.]],

  literal("as four decimal numbers", function(a, b, c, d) return ("%d.%d.%d.%d"):format(a, b, c, d) end),
  literal("as one decimal number", function(...) return ("%d"):format(number(...)) end),
  literal("octal", function(a, b, c, d) return ("0%o.0%o.0%o.0%o"):format(a, b, c, d) end),
  literal("one octal number", function(...) return ("0%o"):format(number(...)) end),
  literal("hexadecimal", function(a, b, c, d) return ("0x%x.0x%x.0x%x.0x%x"):format(a, b, c, d) end),
  literal("one hexadecimal number", function(...) return ("0x%x"):format(number(...)) end),
  literal("with parts left out", function(a, b, c, d) return ("%d.%d.%d"):format(a, b, c * 256 + d) end),
  literal("with two parts, of two kinds", function(a, b, c, d)
    return ("0x%x.%d"):format(a, number(0, b, c, d))
  end),
  literal("mapped into IPv6", function(a, b, c, d) return ("::ffff:%d.%d.%d.%d"):format(a, b, c, d) end),
  literal("mapped into IPv6, in hexadecimal", function(a, b, c, d)
    return ("0:0:0:0:0:ffff:%x:%x"):format(a * 256 + b, c * 256 + d)
  end),
  net.entry {
    attack = "connect to IPv6 addresses that stand for private IPv4 ones: compatible, translated, NAT64 and "
      .. "its local range, 6to4, Teredo",
    naive = "reaches them, where the network translates",
    ours = "refused",
    calls = calls("tcp", "::10.9.9.9 ::ffff:0:a09:909 64:ff9b::a09:909 64:ff9b::a9fe:a9fe 64:ff9b:1::a09:909 "
      .. "2002:a09:909::1 2001:0:a09:909::1"),
  },
  net.entry {
    attack = "connect to private IPv6 addresses (unique local, site-local), and to ranges of carriers",
    naive = "reaches them",
    ours = "refused",
    calls = calls("tcp", "fd12:3456::7 fec0::7 100.64.3.3 198.18.0.1 192.0.0.192"),
  },
  net.entry {
    attack = "ask the metadata services of clouds, also those with other addresses than 169.254.169.254",
    naive = "reads the machine's credentials",
    ours = "refused",
    calls = calls("http", "169.254.169.254 168.63.129.16 100.100.100.200 fd00:ec2::254 fd20:ce::254"),
  },
  net.entry {
    attack = "connect to the host by each of its addresses",
    naive = "reaches what listens there, and trusts its own machine",
    ours = "refused",
    calls = { "tcp('203.0.113.2')", "tcp('2001:db8:1::2')", "http('203.0.113.2')" },
  },
  net.entry {
    attack = "connect to the host's loopback: by its names, by 0.0.0.0, by what passes packets on (routers)",
    naive = "reaches it: pasta and slirp4netns map the router to it unless told otherwise",
    ours = "the sandbox's own loopback, and nothing behind the router",
    calls = calls("tcp", LOOPBACK),
    inside = (function()
      local list = calls("tcp", LOOPBACK .. " 127.9.9.9 10.0.2.2 10.0.2.3 192.0.2.1 192.0.2.2 fd00:5b::1")
      list[#list + 1] = "routes = routers(); "
        .. "answers = [ask(r, p) for r in routes for p in (80, 8080, 53, 22)]; "
        .. "print('no: routers' if routes and all(a.startswith('no: ') for a in answers) else answers)"
      return list
    end)(),
  },
  {
    attack = "connect to link-local addresses, with the zone that each interface has",
    naive = "reaches the host and its neighbours",
    ours = "refused",
    control = function(frame)
      local world = net.world(frame)
      local found = world:outside [[
import socket
own = [l.split() for l in open("/proc/net/if_inet6")]
own = [socket.inet_ntop(socket.AF_INET6, bytes.fromhex(l[0])) for l in own if l[5] == "up0" and l[3] == "20"]
print(own[0])]]
      frame.link_local = found:match "fe80[%x:]+"
      assert(frame.link_local, found)
      local list = { ("tcp('%s%%up0')"):format(frame.link_local) }
      net.all_answered(list, net.outside(frame, list), "outside")
    end,
    attempt = function(frame)
      local code = ("names = [n for _, n in socket.if_nameindex()]; "
        .. "answers = [ask(a + '%%' + n, 8080) for n in names "
        .. "for a in ('%s', 'fe80::1', 'fe80::2')]; print('no: ' + str(names) "
        .. "if len(names) > 1 and all(a.startswith('no: ') for a in answers) else answers)")
        :format(frame.link_local)
      net.each_user(frame, function(user)
        net.all_refused({ code }, net.inside(frame, "own", user, { code }), "as " .. user)
      end)
    end,
  },
  {
    attack = "reach the engine at the port where it serves over TCP",
    naive = "reaches it at the host's address, and tries keys",
    ours = "refused at every address",
    control = function(frame)
      local world = net.world(frame)
      frame.engine_port = math.floor(assert(tonumber(world.daemon.port)))
      local health = ("print(serves('203.0.113.2', %d))"):format(frame.engine_port)
      assert(net.outside(frame, { health })[1]:find "204", "the engine does not serve there")
    end,
    attempt = function(frame)
      local code = ("answers = [serves(a, %d) for a in ['203.0.113.2', '2001:db8:1::2', '127.0.0.1', '::1', "
        .. "'0.0.0.0'] + routers()]; print('yes: %%s' %% answers if any(answers) else 'no: %%s' %% answers)")
        :format(frame.engine_port)
      net.each_user(frame, function(user)
        net.all_refused({ code }, net.inside(frame, "own", user, { code }), "as " .. user)
      end)
    end,
  },
  net.entry {
    attack = "send words out in datagrams, for which no answer is needed, to private addresses, the host and "
      .. "all (broadcast, multicast)",
    naive = "they arrive",
    ours = "none arrives",
    calls = { "send('10.9.9.9', 'a')", "send('169.254.169.254', 'b')", "send('203.0.113.2', 'c')",
      "send('fd12:3456::7', 'd')", "send('2001:db8:1::2', 'e')", "send('::ffff:10.9.9.9', 'f')",
      "send('64:ff9b::a09:909', 'g')", "send('224.0.0.251', 'h')" },
    inside = { "send('10.9.9.9', 'a')", "send('169.254.169.254', 'b')", "send('203.0.113.2', 'c')",
      "send('fd12:3456::7', 'd')", "send('2001:db8:1::2', 'e')", "send('::ffff:10.9.9.9', 'f')",
      "send('64:ff9b::a09:909', 'g')", "send('224.0.0.251', 'h')", "send('192.0.2.1', 'i')",
      "send('192.0.2.255', 'j')", "send('255.255.255.255', 'k')", "send('ff02::fb', 'l')" },
    noted = { "udp" },
    one_way = {
      outside = { "a from", "b from", "c from", "d from", "e from", "f from", "g from" },
      allowed = "send('198.51.100.7', 'allowed')",
      word = "allowed from",
    },
  },
  net.entry {
    attack = "reach private addresses and the host by ICMP (ping)",
    naive = "they answer",
    ours = "no answer",
    calls = calls("ping", "10.9.9.9 169.254.169.254 203.0.113.2 fd12:3456::7 2001:db8:1::2"),
  },
  net.entry {
    attack = "reach private addresses by multipath TCP",
    naive = "passes filters that know TCP and UDP alone",
    ours = "refused: what is not TCP, UDP or ICMP does not leave, and the rules are for addresses",
    calls = { "stream('10.9.9.9', 262)", "stream('203.0.113.2', 262)" },
  },
  net.entry {
    attack = "names that lead to private addresses: directly, by an alias (CNAME), among others",
    naive = "follows them",
    ours = "it is the address that counts: refused",
    calls = calls("tcp", "private.example alias.allowed.example loopback.allowed.example "
      .. "host.allowed.example"),
  },
  {
    attack = "a name that is public when it is checked, and a metadata service when it is used "
      .. "(DNS rebinding)",
    naive = "checks one answer and uses another",
    ours = "never reached: the address is checked where packets leave, and names are resolved once",
    control = function(frame)
      local list = calls("http", ("rebound.allowed.example "):rep(6))
      assert(table.concat(net.outside(frame, list), "\n"):find("world 169.254.169.254", 1, true))
    end,
    attempt = function(frame)
      local list = calls("http", ("rebound.allowed.example "):rep(8))
      for _, name in ipairs { "own", "names" } do
        local lines = table.concat(net.inside(frame, name, "user", list), "\n")
        assert(not lines:find("world 169.254", 1, true), lines)
        assert(lines:find("world 198.51.100.7", 1, true), "nothing is reached: " .. lines)
      end
    end,
  },
  {
    attack = "reach another sandbox: what it listens on, at each of its addresses",
    naive = "all are on one bridge",
    ours = "each has a network of its own, with the same addresses",
    control = function(frame)
      local server = "import socket, time\ns = socket.create_server(('', 7777), family=socket.AF_INET6, "
        .. "dualstack_ipv6=True)\nprint('ready', flush=True)\nwhile True:\n c = s.accept()[0]\n "
        .. "c.sendall(b'neighbour')\n c.close()\n"
      frame.neighbour = server
      local pid = net.start_outside(frame, server)
      local list = { "tcp('203.0.113.2', 7777)" }
      net.all_answered(list, net.outside(frame, list), "outside")
      os.execute("kill -9 " .. pid)
      assert(host.eventually(2, function() return net.outside(frame, list)[1]:find "^no: " end))
    end,
    attempt = function(frame)
      net.start_inside(frame, "other", frame.neighbour)
      local box = net.box(frame, "other")
      local own = assert(box:step [[
import socket
found = []
for family, far in ((socket.AF_INET, "198.51.100.7"), (socket.AF_INET6, "2001:db8:2::7")):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.connect((far, 9))
        found.append(s.getsockname()[0])
print(*found)]]).stdout
      local list = calls("tcp", own)
      for i, call in ipairs(list) do list[i] = call:gsub("%)$", ", 7777)") end
      assert(#list == 2, own)
      net.all_answered(list, net.inside(frame, "other", "user", list), "in the sandbox that listens")
      for _, address in ipairs { "203.0.113.2", "2001:db8:1::2", "127.0.0.1", "192.0.2.1" } do
        list[#list + 1] = ("tcp('%s', 7777)"):format(address)
      end
      net.each_user(frame, function(user)
        net.all_refused(list, net.inside(frame, "own", user, list), "as " .. user)
      end)
    end,
  },
  {
    attack = "be reached from outside: a sandbox that listens on all addresses, and the host's ports",
    naive = "pasta passes all ports of the host on to it",
    ours = "nothing is passed on: the gateway of the engine alone leads there",
    control = function(frame)
      net.start_inside(frame, "other", "import socket, time\ns = socket.create_server(('', 7778), "
        .. "family=socket.AF_INET6, dualstack_ipv6=True)\nprint('ready', flush=True)\nwhile True:\n "
        .. "c = s.accept()[0]\n c.sendall(b'sandbox')\n c.close()\n")
      local list = { "tcp('127.0.0.1', 7778)" }
      net.all_answered(list, net.inside(frame, "other", "user", list), "in it")
    end,
    attempt = function(frame)
      local list = { "tcp('127.0.0.1', 7778)", "tcp('203.0.113.2', 7778)", "tcp('2001:db8:1::2', 7778)" }
      net.all_refused(list, net.outside(frame, list), "outside")
    end,
  },
}
