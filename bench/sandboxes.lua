--- Sandboxes: how long one takes to make and to answer first, and many at once.

local stepbox = require "stepbox"
local measure = require "bench.measure"

return function()
  local creates, firsts = {}, {}
  for _ = 1, 10 do
    local box
    creates[#creates + 1] = measure.took(function() box = assert(stepbox.create { timeout = 60 }) end)
    firsts[#firsts + 1] = measure.took(function() assert(box:step "1") end)
    assert(box:kill())
  end
  measure.row("create", ("%.0f ms"):format(measure.median(creates) * 1000))
  measure.row("first step of a sandbox", ("%.0f ms"):format(measure.median(firsts) * 1000), "starts Python")

  local many = measure.took(function()
    stepbox.run(function()
      for _ = 1, 20 do
        stepbox.spawn(function()
          local box <close> = assert(stepbox.create { timeout = 120 })
          for _ = 1, 50 do assert(box:step "x = 1") end
        end)
      end
    end)
  end)
  measure.row("20 sandboxes at once, 50 steps in each", ("%.2f s"):format(many))
end
