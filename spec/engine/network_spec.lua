local cjson = require "cjson"
local engine = require "spec.support.engine"
local host = require "spec.support.host"
local network = require "spec.support.network"

local missing = network.missing()

--- Everything that is not the public internet, in every spelling; all of it answers the host.
local closed = {
  "tcp('10.9.9.9')", "tcp('172.16.5.5')", "tcp('192.168.77.7')", "tcp('100.64.3.3')",
  "tcp('169.254.169.254')",
  "tcp('168.63.129.16')", "tcp('198.18.0.1')", "http('169.254.169.254')", "tls('10.9.9.9', 'public.example')",
  "tcp('168364297')", "tcp('0x0a090909')", "tcp('0xa.0x9.0x9.0x9')", "tcp('012.011.011.011')",
  "tcp('10.9.2313')",
  "tcp('10.592137')", "tcp('2852039166')", "tcp('0xa9fea9fe')", "tcp('0251.0376.0251.0376')",
  "tcp('::ffff:10.9.9.9')", "tcp('::ffff:169.254.169.254')", "tcp('::ffff:a9fe:a9fe')",
  "tcp('fd00:ec2::254')",
  "tcp('fd12:3456::7')", "tcp('64:ff9b::a09:909')", "tcp('2002:a09:909::1')", "tcp('private.example')",
  -- The host itself: by its addresses, through which its services can be reached.
  "tcp('203.0.113.2')", "tcp('2001:db8:1::2')", "http('203.0.113.2')",
}

local open = { "tcp('198.51.100.7')", "tcp('public.example')", "http('public.example')",
  "tls('public.example')",
  "tcp('2001:db8:2::7')", "udp('198.51.100.53')" }

local function all_refused(calls, lines)
  for i, line in ipairs(lines) do assert(line:find "^no: ", calls[i] .. " was answered: " .. line) end
end

local function all_answered(calls, lines)
  for i, line in ipairs(lines) do assert(not line:find "^no: ", calls[i] .. " was not: " .. line) end
end

for _, user in ipairs(network.users()) do
  describe("the network of sandboxes, with an engine " .. user.whose .. ",", function()
    local world, online
    local why_not = missing or network.closed_to(user.number)
    setup(function()
      if why_not then return end
      world = network.start { user = user.number }
      online = world:create { allow_internet_access = true }
    end)
    teardown(function() if world then world:stop() end end)

    local function it_in_world(name, body)
      it(name, function()
        if why_not then return pending(why_not) end
        body()
      end)
    end

    it_in_world("is loopback alone when nobody asked for more", function()
      local calls = { "tcp('198.51.100.7')", "name('public.example')", "udp('198.51.100.53')",
        "tcp('2001:db8:2::7')" }
      all_answered(calls, world:probe(nil, calls))
      for _, fields in ipairs { {}, { allow_internet_access = false } } do
        local sandbox = world:create(fields)
        all_refused(calls, world:probe(sandbox, calls))
        local code = "import os, socket, time\nbegin = time.time()\n"
          .. "try: socket.getaddrinfo('public.example', 80)\n"
          .. "except OSError: print(time.time() - begin < 3)\n"
          .. "print(os.listdir('/sys/class/net') if os.path.exists('/sys/class/net') else [n for _, n in "
          .. "socket.if_nameindex()])\nprint(len(open('/proc/net/route').readlines()))\n"
          .. "print('nameserver' in open('/etc/resolv.conf').read())\n"
        assert.equal("True\n['lo']\n1\nFalse\n", world:inside(sandbox, code))
        world.daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
      end
    end)

    it_in_world("reaches the internet when it was asked for, over IPv4 and IPv6, with names", function()
      all_answered(open, world:probe(nil, open))
      all_answered(open, world:probe(online, open))
      assert.same({ "198.51.100.7" }, world:probe(online, { "name('public.example')" }))
      local detail = world.daemon:call("GET", "/sandboxes/" .. online.sandboxID).json
      assert.equal(user.ids, detail["local"].isolation.ids)
      assert.is_true(detail.allowInternetAccess)
      assert.equal("up", detail["local"].network.link)
    end)

    it_in_world("never reaches the host, private and metadata addresses, however they are spelt",
      function()
        all_answered(closed, world:probe(nil, closed))
        all_refused(closed, world:probe(online, closed))
        -- Loopback is the sandbox's own; what the link is made of leads nowhere.
        local own = { "tcp('127.0.0.1')", "tcp('0.0.0.0')", "tcp('::1')", "tcp('192.0.2.1')",
          "tcp('192.0.2.2')",
          "tcp('fd00:5b::1')", "tcp('127.0.0.1', 1023)", "udp('10.9.9.9')", "udp('192.0.2.1')" }
        all_refused(own, world:probe(online, own))
        local loopback = { "tcp('127.0.0.1')", "tcp('::1')" }
        all_answered(loopback, world:probe(nil, loopback))
      end)

    it_in_world("opens and closes addresses while it runs, for connections that are open, too", function()
      local sandbox = world:create { network = { denyOut = { "198.51.100.8" } } }
      local calls = { "tcp('198.51.100.7')", "tcp('198.51.100.8')", "tcp('10.9.9.9')", "tcp('172.16.5.5')" }
      assert.same({ "world 198.51.100.7", true, true, true }, (function(lines)
        for i = 2, 4 do lines[i] = lines[i]:find "^no: " ~= nil end
        return lines
      end)(world:probe(sandbox, calls)))
      world:inside(sandbox,
        "import socket; s = socket.create_connection(('198.51.100.7', 8080)); s.recv(100)")
      assert.equal(204, world:change(sandbox, {
        allowOut = { "10.9.9.9", "172.16.0.0/12", "198.51.100.8" }, denyOut = { "0.0.0.0/0" } }).status)
      local lines = world:probe(sandbox, calls)
      all_refused({ calls[1] }, { lines[1] })
      all_answered({ calls[2], calls[3], calls[4] }, { lines[2], lines[3], lines[4] })
      assert.equal("cut\n", world:inside(sandbox, "s.settimeout(2)\n"
        .. "try:\n  s.sendall(b'x'); print(s.recv(10))\nexcept OSError: print('cut')\n"))
      all_refused({ "IPv6" }, world:probe(sandbox, { "tcp('2001:db8:2::7')" }))
      local detail = world.daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json
      assert.same({ "0.0.0.0/0" }, detail.network.denyOut)
      -- A wide range does not mean the private ones in it.
      assert.equal(204, world:change(sandbox, { allowOut = { "0.0.0.0/0" } }).status)
      lines = world:probe(sandbox, calls)
      all_answered({ calls[1] }, { lines[1] })
      all_refused({ calls[3] }, { lines[3] })
      assert.equal(204, world:change(sandbox, { allow_internet_access = false }).status)
      all_refused(calls, world:probe(sandbox, calls))
    end)

    it_in_world("closes addresses that the host gets later", function()
      local function change(what)
        engine.sh(("nsenter --target %d --net ip addr %s 203.0.113.9/24 dev up0"):format(
          world.daemon.engine_pid, what))
      end
      change "add"
      finally(function() change "del" end)
      local calls = { "tcp('203.0.113.9')" }
      all_answered(calls, world:probe(nil, calls))
      engine.eventually(5, function() return world:probe(online, calls)[1]:find "^no: " end)
      all_refused(calls, world:probe(online, calls))
    end)

    it_in_world("can be given to a sandbox that was made without one", function()
      local sandbox = world:create()
      all_refused({ "before" }, world:probe(sandbox, { "tcp('public.example')" }))
      assert.equal(204, world:change(sandbox, { allow_internet_access = true }).status)
      all_answered({ "after" }, world:probe(sandbox, { "tcp('public.example')" }))
    end)

    it_in_world("lets names out by what connections say they are for, and resolves no other", function()
      local sandbox = world:create {
        network = { allowOut = { "allowed.example", "*.allowed.example" }, denyOut = { "0.0.0.0/0" } } }
      local good = { "tls('allowed.example')", "http('allowed.example')", "tls('sub.allowed.example')",
        "http('mixed.allowed.example')", "tls('198.51.100.8', 'allowed.example')" }
      all_answered(good, world:probe(nil, good))
      world:noted "dns"
      for i, line in ipairs(world:probe(sandbox, good)) do
        assert(line:find("world 198.51.100.7", 1, true), good[i] .. ": " .. line)
      end
      local names = world:noted "dns"
      local bad = { "tls('public.example')", "http('public.example')",
        "tls('198.51.100.8', 'public.example')",
        "http('198.51.100.8', 'public.example')", "tcp('198.51.100.7')", "tcp('allowed.example')",
        "tls('private.allowed.example')", "http('metadata.allowed.example')", "tls('host.allowed.example')",
        "http('10.9.9.9', 'allowed.example')", "udp('198.51.100.53')",
        "http('198.51.100.7', '198.51.100.7')" }
      all_answered(bad, world:probe(nil, bad))
      world:noted "dns"
      all_refused(bad, world:probe(sandbox, bad))
      names = names .. world:noted "dns"
      assert(not names:find("public", 1, true), names)
      world:probe(sandbox, { "name('leak.secret.example')", "name('c2VjcmV0.public.example')" })
      assert.equal("", world:noted "dns")
    end)

    it_in_world("does not fall for names that change what they mean", function()
      local sandbox = world:create { network = { allowOut = { "*.allowed.example" }, denyOut = {
        "0.0.0.0/0" } } }
      local calls = {}
      for i = 1, 6 do calls[i] = "http('rebound.allowed.example')" end
      local outside = table.concat(world:probe(nil, calls), "\n")
      assert(outside:find("world 169.254.169.254", 1, true), outside)
      local inside = table.concat(world:probe(sandbox, calls), "\n")
      assert(not inside:find("169.254.169.254", 1, true), inside)
      -- With all names, too: it is the address that counts.
      inside = table.concat(world:probe(online, calls), "\n")
      assert(not inside:find("world 169.254.169.254", 1, true), inside)
    end)

    it_in_world("tunnels all TCP through a proxy, names unresolved, and lets nothing else out", function()
      local sandbox = world:create { network = {
        egressProxy = { address = "203.0.113.1:1080", username = "me", password = "secret" },
        denyOut = { "198.51.100.8" } } }
      world:noted "socks"
      world:noted "dns"
      local good = { "tcp('public.example')", "tcp('198.51.100.7')", "http('public.example')",
        "tcp('2001:db8:2::7')" }
      all_answered(good, world:probe(sandbox, good))
      assert.equal("me public.example 8080\nme 198.51.100.7 8080\n"
        .. "me public.example 80\nme 2001:db8:2::7 8080\n",
        world:noted "socks")
      assert.equal("", world:noted "dns")
      local bad = { "tcp('198.51.100.8')", "tcp('10.9.9.9')", "tcp('169.254.169.254')",
        "udp('198.51.100.53')",
        "tcp('203.0.113.2')" }
      all_answered(bad, world:probe(nil, bad))
      all_refused(bad, world:probe(sandbox, bad))
      assert.equal("", world:noted "socks")
      local detail = world.daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).body
      assert(not detail:find("secret", 1, true), detail)
      assert.equal(204, world:change(sandbox, { egressProxy = {
        address = "203.0.113.1:1080", username = "me", password = "wrong" } }).status)
      all_refused({ "wrong password" }, world:probe(sandbox, { "tcp('198.51.100.7')" }))
    end)

    it_in_world("comes back when what holds it has died, and is closed in between", function()
      local others = {}
      for _, pid in ipairs(engine.descendants(world.daemon.engine_pid)) do others[pid] = host.birth(pid) end
      local sandbox = world:create { allow_internet_access = true }
      local function network_of()
        return world.daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json["local"].network
      end
      --- The newest that was not there before this sandbox.
      local function newest(program)
        local found, latest = nil, -1
        for _, pid in ipairs(engine.descendants(world.daemon.engine_pid)) do
          local name, started = engine.read("/proc/" .. pid .. "/comm"), host.birth(pid)
          local is_other = not started or started == others[pid] or name:sub(1, #program) ~= program
          if not is_other and started >= latest then
            found, latest = pid, started
          end
        end
        return assert(found, program)
      end
      -- pasta calls itself passt.avx2 where it can.
      for _, program in ipairs { "pas", "stepbox-egress" } do
        local restarts = network_of().restarts
        local victim = newest(program)
        local name = engine.read("/proc/" .. victim .. "/cmdline"):gsub("%z", " ")
        os.execute("kill -9 " .. victim)
        local now
        assert(engine.eventually(20, function()
          now = network_of()
          return now.restarts > restarts and now.link == "up"
        end), ("%s: %d, %s: %s"):format(program, victim, name, cjson.encode(now)))
        -- IPv6 may need a moment more to find its neighbour on the new link.
        local lines
        engine.eventually(10, function()
          lines = world:probe(sandbox, open)
          return not table.concat(lines, "\n"):find("no: ", 1, true)
        end)
        all_answered(open, lines)
        all_refused(closed, world:probe(sandbox, closed))
      end
    end)

    it_in_world("leaves no process behind when sandboxes end", function()
      -- Zygotes come and go as they like.
      local function count()
        local found = 0
        for _, pid in ipairs(engine.descendants(world.daemon.engine_pid)) do
          local name = engine.read("/proc/" .. pid .. "/comm")
          if name:find "^pas" or name:find "^bwrap" or name:find "^stepbox%-[eas]" then found = found + 1 end
        end
        return found
      end
      local before = count()
      local sandbox = world:create { allow_internet_access = true }
      assert(count() >= before + 5)
      assert.equal(204, world.daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID).status)
      assert(engine.eventually(5, function() return count() <= before end))
    end)
  end)
end
