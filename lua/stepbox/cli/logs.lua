--- stepbox logs: what happened to a sandbox.

local json = require "stepbox.json_text"
local look = require "stepbox.cli.look"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

--- The newest lines that are wanted, the oldest of them first.
local function take(arguments)
  local box = look(arguments.id)
  local newest = status.check(box:logs {
    backward = true, limit = arguments.limit, level = arguments.level, search = arguments.search,
  })
  local entries = json.list()
  for i = #newest, 1, -1 do entries[#entries + 1] = newest[i] end
  return entries
end

local function time_of(seconds)
  local thousandths = math.floor(seconds * 1000 + 0.5)
  return os.date("!%Y-%m-%dT%H:%M:%S", math.floor(thousandths / 1000))
    .. (".%03dZ"):format(thousandths % 1000)
end

return function(arguments)
  local entries = wait.call("asking for the log", function() return take(arguments) end)
  if arguments.json then return output.json(entries) end
  for _, entry in ipairs(entries) do
    local source = entry.fields.source or entry.fields.logger
    output.line(("%s %-5s %s%s"):format(time_of(entry.time), entry.level, source and source .. ": " or "",
      output.plain(entry.message)))
  end
end
