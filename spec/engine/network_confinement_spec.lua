local engine = require "spec.support.engine"
local network = require "spec.support.network"

local missing = network.missing()

--- A field of /proc/PID/status.
local function status(pid, field)
  return engine.read("/proc/" .. pid .. "/status"):match("\n" .. field .. ":%s*([^\n]*)")
end

local function namespace(pid, kind) return (engine.sh(("readlink /proc/%d/ns/%s"):format(pid, kind))) end

for _, user in ipairs(network.users()) do
  describe("what reads a sandbox's bytes, with an engine " .. user.whose .. ",", function()
    local world, sandbox
    local why_not = missing or network.closed_to(user.number)
    setup(function()
      if why_not then return end
      world = network.start { user = user.number, environment = "WORLD_LINKS=1" }
      sandbox = world:create { allow_internet_access = true }
    end)
    teardown(function() if world then world:stop() end end)

    --- The process of this name below the engine.
    local function find(name)
      for _, pid in ipairs(engine.descendants(world.daemon.engine_pid)) do
        if engine.read("/proc/" .. pid .. "/comm") == name .. "\n" then return pid end
      end
      error("there is no " .. name)
    end

    local function it_in_world(name, body)
      it(name, function()
        if why_not then return pending(why_not) end
        body(find "stepbox-serve", find "stepbox-egress")
      end)
    end

    it_in_world("has no capabilities, and a filter of system calls", function(pid, parent)
      for _, set in ipairs { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" } do
        assert.equal(("0"):rep(16), status(pid, set))
      end
      assert.equal("2", status(pid, "Seccomp"))
      assert.equal("1", status(pid, "NoNewPrivs"))
      -- So it is not that every process here is like that.
      assert.equal("0", status(parent, "Seccomp"))
      assert.not_equal(("0"):rep(16), status(parent, "CapBnd"))
    end)

    it_in_world("is a user of the host without power, in namespaces where the sandbox's are not its own",
      function(pid, parent)
        assert.not_equal("0", status(pid, "Uid"):match "%d+")
        assert.not_equal(namespace(parent, "user"), namespace(pid, "user"))
        assert.not_equal(namespace(parent, "mnt"), namespace(pid, "mnt"))
        -- The host's sockets are what it is for.
        assert.equal(namespace(parent, "net"), namespace(pid, "net"))
      end)

    it_in_world("sees no files but those that names are resolved with", function(pid, parent)
      local function sees(process, path)
        return select(2, engine.sh(("test -e /proc/%d/root%s"):format(process, path))) == 0
      end
      for _, path in ipairs { "/proc/self", "/home", "/root", "/var", "/dev/null", world.folder .. "/log" } do
        assert(sees(parent, path), path)
        assert(not sees(pid, path), path)
      end
      assert(sees(pid, "/etc/resolv.conf"))
      assert(sees(pid, world.folder .. "/names/resolv.conf"))
      assert.not_equal(0, select(2, engine.sh(("touch /proc/%d/root/x"):format(pid))))
    end)

    it_in_world("holds its sockets, and nothing else that is open", function(pid, parent)
      local function holds(process, pattern)
        return (engine.sh(("ls -l /proc/%d/fd"):format(process))):find(pattern) ~= nil
      end
      for _, pattern in ipairs { "pidfd", "net:%[", "user:%[", "mnt:%[", "log\n" } do
        assert(holds(parent, pattern), pattern)
        assert(not holds(pid, pattern), pattern)
      end
    end)

    it_in_world("follows a link to the host's resolv.conf, and its file when it is another", function()
      local path = world.folder .. "/names/resolv.conf"
      local function write(address)
        engine.sh(("echo nameserver %s > %s.new"):format(address, path))
        assert(os.rename(path .. ".new", path))
      end
      local listed = world:create {
        network = { allowOut = { "allowed.example" }, denyOut = { "0.0.0.0/0" } } }
      local connection = { "http('allowed.example')" }
      assert(not world:probe(listed, connection)[1]:find "^no: ")
      write "127.0.0.1"
      assert(world:probe(listed, connection)[1]:find "^no: ")
      write "198.51.100.53"
      assert(not world:probe(listed, connection)[1]:find "^no: ")
    end)

    it_in_world("is made anew with the link when it has died", function(pid)
      local function restarts()
        local detail = world.daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json
        return detail["local"].network.link == "up" and detail["local"].network.restarts
      end
      local before = restarts()
      os.execute("kill -9 " .. pid)
      assert(engine.eventually(10, function() return (restarts() or before) > before end))
      assert.equal("world 198.51.100.7", world:probe(sandbox, { "tcp('198.51.100.7')" })[1])
      assert.equal("198.51.100.7", world:probe(sandbox, { "name('public.example')" })[1])
    end)
  end)
end
