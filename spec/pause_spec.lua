local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a box", function()
  it("is paused and resumed with everything in it", function()
    local box <close> = assert(stepbox.create { timeout = 120 })
    assert(box:step "x = 41")
    assert.equal("running", assert(box:info()).state)
    assert.is_true(box:pause())
    assert.is_false(box:pause())
    local info = assert(box:info())
    assert.equal("paused", info.state)
    assert.is_true(math.abs(info.end_at - os.time()) < 10)
    assert.is_false(box:is_running())
    assert.is_true(box:resume { timeout = 500 })
    assert.is_false(box:resume())
    info = assert(box:info())
    assert.equal("running", info.state)
    assert.is_true(info.end_at > os.time() + 400)
    assert.equal("42", assert(box:step "x + 1").text)
  end)

  it("that is paused can be asked about without going on", function()
    local box <close> = assert(stepbox.create { timeout = 120 })
    assert(box:pause())
    local look = assert(stepbox.connect(box.id, { resume = false }))
    assert.equal("paused", assert(look:info()).state)
    assert.is_true(#assert(look:metrics()) > 0)
    assert.is_false(look.owned)
    assert.equal("paused", assert(box:info()).state)
    assert.is_true(look:resume())
    assert.equal("42", assert(look:step "6 * 7").text)
    assert.equal("not_found", select(3, stepbox.connect("nosuch", { resume = false })))
  end)

  it("that is paused says so to what would need it to run", function()
    local box <close> = assert(stepbox.create { timeout = 120 })
    assert(box:step "1") -- on a connection that is kept
    assert(box:pause())
    for name, call in pairs {
      step = function() return box:step "1" end,
      command = function() return box.commands:run "true" end,
      file = function() return box.files:read "/etc/passwd" end,
    } do
      local value, message, code = call()
      assert.is_nil(value, name)
      assert.equal("unavailable", code)
      assert.matches("is paused", message)
    end
    local _, message = box:set_timeout(60)
    assert.matches("is paused", message)
    assert(box:kill())
  end)

  it("is found among the paused, and goes on when somebody connects", function()
    local id = assert(assert(stepbox.create { timeout = 120, metadata = { spec = "pause" } }):detach())
    local box = assert(stepbox.connect(id))
    assert(box:step "x = 7")
    assert(box:pause())
    local function count(state)
      local n = 0
      for info in assert(stepbox.list { state = state, metadata = { spec = "pause" } }) do
        assert.equal(id, info.id)
        n = n + 1
      end
      return n
    end
    assert.same({ 1, 0 }, { count "paused", count "running" })
    local other = assert(stepbox.connect(id))
    assert.same({ 0, 1 }, { count "paused", count "running" })
    assert.equal("7", assert(other:step "x").text)
    assert(other:kill())
  end)

  it("that was made for that pauses when its life is over, and goes on by itself", function()
    local box <close> = assert(stepbox.create { timeout = 1, on_timeout = "pause", auto_resume = true })
    assert(box:step "x = 8")
    assert(sandbox.eventually(4, function() return box:info().state == "paused" end))
    assert.equal("8", assert(box:step "x").text)
    assert.equal("running", box:info().state)
  end)

  it("loses no step that crosses the end of its life", function()
    stepbox.run(function()
      local tasks = {}
      for i = 1, 4 do
        tasks[i] = stepbox.spawn(function()
          local box <close> = assert(stepbox.create { timeout = 1, on_timeout = "pause", auto_resume = true })
          local steps, ends = 0, sandbox.now() + 2.5
          while sandbox.now() < ends do
            local code = "print(" .. steps .. ", end='')"
            assert.equal(tostring(steps), assert(box:step(code, { timeout = 20 })).stdout)
            steps = steps + 1
          end
          local paused = 0
          for _, line in ipairs(assert(box:logs())) do
            if line.message:find "stands still" then paused = paused + 1 end
          end
          assert.equal(1, paused)
        end)
      end
      for i = 1, 4 do tasks[i]:wait() end
    end)
  end)

  it("is killed with its owner also while it is paused", function()
    local box = assert(stepbox.create { timeout = 120 })
    local id = box.id
    assert(box:pause())
    box = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    sandbox.assert_gone(id)
    local output = sandbox.lua [[
      local box = assert(require "stepbox".create { timeout = 120 })
      assert(box:pause())
      io.write(box.id, "\n")
      io.stdout:flush()
      os.execute "kill -9 $PPID"
    ]]
    sandbox.assert_gone((output:match "^(i%w+)"))
  end)

  it("keeps a step and a command under way over a pause", function()
    local box <close> = assert(stepbox.create { timeout = 120 })
    local seen, step, command = {}, nil, nil
    assert(box:step "import time")
    stepbox.run(function()
      local task = stepbox.spawn(function()
        return box:step("for i in range(6):\n    print(i, flush=True)\n    time.sleep(0.2)", {
          on_stdout = function(text) seen[#seen + 1] = text end,
        })
      end)
      local started = assert(box.commands:run("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done", {
        background = true,
      }))
      assert(stepbox.sleep(0.5))
      assert(box:pause())
      local before = table.concat(seen)
      assert(#before > 0 and #before < 12, before)
      assert(stepbox.sleep(1))
      assert.equal(before, table.concat(seen))
      assert(box:resume())
      step, command = task:wait(), started:wait()
    end)
    assert.equal("1\n2\n3\n4\n5\n6\n", command.stdout)
    assert.equal("0\n1\n2\n3\n4\n5\n", step.stdout)
  end)

  it("refuses options that are none", function()
    assert.has_error(function() stepbox.create { on_timeout = "sleep" } end)
    assert.has_error(function() stepbox.create { auto_resume = 1 } end)
    local box <close> = assert(stepbox.create { timeout = 120 })
    assert.has_error(function() box:resume { timeout = 0 } end)
  end)
end)
