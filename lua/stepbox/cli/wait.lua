--- Runs what a command does as a task, and meanwhile looks at signals, the progress line, and what else is
--- there to read. So Ctrl-C does what the command wants, and not what the kernel would.

local stepbox = require "stepbox"
local compat = require "stepbox.compat"
local console = require "stepbox.console"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"

local STATUS_OF_SIGNAL = { HUP = 129, INT = 130, TERM = 143 }

local wait = {}

--- What a run may be told:
---   on_interrupt(task, count): Ctrl-C, for the count-th time; default: the task is cancelled
---   on_resize(): the terminal has another size
---   sources: descriptor -> function to call when it can be read
local function take_signal(name, task, options, state)
  if name == "WINCH" then
    if options.on_resize then options.on_resize() end
    return
  end
  state.status = STATUS_OF_SIGNAL[name]
  state.count = state.count + 1
  if name == "INT" and options.on_interrupt then
    options.on_interrupt(task, state.count)
  else
    task:cancel()
  end
end

local function descriptors(signals, options)
  local list = { stepbox.loop.pollfd(), signals:descriptor() }
  for fd in pairs(options.sources or {}) do list[#list + 1] = fd end
  return list
end

local function turn(signals, task, options, state)
  local timeout = stepbox.loop.timeout() or progress.delay()
  local ready = assert(console.wait(descriptors(signals, options), timeout))
  for name in signals.read, signals do take_signal(name, task, options, state) end
  for fd, call in pairs(options.sources or {}) do
    if ready[fd] then call() end
  end
  stepbox.loop.step(0)
  progress.show()
end

local function run(fn, options, state)
  local signals = assert(console.signals { "INT", "TERM", "HUP", options.on_resize and "WINCH" or nil })
  local task = stepbox.spawn(fn, state)
  local ok, raised = pcall(function()
    stepbox.loop.step(0)
    while not task.done do turn(signals, task, options, state) end
  end)
  progress.set(nil)
  signals:close()
  if not ok then error(raised, 0) end
  return task:wait()
end

--- Calls fn(state) as a task and returns what it returns. `state.status` is the exit status that a signal
--- stands for, once one came.
function wait.run(fn, options) return run(fn, options or {}, { count = 0 }) end

--- For commands that Ctrl-C just ends: says `label` while it takes long, and leaves with the signal's status.
function wait.call(label, fn)
  local state = { count = 0 }
  progress.set(label)
  local values = compat.pack(pcall(run, fn, {}, state))
  if values[1] then return compat.unpack(values, 2, values.n) end
  local raised = values[2]
  if status.is_leave(raised) and raised.status == status.INTERRUPTED and state.status then
    status.leave(state.status)
  end
  error(raised, 0)
end

return wait
