-- What the engine holds in all: limits from its configuration and from the request, and 429 beyond the caps.

local stepbox = require "stepbox"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

local assert_error = engine.assert_error

local function start(configuration)
  local file = host.temporary() .. "/engine.json"
  host.write(file, configuration)
  local daemon = engine.start { arguments = "--config " .. file }
  daemon.configuration = file
  return daemon
end

local function stop(daemon)
  daemon:stop()
  host.sh("rm -rf " .. daemon.configuration:match "^(.*)/")
end

local function try(daemon, limits)
  return daemon:call("POST", "/v2/sandboxes", { templateID = "base", limits = limits })
end

local function kill(daemon, id) assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status) end

describe("an engine with a cap on sandboxes", function()
  local daemon
  setup(function() daemon = start '{"maxSandboxes": 2}' end)
  teardown(function() stop(daemon) end)

  it("refuses the next one with 429, says what to do, and when to ask again", function()
    local first, second = daemon:create(), daemon:create()
    local answer = try(daemon)
    assert_error(answer, 429, "at most 2 sandboxes")
    assert.equal("5", answer.headers["retry-after"])
    kill(daemon, first.sandboxID)
    local third = daemon:create()
    kill(daemon, second.sandboxID)
    kill(daemon, third.sandboxID)
  end)

  it("is what rate_limited means to a program", function()
    local client = assert(stepbox.client { socket = daemon.socket })
    local boxes = { assert(client:create()), assert(client:create()) }
    local box, message, code = client:create()
    assert.is_nil(box)
    assert.equal("rate_limited", code)
    assert.matches("at most 2 sandboxes", message)
    assert(boxes[1]:kill())
    assert(assert(client:create()):kill())
    assert(boxes[2]:kill())
  end)

  it("holds no more when many ask at the same moment", function()
    local pending = {}
    for i = 1, 8 do pending[i] = engine.start_create(daemon) end
    local made, refused = {}, 0
    for i = 1, 8 do
      local answer = engine.decode(assert(pending[i].finish()))
      if answer.status == 201 then
        made[#made + 1] = answer.json.sandboxID
      else
        assert_error(answer, 429, "at most 2 sandboxes")
        refused = refused + 1
      end
    end
    assert.equal(2, #made)
    assert.equal(6, refused)
    for _, id in ipairs(made) do kill(daemon, id) end
  end)

  it("shows in its own description what is taken", function()
    local made = daemon:create()
    local caps = daemon:call("GET", "/engine").json.host.caps
    assert.equal(2, caps.maxSandboxes)
    assert.equal(1, caps.sandboxes)
    kill(daemon, made.sandboxID)
    assert.equal(0, daemon:call("GET", "/engine").json.host.caps.sandboxes)
  end)
end)

describe("an engine with a cap on memory", function()
  local daemon
  setup(function()
    daemon = start [[{"maxMemoryMB": 500, "limits": {"memoryMB": 100, "outputMB": 5},
      "templates": {"code-interpreter-v1": {"limits": {"memoryMB": 200, "processes": 99,
        "outputMB": 7}}}}]]
  end)
  teardown(function() stop(daemon) end)

  it("adds up what sandboxes may take", function()
    local first = daemon:create { limits = { memoryMB = 300 } }
    local second = daemon:create { limits = { memoryMB = 150 } }
    local answer = try(daemon)
    assert_error(answer, 429, "500 MB in all: 450 MB are taken, and 100 MB were asked for")
    kill(daemon, first.sandboxID)
    local third = daemon:create()
    kill(daemon, second.sandboxID)
    kill(daemon, third.sandboxID)
  end)

  it("gives the limits of the configuration, of the template, or of the request", function()
    local function shown(fields)
      local made = daemon:create(fields)
      local detail = daemon:call("GET", "/sandboxes/" .. made.sandboxID).json
      kill(daemon, made.sandboxID)
      return detail
    end
    local base = shown()
    assert.equal(100, base.memoryMB)
    assert.equal(50, base.diskSizeMB)
    local code = shown { templateID = "code-interpreter-v1" }
    assert.equal(200, code.memoryMB)
    assert.equal(99, code["local"].limits.processes)
    local wish = shown {
      templateID = "code-interpreter-v1",
      limits = { memoryMB = 128, diskMB = 20, cpuCount = 0.5, openFiles = 200 },
    }
    assert.equal(128, wish.memoryMB)
    assert.equal(20, wish.diskSizeMB)
    assert.equal(1, wish.cpuCount)
    local inside = wish["local"].limits
    assert.equal(0.5, inside.cpuCount)
    assert.equal(99, inside.processes)
    assert.equal(200, inside.openFiles)
    assert.equal(7, inside.outputMB)
    assert.equal(5, base["local"].limits.outputMB)
  end)

  it("refuses limits that are wrong, by name, and makes nothing", function()
    local wrong = {
      [{ memoryMB = 1 }] = '"memoryMB"',
      [{ memory = 100 }] = '"memory"',
      [{ cpuCount = 1000 }] = '"cpuCount"',
      [{ diskMB = 101 }] = '"diskMB"',
      [{ processes = 1 }] = '"processes"',
      [{ openFiles = 1.5 }] = '"openFiles"',
      [{ outputMB = 0 }] = '"outputMB"',
    }
    for limits, name in pairs(wrong) do
      local answer = try(daemon, limits)
      assert_error(answer, 400, 'field "limits"')
      assert_error(answer, 400, name)
    end
    assert.equal(0, daemon:call("GET", "/engine").json.sandboxes)
  end)
end)

describe("an engine with a wrong configuration", function()
  it("does not start, and says which file and field", function()
    local folder = host.temporary()
    for text, complaint in pairs {
      ['{"maxSandboxes": 0}'] = '"maxSandboxes" must be an integer from 1',
      ['{"sandboxes": 5}'] = 'unknown field "sandboxes"',
      ['{"limits": {"memoryMB": 1}}'] = '"memoryMB"',
      ["{"] = "not valid JSON",
    } do
      host.write(folder .. "/engine.json", text)
      local command = "%s --socket %s/run/s --config %s/engine.json --ready-fd 3 3>&1 2>&1"
      local out, status = host.sh(command:format(engine.program, folder, folder))
      assert.equal(1, status)
      assert(out:find(folder .. "/engine.json", 1, true), out)
      assert(out:find(complaint, 1, true), out)
    end
    host.sh("rm -rf " .. folder)
  end)
end)
