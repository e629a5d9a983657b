--- The options of the commands that make sandboxes: `new`, `run` and `repl`.

local values = require "stepbox.cli.values"

local function add_limits(command)
  command:option("--memory", "What the sandbox may take, files included.")
    :argname "SIZE":convert(values.size)
  command:option("--disk", "Of that, for files."):argname "SIZE":convert(values.size)
  command:option("--cpus", "Processors it may take; 0.5 is half of one."):argname "N":convert(values.amount)
  command:option("--processes", "Processes and threads it may have."):argname "N":convert(values.whole)
  command:option("--open-files", "Files that each process may have open."):argname "N":convert(values.whole)
  command:option("--output", "What each step and each command may put out; the rest is dropped.")
    :argname "SIZE":convert(values.size)
end

local function add_network(command)
  command:flag("--internet", "Let it reach the internet.")
  command:option("--allow", "Let it reach this: an address, a range or a name like *.example.com; without "
    .. "--internet nothing else; may be given several times.")
    :argname "WHAT":count "*":convert(values.allowed)
  command:option("--deny", "Let it reach the internet but for this address or range; may be given "
    .. "several times.")
    :argname "RANGE":count "*":convert(values.denied)
  command:option("--proxy", "A SOCKS5 proxy that all its connections go through.")
    :argname "HOST:PORT":convert(values.proxy)
end

local NAMES = {
  "template", "snapshot", "life", "on_timeout", "auto_resume", "memory", "disk", "cpus", "processes",
  "open_files", "output", "internet", "proxy", "setup", "metadata", "allow", "deny",
}

local options = {}

--- The name of one that was given, as on the command line; nil when none was.
function options.given(arguments)
  for _, name in ipairs(NAMES) do
    local value = arguments[name]
    if type(value) == "table" and next(value) == nil then value = nil end
    if value then return "--" .. name:gsub("_", "-") end
  end
end

--- Adds them. `life`: what the option for the sandbox's life is called.
function options.add(command, life)
  command:option("--template", "What the sandbox is made from."):argname "T":convert(values.filled)
  command:option("--snapshot", "Whose files it begins with; not together with --template.")
    :argname "ID":convert(values.filled)
  command:option("--setup", "A shell command to run first; may be given several times.")
    :argname "CMD":count "*":convert(values.filled)
  command:option("-e --env", "A variable; may be given several times.")
    :argname "K=V":count "*":convert(values.variable)
  command:option("--metadata", "To find it by; may be given several times.")
    :argname "K=V":count "*":convert(values.pair)
  command:option(life, "Seconds the sandbox lives (default 300)."):argname "S":convert(values.seconds)
  command:option("--on-timeout", "What happens then (default kill)."):choices { "kill", "pause" }
  command:flag("--auto-resume", "A paused one goes on when something connects to one of its ports.")
  add_limits(command)
  add_network(command)
end

return options
