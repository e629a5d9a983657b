--- Steps: their round trip beside that of a runner on a bare socket pair, and much output.

local stepbox = require "stepbox"
local measure = require "bench.measure"

local ROUNDS, STEPS = 5, 400

local function bare(steps)
  local command = "/usr/bin/python3 '%s/bench/bare_runner.py' '%s/src/runners/python/main.py' %d"
  local pipe <close> = assert(io.popen(command:format(measure.root, measure.root, steps)))
  return assert(tonumber(pipe:read "a"), "the bare runner did not run")
end

return function()
  local box <close> = assert(stepbox.create { timeout = 600 })
  assert(box:step "x = 1")
  local medians = measure.interleaved(ROUNDS, {
    {
      "ours",
      function()
        return measure.took(function()
          for _ = 1, STEPS do assert(box:step "x = 1") end
        end) / STEPS
      end,
    },
    { "bare", function() return bare(STEPS) end },
  })
  measure.row("step `x = 1`, back to back", measure.ms(medians.ours),
    ("%.2f times the time on a bare socket pair"):format(medians.ours / medians.bare))
  measure.row("the same on a bare socket pair", measure.ms(medians.bare))

  local seconds = {}
  for _ = 1, 3 do
    seconds[#seconds + 1] = assert(box:step("for _ in range(100_000): print('x' * 999)")).duration
  end
  measure.row("100 MB of output in 1 KB lines", ("%.2f s"):format(measure.median(seconds)),
    "kept: the first 32 MiB")
end
