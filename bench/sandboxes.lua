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

--- Sandboxes that come one by one or a few at once, with pauses: whether fresh zygotes are there in time.
local function arrivals()
  for _, case in ipairs { { 0.6, 1, 10 }, { 0.4, 1, 10 }, { 2, 3, 5 } } do
    local pause, together, rounds = table.unpack(case)
    local seconds = {}
    os.execute "sleep 3" -- until the zygotes of the case before are replaced
    for _ = 1, rounds do
      local rest, boxes = pause, {}
      for i = 1, together do
        local took = measure.took(function()
          boxes[i] = assert(stepbox.create { timeout = 60 })
          assert(boxes[i]:step "1")
        end)
        seconds[#seconds + 1] = took
        rest = rest - took
      end
      for _, box in ipairs(boxes) do assert(box:kill()) end
      os.execute(("sleep %.2f"):format(math.max(0, rest)))
    end
    table.sort(seconds)
    measure.row(("create and first step, %d every %.1f s"):format(together, pause),
      ("%.0f ms"):format(measure.median(seconds) * 1000),
      ("nine of ten within %.0f ms"):format(seconds[math.ceil(#seconds * 0.9)] * 1000))
  end
end

--- What an engine's fresh zygotes take, which no sandbox has had.
local function zygotes()
  local daemon <close> = engine.start()
  local box <close> = assert(stepbox.client({ socket = daemon.socket }):create { timeout = 60 })
  assert(box:step "1")
  os.execute "sleep 3"
  local list = "grep -l -s '^stepbox-zygote$' /proc/[0-9]*/comm | sed 's/comm$/smaps_rollup/'"
  local pipe <close> = assert(io.popen(("cat $(%s)"):format(list)))
  local sizes = {}
  for kilobytes in pipe:read("a"):gmatch "\nPss: +(%d+) kB" do sizes[#sizes + 1] = kilobytes * 1000 end
  measure.row("memory of a zygote", sizes[1] and measure.size(measure.median(sizes)) or "none here")
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
  arrivals()
  contexts()
  zygotes()
end
