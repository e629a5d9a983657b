local stepbox = require "stepbox"
local engine = require "stepbox.engine"
local timestamp = require "stepbox.timestamp"
local sandbox = require "spec.support.sandbox"

describe("box:logs", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300 }) end)
  teardown(function() box:kill() end)

  it("tells the life of the sandbox, the oldest first", function()
    assert(box:set_timeout(200))
    local entries = assert(box:logs())
    assert.equal("starting: asked for", entries[1].message)
    assert.equal("timeout: 200 seconds from now", entries[#entries].message)
    assert.near(os.time(), entries[1].time, 60)
    assert.equal("engine", entries[1].fields.source)
    for i = 2, #entries do assert.is_true(entries[i].time >= entries[i - 1].time) end
  end)

  it("picks by time, count, level and text", function()
    local newest = assert(box:logs { backward = true, limit = 1 })
    assert.equal(1, #newest)
    assert.same({}, assert(box:logs { since = os.time() + 1000 }))
    assert.same({}, assert(box:logs { level = "error" }))
    assert.equal(1, #assert(box:logs { search = "agent is ready" }))
    assert.same({}, assert(box:logs { search = "100% & no=such?" }))
  end)

  it("raises for what makes no sense", function()
    for name, value in pairs {
      since = -1, limit = 1001, level = "loud", backward = 1, search = 5, other = 1,
    } do
      local ok, message = pcall(box.logs, box, { [name] = value })
      assert.is_false(ok)
      assert.matches("'" .. name .. "'", message, 1, true)
    end
  end)

  it("fails on a box that is closed, and on one that is gone", function()
    local other = assert(stepbox.create { timeout = 60 })
    local same = assert(stepbox.connect(other.id))
    assert(other:kill())
    assert.equal("closed", (select(3, other:logs())))
    assert.equal("sandbox_lost", (select(3, same:logs())))
  end)
end)

describe("stepbox.engine", function()
  it("tells what this user's engine does", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    local status = assert(engine.status())
    assert.is_true(status.sandboxes >= 1, box.id)
    assert.equal(stepbox.version, status.version)
    assert.matches("stepboxd", sandbox.read("/proc/" .. status.pid .. "/comm"), 1, true)
    assert.near(os.time(), status.started_at, 3600)
    assert.equal("invalid", (select(3, engine.stop())))
  end)

  it("takes its sandboxes with it: they are lost to their boxes", function()
    local folder = sandbox.temporary()
    local options = { socket = folder .. "/run/engine.sock" }
    local client = assert(stepbox.client(options))
    local box = assert(client:create())
    local context = assert(box:context())
    assert.equal(1, assert(engine.stop { socket = options.socket, force = true }))
    assert.is_true(sandbox.eventually(3, function() return not engine.status(options) end))
    for _, answer in ipairs {
      { box:step "1" }, { context:step "1" }, { context:restart() }, { box:contexts() }, { box:info() },
      { box:set_timeout(5) }, { box.commands:run "true" }, { box.files:read "/x" },
    } do
      assert.equal("sandbox_lost", answer[3], answer[2])
    end
    assert.is_false(box:is_running())
    assert.equal("not_found", (select(3, box:kill())))
    assert.equal("not_found", (select(3, client:connect(box.id))))
    os.execute("rm -r " .. folder)
  end)

  it("is asked with options that are checked, by the name of the call", function()
    for _, call in ipairs { "status", "start", "stop" } do
      local ok, message = pcall(function() return (engine[call] { socket = 5 }) end)
      assert.is_false(ok)
      assert.matches("^[^:]*engine_calls_spec.lua:%d+: bad option 'socket' of '" .. call .. "'", message)
    end
  end)

  it("does not start one by asking", function()
    local folder = sandbox.temporary()
    local options = { socket = folder .. "/run/engine.sock" }
    assert.equal("not_found", (select(3, engine.status(options))))
    assert.equal("not_found", (select(3, engine.stop(options))))
    local started = assert(engine.start(options))
    assert.equal(options.socket, started.socket)
    assert.equal(0, assert(engine.stop(options)))
    local function is_gone() return sandbox.read("/proc/" .. started.pid .. "/stat") == "" end
    assert.is_true(sandbox.eventually(3, is_gone))
    assert.equal("not_found", (select(3, engine.status(options))))
    os.execute("rm -r " .. folder)
  end)

  it("is no matter of servers", function()
    local options = { api_key = "e2b_00", api_url = "http://127.0.0.1:9" }
    for _, name in ipairs { "status", "start", "stop" } do
      assert.equal("unsupported", (select(3, engine[name](options))))
    end
  end)
end)

describe("times of servers", function()
  it("are Unix seconds", function()
    for text, seconds in pairs {
      ["1970-01-01T00:00:00Z"] = 0, ["2026-11-30T13:24:14.250Z"] = 1796045054.25,
      ["2000-02-29T23:59:59Z"] = 951868799, ["2026-01-01T02:00:00+02:00"] = 1767225600,
      ["2026-01-01 00:00:00-01:30"] = 1767231000,
    } do
      assert.equal(seconds, timestamp.parse(text), text)
    end
    for _, wrong in ipairs { "", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00X" } do
      assert.is_nil(timestamp.parse(wrong))
    end
  end)
end)
