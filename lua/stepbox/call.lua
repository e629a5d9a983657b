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

--- Hands out what waits, and does not wait for more. Nothing waits inside of a pcall, through which plain
--- Lua 5.1 cannot yield.
local function deliver_waiting(op, handlers)
  for event in op.next_event, op do
    local ok, raised = pcall(dispatch, event, handlers)
    if not ok then
      op:cancel()
      error(raised, 0)
    end
  end
end

-- What it holds in C, which may be much, need not wait for the collector.
local function close(op, ...)
  op:close()
  return ...
end

--- Waits until `op` is done, and closes it.
---@param op userdata|nil an operation, or nil with message and code of one that could not start
---@return any ... what op:result() gives: value | nil, message, code, partial
local function finish(op, ...)
  if not op then return nil, ... end
  while not op:done() do task.await(op) end
  return close(op, op:result())
end

--- Waits until `op`, which others may use too, is done, with handlers for events.
local function wait_with(handlers, op)
  deliver_waiting(op, handlers)
  while not op:done() do
    task.await(op)
    deliver_waiting(op, handlers)
  end
  return op:result()
end

--- Finishes `op` with handlers for events.
local function finish_with(handlers, op, ...)
  if not op then return nil, ... end
  return close(op, wait_with(handlers, op))
end

--- Waits until `op` or another, `source`, is done, and hands out the events of that meanwhile. A task that is
--- cancelled in here has `op` cancelled.
local function wait_beside(source, handlers, op)
  while not op:done() and not source:done() do
    deliver_waiting(source, handlers)
    if not op:done() and not source:done() then task.await(op, source) end
  end
end

return {
  deliver_waiting = deliver_waiting,
  finish = finish,
  finish_with = finish_with,
  wait_beside = wait_beside,
  wait_with = wait_with,
}
