--- Watching a directory of a sandbox.

local check = require "stepbox.options"
local task = require "stepbox.task"

local OPTIONS = {
  user = check.text,
  recursive = check.boolean,
  include_entry = check.boolean,
  allow_network_mounts = check.boolean,
}

---@class stepbox.WatchOptions
---@field recursive? boolean also what is in directories below, those that are made later too
---@field include_entry? boolean give the entry of what changed, when it is still there
---@field allow_network_mounts? boolean watch on network file systems too, where changes may be missed
---@field user? string

--- What happened in a watched directory.
---@class stepbox.FileEvent
---@field change "create"|"write"|"remove"|"rename"|"chmod"
---@field name string relative to the directory
---@field entry? stepbox.Entry

--- A watch that is under way. It ends with `stop`, with a `<close>` variable, and with the collector.
---@class stepbox.Watch
---@field stopped boolean
local Watch = {}
Watch.__index = Watch

local function take(self)
  local event = self.op and self.op:next_event()
  if event then event.type = nil end
  return event
end

--- Iterates over what changes, and waits for it. Ends when the watch is stopped; raises when it breaks off.
---@return fun(): stepbox.FileEvent|nil
function Watch:events()
  return function()
    while self.op do
      local event = take(self)
      if event then return event end
      if self.op:done() then
        local _, message = self.op:result()
        self:stop()
        error("stepbox: the watch broke off: " .. tostring(message), 2)
      end
      task.await(self.op)
    end
  end
end

--- What has changed since it was last asked, without waiting.
---@return stepbox.FileEvent[]|nil events
---@return string? message
---@return string? code when the watch broke off
function Watch:poll()
  task.poll()
  local events = {}
  for event in take, self do events[#events + 1] = event end
  if not events[1] and self.op and self.op:done() then
    local _, message, code = self.op:result()
    return nil, message, code
  end
  return events
end

--- Ends the watch.
function Watch:stop()
  local op = self.op
  self.op, self.stopped = nil, true
  -- Not closed: that would not wake another task that waits for it in `events`.
  if op then op:cancel() end
end

Watch.__close = Watch.stop

local function start(box, path, options)
  local op, message, code = box:start_watch(path, options)
  if not op then return nil, message, code end
  while not op:begun() and not op:done() do task.await(op) end
  if not op:begun() then return op:result() end
  return setmetatable({ op = op, stopped = false }, Watch)
end

return { start = start, OPTIONS = OPTIONS, Watch = Watch }
