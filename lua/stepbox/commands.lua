--- Commands in a sandbox: box.commands.

local call = require "stepbox.call"
local check = require "stepbox.options"
local namespace = require "stepbox.namespace"
local process = require "stepbox.process"
local task = require "stepbox.task"

--- The commands of a box.
---@class stepbox.Commands
local Commands, box_of = namespace "box.commands"

local RUN_OPTIONS = {
  cwd = check.text,
  envs = check.envs,
  user = check.text,
  timeout = check.seconds,
  stdin = function(value)
    local kind = type(value)
    if kind ~= "string" and kind ~= "boolean" and check.callable(value) then
      return "string, function or boolean expected, got " .. kind
    end
  end,
  on_stdout = check.callable,
  on_stderr = check.callable,
  background = check.boolean,
  bound = check.boolean,
  tag = check.text,
  max_output = check.count,
}

local CONNECT_OPTIONS = {
  timeout = check.seconds,
  on_stdout = check.callable,
  on_stderr = check.callable,
  max_output = check.count,
}

--- Raises when it is no command.
local function check_command(command)
  if type(command) == "string" then
    if command == "" then error("bad argument #1 to 'run' (the command is empty)", 3) end
    check.argument("run", 1, check.text, command, 4)
    return
  end
  local wrong = check.strings(command) or check.text(table.concat(command))
  if wrong then error("bad argument #1 to 'run' (string or " .. wrong .. ")", 3) end
  if not command[1] or command[1] == "" then
    error("bad argument #1 to 'run' (the list names no program)", 3)
  end
end

--- The pieces of `stdin`, one a call, then nil. What raises there ends the command.
local function pieces_of(stdin, op)
  local given = false
  return function()
    local ok, piece = true, stdin
    if type(stdin) ~= "string" then
      ok, piece = pcall(stdin)
    elseif given then
      return nil
    end
    given = true
    if ok and (piece == nil or type(piece) == "string") then return piece end
    op:close()
    error(ok and "the function 'stdin' gave a " .. type(piece) or piece, 0)
  end
end

--- Gives a running process its input while its output is taken, so that neither waits for the other.
---@return string? message why it did not get all of it
---@return string? code "process_gone" or "invalid" when it reads no more
local function feed(box, op, handlers, stdin)
  local pieces = pieces_of(stdin, op)
  while not op:pid() and not op:done() do
    call.deliver_waiting(op, handlers)
    if not op:pid() and not op:done() then task.await(op) end
  end
  if op:done() then return end
  local target = { pid = op:pid() }
  -- Nothing comes of it when the command has ended meanwhile.
  local function finish(sending, message, code)
    if sending then
      call.wait_beside(op, handlers, sending)
      if not sending:done() then return sending:close() end
    end
    return call.finish(sending, message, code)
  end
  for piece in pieces do
    for first = 1, #piece, process.PIECE do
      local part = piece:sub(first, first + process.PIECE - 1)
      -- A program may take its time before it reads: the deadline is the command's.
      local ok, message, code = finish(box:start_process_send(target, part, false, math.huge))
      if not ok then return message, code end
    end
  end
  local _, message, code = finish(box:start_process_close_stdin(target))
  return message, code
end

local function run_with_input(box, handlers, stdin, op, ...)
  if not op then return nil, ... end
  local message, code = feed(box, op, handlers, stdin)
  -- A program that reads no more has ended, or will: its result tells what it thought of its input. One that
  -- should have got more, and would go on with a part of it, is killed.
  if code and code ~= "process_gone" and code ~= "invalid" and not op:done() then
    op:cancel()
    local partial = select(4, op:result())
    op:close()
    return nil, "stdin: " .. message, code, partial
  end
  return call.finish_with(handlers, op)
end

---@class stepbox.RunOptions
---@field cwd? string default the home directory
---@field envs? table<string, string> variables for this command
---@field user? string default the sandbox's own user
---@field timeout? number seconds, then it is killed with all it started; default 300, in background none
---@field stdin? string|boolean|(fun(): string|nil) what it reads; `true`: what `send_stdin` will give
---@field on_stdout? fun(text: string, time: number) gets each piece of output as it comes
---@field on_stderr? fun(text: string, time: number)
---@field background? boolean return a handle as soon as the command has started
---@field bound? boolean in the background too: kill it when the handle is let go of, or the program ends
---@field tag? string a name to find the process by
---@field max_output? integer bytes kept of each stream, default 32 MiB; the rest is read and dropped

--- Runs a command. A string is a line for `bash -l -c`; a list is a program and its arguments, run without a
--- shell. A non-zero exit is a result, not a failure. On a failure the fourth value is what had arrived.
--- `stdin` is a string, or a function that gives one piece a call and then nil; without it there is nothing
--- to read. `timeout = math.huge` is no deadline.
---@param command string|string[]
---@param options? stepbox.RunOptions
---@return stepbox.CommandResult|stepbox.Command|nil result with `background` a handle
---@return string? message
---@return string? code "timeout" when the deadline passed
---@return stepbox.CommandResult? partial
function Commands:run(command, options)
  local box = box_of(self, "run")
  check_command(command)
  local program, args = process.split(command)
  options = check.options("run", options, RUN_OPTIONS)
  local stdin = options.stdin
  if stdin == true and not options.background then
    error("bad option 'stdin' of 'run' (true needs 'background': nobody could write to it)", 2)
  end
  if stdin and stdin ~= true and options.background then
    error("bad option 'stdin' of 'run' (in the background give true, and call send_stdin)", 2)
  end
  local events = (options.on_stdout or options.on_stderr) ~= nil
  local op, message, code = box:start_command(program, {
    args = args,
    cwd = options.cwd,
    user = options.user,
    tag = options.tag,
    envs = options.envs,
    timeout = options.timeout or (options.background and math.huge) or nil,
    max_output = options.max_output,
    open_stdin = (stdin or false) ~= false,
    detached = options.background and not options.bound,
    events = events,
  })
  if options.background then return process.follow(box, options, op, message, code) end
  if stdin then return process.outcome(run_with_input(box, options, stdin, op, message, code)) end
  if events then return process.outcome(call.finish_with(options, op, message, code)) end
  return process.outcome(call.finish(op, message, code))
end

---@class stepbox.ProcessInfo
---@field pid integer
---@field tag? string
---@field command string the program
---@field args string[]
---@field cwd? string
---@field envs table<string, string>

--- The commands and terminals that run in the sandbox, whoever started them.
---@return stepbox.ProcessInfo[]|nil
---@return string? message
---@return string? code
function Commands:list() return call.finish(box_of(self, "list"):start_process_list()) end

---@class stepbox.ProcessConnectOptions
---@field timeout? number seconds that `wait` may take; the process goes on. Default: none
---@field on_stdout? fun(text: string, time: number)
---@field on_stderr? fun(text: string, time: number)
---@field max_output? integer

--- Follows a process that runs already: its output from now on, and its end.
---@param id integer|string its id or its tag
---@param options? stepbox.ProcessConnectOptions
---@return stepbox.Command|nil handle
---@return string? message
---@return string? code "process_gone" when there is none
function Commands:connect(id, options)
  local box = box_of(self, "connect")
  check.argument("connect", 1, process.rules.process, id)
  options = check.options("connect", options, CONNECT_OPTIONS)
  return process.follow(box, options, box:start_process_connect(process.selector(id), {
    timeout = options.timeout,
    max_output = options.max_output,
    events = (options.on_stdout or options.on_stderr) ~= nil,
  }))
end

--- Kills a process and all that it started.
---@param id integer|string its id or its tag
---@return true|nil
---@return string? message
---@return string? code "process_gone" when there is none
function Commands:kill(id)
  local box = box_of(self, "kill")
  check.argument("kill", 1, process.rules.process, id)
  return call.finish(box:start_process_signal(process.selector(id), 9))
end

--- Sends a signal: a name ("TERM", "SIGINT") or a number. E2B's own servers know TERM and KILL alone.
---@param id integer|string its id or its tag
---@param signal string|integer
---@return true|nil
---@return string? message
---@return string? code
function Commands:signal(id, signal)
  local box = box_of(self, "signal")
  check.argument("signal", 1, process.rules.process, id)
  check.argument("signal", 2, process.rules.signal, signal)
  return call.finish(box:start_process_signal(process.selector(id), process.signal_number(signal)))
end

--- Writes to the standard input of a process that was started with it open.
---@param id integer|string its id or its tag
---@param data string
---@return true|nil
---@return string? message
---@return string? code
function Commands:send_stdin(id, data)
  local box = box_of(self, "send_stdin")
  check.argument("send_stdin", 1, process.rules.process, id)
  check.argument("send_stdin", 2, check.string, data)
  return process.send(box, process.selector(id), data, false)
end

--- Closes the standard input of a process: it reads an end.
---@param id integer|string its id or its tag
---@return true|nil
---@return string? message
---@return string? code
function Commands:close_stdin(id)
  local box = box_of(self, "close_stdin")
  check.argument("close_stdin", 1, process.rules.process, id)
  return call.finish(box:start_process_close_stdin(process.selector(id)))
end

return Commands
