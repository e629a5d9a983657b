local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("create", function()
  it("makes one sandbox, however often it is called under the same key", function()
    local key = "spec-" .. os.time() .. "-" .. math.random(1e9)
    local first = assert(stepbox.create { timeout = 60, idempotency_key = key })
    local again = assert(stepbox.create { timeout = 60, idempotency_key = key })
    assert.equal(first.id, again.id)
    assert(first:step "x = 1")
    assert.equal("1", assert(again:step "x").text)
    local _, message, code = stepbox.create { timeout = 61, idempotency_key = key }
    assert.equal("invalid", code)
    assert.matches("Idempotency%-Key", message)
    assert(first:kill())
    again = nil -- luacheck: ignore
  end)

  it("makes another one without a key, or with another key", function()
    local one <close> = assert(stepbox.create { timeout = 60 })
    local two <close> = assert(stepbox.create { timeout = 60 })
    assert.are_not.equal(one.id, two.id)
  end)

  it("that was cancelled leaves nothing", function()
    local before = {}
    for info in assert(stepbox.list()) do before[info.id] = true end
    stepbox.run(function()
      for _ = 1, 5 do
        local task = stepbox.spawn(function() return stepbox.create { timeout = 60 } end)
        stepbox.sleep(0.003)
        task:cancel()
      end
    end)
    assert(stepbox.sleep(0.5)) -- those that are being made are listed when they run
    assert(sandbox.eventually(4, function()
      for info in assert(stepbox.list()) do
        if not before[info.id] then return false end
      end
      return true
    end))
  end)

  it("refuses a key that is none", function()
    assert.has_error(function() stepbox.create { idempotency_key = 5 } end)
    local _, _, code = stepbox.create { idempotency_key = "a b" }
    assert.equal("invalid", code)
  end)
end)
