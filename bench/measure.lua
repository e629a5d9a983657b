--- Time, medians, and the table that the topics fill.

local M = {}

local folder = arg[0]:match "^(.*)/bench/[^/]*$" or "."

--- The folder of this checkout.
M.root = folder:find "^/" and folder or os.getenv "PWD" .. "/" .. folder

--- Seconds since boot, in hundredths: what is timed with it must take long enough for that.
function M.now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

function M.took(fn, ...)
  local start = M.now()
  fn(...)
  return M.now() - start
end

function M.median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end

--- Times contenders in turn, so that what disturbs the machine disturbs all alike. Each is {name, fn}, where
--- fn returns the seconds that one of what it did took. Returns the medians by name.
function M.interleaved(rounds, contenders)
  local seconds, medians = {}, {}
  for _ = 1, rounds do
    for _, contender in ipairs(contenders) do
      local name = contender[1]
      local values = seconds[name] or {}
      values[#values + 1] = contender[2]()
      seconds[name] = values
    end
  end
  for name, values in pairs(seconds) do medians[name] = M.median(values) end
  return medians
end

--- Prints one line of the table.
function M.row(what, value, remark)
  print(("%-50s %12s  %s"):format(what, value, remark or ""))
  io.stdout:flush()
end

function M.ms(seconds) return ("%.2f ms"):format(seconds * 1000) end

--- 1000000 -> "1 MB"
function M.size(bytes)
  for _, unit in ipairs { { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "KB" } } do
    if bytes >= unit[1] then return ("%.3g %s"):format(bytes / unit[1], unit[2]) end
  end
  return bytes == 1 and "1 byte" or bytes .. " bytes"
end

return M
