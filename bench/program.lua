--- The program `stepbox`: a step from a cold shell, beside the same step in a running program and beside what
--- the interpreter and the parts of the program take to load.

local stepbox = require "stepbox"
local measure = require "bench.measure"

local ROUNDS, COUNT = 5, 20

--- Seconds that one run of a shell command takes.
local function each(command)
  return measure.took(function()
    assert(os.execute(("for i in $(seq %d); do %s >/dev/null || exit 1; done"):format(COUNT, command)))
  end) / COUNT
end

local function loading(module) return ("lua5.4 -e 'require \"%s\"'"):format(module) end

return function()
  local box <close> = assert(stepbox.create { timeout = 600 })
  assert(box:step "1 + 1")
  local cold = ("%s/bin/stepbox step %s 1+1"):format(measure.root, box.id)
  local medians = measure.interleaved(ROUNDS, {
    { "cold", function() return each(cold) end },
    { "warm", function()
      return measure.took(function()
        for _ = 1, COUNT do assert(box:step "1 + 1") end
      end) / COUNT
    end },
    { "lua", function() return each "lua5.4 -e ''" end },
    { "core", function() return each(loading "stepbox.core") end },
    { "argparse", function() return each(loading "argparse") end },
  })
  measure.row("`stepbox step ID 1+1` from a shell", measure.ms(medians.cold))
  measure.row("the same step in a running program", measure.ms(medians.warm))
  measure.row("an interpreter that does nothing", measure.ms(medians.lua))
  measure.row("and loads the core with libcurl", measure.ms(medians.core))
  measure.row("and loads argparse", measure.ms(medians.argparse))
end
