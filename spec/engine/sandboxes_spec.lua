local engine = require "spec.support.engine"

describe("the engine's sandboxes", function()
  local daemon, sandbox
  setup(function()
    daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key key" }
    for _ = 1, 3 do sandbox = daemon:create() end
  end)
  teardown(function() daemon:stop() end)

  --- What Python code prints in the sandbox.
  local function inside(code) return daemon:inside(sandbox, code) end

  it("reach nothing of the host that was not given to them", function()
    local try = "import os, socket\ndef probe(name, what):\n  try: print(name, what())\n"
      .. "  except OSError: print(name, 'failed')\n"
    local file = assert(io.open(daemon.folder .. "/secret", "w"))
    file:write "secret"
    file:close()
    local probes = {
      { "file", ("open(%q).read()"):format(daemon.folder .. "/secret"), "secret" },
      { "process", ("os.path.exists('/proc/%d/stat') and open('/proc/%d/cmdline').read()[-8:]"):format(
        daemon.engine_pid, daemon.engine_pid), "xxx\0" },
      { "network", ("socket.create_connection(('127.0.0.1', %s), 2).fileno() > 0"):format(daemon.port),
        "True" },
      { "socket", ("socket.socket(socket.AF_UNIX).connect(%q)"):format(daemon.socket), "None" },
      { "write", "os.access('/etc', os.W_OK)", "True" },
    }
    for _, probe in ipairs(probes) do
      local code = try .. ("probe('%s', lambda: %s)"):format(probe[1], probe[2])
      local there, here = daemon:outside(code), inside(code)
      -- An ordinary user may not write to /etc outside either.
      if probe[1] ~= "write" or engine.sh "id -u" == "0\n" then
        assert(there:find(probe[3], 1, true), "outside: " .. there)
      end
      assert.is_nil(here:find(probe[3], 1, true), "inside: " .. here)
    end
  end)

  it("are an unprivileged user, on the host too", function()
    local status = inside "print(open('/proc/self/status').read())"
    assert(status:find "\nUid:%s+1000%s+1000%s+1000%s+1000\n")
    assert(status:find "\nCapBnd:%s+0000000000000000\n")
    assert(status:find "\nNoNewPrivs:%s+1\n")
    for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
      local uid = engine.read("/proc/" .. pid .. "/status"):match "\nUid:%s+(%d+)"
      assert.is_not.equal("0", uid)
    end
  end)

  it("see the environment they were given, and none of the engine's", function()
    local environment = inside "import os; print(sorted(os.environ.items()))"
    assert(environment:find("('E2B_SANDBOX_ID', '" .. sandbox.sandboxID .. "')", 1, true), environment)
    assert(environment:find("('HOME', '/home/user')", 1, true))
    assert.is_nil(environment:find("STEPBOX", 1, true), environment)
  end)

  it("can fill neither the disk nor the memory by writing where nothing is theirs", function()
    local places = inside [[
import os
agent = "/opt/stepbox/stepbox-agent"
for place in ("/ /dev /etc /opt/stepbox /usr /home /proc/sys/kernel/hostname " + agent).split():
    print(place, os.access(place, os.W_OK))
print(os.statvfs("/home/user").f_blocks * os.statvfs("/home/user").f_frsize)
for place in "/home/user /tmp /var/tmp /dev/shm /run/user/1000".split():
    same = os.stat(place).st_dev == os.stat("/home/user").st_dev
    print(place, os.access(place, os.W_OK), same)
]]
    assert.equal(8, select(2, places:gsub("False\n", "")), places)
    assert.equal(5, select(2, places:gsub("True True\n", "")), places)
    assert(places:find("\n" .. 1024 * 1024 * 1024 .. "\n", 1, true), places)
  end)

  it("hold no descriptor but their own", function()
    local agents = 0
    for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
      if engine.read("/proc/" .. pid .. "/cmdline"):find "^/opt/stepbox/stepbox%-agent" then
        agents = agents + 1
        local fds
        -- The control socket, and those of the runners that it has itself, once the connection of the latest
        -- probe is closed.
        local runners = #engine.descendants(pid)
        assert(engine.eventually(2, function()
          fds = engine.sh("ls -l /proc/" .. pid .. "/fd")
          return select(2, fds:gsub("socket:", "")) <= 1 + runners
        end), fds)
        assert.is_nil(fds:find("memfd", 1, true), fds)
        assert.is_nil(fds:find(daemon.folder, 1, true), fds)
      end
    end
    assert.equal(3, agents)
  end)
end)
