local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

local start_create = engine.start_create

describe("the engine's leases", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  --- A curl process that takes the lease and then stays, in a step that takes long.
  local function take_lease_and_linger(sandbox)
    return curl.start({
      socket = daemon.socket,
      method = "PUT",
      url = "http://localhost/sandboxes/" .. sandbox.sandboxID .. "/lease",
    }, {
      socket = daemon.socket,
      method = "POST",
      url = "http://49999-" .. sandbox.sandboxID .. ".local/execute",
      headers = { ["X-Access-Token"] = sandbox.envdAccessToken, ["Content-Type"] = "application/json" },
      body = '{"code": "import time; time.sleep(30)"}',
    })
  end

  it("end a sandbox with the process that made it", function()
    local id = daemon:create(nil, { ["Stepbox-Lease"] = "process" }).sandboxID -- curl has ended by now
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
  end)

  it("last as long as the process that took them, and no longer", function()
    local sandbox = daemon:create()
    local holder = take_lease_and_linger(sandbox)
    os.execute "sleep 0.5"
    assert.is_true(daemon:is_running(sandbox.sandboxID))
    os.execute("kill -9 " .. holder.pid)
    holder.finish()
    assert(engine.eventually(2, function() return not daemon:is_running(sandbox.sandboxID) end))
  end)

  it("can be released", function()
    local sandbox = daemon:create()
    local path = "/sandboxes/" .. sandbox.sandboxID
    local holder = take_lease_and_linger(sandbox)
    os.execute "sleep 0.5"
    assert.equal(204, daemon:call("DELETE", path .. "/lease").status)
    os.execute("kill -9 " .. holder.pid)
    holder.finish()
    os.execute "sleep 0.5"
    assert.is_true(daemon:is_running(sandbox.sandboxID))
    assert.equal(204, daemon:call("DELETE", path).status)
    assert_error(daemon:call("PUT", path .. "/lease"), 404, sandbox.sandboxID)
    assert_error(daemon:call("DELETE", path .. "/lease"), 404, sandbox.sandboxID)
  end)

  it("do not keep a sandbox whose creation nobody waits for", function()
    local before = #engine.holders(daemon.pid)
    for _ = 1, 5 do
      local handle = start_create(daemon)
      os.execute("kill -9 " .. handle.pid)
      handle.finish()
    end
    -- Those that were answered before the kill live on; each of the others is gone.
    assert(engine.eventually(3, function()
      return #engine.holders(daemon.pid) == before + 2 * #daemon:call("GET", "/v2/sandboxes").json
    end))
    for _, sandbox in ipairs(daemon:call("GET", "/v2/sandboxes").json) do
      daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
    end
  end)
end)
