--- Steps: how code is run in a sandbox, for boxes and for contexts.

local call = require "stepbox.call"
local check = require "stepbox.options"
local compat = require "stepbox.compat"
local recording = require "stepbox.recording"
local result = require "stepbox.result"

--- What steps of contexts take. Those of boxes take `language` and `context` too.
local OPTIONS = {
  envs = check.envs,
  timeout = check.seconds,
  on_stdout = check.callable,
  on_stderr = check.callable,
  on_result = check.callable,
  on_error = check.callable,
  max_output = check.count,
}

local function wants_events(options)
  return (options.on_stdout or options.on_stderr or options.on_result or options.on_error) ~= nil
end

--- The step's value, or the failure with the partial execution as fourth value. What came is noted before it
--- becomes the user's.
local function outcome(record, value, message, code, partial)
  if record then recording.finish(record, value or partial, message, code) end
  if value then return result.execution(value) end
  return nil, message, code, partial and result.execution(partial)
end

--- Finishes with handlers. One that raises ends the step, which is noted before the error goes on; where
--- nothing can wait inside of a pcall it is not.
local function finish_with(record, options, op, ...)
  if not (op and record and compat.pcall_yields) then return call.finish_with(options, op, ...) end
  local values = compat.pack(pcall(call.finish_with, options, op, ...))
  if values[1] then return compat.unpack(values, 2, values.n) end
  if op:done() then
    local _, message, code, partial = op:result()
    recording.finish(record, partial, message, code)
  end
  error(values[2], 0)
end

--- Runs code. `options` are checked. `where`: language or context, an id; `of`, the language as the recording
--- knows it; envs.
local function run(box, code, options, where)
  local events = wants_events(options)
  local wire = {
    language = where.language,
    context = where.context,
    envs = where.envs or options.envs,
    timeout = options.timeout,
    max_output = options.max_output,
    events = events,
  }
  local record = recording.begin(box, code, where)
  if events then return outcome(record, finish_with(record, options, box:start_step(code, wire))) end
  return outcome(record, call.finish(box:start_step(code, wire)))
end

return { OPTIONS = OPTIONS, run = run }
