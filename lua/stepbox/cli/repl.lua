--- stepbox repl: runs code line by line.

local stepbox = require "stepbox"
local create = require "stepbox.cli.create"
local create_options = require "stepbox.cli.create_options"
local lines = require "stepbox.cli.lines"
local notebook = require "stepbox.cli.notebook"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local prompt = require "stepbox.cli.prompt"
local show = require "stepbox.cli.show"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

-- What people type to leave. In the sandbox these would only end the interpreter.
local LEAVING = { exit = true, quit = true, ["exit()"] = true, ["quit()"] = true }

--- A whole piece of code, or nil when there is no more.
local function read_code(source, language)
  local code, state
  while true do
    local line, why = source:read(code == nil)
    if not line then
      if why == "interrupted" then
        source:say "\n"
        code = nil
      else
        -- What was begun is run as it is, except at a prompt, where Ctrl-D leaves.
        if code and not source.editor then return code end
        source:say "\n"
        return nil
      end
    else
      if not code then state = {} end
      code = code and code .. "\n" .. line or line
      if not code:find "%S" then
        code = nil
      elseif not lines.is_open(code, language, state) then
        return (code:gsub("%s+$", ""))
      end
    end
  end
end

--- The language of what is typed: a context's is known to the server. What cannot be told is read as Python.
local function language_of(box, arguments)
  if not arguments.context then return arguments.lang end
  for _, context in ipairs(box:contexts() or {}) do
    if context.id == arguments.context then return context.language end
  end
end

--- The box, whether the sandbox is ours, and the language of what is typed.
local function open(arguments)
  if not arguments.id then return create(arguments, arguments.life), true, arguments.lang end
  local box = status.check(stepbox.connect(arguments.id, { record = arguments.notebook ~= nil }))
  return box, false, language_of(box, arguments)
end

--- One step. The status of the last one is ours when nobody looks at a prompt.
local function run_step(box, code, arguments)
  local running = { box = box }
  return wait.run(function(state)
    local ok, result = pcall(show.step, box, code, arguments, state)
    -- SIGTERM and SIGHUP mean the program, not its step.
    if state.status and state.status ~= status.INTERRUPTED then status.leave(state.status) end
    if ok then return result end
    if not status.is_leave(result) or result.code == "system" or not result.message then error(result, 0) end
    -- A failure ends the session only when there is nothing left to go on with.
    output.err("stepbox: " .. result.message .. "\n")
    return result.status, result.code
  end, { on_interrupt = show.on_interrupt(running, arguments) })
end

local FATAL = { not_found = true, sandbox_lost = true, unauthorized = true, closed = true }

local function greet(box, is_own, source)
  if not source.editor then return end
  output.out(("stepbox %s, sandbox %s%s. Ctrl-C interrupts, Ctrl-D leaves.\n"):format(
    stepbox.version, box.id, is_own and ", which ends with this session" or ""))
end

local function converse(box, source, arguments, language)
  local last = status.OK
  while true do
    local code = read_code(source, language)
    if not code or LEAVING[code] then return source.editor and status.OK or last end
    source:remember(code)
    local number, failure = run_step(box, code, arguments)
    last = number
    if FATAL[failure] then return number end
  end
end

return function(arguments)
  if arguments.lang and arguments.context then arguments.fail "--lang and --context do not go together" end
  if arguments.context and not arguments.id then
    arguments.fail "--context is of a sandbox that is there: give its id"
  end
  local of_new = arguments.id and create_options.given(arguments)
  if of_new then arguments.fail(of_new .. " is for a new sandbox, and this one is there") end
  notebook.check(arguments.notebook)
  progress.set(arguments.id and "connecting" or nil)
  local box, is_own, language = wait.call(nil, function() return open(arguments) end)
  local source = prompt.new(arguments.json)
  greet(box, is_own, source)
  local ok, result = pcall(converse, box, source, arguments, language)
  source:close()
  local number = notebook.write(box, arguments.notebook, ok and result)
  if is_own then
    wait.call("killing the sandbox", function() return box:kill() end)
  end
  if not ok then error(result, 0) end
  return number
end
