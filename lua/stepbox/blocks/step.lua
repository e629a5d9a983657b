--- The code of a run: run, its outputs kept within bounds, its failures told apart.

local utf8_text = require "stepbox.utf8_text"
local call = require "stepbox.call"
local message = require "stepbox.blocks.message"
local results = require "stepbox.blocks.results"

local SECONDS = 300 -- for code in a sandbox that exists

--- Keeps what the code gave. What was dropped is told on stderr, where it is in nobody's way.
local function take(run, raw)
  local out, most = run.out, run.input.max_output
  local list, main, is_whole = results.take(raw.results, most)
  local notes = {}
  local function note(is_due, what)
    if is_due then
      notes[#notes + 1] = ("[stepbox: %s beyond max_output (%d bytes) was dropped]\n"):format(what, most)
    end
  end
  if raw.dropped then
    notes[1] = ("[stepbox: %d bytes beyond the sandbox's limit of output were dropped]\n"):format(raw.dropped)
  else
    note(raw.stdout_truncated, "stdout")
    note(raw.stderr_truncated, "stderr")
  end
  note(not is_whole, "what the results had")
  if list[1] then out.results = list end
  out.main_result = main
  out.stdout_logs = raw.stdout
  local separator = notes[1] and raw.stderr:find "[^\n]$" and "\n" or ""
  out.stderr_logs = raw.stderr .. separator .. table.concat(notes)
end

--- What the code has to say: its main result's text, or else what it printed, without the last line's end.
local function respond(run)
  local main = run.out.main_result
  local text = main and main.text or run.out.stdout_logs or ""
  if not (main and main.text) then text = text:gsub("\r?\n$", "") end
  run.out.response = text
end

--- Explains a step that did not come to its end.
local function explain(run, seconds, why, code)
  local language = run.input.language
  if code ~= "unsupported" and run:is_gone(code) then return run:lost "in" end
  if code == "timeout" then
    return run:fail(message.say(("The code did not end within %g s and was interrupted"):format(seconds),
      run:fate(), "Raise 'step_timeout', or do less in one step"))
  elseif code == "context_lost" then
    return run:fail(message.say("The interpreter ended while the code ran: the code ended it, it crashed, or "
      .. "it was out of memory. Its variables are lost", run:fate "The sandbox and its files are alive",
      "Mend what ended it; what made the variables has to run again before code that needs them"))
  elseif code == "unsupported" then
    return run:fail(message.say(('This sandbox cannot run the language "%s": %s'):format(language,
      (why:gsub("^step: ", ""):gsub("%.$", ""))), run:fate(),
      'Use "python", or a template or service whose sandboxes have it'))
  end
  return run:fail_in_sandbox("The code could not be run to its end", why, code)
end

--- Runs the code. Returns whether it came to its end without raising.
local function step(run)
  local input = run.input
  local code = input[run.block.code]
  if code == "" then return true end
  local life = run.born and run:life_left()
  local seconds = math.min(input.step_timeout or life or SECONDS, life or math.huge)
  local raw, why, kind, partial = call.finish(run.box:start_step(code, {
    language = input.language,
    envs = not run.born and input.envs or nil,
    timeout = seconds,
    max_output = input.max_output,
  }))
  if raw or partial then take(run, raw or partial) end
  if not raw then return explain(run, seconds, why, kind) end
  if not raw.error then
    respond(run)
    return true
  end
  if run:is_gone() then
    return run:lost("after", "The code raised " .. utf8_text.head(utf8_text.clean(raw.error.name), 200))
  end
  return run:fail(message.raised(raw.error, run:fate(), raw.restarted))
end

return { run = step }
