-- Measures the local engine and prints a table. Compared figures come from one run, interleaved.
--   make bench
local stepbox = require "stepbox"

local rows = {}
local function row(what, value, remark) rows[#rows + 1] = { what, value, remark or "" } end

-- Seconds since boot, in hundredths: what is timed here takes long enough for that.
local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

local function took(fn, ...)
  local start = now()
  fn(...)
  return now() - start
end

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local function bare(steps)
  local root = arg[0]:match "^(.*)/bench/[^/]*$" or "."
  local command = "/usr/bin/python3 '%s/bench/bare_runner.py' '%s/src/runners/python/main.py' %d"
  local pipe = assert(io.popen(command:format(root, root, steps)))
  local seconds = tonumber(pipe:read "a")
  pipe:close()
  return seconds
end

local ROUNDS, STEPS = 5, 400
local ours, theirs = {}, {}
do
  local box <close> = assert(stepbox.create { timeout = 600 })
  assert(box:step "x = 1")
  for _ = 1, ROUNDS do
    ours[#ours + 1] = took(function()
      for _ = 1, STEPS do assert(box:step "x = 1") end
    end) / STEPS
    theirs[#theirs + 1] = assert(bare(STEPS), "the bare runner did not run")
  end
  row("step `x = 1`, back to back", ("%.3f ms"):format(median(ours) * 1000))
  row("the same on a bare socket pair", ("%.3f ms"):format(median(theirs) * 1000),
    ("ratio %.2f"):format(median(ours) / median(theirs)))

  local seconds = {}
  for _ = 1, 3 do
    seconds[#seconds + 1] = assert(box:step("for _ in range(100_000): print('x' * 999)")).duration
  end
  row("100 MB of output in 1 KB lines", ("%.2f s"):format(median(seconds)), "kept: the first 32 MiB")
end

local creates, firsts = {}, {}
for _ = 1, 10 do
  local box
  creates[#creates + 1] = took(function() box = assert(stepbox.create { timeout = 60 }) end)
  firsts[#firsts + 1] = took(function() assert(box:step "1") end)
  assert(box:kill())
end
row("create", ("%.0f ms"):format(median(creates) * 1000))
row("first step of a sandbox", ("%.0f ms"):format(median(firsts) * 1000), "starts Python")

local many = took(function()
  stepbox.run(function()
    for _ = 1, 20 do
      stepbox.spawn(function()
        local box <close> = assert(stepbox.create { timeout = 120 })
        for _ = 1, 50 do assert(box:step "x = 1") end
      end)
    end
  end)
end)
row("20 sandboxes at once, 50 steps in each", ("%.2f s"):format(many))

for _, cells in ipairs(rows) do print(("%-42s %12s  %s"):format(cells[1], cells[2], cells[3])) end
