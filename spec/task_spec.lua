local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("tasks", function()
  it("return what their function returns", function()
    local a, b = stepbox.run(function(x) return x, select("#", nil, nil) end, 5)
    assert.equal(5, a)
    assert.equal(2, b)
  end)

  it("overlap: twenty sandboxes step at once from one Lua state", function()
    local start = sandbox.now()
    local sum, steps, order = 0, 0, {}
    stepbox.run(function()
      local tasks = {}
      for i = 1, 20 do
        tasks[i] = stepbox.spawn(function()
          local box <close> = assert(stepbox.create { timeout = 120 })
          assert(box:step("n = " .. i))
          order[#order + 1] = "asleep"
          assert(box:step "import time; time.sleep(1)")
          order[#order + 1] = "awake"
          steps = steps + 1
          return tonumber(assert(box:step "n * n").text)
        end)
      end
      for i = 1, 20 do sum = sum + tasks[i]:wait() end
    end)
    assert.equal(20 * 21 * 41 / 6, sum)
    assert.equal(20, steps)
    -- One after the other would sleep for 20 seconds alone.
    assert.is_true(sandbox.now() - start < 20)
    local overlapped = false
    for i = 2, #order do overlapped = overlapped or (order[i] == "asleep" and order[i - 1] == "asleep") end
    assert.is_true(overlapped)
  end)

  it("keep the steps of one context in order", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    assert(box:step "seen = []")
    stepbox.run(function()
      for i = 1, 10 do stepbox.spawn(function() assert(box:step("seen.append(" .. i .. ")")) end) end
    end)
    assert.equal("10", assert(box:step "len(seen)").text)
  end)

  it("can be called plainly too, outside of any task", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    local task = stepbox.spawn(function() return assert(box:step "21 * 2").text end)
    assert.equal("1", assert(box:step "1").text)
    assert.equal("42", task:wait())
  end)

  it("are cancelled in the call they wait in, and may clean up", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    assert(box:step "x = 1")
    for _ = 1, 10 do -- the interrupt may come before the code has begun
      local code, after
      stepbox.run(function()
        local task = stepbox.spawn(function()
          code = select(3, box:step "while True: pass")
          after = assert(box:step "x").text
        end)
        assert(box:is_running())
        task:cancel()
        task:wait()
      end)
      assert.equal("cancelled", code)
      assert.equal("1", after)
    end
  end)

  it("raise at the end of run when nobody waited for them", function()
    local ok, message = pcall(stepbox.run, function() stepbox.spawn(function() error "lost" end) end)
    assert.is_false(ok)
    assert.matches("^a task failed: .*lost", tostring(message))
    ok, message = pcall(stepbox.run, function() stepbox.spawn(function() error "seen" end):wait() end)
    assert.is_false(ok)
    assert.matches("seen", tostring(message))
  end)

  it("are cancelled when run's own function raises, and the error comes when they have ended", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    local code
    local start = sandbox.now()
    assert.error_matches(function()
      stepbox.run(function()
        stepbox.spawn(function() code = select(3, box:step "import time; time.sleep(30)") end)
        assert(box:is_running())
        error "main"
      end)
    end, "main")
    assert.equal("cancelled", code)
    assert.is_true(sandbox.now() - start < 10)
  end)

  it("that yield to nobody fail, and hold up no others", function()
    local stuck
    assert.error_matches(function()
      stepbox.run(function()
        stuck = stepbox.spawn(coroutine.yield)
        stuck:wait()
      end)
    end, "waits for something that is not an operation")
    assert.is_true(stuck.done)
    assert.equal(1, stepbox.run(function() return 1 end))
    assert.equal(0, stepbox.loop.step(0))
  end)

  it("run inside a host's own loop, by poll", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    local value
    stepbox.spawn(function() value = assert(box:step "6 * 7").text end)
    assert.equal("r", stepbox.loop.events())
    assert.equal(0, stepbox.loop.timeout())
    assert.is_true(stepbox.loop.pollfd() > 2)
    local turns = 0
    while stepbox.loop.step(0.5) > 0 do
      turns = turns + 1
      assert.is_true(turns < 1000)
    end
    assert.equal("42", value)
    assert.is_nil(stepbox.loop.timeout())
  end)

  it("cannot start a run of their own", function()
    assert.error_matches(function()
      stepbox.run(function() stepbox.run(function() end) end)
    end, "cannot be called inside a task")
  end)
end)
