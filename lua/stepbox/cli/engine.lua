--- stepbox engine: starts or stops the local engine, or tells what it does.

local engine = require "stepbox.engine"
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local actions = {}

local function row(name, value)
  output.line(output.is_terminal() and ("%-12s %s"):format(name, value) or name .. "\t" .. value)
end

local function show(found)
  row("running", "yes")
  row("pid", ("%d"):format(found.pid))
  if found.socket then row("socket", output.plain(found.socket)) end
  row("version", found.version)
  row("started", os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(found.started_at)))
  row("sandboxes", ("%d"):format(found.sandboxes))
  row("languages", table.concat(found.languages, ", "))
end

local function as_json(found)
  found.running = true
  found.languages = json.list(found.languages)
  local limits = found.host.limits
  if limits and limits.notEnforced then json.list(limits.notEnforced) end
  return found
end

function actions.status(arguments)
  local found, message, code = wait.call("asking the engine", function() return engine.status() end)
  if not found and code ~= "not_found" then status.leave(status.of_code(code), message, code) end
  if arguments.json then
    output.json(found and as_json(found) or { running = false })
  elseif found then
    show(found)
  else
    row("running", "no")
  end
  return found and status.OK or status.FAILED
end

function actions.start(arguments)
  local found = wait.call("starting the engine", function() return status.check(engine.start()) end)
  if arguments.json then return output.json(as_json(found)) end
  output.line(("%d"):format(found.pid))
end

function actions.stop(arguments)
  local killed, message, code = wait.call("stopping the engine", function()
    return engine.stop { force = arguments.force or false }
  end)
  if not killed and code ~= "not_found" then
    if code == "invalid" then message = "sandboxes run in the engine: kill them first, or give --force" end
    status.leave(status.of_code(code), message, code)
  end
  if arguments.json then
    output.json { stopped = killed ~= nil, sandboxes = killed or 0 }
  elseif not killed then
    output.err "stepbox: no engine runs\n"
  end
  return status.OK
end

return function(arguments)
  if arguments.force and arguments.action ~= "stop" then arguments.fail "--force is for stop" end
  return actions[arguments.action](arguments)
end
