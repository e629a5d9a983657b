--- Waits for an operation of the core and hands out what it brings.

local task = require "stepbox.task"
local result = require "stepbox.result"

--- Events go to the handlers in the caller's own coroutine, outside of any transfer: a handler may call
--- stepbox again, yield or raise. When it raises, the operation is cancelled and the error goes on.
local function dispatch(event, handlers)
  local handler = handlers["on_" .. event.type]
  if not handler then return end
  if event.type == "result" then
    handler(result.result(event.result))
  elseif event.type == "error" then
    handler(event.error)
  else
    handler(event.text, event.time)
  end
end

--- Hands out what waits, and does not wait for more.
local function deliver_waiting(op, handlers)
  for event in op.next_event, op do dispatch(event, handlers) end
end

local function deliver(op, handlers)
  while true do
    deliver_waiting(op, handlers)
    if op:done() then return end
    task.await(op)
  end
end

--- Waits until `op` is done.
---@param op userdata|nil an operation, or nil with message and code of one that could not start
---@return any ... what op:result() gives: value | nil, message, code, partial
local function finish(op, ...)
  if not op then return nil, ... end
  while not op:done() do task.await(op) end
  return op:result()
end

--- The same with handlers for events.
local function finish_with(handlers, op, ...)
  if not op then return nil, ... end
  local ok, raised = pcall(deliver, op, handlers)
  if not ok then
    op:close()
    error(raised, 0)
  end
  return op:result()
end

return { finish = finish, finish_with = finish_with, deliver_waiting = deliver_waiting }
