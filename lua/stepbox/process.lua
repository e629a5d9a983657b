--- A process in a sandbox, as commands and terminals share it: its handle, its input, its signals.

local call = require "stepbox.call"
local check = require "stepbox.options"
local task = require "stepbox.task"

-- Linux's numbers, the same on all architectures that stepbox runs on.
local SIGNALS = {
  HUP = 1, INT = 2, QUIT = 3, ILL = 4, TRAP = 5, ABRT = 6, BUS = 7, FPE = 8, KILL = 9, USR1 = 10,
  SEGV = 11, USR2 = 12, PIPE = 13, ALRM = 14, TERM = 15, CHLD = 17, CONT = 18, STOP = 19, TSTP = 20,
  TTIN = 21, TTOU = 22, URG = 23, XCPU = 24, XFSZ = 25, WINCH = 28,
}

-- One request takes 4 MiB; smaller pieces let other operations of the loop in between.
local PIECE = 1024 * 1024

local function signal_number(value)
  if type(value) == "number" and value % 1 == 0 and value >= 1 and value <= 64 then return value end
  if type(value) == "string" then return SIGNALS[(value:upper():gsub("^SIG", ""))] end
end

--- Rules for arguments.
local rules = {}

function rules.signal(value)
  if not signal_number(value) then
    return "name of a signal or its number expected, got " .. tostring(value)
  end
end

local function is_whole(value, least, most)
  return type(value) == "number" and value % 1 == 0 and value >= least and value <= most
end

function rules.process(value)
  if not is_whole(value, 1, 4294967295) and (check.text(value) or value == "") then
    return "id of a process or its tag expected, got " .. tostring(value)
  end
end

function rules.size(value)
  if not is_whole(value, 1, 65535) then
    return "a whole number from 1 to 65535 expected, got " .. tostring(value)
  end
end

local function selector(process)
  if type(process) == "number" then return { pid = process } end
  return { tag = process }
end

--- Program and arguments of a command: a list that begins with the program, or a line for the shell alone.
local function split(command)
  if type(command) == "string" then return command end
  local args = {}
  for i = 2, #command do args[i - 1] = command[i] end
  return command[1], args
end

--- Sends all of `data` and waits until the process has taken it.
---@param following? stepbox.Command whose output is handed out meanwhile: else neither might go on
local function send(box, process, data, to_terminal, following)
  local first = 1
  repeat
    local piece = data:sub(first, first + PIECE - 1)
    local op, message, code = box:start_process_send(process, piece, to_terminal)
    if op and following then call.wait_beside(following.op, following.handlers, op) end
    local ok
    ok, message, code = call.finish(op, message, code)
    if not ok then return nil, message, code end
    first = first + PIECE
  until first > #data
  return true
end

---@class stepbox.CommandResult
---@field stdout string
---@field stderr string
---@field exit_code? integer absent when it did not end by exiting
---@field how? string how it ended when not by exiting, "signal: killed"
---@field ok boolean whether it exited with 0
---@field pid? integer
---@field truncated boolean whether output was dropped: beyond `max_output`, or the sandbox's limit of output
---@field stdout_truncated boolean
---@field stderr_truncated boolean
---@field dropped? integer bytes that the engine dropped beyond the sandbox's limit `output`
local CommandResult = {}
CommandResult.__index = CommandResult

function CommandResult:__tostring() return self.stdout end

local function outcome(value, message, code, partial)
  if type(value) == "table" then
    value.ok = value.exit_code == 0
    return setmetatable(value, CommandResult)
  end
  if partial then outcome(partial) end
  return nil, message, code, partial
end

--- A process that runs, or ran, in a sandbox. Letting go of the handle leaves the process alone.
---@class stepbox.Command
---@field pid integer its id in the sandbox
---@field stdout string what it has written so far
---@field stderr string
---@field done boolean whether it has ended, or is not followed any more
---@field exit_code? integer when it has ended by exiting
local Command = {}

local properties = {}

function properties:pid() return self.op:pid() or self.known_pid end

function properties:done()
  task.poll()
  return self.outcome ~= nil or self.op:done()
end

function properties:stdout()
  task.poll()
  return (self.op:stdout())
end

function properties:stderr()
  task.poll()
  return (self.op:stderr())
end

function properties:exit_code()
  local result = properties.done(self) and not self.disconnected and self:wait()
  return result and result.exit_code or nil
end

function Command.__index(self, key)
  local method = Command[key]
  if method ~= nil then return method end
  local property = properties[key]
  if property then return property(self) end
end

local function settle(self, ...)
  if not self.outcome then self.outcome = { n = select("#", ...), outcome(...) } end
  return self.outcome[1], self.outcome[2], self.outcome[3], self.outcome[4]
end

--- Waits until the process has ended; what `on_stdout` and `on_stderr` were given for is called in here. A
--- non-zero exit is a result.
---@return stepbox.CommandResult|nil result
---@return string? message
---@return string? code "timeout" when its deadline passed and it was killed
---@return stepbox.CommandResult? partial what had arrived
function Command:wait()
  if self.outcome then return settle(self) end
  return settle(self, call.wait_with(self.handlers, self.op))
end

--- Kills the process and all that it started.
---@return true|nil
---@return string? message
---@return string? code "process_gone" when it had ended
function Command:kill() return self:signal "KILL" end

--- Sends a signal: a name ("TERM", "SIGINT") or a number. E2B's own servers know TERM and KILL alone.
---@param signal string|integer
---@return true|nil
---@return string? message
---@return string? code "process_gone" when it had ended, "unsupported" where the server does not know it
function Command:signal(signal)
  check.argument("signal", 1, rules.signal, signal)
  return call.finish(self.box:start_process_signal({ pid = self.pid }, signal_number(signal)))
end

--- Writes to its standard input, which `stdin = true` left open, and waits until it was taken; what
--- `on_stdout` and `on_stderr` were given for is called in here too.
---@param data string
---@return true|nil
---@return string? message
---@return string? code "process_gone" when it has ended, or reads no more; "timeout" when it did not read
function Command:send_stdin(data)
  check.argument("send_stdin", 1, check.string, data)
  return send(self.box, { pid = self.pid }, data, false, self)
end

--- Closes its standard input: the process reads an end.
---@return true|nil
---@return string? message
---@return string? code
function Command:close_stdin() return call.finish(self.box:start_process_close_stdin { pid = self.pid }) end

--- Stops following the process, which goes on. `box.commands:connect(pid)` follows it again.
function Command:disconnect()
  if self.outcome then return end
  self.known_pid, self.disconnected = self.op:pid(), true
  self.op:cancel()
  settle(self, self.op:result())
end

Command.__close = Command.disconnect

function Command.__tostring(self)
  return "stepbox.Command " .. tostring(self.pid) .. (self.outcome and " (done)" or "")
end

--- A handle for a started operation, once the process's id is known.
---@return stepbox.Command|nil handle
---@return string? message
---@return string? code
local function follow(box, handlers, op, message, code)
  if not op then return nil, message, code end
  while not op:pid() and not op:done() do task.await(op) end
  if not op:pid() then
    local value, why, kind = op:result()
    if not value then return nil, why, kind end
  end
  return setmetatable({ box = box, op = op, handlers = handlers }, Command)
end

return {
  Command = Command,
  PIECE = PIECE,
  follow = follow,
  outcome = outcome,
  rules = rules,
  selector = selector,
  send = send,
  signal_number = signal_number,
  split = split,
}
