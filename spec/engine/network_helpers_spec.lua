local blocks = require "stepbox.blocks"
local engine = require "spec.support.engine"
local network = require "spec.support.network"

local missing = network.missing()

--- Programs as paths, those that are there.
local function paths(...)
  local found = {}
  for _, name in ipairs { ... } do
    local path = engine.sh("PATH=$PATH:/usr/sbin:/sbin; readlink -f $(command -v " .. name
      .. ")"):gsub("%s+$", "")
    if path ~= "" then found[#found + 1] = path end
  end
  return table.concat(found, " ")
end

describe("the internet of sandboxes on a host", function()
  local world
  after_each(function()
    if world then world:stop() end
    world = nil
  end)

  local function start_without(...)
    world = network.start { environment = "WORLD_HIDES='" .. paths(...) .. "'" }
  end

  --- Waits until the helper of this name may make few system calls, as it does before it reads a packet.
  local function is_confined(name)
    return engine.eventually(5, function()
      for _, pid in ipairs(engine.descendants(world.daemon.engine_pid)) do
        local status = engine.read("/proc/" .. pid .. "/status")
        if (status:match "^Name:\t([^\n]*)" or ""):find(name, 1, true) == 1 then
          return status:find "\nSeccomp:\t2" and status:find "\nNoNewPrivs:\t1"
        end
      end
    end)
  end

  local function refused(package)
    local fields = { templateID = "base", allow_internet_access = true }
    engine.assert_error(world.daemon:call("POST", "/v2/sandboxes", fields), 503, '"' .. package .. '"')
    local sandbox = world:create()
    engine.assert_error(world:change(sandbox, { allow_internet_access = true }), 503, '"' .. package .. '"')
    assert(world.daemon:is_running(sandbox.sandboxID))
    local host = world.daemon:call("GET", "/engine").json.host.network
    assert.is_false(host.available)
    assert(host.why:find(package, 1, true), host.why)
  end

  it("without pasta and slirp4netns is refused, with what to install", function()
    if missing then return pending(missing) end
    start_without("pasta", "slirp4netns")
    refused "passt"
    local out = blocks.CodeExecutionBlock:collect {
      credentials = { socket = world.daemon.socket }, code = "1", allow_internet = true,
    }
    assert.matches('install the package "passt"', out.error, 1, true)
    assert.matches("Leave 'allow_internet' out", out.error, 1, true)
  end)

  it("without nft is refused, with what to install", function()
    if missing then return pending(missing) end
    start_without "nft"
    refused "nftables"
  end)

  for name, hidden in pairs { pasta = "slirp4netns", slirp4netns = "pasta" } do
    it("that lets the user make no links is refused by name, with " .. name, function()
      if missing then return pending(missing) end
      if paths(name) == "" then return pending(name .. " is not installed") end
      local closed = network.closed_to(60999)
      if closed then return pending(closed) end
      world = network.start {
        user = 60999, environment = ("WORLD_TUN_MODE=600 WORLD_HIDES='%s'"):format(paths(hidden)),
      }
      local fields = { templateID = "base", allow_internet_access = true }
      for _ = 1, 3 do
        engine.assert_error(world.daemon:call("POST", "/v2/sandboxes", fields), 503, "0666 /dev/net/tun")
      end
    end)
  end

  it("without pasta goes through slirp4netns, for IPv4, behind the same firewall", function()
    if missing then return pending(missing) end
    if paths "slirp4netns" == "" then return pending "slirp4netns is not installed" end
    start_without "pasta"
    local sandbox = world:create { allow_internet_access = true }
    assert(is_confined "slirp4netns")
    local open = { "tcp('198.51.100.7')", "http('public.example')", "udp('198.51.100.53')" }
    for i, line in ipairs(world:probe(sandbox, open)) do assert(not line:find "^no: ", open[i] .. ": "
      .. line) end
    local closed = { "tcp('10.9.9.9')", "tcp('169.254.169.254')", "tcp('203.0.113.2')", "tcp('192.0.2.2')",
      "tcp('192.0.2.3', 53)", "tcp('private.example')", "tcp('10.0.2.2')" }
    for i, line in ipairs(world:probe(sandbox, closed)) do assert(line:find "^no: ", closed[i] .. ": "
      .. line) end
  end)

  it("leaves no process behind, even when the engine is killed", function()
    if missing then return pending(missing) end
    world = network.start()
    world:create { allow_internet_access = true }
    assert(is_confined "pas")
    local below = engine.descendants(world.daemon.engine_pid)
    assert(#below >= 4)
    os.execute("kill -9 " .. world.daemon.engine_pid)
    for _, pid in ipairs(below) do
      assert(engine.eventually(5, function() return not engine.is_alive(pid) end), engine.read("/proc/" .. pid
        .. "/cmdline"))
    end
  end)
end)
