--- Runs a step and shows what it gives, for `step`, `run` and `repl`.

local stepbox = require "stepbox"
local charts = require "stepbox.cli.charts"
local languages = require "stepbox.languages"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"
local text_of = require("stepbox.result").text_of
local traceback = require "stepbox.traceback"

local show = {}

local BINARY = { png = true, jpeg = true, pdf = true }

local function result_as_json(result)
  local formats = { is_main = result.is_main }
  for _, name in ipairs(result:formats()) do
    local value = result[name]
    if value == nil and result.extra then value = result.extra[name] end
    if BINARY[name] and type(value) == "string" then value = require("stepbox.base64").encode(value) end
    formats[name] = value
  end
  return formats
end

--- The value that --json prints for a step.
local function as_json(execution, saved)
  local json = require "stepbox.json_text"
  local results, files = json.list(), json.list()
  for i, result in ipairs(execution.results) do results[i] = result_as_json(result) end
  for i, file in ipairs(saved) do files[i] = file end
  local raised = json.null
  if execution.error then
    local found = execution.error
    raised = { name = found.name, value = found.value, traceback = found.traceback }
  end
  return {
    text = execution.text or json.null,
    stdout = execution.stdout,
    stderr = execution.stderr,
    results = results,
    error = raised,
    execution_count = execution.execution_count or json.null,
    duration = execution.duration,
    truncated = execution.truncated,
    dropped = execution.dropped,
    restarted = execution.restarted,
    files = files,
  }
end

local function end_line(text) return text:sub(-1) == "\n" and text or text .. "\n" end

--- Traceback's colours are for terminals.
local function for_stderr(text)
  if require("stepbox.console").is_terminal(2) then return text end
  return (text:gsub("\27%[[%d;]*m", ""))
end

local function show_error(raised) output.err(end_line(for_stderr(traceback.of(raised)))) end

--- Text of a result that is no image, or that comes with one and says more than what kind of thing it is.
local function show_result(result, has_chart)
  local text = result.text
  if has_chart and text and text:find "^<.*>$" then return end
  if not text and not has_chart then
    local found, format = text_of(result)
    -- Data is for programs: the exit status of Bash, for one.
    if format ~= "data" and format ~= "chart" then text = found end
  end
  if text and text ~= "" then output.out(end_line(text)) end
end

--- Interrupts the code of a step of these options; nil when it cannot be told where that runs. The default
--- context of a language other than Python has no name of its own: it is the only one of its language, or
--- else nobody knows.
local function interrupt_code(box, options)
  local language = languages.normalize(options.lang)
  if options.context or language == "python" then return box:interrupt(options.context) end
  local found
  for _, context in ipairs(box:contexts() or {}) do
    if context.language == language then
      if found then return nil end
      found = context
    end
  end
  if found then return found:interrupt() end
end

-- What ends a step early: the first Ctrl-C interrupts its code, the second gives up waiting. So does the
-- first where the code cannot be found: the agent interrupts it then, and what it said of that is not shown.
local function interrupt(running, options, task)
  stepbox.spawn(function()
    local done, _, code = interrupt_code(running.box, options)
    if done == nil and code ~= "not_found" then task:cancel() end
  end)
end

local function step_options(options, chart)
  local wire = {
    language = options.lang,
    context = options.context,
    timeout = options.timeout,
    envs = options.envs,
  }
  if options.json then return wire end
  -- It is shown as it comes, and need not be kept, but for a notebook.
  if not options.notebook then wire.max_output = 1 end
  local main
  wire.on_stdout = function(text) output.out(text) end
  wire.on_stderr = function(text) output.err(text) end
  wire.on_result = function(result)
    local has_chart = chart.each(result)
    if result.is_main then main = { result, has_chart } else show_result(result, has_chart) end
  end
  return wire, function()
    if main then show_result(main[1], main[2]) end
  end
end

--- The exit status of a script of Bash's, which comes as the data of a result that says nothing else.
local function exit_status(execution)
  for _, result in ipairs(execution.results) do
    local told = result.is_main and type(result.data) == "table" and result.data.exit_status
    if type(told) == "number" and told % 1 == 0 and told >= 0 and told <= 255 then return told end
  end
end

--- Runs code in a task and shows it; returns the exit status, and the execution. `options`: lang, context,
--- timeout, envs, save, json.
function show.step(box, code, options, state)
  local chart = charts.new(options.save)
  local wire, show_main = step_options(options, chart)
  progress.set "running"
  local execution, message, failure, partial = box:step(code, wire)
  progress.set(nil)
  local shown = execution or partial
  if options.json and shown then
    for _, result in ipairs(shown.results) do chart.each(result, true) end
    local value = as_json(shown, chart.saved)
    if not execution then value.failure = { code = failure, message = message } end
    output.json(value)
  end
  if not execution then
    if state.status then return state.status end
    if not options.json or not shown then status.leave(status.of_code(failure), message, failure) end
    return status.of_code(failure)
  end
  if not options.json then
    if execution.restarted then output.err "stepbox: the context had lost its state and started afresh\n" end
    if show_main then show_main() end
    output.dropped(execution)
    if execution.error then show_error(execution.error) end
  end
  if state.status and execution.error then return state.status, execution end
  return execution.error and status.RAISED or exit_status(execution) or status.OK, execution
end

--- What `wait.run` shall do at Ctrl-C. `running.box` is there once a step may run in it.
function show.on_interrupt(running, options)
  return function(task, count)
    if running.box and count == 1 then return interrupt(running, options, task) end
    task:cancel()
  end
end

return show
