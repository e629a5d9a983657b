--- Terminals in a sandbox: box.pty.

local call = require "stepbox.call"
local check = require "stepbox.options"
local namespace = require "stepbox.namespace"
local process = require "stepbox.process"
local task = require "stepbox.task"

--- The terminals of a box.
---@class stepbox.Pty
local Pty, box_of = namespace "box.pty"

local CREATE_OPTIONS = {
  cols = process.rules.size,
  rows = process.rules.size,
  command = function(value)
    if type(value) == "string" then return check.text(value) end
    local wrong = check.strings(value) or check.text(table.concat(value))
    if wrong then return "string or " .. wrong end
    if not value[1] then return "the list names no program" end
  end,
  cwd = check.text,
  envs = check.envs,
  user = check.text,
  timeout = check.seconds,
  tag = check.text,
  on_data = check.callable,
  max_output = check.count,
}

local CONNECT_OPTIONS = { timeout = check.seconds, on_data = check.callable, max_output = check.count }

--- A terminal that runs, or ran, in a sandbox. Letting go of the handle leaves it alone.
---@class stepbox.Terminal
---@field pid integer the id of its program in the sandbox
---@field output string what it has shown so far
---@field done boolean whether its program has ended, or is not followed any more
---@field exit_code? integer
local Terminal = {}

function Terminal.__index(self, key)
  local method = Terminal[key]
  if method ~= nil then return method end
  if key == "output" then return self.command.stdout end
  return self.command[key]
end

--- Types into the terminal; "\3" is Ctrl-C, "\4" is Ctrl-D. What it shows meanwhile goes to `on_data`.
---@param data string
---@return true|nil
---@return string? message
---@return string? code
function Terminal:send(data)
  check.argument("send", 1, check.string, data)
  return process.send(self.box, { pid = self.pid }, data, true, self.command)
end

--- Gives the terminal another size; its program gets SIGWINCH.
---@param cols integer
---@param rows integer
---@return true|nil
---@return string? message
---@return string? code
function Terminal:resize(cols, rows)
  check.argument("resize", 1, process.rules.size, cols)
  check.argument("resize", 2, process.rules.size, rows)
  return call.finish(self.box:start_process_resize({ pid = self.pid }, cols, rows))
end

--- Waits until its program has ended; `on_data` is called in here. `stdout` of the result is what it showed.
---@return stepbox.CommandResult|nil result
---@return string? message
---@return string? code
---@return stepbox.CommandResult? partial
function Terminal:wait() return self.command:wait() end

local EXPECT_OPTIONS = { timeout = check.seconds }
local EXPECT_SECONDS = 30

--- Searches what the terminal has shown since `looked`: where `text` ends in all that it showed, else nil and
--- from where on to look again, so that much output is not searched anew with each piece of it.
local function look_for(op, text, looked)
  local output = op:stdout(looked)
  local _, last = output:find(text, 1, true)
  if last then return looked + last end
  return nil, looked + math.max(0, #output - #text + 1)
end

--- Why the text will not be shown any more.
local function explain_end(op, instead)
  local value, message, code = op:result()
  if value then return nil, "the program ended without showing it", "closed", instead end
  return nil, message, code, instead
end

---@class stepbox.ExpectOptions
---@field timeout? number seconds, default 30

--- Waits until the terminal shows a text, and returns what it showed up to its end. What was returned before
--- is not looked at again. Only without `on_data`. On a failure the fourth value is what it showed instead.
---@param text string plain, not a pattern
---@param options? stepbox.ExpectOptions
---@return string|nil output
---@return string? message
---@return string? code "timeout", "closed" when the program ended, "too_large" when `max_output` was reached
---@return string? instead
function Terminal:expect(text, options)
  check.argument("expect", 1, check.string, text)
  options = check.options("expect", options, EXPECT_OPTIONS)
  if self.command.handlers.on_pty then error("'expect' cannot be used together with 'on_data'", 2) end
  local op, begin = self.command.op, self.seen or 0
  local timer, message, code = task.loop():start_sleep(options.timeout or EXPECT_SECONDS)
  if not timer then return nil, message, code end
  local function is_over() return op:done() or timer:done() or select(2, op:stdout(math.huge)) end
  local last, looked = look_for(op, text, begin)
  while not last and not is_over() do
    task.await(timer, op) -- in this order, so that a task's cancel ends this call alone
    last, looked = look_for(op, text, looked)
  end
  local shown, ok = op:stdout(begin), true
  if timer:done() then ok, message, code = timer:result() end
  timer:close()
  if last then
    self.seen = last
    return shown:sub(1, last - begin)
  end
  if not ok then return nil, message, code, shown end
  if op:done() then return explain_end(op, shown) end
  if select(2, op:stdout(math.huge)) then return nil, "it has shown more than is kept", "too_large", shown end
  return nil, "it was not shown in time", "timeout", shown
end

--- Kills its program and all that it started.
---@return true|nil
---@return string? message
---@return string? code "process_gone" when it had ended
function Terminal:kill() return self.command:kill() end

--- Stops following the terminal, which goes on. `box.pty:connect(pid)` follows it again.
function Terminal:disconnect() self.command:disconnect() end

Terminal.__close = Terminal.disconnect

function Terminal.__tostring(self) return "stepbox.Terminal " .. tostring(self.pid) end

local function terminal(box, options, op, message, code)
  local command
  command, message, code = process.follow(box, { on_pty = options.on_data }, op, message, code)
  if not command then return nil, message, code end
  return setmetatable({ box = box, command = command }, Terminal)
end

---@class stepbox.PtyOptions
---@field cols? integer default 80
---@field rows? integer default 24
---@field command? string|string[] a line for `bash -l -c`, or a program with arguments; default a login shell
---@field cwd? string default the home directory
---@field envs? table<string, string>
---@field user? string
---@field timeout? number seconds, then it is killed; default none
---@field tag? string a name to find it by
---@field on_data? fun(text: string, time: number) gets what it shows, in `wait`
---@field max_output? integer bytes kept, default 32 MiB

--- Starts a program on a terminal.
---@param options? stepbox.PtyOptions
---@return stepbox.Terminal|nil terminal
---@return string? message
---@return string? code
function Pty:create(options)
  local box = box_of(self, "create")
  options = check.options("create", options, CREATE_OPTIONS)
  local command, args = process.split(options.command or "")
  return terminal(box, options, box:start_command(command, {
    args = args,
    cwd = options.cwd,
    user = options.user,
    tag = options.tag,
    envs = options.envs,
    timeout = options.timeout,
    max_output = options.max_output,
    detached = true,
    events = options.on_data ~= nil,
    cols = options.cols or 80,
    rows = options.rows or 24,
  }))
end

---@class stepbox.PtyConnectOptions
---@field timeout? number seconds that `wait` may take; the program goes on. Default: none
---@field on_data? fun(text: string, time: number)
---@field max_output? integer

--- Follows a terminal that runs already: what it shows from now on, and its end.
---@param id integer|string the id of its program, or its tag
---@param options? stepbox.PtyConnectOptions
---@return stepbox.Terminal|nil terminal
---@return string? message
---@return string? code "process_gone" when there is none
function Pty:connect(id, options)
  local box = box_of(self, "connect")
  check.argument("connect", 1, process.rules.process, id)
  options = check.options("connect", options, CONNECT_OPTIONS)
  return terminal(box, options, box:start_process_connect(process.selector(id), {
    timeout = options.timeout,
    max_output = options.max_output,
    events = options.on_data ~= nil,
  }))
end

--- Types into a terminal.
---@param id integer|string
---@param data string
---@return true|nil
---@return string? message
---@return string? code
function Pty:send(id, data)
  local box = box_of(self, "send")
  check.argument("send", 1, process.rules.process, id)
  check.argument("send", 2, check.string, data)
  return process.send(box, process.selector(id), data, true)
end

--- Gives a terminal another size.
---@param id integer|string
---@param cols integer
---@param rows integer
---@return true|nil
---@return string? message
---@return string? code
function Pty:resize(id, cols, rows)
  local box = box_of(self, "resize")
  check.argument("resize", 1, process.rules.process, id)
  check.argument("resize", 2, process.rules.size, cols)
  check.argument("resize", 3, process.rules.size, rows)
  return call.finish(box:start_process_resize(process.selector(id), cols, rows))
end

--- Kills a terminal's program and all that it started.
---@param id integer|string
---@return true|nil
---@return string? message
---@return string? code "process_gone" when there is none
function Pty:kill(id)
  local box = box_of(self, "kill")
  check.argument("kill", 1, process.rules.process, id)
  return call.finish(box:start_process_signal(process.selector(id), 9))
end

return Pty
