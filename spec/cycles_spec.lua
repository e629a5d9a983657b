local engine = require "spec.support.engine"
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"

describe("a sandbox that is used for long", function()
  local daemon, box
  setup(function()
    daemon = engine.start()
    box = assert(assert(stepbox.client { socket = daemon.socket }):create { timeout = 600 })
  end)
  teardown(function()
    assert(box:kill())
    daemon:stop()
  end)

  local function descriptors(pid)
    local output, status = sandbox.sh("ls -A /proc/" .. pid .. "/fd | wc -l")
    -- Nobody but root may look into an agent.
    return status == 0 and not output:find "denied" and tonumber(output) or nil
  end

  --- Descriptors open here, in the engine and in the sandbox's processes, and how many of those there are.
  local function census()
    local below = engine.descendants(daemon.engine_pid)
    local counts = { here = descriptors "$PPID", engine = descriptors(daemon.engine_pid), processes = #below }
    for _, pid in ipairs(below) do counts.sandbox = (counts.sandbox or 0) + (descriptors(pid) or 0) end
    return counts
  end

  local function settles_at(before)
    local after
    local settled = sandbox.eventually(5, function()
      after = census()
      for name, count in pairs(before) do
        if after[name] > count then return false end
      end
      return true
    end)
    for name, count in pairs(after) do
      assert(settled or count <= before[name], ("%s: %d before, %d after"):format(name, before[name], count))
    end
  end

  local function leaves_nothing(cycle)
    for _ = 1, 20 do cycle() end
    collectgarbage()
    local before
    -- The engine still makes processes ready that later contexts are forked from.
    assert(sandbox.eventually(30, function()
      before = census()
      os.execute "sleep 1.5"
      for name, count in pairs(census()) do
        if count ~= before[name] then return false end
      end
      return true
    end), "the engine does not come to rest")
    assert.is_true(before.here > 3 and before.engine > 3 and before.processes > 0)
    for _ = 1, 2000 do cycle() end
    collectgarbage()
    settles_at(before)
  end

  it("has after 2,000 commands what it had before", function()
    leaves_nothing(function() assert(assert(box.commands:run "true").ok) end)
  end)

  it("has after 2,000 watches what it had before", function()
    leaves_nothing(function() assert(box.files:watch("/", { recursive = false })):stop() end)
  end)

  it("has after 2,000 files written and read what it had before", function()
    leaves_nothing(function()
      assert(box.files:write("file", "x"))
      assert.equal("x", assert(box.files:read "file"))
    end)
  end)

  it("has after commands that were let go of what it had before", function()
    leaves_nothing(function()
      local handle = assert(box.commands:run({ "sleep", "1000" }, { background = true }))
      handle:disconnect()
      assert(box.commands:kill(handle.pid))
    end)
  end)
end)
