--- stepbox doctor: checks what the local engine needs, and says how to mend what is missing.

local stepbox = require "stepbox"
local console = require "stepbox.console"
local host = require "stepbox.cli.host_checks"
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local SECONDS_TO_LIVE = 60

--- `report` gets name, state, detail and remedy.
local function check_host(names, report)
  for _, name in ipairs(names) do
    progress.set("checking " .. name)
    report(name, host.run[name]())
  end
end

local function check_engine(report)
  progress.set "starting the engine"
  local found, message = require("stepbox.engine").start()
  if not found then return report("engine", "missing", message, "See what the message says.") end
  report("engine", "ok", ("stepboxd %s, pid %d, at %s"):format(found.version, found.pid, found.socket or "?"))
  report("limits", host.check_limits(found.host))
  report("isolation", host.check_isolation(found.host))
  return true
end

--- The extended attributes that files' metadata are kept in.
local function check_metadata(box, report)
  local entry, message = box.files:write("doctor", "", { metadata = { checked = "yes" } })
  if entry then return report("file metadata", "ok", "kept as extended attributes") end
  report("file metadata", "note", message, "It needs Linux 6.6: extended attributes in tmpfs.")
end

--- The one check that proves the others: a sandbox that runs code.
local function check_sandbox(report)
  progress.set "making a sandbox"
  local begin = console.now()
  local box, message, code = stepbox.create { timeout = SECONDS_TO_LIVE }
  if code == "cancelled" then status.check(nil, message, code) end
  if not box then return report("sandbox", "missing", message, "See what the message says.") end
  local execution, why = box:step "6 * 7"
  local answer = execution and execution.text
  if answer == "42" then
    report("sandbox", "ok", ("made, and code run in it, in %.0f ms"):format((console.now() - begin) * 1000))
    report("languages", host.check_languages(status.check(box:languages())))
    check_metadata(box, report)
    local told = require("stepbox.engine").start()
    if told then report("contexts", host.check_contexts(told.host)) end
  else
    report("sandbox", "missing", why or "code in it gives " .. tostring(execution), "See `stepbox logs`.")
  end
  box:kill()
end

local function check_server(report)
  progress.set "asking the server"
  local found, message = stepbox.list { limit = 1 }
  if found then return report("server", "ok", "the server of E2B_API_KEY or E2B_API_URL answers") end
  report("server", "missing", message, "Check E2B_API_KEY, E2B_DOMAIN and E2B_API_URL, or unset them.")
end

local function check_all(report)
  local client, message, code = stepbox.client()
  if not client then status.check(nil, message, code) end
  if not client.local_engine then return check_server(report) end
  check_host(host.before, report)
  if check_engine(report) then check_sandbox(report) end
  check_host(host.after, report)
end

local MARKS = { ok = "ok      ", missing = "MISSING ", note = "note    " }

local function print_check(name, state, detail, remedy)
  output.line(("%s %-16s %s"):format(MARKS[state], name, output.plain(detail)))
  if not remedy or state == "ok" then return end
  for line in remedy:gmatch "[^\n]+" do output.line((" "):rep(26) .. output.plain(line)) end
end

return function(arguments)
  local checks, is_whole = json.list(), true
  wait.call(nil, function()
    check_all(function(name, state, detail, remedy)
      is_whole = is_whole and state ~= "missing"
      checks[#checks + 1] = { name = name, state = state, detail = detail, remedy = remedy or json.null }
      if not arguments.json then print_check(name, state, detail, remedy) end
    end)
  end)
  if arguments.json then output.json { ok = is_whole, checks = checks } end
  return is_whole and status.OK or status.FAILED
end
