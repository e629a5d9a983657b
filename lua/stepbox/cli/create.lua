--- Makes a sandbox as the options of `new`, `run` and `repl` say.

local stepbox = require "stepbox"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"

--- The engine starts by itself; that is asked for first so that the progress line can tell.
local function start_engine()
  local client = status.check(stepbox.client())
  if not client.local_engine then return end
  progress.set "starting the engine"
  status.check(require("stepbox.engine").start())
end

local function show_failed_command(failed)
  if type(failed) ~= "table" then return end
  output.err(failed.stdout or "")
  output.err(failed.stderr or "")
end

--- What may be reached. What is allowed alone is allowed from among everything denied.
local function network_of(arguments)
  local allowed, denied = arguments.allow, arguments.deny
  if not allowed[1] and not denied[1] then return nil end
  if allowed[1] and not denied[1] and not arguments.internet then denied = { "0.0.0.0/0", "::/0" } end
  return { allow_out = allowed, deny_out = denied }
end

--- An owned box. `life`: seconds, or nil.
return function(arguments, life)
  if arguments.snapshot and arguments.template then
    arguments.fail "--snapshot and --template do not go together"
  end
  start_engine()
  progress.set(arguments.setup[1] and "making the sandbox and setting it up" or "making the sandbox")
  local box, message, code, failed = stepbox.create {
    template = arguments.template,
    snapshot = arguments.snapshot,
    timeout = life,
    setup = arguments.setup,
    envs = arguments.envs,
    metadata = arguments.metadata,
    memory = arguments.memory,
    disk = arguments.disk,
    cpus = arguments.cpus,
    processes = arguments.processes,
    open_files = arguments.open_files,
    output = arguments.output,
    allow_internet = arguments.internet,
    network = network_of(arguments),
    egress_proxy = arguments.proxy,
    on_timeout = arguments.on_timeout,
    auto_resume = arguments.auto_resume,
    record = arguments.notebook ~= nil,
  }
  progress.set(nil)
  if not box then
    if not arguments.json then show_failed_command(failed) end
    status.leave(status.of_code(code), message, code)
  end
  return box
end
