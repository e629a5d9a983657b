local stepbox = require "stepbox"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

local MIB = 1024 * 1024

local create = function(options)
  options = options or {}
  options.timeout = options.timeout or 120
  return assert(stepbox.create(options))
end

local function newest(box)
  local metrics = assert(box:metrics())
  return metrics[#metrics]
end

describe("the metrics of a sandbox", function()
  it("have a sample from the moment they are asked for, with the limits in force", function()
    local box = create { memory = 200 * MIB, disk = 50 * MIB, cpus = 0.5 }
    local metrics = assert(box:metrics())
    assert.equal(1, #metrics)
    local now = metrics[1]
    assert.equal(1, now.cpu_count)
    assert.equal(200 * MIB, now.memory_total)
    assert.equal(50 * MIB, now.disk_total)
    assert.truthy(math.abs(now.timestamp - os.time()) <= 2)
    assert.truthy(now.memory_used > 0 and now.memory_used < now.memory_total)
    assert.truthy(now.disk_used >= 0 and now.disk_used < now.disk_total)
    assert.truthy(now.memory_cache >= 0)
    box:kill()
  end)

  it("show memory, files and processor time that code takes, and that it gives them back", function()
    local box = create()
    local before = newest(box)
    assert(box:step "block = bytearray(b'x') * (150 << 20)")
    local with_memory = newest(box)
    assert.truthy(with_memory.memory_used > before.memory_used + 140 * MIB)
    assert(box:step "del block; open('big', 'wb').write(b'x' * (60 << 20))")
    local with_file = newest(box)
    assert.truthy(with_file.disk_used > before.disk_used + 59 * MIB)
    assert.truthy(with_file.disk_used < before.disk_used + 70 * MIB)
    assert.truthy(with_file.memory_used < with_memory.memory_used)
    assert(box:step "import os; os.remove('big')")
    assert.truthy(newest(box).disk_used < before.disk_used + 5 * MIB)
    -- How large the share is depends on what else the host does; that there is one does not.
    assert(box:step "import time; t = time.process_time()\nwhile time.process_time() < t + 0.5: pass")
    local busy = newest(box)
    assert.truthy(busy.cpu_percent > 0.5 and busy.cpu_percent <= 100, busy.cpu_percent)
    box:kill()
  end)

  it("are sampled while nobody asks, and selected by time", function()
    local box = create()
    local begin = os.time()
    host.sleep(6)
    local metrics = assert(box:metrics())
    assert.equal(2, #metrics)
    assert.truthy(metrics[1].timestamp >= begin + 3 and metrics[1].timestamp <= begin + 7)
    assert.truthy(metrics[2].timestamp >= metrics[1].timestamp)
    assert.equal(0, #assert(box:metrics { end_ = begin - 100 }))
    assert.equal(0, #assert(box:metrics { start = os.time() + 100 }))
    assert.equal(2, #assert(box:metrics { start = begin - 1, end_ = os.time() + 1 }))
    box:kill()
  end)

  it("take only times, by name", function()
    local box = create()
    assert.has_error(function() box:metrics { start = -1 } end)
    assert.has_error(function() box:metrics { ["end"] = 1 } end)
    box:kill()
    assert.equal("closed", select(3, box:metrics()))
  end)
end)

describe("the engine's metrics", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  it("tell of many sandboxes at once, and leave out those that do not run", function()
    local a, b = daemon:create().sandboxID, daemon:create().sandboxID
    local answer = daemon:call("GET", "/sandboxes/metrics?sandbox_ids=" .. a .. "%2Cinothing," .. b)
    assert.equal(200, answer.status, answer.body)
    local count = 0
    for id, metric in pairs(answer.json.sandboxes) do
      count = count + 1
      assert.truthy(id == a or id == b)
      assert.truthy(metric.memUsed > 0)
      assert.truthy(metric.timestamp:find "^%d+%-%d+%-%d+T")
    end
    assert.equal(2, count)
    assert.equal("{\"sandboxes\":{}}", daemon:call("GET", "/sandboxes/metrics?sandbox_ids=").body)
    daemon:call("DELETE", "/sandboxes/" .. a)
    daemon:call("DELETE", "/sandboxes/" .. b)
  end)

  it("are told by the agent too, to those who have its token", function()
    local made = daemon:create { limits = { memoryMB = 200, diskMB = 50 } }
    local headers = { ["E2b-Sandbox-Id"] = made.sandboxID, ["E2b-Sandbox-Port"] = "49983" }
    assert.equal(401, daemon:call("GET", "/metrics", nil, headers).status)
    headers["X-Access-Token"] = made.envdAccessToken
    local told = daemon:call("GET", "/metrics", nil, headers)
    assert.equal(200, told.status, told.body)
    assert.equal(200 * MIB, told.json.mem_total)
    assert.equal(50 * MIB, told.json.disk_total)
    assert.truthy(told.json.mem_used > 0 and told.json.disk_used > 0 and told.json.cpu_count >= 1)
    assert.truthy(math.abs(told.json.ts - os.time()) < 5)
    daemon:call("DELETE", "/sandboxes/" .. made.sandboxID)
  end)

  it("refuse what is no question", function()
    local id = daemon:create().sandboxID
    local one, many = "/sandboxes/" .. id .. "/metrics", "/sandboxes/metrics"
    engine.assert_error(daemon:call("GET", one .. "?start=x"), 400, '"start"')
    engine.assert_error(daemon:call("GET", one .. "?end=-1"), 400, '"end"')
    engine.assert_error(daemon:call("GET", one .. "?begin=1"), 400, '"begin"')
    engine.assert_error(daemon:call("GET", one .. "?start=2&end=1"), 400, '"end" must not be before')
    engine.assert_error(daemon:call("GET", many), 400, '"sandbox_ids" is missing')
    engine.assert_error(daemon:call("GET", many .. "?ids=" .. id), 400, '"ids"')
    engine.assert_error(daemon:call("GET", many .. "?sandbox_ids=" .. ("x,"):rep(101)), 400, "100 ids")
    engine.assert_error(daemon:call("GET", "/sandboxes/inothing/metrics"), 404, "inothing")
    daemon:call("DELETE", "/sandboxes/" .. id)
  end)
end)
