--- Sandboxes whose traffic is to go through a proxy (`egress_proxy`): ways around it, and what it could be
--- made to do.

local assert = require "luassert"
local host = require "spec.support.host"
local net = require "spec.support.network_attack"

return {
  title = "Network: proxy",

  net.entry {
    attack = "go past a proxy that all traffic is to go through: datagrams, ping, denied and private "
      .. "addresses",
    naive = "has variables that name the proxy, which programs may ignore",
    ours = "refused: all TCP is led to it, and all else is closed",
    from = "proxy",
    calls = { "udp('198.51.100.53')", "ping('198.51.100.7')", "tcp('198.51.100.8')", "tcp('10.9.9.9')",
      "tcp('203.0.113.2')", "tcp('169.254.169.254')", "tcp('::ffff:10.9.9.9')", "tcp('64:ff9b::a09:909')" },
    noted = { "dns", "socks" },
  },
  net.entry {
    attack = "speak to the proxy itself, as a client that the rules do not know",
    naive = "reaches it like any other address, and asks it for what is denied",
    ours = "refused",
    from = "proxy",
    calls = { "socks('203.0.113.1', 1080, '198.51.100.8')" },
    noted = { "socks" },
  },
  {
    attack = "have the proxy resolve what the rules refuse: names that are addresses, its own machine",
    naive = "passes all names on",
    ours = "refused; other names are the proxy's to judge",
    control = function(frame)
      net.world(frame)
      net.world(frame):noted "socks"
      local list = { "socks('203.0.113.1', 1080, '10.9.9.9')",
        "socks('203.0.113.1', 1080, '', '0xa090909')", "socks('203.0.113.1', 1080, '', '10.9.9.9')" }
      net.all_answered(list, net.outside(frame, list), "outside")
    end,
    attempt = function(frame)
      local list = {}
      for _, name in ipairs { "10.9.9.9", "0xa090909", "0xa.0x9.0x9.0x9", "168364297", "012.9.9.9",
        "10.9.2313", "localhost", "x.localhost", "ip6-loopback", "198.51.100.8", "203.0.113.1",
        "169.254.169.254" } do
        list[#list + 1] = ("named('%s', 8080)"):format(name)
      end
      list[#list + 1] = "named('203.0.113.1', 1080)"
      local good = { "named('public.example', 8080)" }
      net.each_user(frame, function(user)
        net.all_answered(good, net.inside(frame, "proxy", user, good), "as " .. user)
        net.world(frame):noted "socks"
        net.all_refused(list, net.inside(frame, "proxy", user, list), "as " .. user)
        assert.equal("", net.world(frame):noted "socks")
      end)
    end,
  },
  {
    attack = "learn the proxy's password: environment, command lines, files, what the engine tells of the "
      .. "sandbox",
    naive = "is in HTTP_PROXY",
    ours = "nowhere",
    control = function(frame)
      net.world(frame)
      local said = host.sh "HTTP_PROXY=me:secret python3 -c 'import os; print(\"secret\" in str(os.environ))'"
      assert(said == "True\n", said)
    end,
    attempt = function(frame)
      local box = net.box(frame, "proxy")
      net.each_user(frame, function(user)
        local found = frame:inside({ python = [[
import glob
seen = []
places = "/proc/[0-9]*/environ", "/proc/[0-9]*/cmdline", "/etc/*.conf", "/run/*"
for path in sum(map(glob.glob, places), []):
    try:
        if b"me:secret" in open(path, "rb").read(): seen.append(path)
    except OSError:
        pass
print(seen)]] }, user, box)
        assert(found == "[]", found)
      end)
      local detail = frame.world.daemon:call("GET", "/sandboxes/" .. box.id).body
      assert(not detail:find("secret", 1, true), detail)
    end,
  },
}
