--- Sandboxes: how long one takes to make and to answer first, and many at once.

local stepbox = require "stepbox"
local engine = require "bench.engine"
local measure = require "bench.measure"

--- Contexts of one sandbox, on an engine of their own.
local function contexts()
  local daemon <close> = engine.start()
  local command = ("python3 '%s/bench/contexts.py' '%s'"):format(measure.root, daemon.socket)
  local pipe <close> = assert(io.popen(command))
  local values = {}
  for name, value in pipe:read("a"):gmatch "(%l+) (%S+)" do values[name] = tonumber(value) end
  measure.row("a new context and its first step", measure.ms(values.one))
  measure.row("50 new contexts at once, with a first step", ("%.2f s"):format(values.fifty))
  measure.row("1000 steps in them", ("%.2f s"):format(values.steps))
  measure.row("memory of one of them", measure.size(values.pss), "private: " .. measure.size(values.private))
end

return function()
  local creates, firsts = {}, {}
  for _ = 1, 10 do
    local box
    creates[#creates + 1] = measure.took(function() box = assert(stepbox.create { timeout = 60 }) end)
    firsts[#firsts + 1] = measure.took(function() assert(box:step "1") end)
    assert(box:kill())
  end
  measure.row("create", ("%.0f ms"):format(measure.median(creates) * 1000))
  measure.row("first step of a sandbox", ("%.0f ms"):format(measure.median(firsts) * 1000))

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
  contexts()
end
