--- The command line of `stepbox`: its commands, their options, and what is checked of both.

local argparse = require "argparse"
local add_create = require("stepbox.cli.create_options").add
local values = require "stepbox.cli.values"

local count, filled, pair, seconds, variable =
  values.count, values.filled, values.pair, values.seconds, values.variable

local USAGE = 2

--- Pairs that were given one by one, as a map.
local function to_map(pairs_given)
  local map = {}
  for _, item in ipairs(pairs_given or {}) do map[item[1]] = item[2] end
  return map
end

local function add_json(command) command:flag("--json", "Print JSON instead of text.") end

local function add_env(command)
  command:option("-e --env", "A variable; may be given several times.")
    :argname "K=V":count "*":convert(variable)
end

local function add_step(command)
  command:option("-l --lang --language", "The language of the code (default python, or what a file's ending "
    .. "says); `stepbox doctor` tells which there are."):argname "LANG":convert(filled)
  command:option("--save", "Save charts in this folder."):argname "DIR":convert(filled)
end

local function add_notebook(command)
  command:option("--notebook", "Write the session as a Jupyter notebook to this file, at the end.")
    :argname "FILE":convert(filled)
end

local function add_id(command, name)
  return command:argument(name or "id", "The sandbox's id."):convert(filled)
end

local define = {}

function define.new(command)
  command:description "Make a sandbox that stays until its time is over, and print its id."
  add_create(command, "--timeout")
end

function define.step(command)
  command:description(
    "Run code in a sandbox; variables stay for the next step. What is given is a file when there is one of "
    .. "that name, stdin for -, else code. Without any, stdin is read when it is no terminal.")
  add_id(command)
  command:argument("code", "Code, the name of a file, or -."):args "?"
  command:option("-c --code", "Code, whatever it looks like."):argname "CODE":target "literal"
  add_step(command)
  command:option("--timeout", "Seconds the step may take (default 300)."):argname "S":convert(seconds)
  add_env(command)
  command:option("--context", "The id of a context; not together with --lang."):argname "ID":convert(filled)
end

function define.run(command)
  command:description "Run a file in a sandbox of its own, which is killed at the end."
  command:argument("file", "The file, or - for stdin.")
  add_step(command)
  add_notebook(command)
  command:option("--timeout", "Seconds the code may take (default 300)."):argname "S":convert(seconds)
  add_create(command, "--life")
end

function define.repl(command)
  command:description "Run code line by line: in a sandbox that is there, or in one of its own."
  add_id(command):args "?"
  add_step(command)
  add_notebook(command)
  command:option("--timeout", "Seconds each step may take (default 300)."):argname "S":convert(seconds)
  command:option("--context", "The id of a context; not together with --lang."):argname "ID":convert(filled)
  add_create(command, "--life")
end

function define.sh(command)
  command:description(
    "Run a command in a sandbox, on a terminal when this is one. One word is a line for the shell, several "
    .. "are a program and its arguments; without any it is a login shell. The status is the command's.")
  add_id(command)
  command:argument("command", "The command."):args "*"
  command:option("--cwd", "The folder to run it in."):argname "DIR":convert(filled)
  command:option("--user", 'Whose command it is, "root" for instance.'):argname "NAME":convert(filled)
  command:option("--timeout", "Seconds, then it is killed (default: none)."):argname "S":convert(seconds)
  add_env(command)
end

function define.ls(command)
  command:description "List the sandboxes."
  command:option("--metadata", "Only those that have it; may be given several times.")
    :argname "K=V":count "*":convert(pair)
  command:option("--state", "Only those that are so."):choices { "running", "paused" }
end

function define.info(command)
  command:description "Tell what is known of a sandbox."
  add_id(command)
end

function define.kill(command)
  command:description "Kill sandboxes."
  command:argument("ids", "Their ids."):args "*":convert(filled)
  command:flag("--all", "All that `stepbox ls` lists.")
end

function define.timeout(command)
  command:description "Let a sandbox live for so many seconds from now."
  add_id(command)
  command:argument("seconds", "The seconds."):convert(seconds)
end

function define.pause(command)
  command:description "Have everything in a sandbox stand still, its life too, until it is resumed."
  add_id(command)
end

function define.resume(command)
  command:description "Let a paused sandbox go on."
  add_id(command)
  command:option("--timeout", "Seconds it lives from then (default 300)."):argname "S":convert(seconds)
end

function define.snapshot(command)
  command:description "Keep a sandbox's files for `stepbox new --snapshot`, and print the snapshot's id."
  add_id(command)
  command:option("--name", "A name for it; one that is known stands for the new one from now on.")
    :argname "NAME":convert(filled)
end

function define.snapshots(command)
  command:description "List the snapshots, or delete some."
  command:option("--box", "Only those of this sandbox."):argname "ID":convert(filled)
  command:option("--delete", "Delete this one; may be given several times.")
    :argname "SNAPSHOT":count "*":convert(filled)
end

function define.logs(command)
  command:description "Tell what happened to a sandbox."
  add_id(command)
  command:option("-n --limit", "The newest N lines (default 1000)."):argname "N":convert(count)
  command:option("--level", "The least grave that is shown."):choices { "debug", "info", "warn", "error" }
  command:option("--search", "Only lines that have this text."):argname "TEXT":convert(filled)
end

function define.metrics(command)
  command:description "Tell what a sandbox takes of its host: processors, memory, files."
  add_id(command)
  command:option("-n --limit", "The newest N samples (default 1)."):argname "N":convert(count)
end

function define.blocks(command)
  command:description "List the blocks, or run one: `stepbox blocks run NAME < input.json`."
  command:argument("action", "Only: run."):args "?":choices { "run" }
  command:argument("name", "The block's name."):args "?":convert(filled)
end

function define.engine(command)
  command:description "Start or stop the local engine, or tell what it does."
  command:argument("action"):choices { "start", "stop", "status" }
  command:flag("--force", "stop: also when sandboxes run in it; they are killed.")
end

function define.doctor(command)
  command:description "Check what the local engine needs, and say how to mend what is missing."
end

local ORDER = {
  "new", "step", "run", "repl", "sh", "ls", "info", "kill", "timeout", "pause", "resume", "snapshot",
  "snapshots", "logs", "metrics", "blocks", "engine", "doctor",
}

local SUMMARIES = {
  new = "Make a sandbox that stays, and print its id.",
  step = "Run code in a sandbox.",
  run = "Run a file in a sandbox of its own.",
  repl = "Run code line by line.",
  sh = "Run a command in a sandbox.",
  ls = "List the sandboxes.",
  info = "Tell what is known of a sandbox.",
  kill = "Kill sandboxes.",
  timeout = "Set how long a sandbox lives.",
  pause = "Have a sandbox stand still.",
  resume = "Let a paused sandbox go on.",
  snapshot = "Keep a sandbox's files for others.",
  snapshots = "List the snapshots, or delete some.",
  logs = "Tell what happened to a sandbox.",
  metrics = "Tell what a sandbox takes of its host.",
  blocks = "List the blocks, or run one.",
  engine = "Start or stop the local engine, or tell what it does.",
  doctor = "Check what the local engine needs.",
}

local arguments = { commands = ORDER }

--- How a wrong command line ends: as argparse does, but with the status that is documented.
local function fail(parser, message)
  io.stderr:write(parser:get_usage(), "\n\nstepbox: ", message, "\n")
  os.exit(USAGE)
end

--- The parser. `only`: the one command that is needed, since making all of them takes its time.
function arguments.parser(only)
  local parser = argparse("stepbox", "Isolated sandboxes for code that nobody vouches for.",
    "Exit statuses: 1 the code raised, 2 usage, 3 something failed, 124 timed out, 130 interrupted.")
  parser:command_target "command_name"
  parser:help_max_width(80):usage_max_width(80)
  parser:flag("--version", "Print the version."):action(function()
    print("stepbox " .. require("stepbox").version)
    os.exit(0)
  end)
  local commands = {}
  for _, name in ipairs(ORDER) do
    if not only or only == name then
      local command = parser:command(name):summary(SUMMARIES[name])
      define[name](command)
      commands[name] = command
      add_json(command)
    end
  end
  if not only then parser:add_complete_command "completion" end
  parser.error = fail
  return parser, commands
end

--- Puts "--" before the words of `stepbox sh ID WORDS`, which are the command's own.
local function protect_words(words, parser_of_sh)
  local takes_value = {}
  for _, option in ipairs(parser_of_sh) do takes_value[option] = true end
  local i = 2
  while words[i] and words[i]:sub(1, 1) == "-" and words[i] ~= "--" do
    i = i + (takes_value[words[i]] and 2 or 1)
  end
  if words[i] and words[i] ~= "--" and words[i + 1] ~= "--" then table.insert(words, i + 1, "--") end
end

--- Joins "-c" and the code behind it, which may begin with a dash.
local function join_code(words)
  for i = #words - 1, 2, -1 do
    if words[i] == "-c" or words[i] == "--code" then
      words[i] = "--code=" .. table.remove(words, i + 1)
    end
  end
end

local SH_OPTIONS = { "--cwd", "--user", "--timeout", "--env", "-e" }

--- What was asked for, as a table; ends the program when it makes no sense.
function arguments.parse(given)
  local words = {}
  for i = 1, #given do words[i] = given[i] end
  if words[1] == "sh" then protect_words(words, SH_OPTIONS) end
  if words[1] == "step" then join_code(words) end
  local parser, commands = arguments.parser(define[words[1]] and words[1])
  local parsed = parser:parse(words)
  parsed.envs, parsed.metadata = to_map(parsed.env), to_map(parsed.metadata)
  parsed.fail = function(message) fail(commands[parsed.command_name], message) end
  return parsed
end

return arguments
