--- stepbox metrics: what a sandbox takes of its host.

local json = require "stepbox.json_text"
local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local FIELDS = {
  "timestamp", "cpu_percent", "cpu_count", "memory_used", "memory_cache", "memory_total", "disk_used",
  "disk_total",
}

--- The newest samples that are wanted, the oldest of them first.
local function take(arguments)
  local box = look(arguments.id)
  local all, newest = status.check(box:metrics()), json.list()
  for i = math.max(1, #all - (arguments.limit or 1) + 1), #all do newest[#newest + 1] = all[i] end
  return newest
end

local function megabytes(bytes) return ("%.0f MB"):format(bytes / (1024 * 1024)) end

local function print_table(metrics)
  local rows = {}
  for i, metric in ipairs(metrics) do
    rows[i] = {
      os.date("%H:%M:%S", math.floor(metric.timestamp)),
      ("%.0f%% of %d"):format(metric.cpu_percent, metric.cpu_count),
      megabytes(metric.memory_used) .. " of " .. megabytes(metric.memory_total),
      megabytes(metric.disk_used) .. " of " .. megabytes(metric.disk_total),
    }
  end
  output.table({ "TIME", "CPU", "MEMORY", "DISK" }, rows)
end

--- One line each, with tabs between the fields, in the order above.
local function print_lines(metrics)
  for _, metric in ipairs(metrics) do
    local words = {}
    for i, name in ipairs(FIELDS) do
      words[i] = (name == "cpu_percent" and "%.2f" or "%.0f"):format(metric[name])
    end
    output.line(table.concat(words, "\t"))
  end
end

return function(arguments)
  local metrics = wait.call("asking for the metrics", function() return take(arguments) end)
  if arguments.json then return output.json(metrics) end
  if output.is_terminal() then print_table(metrics) else print_lines(metrics) end
end
