--- stepbox sh: runs a command in a sandbox. Between two terminals it runs on a terminal of its own there;
--- else its streams are joined to ours.

local stepbox = require "stepbox"
local console = require "stepbox.console"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local STDIN, STDOUT = 0, 1
local PIECE = 65536

-- What a shell adds to a signal's number, and the servers' words for how a program ended.
local SIGNALLED = 128
local SIGNALS = {
  hangup = 1, interrupt = 2, quit = 3, aborted = 6, killed = 9, ["segmentation fault"] = 11,
  ["broken pipe"] = 13, ["alarm clock"] = 14, terminated = 15,
}
local ENDED_SOMEHOW = 255

local function status_of(result)
  if result.exit_code then return result.exit_code end
  local number = SIGNALS[((result.how or ""):match "^signal: ([%a ]+)" or ""):gsub(" +$", "")]
  return number and SIGNALLED + number or ENDED_SOMEHOW
end

--- A line for the shell, or a program and its arguments.
local function command_of(words)
  if #words == 1 then return words[1] end
  return words[1] and words or nil
end

--- Reads stdin while there is somebody who takes it, one piece after the other. `take(piece)` and
--- `finish()` are called in tasks of their own.
local function feed(sources, take, finish)
  local function read()
    sources[STDIN] = nil
    local piece = console.read(STDIN, PIECE)
    stepbox.spawn(function()
      if not piece or piece == "" then return finish() end
      if take(piece) then sources[STDIN] = read end
    end)
  end
  sources[STDIN] = read
end

--- What the command's end means for us.
local function conclude(state, result, message, code)
  if result then return status_of(result) end
  if state.status then return state.status end
  status.leave(status.of_code(code), message, code)
end

local function terminal_environment(envs)
  for _, name in ipairs { "TERM", "COLORTERM" } do
    envs[name] = envs[name] or os.getenv(name)
  end
  return envs
end

local function run_on_terminal(box, arguments, running, state)
  local columns, rows = console.size(STDOUT)
  local terminal = status.check(box.pty:create {
    cols = columns, rows = rows,
    command = command_of(arguments.command),
    cwd = arguments.cwd, user = arguments.user, timeout = arguments.timeout,
    envs = terminal_environment(arguments.envs),
    on_data = output.out,
  })
  progress.set(nil)
  local raw = status.check(console.raw(STDIN))
  running.raw, running.terminal = raw, terminal
  feed(running.sources, function(keys) return terminal:send(keys) end, function() end)
  local ok, result, message, code = pcall(terminal.wait, terminal)
  running.sources[STDIN] = nil
  raw:restore()
  if not ok or not result then terminal:kill() end
  if not ok then error(result, 0) end
  return conclude(state, result, message, code)
end

local function print_json(result, failure)
  local json = require "stepbox.json_text"
  output.json {
    exit_code = result.exit_code or json.null, how = result.how or json.null,
    stdout = result.stdout, stderr = result.stderr, truncated = result.truncated,
    dropped = result.dropped, failure = failure,
  }
end

local function run_on_streams(box, arguments, running, state)
  local words = command_of(arguments.command)
  if not words then words = { "bash", "-l" } end
  local is_json = arguments.json
  local command = status.check(box.commands:run(words, {
    background = true, bound = true, stdin = true,
    cwd = arguments.cwd, user = arguments.user, timeout = arguments.timeout, envs = arguments.envs,
    on_stdout = not is_json and output.out or nil,
    on_stderr = not is_json and output.err or nil,
    max_output = not is_json and 1 or nil, -- it is passed on, not kept
  }))
  progress.set(is_json and "running" or nil)
  running.command = command
  feed(running.sources, function(piece) return command:send_stdin(piece) end,
    function() command:close_stdin() end)
  local result, message, code, partial = command:wait()
  running.command = nil
  running.sources[STDIN] = nil
  if is_json and (result or partial) then
    print_json(result or partial, not result and { code = code, message = message } or nil)
    return result and status_of(result) or state.status or status.of_code(code)
  end
  if result then output.dropped(result) end
  return conclude(state, result, message, code)
end

local function on_resize(running)
  local columns, rows = console.size(STDOUT)
  if not columns or not running.terminal then return end
  stepbox.spawn(function() running.terminal:resize(columns, rows) end)
end

--- Ctrl-C where it is a signal: the command gets it; what does not end by it is killed by the next.
local function on_interrupt(running, task, count)
  local command = running.command
  if not command or count > 1 then return task:cancel() end
  stepbox.spawn(function()
    local ok, _, code = command:signal "INT"
    if not ok and code == "unsupported" then command:kill() end
  end)
end

return function(arguments)
  local is_terminal = console.is_terminal(STDIN) and console.is_terminal(STDOUT) and not arguments.json
  local run = is_terminal and run_on_terminal or run_on_streams
  local running = { sources = {} }
  progress.set "connecting"
  return wait.run(function(state)
    local box = status.check(stepbox.connect(arguments.id))
    return run(box, arguments, running, state)
  end, {
    sources = running.sources,
    on_resize = is_terminal and function() on_resize(running) end or nil,
    on_interrupt = function(task, count) on_interrupt(running, task, count) end,
  })
end
