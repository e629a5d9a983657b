-- The main job: a sandbox made once, used step by step, handed to a second process by its id, and killed.
local stepbox = require "stepbox"

local times = {}
local function timed(what, fn, ...)
  local start = os.time()
  local execution = assert(fn(...))
  times[#times + 1] = { what, execution.duration or os.time() - start }
  return execution
end

local box <close> = assert(stepbox.create {
  timeout = 120,
  setup = { "mkdir -p data", "printf 'day,visits\\n1,120\\n2,180\\n3,90\\n' > data/visits.csv" },
})
print("sandbox " .. box.id .. ", set up by two shell commands\n")

timed("set-up", box.step, box, "import pandas as pd, time\nvisits = pd.read_csv('data/visits.csv')")
local sum = timed("sum", box.step, box, "total = int(visits.visits.sum())\ntotal")
print("visits in all: " .. sum.text)
print("mean, from the variables before: " .. timed("mean", box.step, box, "total / len(visits)").text)

print "\na slow step, as its output comes:"
timed("slow", box.step, box, [[
for day in visits.day:
    print("day", day, end=" ")
    time.sleep(0.3)
]], { on_stdout = function(piece) io.write(piece); io.flush() end })

local raised = timed("raises", box.step, box, "ratio = total / 0")
print("\n\na step that raises:\n" .. raised.error.traceback)
print("\nand the state is intact: total = " .. timed("after it", box.step, box, "total").text)

local chart = timed("chart", box.step, box, [[
import matplotlib.pyplot as plt
plt.bar(visits.day, visits.visits)
plt.title("Visits")
plt.show()
]])
local path = os.getenv "STEPBOX_CHART" or "visits.png"
assert(chart.results[1]:save(path))
print(("\nchart: %s (%d bytes)\n"):format(path, #chart.results[1].png))

local lua, here = arg[-1], arg[0]:match "^(.*)/[^/]*$" or "."
assert(os.execute(("'%s' '%s/continue.lua' %s"):format(lua, here, box.id)))
print("back in the first process: total = " .. timed("after handing over", box.step, box, "total").text)

assert(box:kill())
print "\nkilled. What each step took:"
for _, entry in ipairs(times) do print(("  %-20s %7.1f ms"):format(entry[1], entry[2] * 1000)) end
