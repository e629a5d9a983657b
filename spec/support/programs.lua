--- Runs a table of small programs of one language, and compares what each step gives with the table, event
--- by event.
---
--- A table (spec/languages/NAME.lua) is
---     { language = "bash", shared = true?, PROGRAM... }
--- PROGRAM is {"what it shows", STEP...}. Each has a context of its own, or, where `shared` is true because
--- a context takes long to start, one with the others; `fresh = true` in a program gives it its own. `cwd`
--- and `envs` are the context's (and so make it a fresh one), `files = {[path] = text}` are written first.
--- What is not everywhere is named by `needs = WORD` in a program: `available(box, WORD)` of the table
--- returns true, or false and the reason for which the program is skipped.
---
--- STEP is code, or {code, EVENT..., options}: its exact events in order, which may be none.
---     { stdout = TEXT }, { stderr = TEXT }     adjacent pieces of one stream are one event
---     { result = { text = TEXT, ... } }        of the last expression, with just these formats
---     { shown = { text = TEXT, ... } }         another value that was shown
---     { error = { NAME, VALUE, TRACEBACK } }   the traceback may be left out
--- Options: envs, timeout (seconds); interrupt (seconds after which it is interrupted from outside);
--- restarted = true (the context was lost before it); fails = "context_lost" (the call itself fails).
---
--- TEXT may be a string, `like(PATTERN)` (Lua's patterns, for the whole text), or a function that gets the
--- value. Tables are compared deeply.

local assert = require "luassert"
local stepbox = require "stepbox"

local M = {}

local STEP_SECONDS = 60

--- Matches the whole of a text.
function M.like(pattern)
  return function(value) return type(value) == "string" and value:find("^" .. pattern .. "$") ~= nil end
end

--- Anything but nothing.
function M.any(value) return value ~= nil end

local function matches(wanted, got)
  if type(wanted) == "function" then return wanted(got) and true or false end
  if type(wanted) ~= "table" or type(got) ~= "table" then
    return wanted == got
  end
  for key, value in pairs(wanted) do
    if not matches(value, got[key]) then return false end
  end
  for key in pairs(got) do
    if wanted[key] == nil then return false end
  end
  return true
end

local SPECIAL = { [M.any] = "<anything>" }

local function show(value, indent)
  if type(value) == "function" then return SPECIAL[value] or "<a match>" end
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local keys, lines = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do
    lines[i] = ("%s%s = %s"):format(indent, tostring(key), show(value[key], indent .. "  "))
  end
  return #lines == 0 and "{}" or "\n" .. table.concat(lines, "\n")
end

--- The languages of a sandbox by name.
function M.languages(box)
  local found = {}
  for _, language in ipairs(assert(box:languages())) do found[language.name] = language end
  return found
end

local function formats(result)
  local values = {}
  for _, name in ipairs(result:formats()) do
    values[name] = result[name]
    if values[name] == nil then values[name] = result.extra[name] end
  end
  return values
end

--- What collects the events of one step, in the form of the tables.
local function collector()
  local events = {}
  local function output(stream)
    return function(text)
      local last = events[#events]
      if last and last[stream] then
        last[stream] = last[stream] .. text
      else
        events[#events + 1] = { [stream] = text }
      end
    end
  end
  return events, {
    on_stdout = output "stdout",
    on_stderr = output "stderr",
    on_result = function(result)
      events[#events + 1] = { [result.is_main and "result" or "shown"] = formats(result) }
    end,
    on_error = function(failure)
      events[#events + 1] = { error = { failure.name, failure.value, failure.traceback } }
    end,
  }
end

--- Runs a step; returns its execution and events, or nil, message, code.
local function run_step(context, step)
  local events, options = collector()
  options.envs, options.timeout = step.envs, step.timeout or STEP_SECONDS
  local execution, message, code
  stepbox.run(function()
    local task = stepbox.spawn(function() execution, message, code = context:step(step[1], options) end)
    if step.interrupt then
      stepbox.sleep(step.interrupt)
      assert(context:interrupt())
    end
    task:wait()
  end)
  return execution, events, message, code
end

local function expect_events(step, events)
  local wanted = {}
  for i = 2, #step do wanted[i - 1] = step[i] end
  for _, event in ipairs(wanted) do
    local failure = event.error
    if failure and failure[3] == nil then failure[3] = function(text) return type(text) == "string" end end
  end
  if matches(wanted, events) then return end
  error(("of the step %q\nexpected:%s\ngot:%s"):format(step[1], show(wanted, "  "), show(events, "  ")), 0)
end

local function run_program(box, context, program)
  for path, text in pairs(program.files or {}) do assert(box.files:write(path, text)) end
  local count
  for i = 2, #program do
    local step = type(program[i]) == "table" and program[i] or { program[i] }
    local execution, events, message, code = run_step(context, step)
    if step.fails then
      assert.equal(step.fails, code, message)
    else
      if not execution then error(("the step %q failed: %s (%s)"):format(step[1], message, code), 0) end
      expect_events(step, events)
      assert.equal(step.restarted or false, execution.restarted)
      local start = step.restarted and 0 or count or (program.own and 0)
      if start then assert.equal(start + 1, execution.execution_count, "execution count") end
    end
    count = execution and execution.execution_count
  end
end

--- Declares the tests of a table. `busted` has the functions of busted, which only spec files see.
function M.declare(busted, table_of_programs)
  local describe, it, setup, teardown = busted.describe, busted.it, busted.setup, busted.teardown
  local pending, language = busted.pending, table_of_programs.language
  describe("programs in " .. language, function()
    local box, shared, missing
    setup(function()
      box = assert(stepbox.create(table_of_programs.create or { timeout = 1200 }))
      local found = M.languages(box)[language]
      missing = not found and language .. " has no runner here" or not found.available and found.message
    end)
    teardown(function() assert(box:kill()) end)

    for _, program in ipairs(table_of_programs) do
      it(program[1], function()
        if missing then return pending(missing) end
        if program.needs then
          local there, reason = table_of_programs.available(box, program.needs)
          if not there then return pending(reason) end
        end
        program.own = not table_of_programs.shared or program.fresh or program.cwd or program.envs
        local context = not program.own and shared or assert(box:context {
          language = language,
          cwd = program.cwd,
          envs = program.envs,
        })
        if not program.own then shared = context end
        run_program(box, context, program)
        if program.own then assert(context:remove()) end
      end)
    end
  end)
end

return M
