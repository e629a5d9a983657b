-- One step after the other, until the agent goes.

local parts = ...
local host = parts.host
local encode = parts.plain_json.encode
local show = parts.inspection.show
local read = parts.chunks.read
local describe = parts.failures.describe
local concat, move, pack = table.concat, table.move, table.pack
local exit, stdout = os.exit, io.stdout
local pcall, rawequal, collectgarbage = pcall, rawequal, collectgarbage

-- io.write returns the file: nobody asked for that.
local function is_worth_showing(values)
  return values.n > 1 or values.n == 1 and not rawequal(values[1], stdout)
end

local function report_values(values)
  if not is_worth_showing(values) then return end
  local texts = {}
  for i = 1, values.n do texts[i] = show(values[i]) end
  host.result(concat(texts, "\t"), values.n == 1 and encode(values[1]) or nil)
end

local function report_failure(value, traceback, interrupted)
  if interrupted then
    host.error("KeyboardInterrupt", "", "")
  else
    host.error(describe(value, traceback))
  end
end

-- What followed `true` in the values of host.run().
local function returned(outcome)
  local values = move(outcome, 2, outcome.n, 1, {})
  values.n = outcome.n - 1
  return values
end

local function run(code, number)
  local chunk, fault, collects = read(code, "=cell " .. number)
  if not chunk then
    host.error("SyntaxError", fault, fault)
    return
  end
  local values
  local outcome = pack(host.run(chunk, collects and function(...) values = pack(...) end or nil))
  if outcome[1] then
    report_values(values or returned(outcome))
  else
    report_failure(outcome[2], outcome[3], outcome[4])
  end
end

local function serve()
  host.ready()
  while true do
    local ok, code, number, fault = pcall(host.next)
    if ok and number == nil then return end
    if not ok then
      host.error("Error", "not enough memory", "")
    elseif fault then
      host.error("ValueError", fault, "")
    else
      local fine, message = pcall(run, code, number)
      if not host.is_ours() then exit(fine) end
      if not fine then
        collectgarbage()
        host.error("Error", message == nil and "?" or describe(message), "")
      end
    end
    host.finish()
  end
end

return { serve = serve }
