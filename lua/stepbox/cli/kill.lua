--- stepbox kill: kills sandboxes.

local stepbox = require "stepbox"
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local function all_ids()
  local ids = {}
  for info in status.check(stepbox.list()) do ids[#ids + 1] = info.id end
  return ids
end

--- With --all, one that has ended meanwhile is no failure.
local function kill_each(arguments)
  local killed, failed = json.list(), json.list()
  for _, id in ipairs(arguments.all and all_ids() or arguments.ids) do
    local ok, message, code = stepbox.kill(id)
    if ok then
      killed[#killed + 1] = id
    elseif code == "cancelled" then
      status.check(nil, message, code)
    elseif not (arguments.all and code == "not_found") then
      failed[#failed + 1] = { id = id, code = code, message = message }
    end
  end
  return killed, failed
end

local function tell(arguments, killed, failed)
  for _, failure in ipairs(failed) do
    output.err("stepbox: " .. failure.id .. ": " .. failure.message .. "\n")
  end
  if not output.is_terminal() then
    for _, id in ipairs(killed) do output.line(id) end
  elseif arguments.all or #killed ~= 1 then
    output.line(("killed %d sandbox%s"):format(#killed, #killed == 1 and "" or "es"))
  else
    output.line("killed " .. killed[1])
  end
end

return function(arguments)
  if arguments.all and arguments.ids[1] then arguments.fail "--all and ids do not go together" end
  if not arguments.all and not arguments.ids[1] then arguments.fail "ids of sandboxes, or --all" end
  local killed, failed = wait.call("killing", function() return kill_each(arguments) end)
  if arguments.json then
    output.json { killed = killed, failed = failed }
  else
    tell(arguments, killed, failed)
  end
  return failed[1] and status.of_code(failed[1].code) or status.OK
end
