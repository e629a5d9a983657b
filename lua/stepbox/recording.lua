--- The session of a box so far: its steps and what they gave, for `box:notebook`.
---
--- What is kept is bounded, for each box and for all of a Lua state together: a host may have a thousand
--- boxes. The oldest outputs go first, and then the oldest steps. Texts are kept as they came; nothing is
--- made of them before a notebook is asked for.

local recording = {}

local BOX_BYTES = 32 * 1024 * 1024
local ALL_BYTES = 64 * 1024 * 1024
-- Going somewhat below a bound keeps each look over all that is kept rare.
local GOAL = 0.75
-- What the tables of a step and of an output take, about.
local STEP_BYTES, OUTPUT_BYTES = 600, 250

-- box -> its session. What is in a session does not lead back to the box, or else Lua 5.1 would keep both.
local sessions = setmetatable({}, { __mode = "k" })
-- box -> id of a context -> its language, of the contexts that were made or listed by that box.
local languages = setmetatable({}, { __mode = "k" })
-- Of all sessions, those too that were collected since it was counted last.
local all_bytes = 0
local count = 0 -- of steps, so that those of several boxes are in order

--- What a box has recorded.
---@class stepbox.Session
---@field steps table[] from `first` to `last`, in the order in which they began
---@field forgotten integer how many steps are not kept any more

local function new_session(limit)
  return { steps = {}, first = 1, last = 0, forgotten = 0, bytes = 0, limit = limit }
end

--- Says how much is recorded of a box: bytes, or false for nothing. What was recorded goes.
function recording.set(box, limit)
  if limit == true or limit == nil then limit = BOX_BYTES end
  sessions[box] = limit and new_session(limit) or false
end

--- Says what language a context is in, for steps that name it by its id alone.
function recording.note_context(box, id, language)
  languages[box] = languages[box] or {}
  languages[box][id] = language
end

local function add_bytes(session, bytes)
  session.bytes = session.bytes + bytes
  all_bytes = all_bytes + bytes
end

local function drop_outputs(step)
  if not step.output_bytes then return end
  add_bytes(step.session, -step.output_bytes)
  step.outputs, step.output_bytes, step.is_dropped = nil, nil, true
end

--- Steps are forgotten from the first one on.
local function forget(step)
  local session = step.session
  session.steps[session.first] = nil
  session.first = session.first + 1
  session.forgotten = session.forgotten + 1
  step.is_forgotten = true
  add_bytes(session, -step.bytes)
end

local function add_steps(list, session)
  for i = session.first, session.last do list[#list + 1] = session.steps[i] end
end

--- Lets go of what is in the list, the oldest first, until `is_enough()`.
local function shed(list, is_enough)
  for _, drop in ipairs { drop_outputs, forget } do
    for _, step in ipairs(list) do
      if is_enough() then return end
      drop(step)
    end
  end
end

local function shed_own(session)
  local list = {}
  add_steps(list, session)
  shed(list, function() return session.bytes <= session.limit * GOAL end)
end

local function shed_any()
  local list = {}
  all_bytes = 0
  for _, session in pairs(sessions) do
    if session then all_bytes = all_bytes + session.bytes end
  end
  if all_bytes <= ALL_BYTES then return end
  for _, session in pairs(sessions) do
    if session then add_steps(list, session) end
  end
  table.sort(list, function(a, b) return a.number < b.number end)
  shed(list, function() return all_bytes <= ALL_BYTES * GOAL end)
end

local function note_bytes(session, bytes)
  add_bytes(session, bytes)
  if session.bytes > session.limit then shed_own(session) end
  if all_bytes > ALL_BYTES then shed_any() end
end

--- Notes that a step begins. Returns what `finish` takes, or nil when nothing is recorded.
function recording.begin(box, code, where)
  local session = sessions[box]
  if session == nil then
    session = new_session(BOX_BYTES)
    sessions[box] = session
  end
  if not session then return nil end
  count = count + 1
  local step = {
    session = session,
    number = count,
    code = code,
    language = where.of or (languages[box] or {})[where.context or ""],
    context = where.context,
    bytes = #code + STEP_BYTES,
  }
  session.last = session.last + 1
  session.steps[session.last] = step
  note_bytes(session, step.bytes)
  return step
end

--- Adds the pieces from `first` to `last`, joined as far as they are of one stream.
local function add_streams(outputs, logs, first, last)
  local at = first
  while at <= last do
    local stream, pieces = logs[at].stream, {}
    while at <= last and logs[at].stream == stream do
      pieces[#pieces + 1] = logs[at].text
      at = at + 1
    end
    outputs[#outputs + 1] = { stream = stream, text = table.concat(pieces) }
  end
end

local function result_of(raw)
  local formats = {}
  for name, value in pairs(raw) do
    if type(value) == "string" then formats[name] = value end
  end
  return { is_main = raw.is_main, formats = formats, encoded = raw.encoded }
end

--- The outputs in the order in which they came. All of them may be of one stream: then they are one string
--- already, which is the user's too.
local function outputs_of(raw)
  local outputs, logs, at = {}, raw.logs, 1
  if not raw.results[1] and raw.stderr == "" and raw.stdout ~= "" then
    outputs[1], at = { stream = "stdout", text = raw.stdout }, #logs + 1
  end
  for _, result in ipairs(raw.results) do
    add_streams(outputs, logs, at, result.logs_before)
    at = math.max(at, result.logs_before + 1)
    outputs[#outputs + 1] = result_of(result)
  end
  add_streams(outputs, logs, at, #logs)
  local raised = raw.error
  if raised then
    outputs[#outputs + 1] =
      { error = { name = raised.name, value = raised.value, traceback = raised.traceback } }
  end
  return outputs
end

local function size_of(outputs)
  local bytes = 0
  local function add(texts)
    for _, text in pairs(texts) do
      if type(text) == "string" then bytes = bytes + #text end
    end
  end
  for _, output in ipairs(outputs) do
    bytes = bytes + OUTPUT_BYTES
    add(output)
    add(output.formats or {})
    add(output.encoded or {})
    add(output.error or {})
  end
  return bytes
end

--- Notes what a step gave: the execution as the core makes it, whole or in part, and why it failed.
function recording.finish(step, raw, message, code)
  if step.is_forgotten then return end
  step.count = raw and raw.execution_count
  step.is_truncated = raw and (raw.truncated or raw.dropped ~= nil)
  local outputs = raw and outputs_of(raw) or {}
  if code then
    step.failure = code
    outputs[#outputs + 1] = { error = { name = code, value = message, traceback = "" } }
  end
  step.outputs, step.output_bytes = outputs, size_of(outputs)
  note_bytes(step.session, step.output_bytes)
end

--- What is recorded of a box: a session, or nil when nothing is.
---@return stepbox.Session|nil
function recording.of(box)
  local session = sessions[box]
  if session == nil then return new_session(BOX_BYTES) end
  return session or nil
end

return recording
