--- Tasks: coroutines in which the calls of stepbox yield instead of blocking.
---
--- Every call is an operation on one loop per Lua state. `await` is the one place where a call waits: in a
--- task it yields to the scheduler here, elsewhere it drives the loop until the operation has news.

local core = require "stepbox.core"
local compat = require "stepbox.compat"

local loop                                          -- made on first use
local tasks = setmetatable({}, { __mode = "k" })    -- coroutine -> task
local waiting = {}                                  -- operation -> the task that waits for it, or several
local runnable, first, last = {}, 1, 0              -- queue of tasks to resume
local pending = 0                                   -- tasks that have not ended
local failed = {}                                   -- tasks that raised, and nobody has looked yet

local pack, unpack = compat.pack, compat.unpack

local function get_loop()
  if not loop then
    local made, message = core.loop()
    if not made then error("stepbox: " .. message, 3) end
    loop = made
  end
  return loop
end

---@class stepbox.Task
---@field done boolean whether the function has returned or raised
local Task = {}
Task.__index = Task

local function enqueue(task)
  if task.queued or task.done then return end
  task.queued = true
  last = last + 1
  runnable[last] = task
end

local function finish(task, ok, ...)
  task.done, task.ok, task.results = true, ok, pack(...)
  tasks[task.coroutine] = nil -- in Lua 5.1 the table would keep both for ever
  pending = pending - 1
  if not ok and not task.observed then failed[#failed + 1] = task end
  for _, waiter in ipairs(task.waiters) do enqueue(waiter) end
  task.waiters = {}
end

local function resume(task)
  task.queued = false
  local co = task.coroutine
  local values = pack(coroutine.resume(co))
  if not values[1] then
    finish(task, false, debug.traceback(co, tostring(values[2])), values[2])
  elseif coroutine.status(co) == "dead" then
    finish(task, true, unpack(values, 2, values.n))
  end
end

local function run_queue()
  while first <= last do
    local task = runnable[first]
    runnable[first] = nil
    first = first + 1
    if not task.done then resume(task) end
  end
end

--- Lets the loop do what is due, waiting at most `timeout` seconds (negative: for ever), and marks the
--- tasks runnable whose operations have news.
local function turn(timeout)
  local ok, message = get_loop():step(timeout)
  if not ok then error("stepbox: " .. message, 0) end
  while true do
    local op = loop:ready()
    if not op then return end
    local there = waiting[op]
    if there then
      waiting[op] = nil
      if getmetatable(there) == Task then
        enqueue(there)
      else
        for _, task in ipairs(there) do enqueue(task) end
      end
    end
  end
end

local function wait_for(op, task)
  local there = waiting[op]
  if not there then
    waiting[op] = task
  elseif getmetatable(there) == Task then
    waiting[op] = { there, task }
  else
    there[#there + 1] = task
  end
end

local function stop_waiting(op, task)
  local there = waiting[op]
  if there == task then
    waiting[op] = nil
  elseif there and getmetatable(there) ~= Task then
    for i = #there, 1, -1 do
      if there[i] == task then table.remove(there, i) end
    end
    if not there[1] then waiting[op] = nil end
  end
end

--- Waits until `op`, or `other` when that is given, has an event to read or is done; may also return for
--- nothing. What cancels the task cancels `op`.
local function await(op, other)
  local co = coroutine.running()
  local task = co and tasks[co]
  if not task then return turn(-1) end
  if task.cancelled then
    task.cancelled = nil
    op:cancel()
    return
  end
  task.op = op
  wait_for(op, task)
  if other then wait_for(other, task) end
  coroutine.yield()
  task.op = nil
  stop_waiting(op, task)
  if other then stop_waiting(other, task) end
end

--- Lets the loop do what is due without waiting.
local function poll() return turn(0) end

local function check_function(name, fn)
  if type(fn) ~= "function" then
    error(("bad argument #1 to '%s' (function expected, got %s)"):format(name, type(fn)), 3)
  end
end

--- Starts `fn(...)` as a task. It runs when the scheduler next has control: in `run`, in `task:wait`, or in
--- `loop.step` of a host's own loop.
---@param fn function
---@param ... any arguments of fn
---@return stepbox.Task
local function spawn(fn, ...)
  check_function("spawn", fn)
  local arguments = pack(...)
  local task = setmetatable({ done = false, waiters = {} }, Task)
  task.coroutine = coroutine.create(function() return fn(unpack(arguments, 1, arguments.n)) end)
  tasks[task.coroutine] = task
  pending = pending + 1
  enqueue(task)
  return task
end

--- Nothing here can wake a task any more: all that wait have failed, so that others can be run later.
local function give_up()
  local why = "every task waits for something that is not an operation of stepbox"
  pending = 0
  for co, task in pairs(tasks) do
    pending = pending + 1
    if coroutine.status(co) == "suspended" then
      task.observed = true
      finish(task, false, why, why)
    end
  end
  error("stepbox: " .. why, 0)
end

--- Runs the scheduler until `finished()`.
local function drive(finished)
  while true do
    run_queue()
    if finished() then return end
    if next(waiting) == nil and first > last then give_up() end
    turn(-1)
  end
end

--- Waits for the task to end. Returns what its function returned, or raises what it raised.
---@return any ...
function Task:wait()
  self.observed = true
  local co = coroutine.running()
  local me = co and tasks[co]
  if me == self then error("a task cannot wait for itself", 2) end
  if me then
    while not self.done do
      self.waiters[#self.waiters + 1] = me
      coroutine.yield()
    end
  else
    drive(function() return self.done end)
  end
  for i = #failed, 1, -1 do
    if failed[i] == self then table.remove(failed, i) end
  end
  if not self.ok then error(self.results[2], 0) end
  return unpack(self.results, 1, self.results.n)
end

--- Cancels the call that the task waits in, or else its next one: that returns nil, message, "cancelled".
--- Calls after it work again, so that the task can clean up.
function Task:cancel()
  if self.done then return end
  if self.op then
    self.op:cancel()
    enqueue(self)
  else
    self.cancelled = true
  end
end

local function cancel_all()
  for _, task in pairs(tasks) do
    if not task.done then task:cancel() end
  end
end

--- Runs `fn(...)` as a task together with every task that it spawns, and returns when all have ended:
--- what fn returned. If fn raises, the others are cancelled and the error is raised when they have ended;
--- an error in a task that nobody waited for is raised at the end too.
---@param fn function
---@param ... any arguments of fn
---@return any ...
local function run(fn, ...)
  local co = coroutine.running()
  if co and tasks[co] then error("stepbox.run cannot be called inside a task: use spawn", 2) end
  check_function("run", fn)
  local main = spawn(fn, ...)
  main.observed = true
  drive(function() return main.done end)
  if not main.ok then cancel_all() end
  drive(function() return pending == 0 end)
  local unseen = table.remove(failed, 1)
  failed = {}
  if not main.ok then error(main.results[2], 0) end
  if unseen then error("a task failed: " .. unseen.results[1], 0) end
  return unpack(main.results, 1, main.results.n)
end

--- For hosts with a loop of their own: poll `pollfd()` for reading, wait at most `timeout()` seconds, then
--- call `step(0)`.
---@class stepbox.Loop
local host = {}

--- The descriptor to poll. It is readable whenever there is something to do, deadlines included.
---@return integer
function host.pollfd() return get_loop():fd() end

--- What to poll for: always "r".
---@return string
function host.events() return "r" end

--- How long the host may wait: 0 when a task is ready to run, nil when only the descriptor matters.
---@return number|nil seconds
function host.timeout()
  if first <= last then return 0 end
  return nil
end

--- Does what is due and resumes the tasks that have news.
---@param timeout? number seconds to wait for the first event, 0 or more; default 0
---@return integer pending how many tasks have not ended
function host.step(timeout)
  if timeout ~= nil and not (type(timeout) == "number" and timeout >= 0) then
    error("bad argument #1 to 'step' (a number of seconds from 0 on expected, got "
      .. tostring(timeout) .. ")", 2)
  end
  turn(first <= last and 0 or timeout or 0)
  run_queue()
  return pending
end

return { await = await, poll = poll, spawn = spawn, run = run, host = host, loop = get_loop }
