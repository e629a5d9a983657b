--- A box: the handle of one sandbox. Adds the public methods to the userdata of the core.

local core = require "stepbox.core"
local call = require "stepbox.call"
local Commands = require "stepbox.commands"
local Files = require "stepbox.files"
local Pty = require "stepbox.pty"
local check = require "stepbox.options"
local json = require "stepbox.json"
local network = require "stepbox.network"
local result = require "stepbox.result"
local timestamp = require "stepbox.timestamp"

--- The handle of a sandbox. One that `create` made owns it: `kill`, a `<close>` variable that ends, the
--- collector and the end of the program all kill the sandbox. One that `connect` made does not own it.
---@class stepbox.Box
---@field id string the sandbox's id, to hand on to another process
---@field owned boolean whether this handle kills the sandbox when it goes
---@field closed boolean whether it was killed or closed through this handle
---@field commands stepbox.Commands
---@field pty stepbox.Pty
---@field files stepbox.Files
---@field git stepbox.Git
local Box = core.box_methods

-- Made anew whenever it is asked for: a box that kept them could not be collected in Lua 5.1.
local function property(name, class)
  core.box_properties[name] = function(box) return setmetatable({ box = box }, class) end
end

property("commands", Commands)
property("pty", Pty)
property("files", Files)
-- Many files, for few programs: loaded when they are asked for.
core.box_properties.git = function(box) return setmetatable({ box = box }, require "stepbox.git") end

local STEP_OPTIONS = {
  language = check.string,
  context = check.string,
  envs = check.envs,
  timeout = check.seconds,
  on_stdout = check.callable,
  on_stderr = check.callable,
  on_result = check.callable,
  on_error = check.callable,
  max_output = check.count,
}

local RESUME_OPTIONS = { timeout = check.seconds }

local SNAPSHOT_OPTIONS = { name = check.text }

local function wants_events(options)
  return (options.on_stdout or options.on_stderr or options.on_result or options.on_error) ~= nil
end

--- The step's value, or the failure with the partial execution as fourth value.
local function outcome(value, message, code, partial)
  if value then return result.execution(value) end
  return nil, message, code, partial and result.execution(partial)
end

---@class stepbox.StepOptions
---@field language? string "python" and what else the sandbox offers
---@field context? string a context's id; not together with language
---@field envs? table<string, string> variables for this step alone
---@field timeout? number seconds; the step's deadline, default 300. The state survives it
---@field on_stdout? fun(text: string, time: number) gets each piece of output as it comes
---@field on_stderr? fun(text: string, time: number)
---@field on_result? fun(result: stepbox.Result)
---@field on_error? fun(error: stepbox.StepError)
---@field max_output? integer bytes kept of each stream, default 32 MiB; the rest is read and dropped

--- Runs code; variables, imports and files stay for the next step. Code that raises is no failure: look at
--- `execution.error`. On a failure the fourth value is what had arrived.
---@param code string
---@param options? stepbox.StepOptions
---@return stepbox.Execution|nil execution
---@return string? message
---@return string? code
---@return stepbox.Execution? partial
function Box:step(code, options)
  check.argument("step", 1, check.string, code)
  options = check.options("step", options, STEP_OPTIONS)
  if options.language and options.context then
    error("bad options of 'step' (only one of 'language' and 'context' can be given)", 2)
  end
  local events = wants_events(options)
  local wire = {
    language = options.language,
    context = options.context,
    envs = options.envs,
    timeout = options.timeout,
    max_output = options.max_output,
    events = events,
  }
  if events then return outcome(call.finish_with(options, self:start_step(code, wire))) end
  return outcome(call.finish(self:start_step(code, wire)))
end

--- Kills the sandbox, owned or not, and closes this handle.
---@return true|nil
---@return string? message
---@return string? code "not_found" when it was gone already, "closed" when this handle had closed it
function Box:kill() return call.finish(self:start_kill()) end

--- Gives up ownership: the sandbox stays until its timeout, and another process can connect to it.
---@return string|nil id
---@return string? message
---@return string? code
function Box:detach()
  local ok, message, code = call.finish(self:start_detach())
  if not ok then return nil, message, code end
  return self.id
end

--- What the local engine alone tells of a sandbox, by the names of its API.
---@class stepbox.Details
---@field limits table what is in force: memoryMB, diskMB, cpuCount, processes, openFiles; `by`: "cgroup2",
---  "cgroup1" or "rlimit"; `notEnforced`: names of those that hold for each process or user alone
---@field network table `access`: "none", "allowed" (what allow_out has) or "internet"; allowOut, denyOut and
---  egressProxy as they are in force; `link`: "none", "up", "down", with `error`
---@field isolation table `ids`: "range" when it has a root of its own, else "single" and `why`; `systemTree`:
---  what root may change, "writable" (all), "local" (/usr/local) or "readonly"
---@field refusedCalls table<string, integer> how often which system call was refused
---@field runners table how contexts are started

--- What is known of a sandbox.
---@class stepbox.Info
---@field id string
---@field template string
---@field alias? string
---@field state "running"|"paused"
---@field started_at number Unix seconds
---@field end_at number Unix seconds; when its life will be over unless its timeout is set anew; of a paused
---  one, when it was paused
---@field cpu_count integer
---@field memory_mb integer
---@field disk_mb integer
---@field metadata table<string, string>
---@field envd_version? string
---@field domain? string
---@field details? stepbox.Details what the local engine tells in addition

--- What the engine knows of the sandbox.
---@return stepbox.Info|nil
---@return string? message
---@return string? code
function Box:info()
  local info, message, code = call.finish(self:start_info())
  if info and info.details then info.details = json.decode(info.details) end
  return info, message, code
end

--- Lets the sandbox live for that long from now, shorter or longer than it had.
---@param seconds number
---@return true|nil
---@return string? message
---@return string? code
function Box:set_timeout(seconds)
  check.argument("set_timeout", 1, check.seconds, seconds)
  return call.finish(self:start_set_timeout(seconds))
end

---@class stepbox.NetworkOptions
---@field allow_internet? boolean without it as it was
---@field allow_out? string[] addresses, ranges and names, as in `network` of create
---@field deny_out? string[] addresses and ranges
---@field egress_proxy? string|table as in create

--- Says anew what the sandbox may reach, also through connections that are open. What is not mentioned is
--- cleared.
---@param options stepbox.NetworkOptions
---@return true|nil
---@return string? message
---@return string? code
function Box:set_network(options)
  options = check.options("set_network", options, network.options)
  local wire = network.add({ allow_internet = options.allow_internet }, options, options.egress_proxy)
  return call.finish(self:start_set_network(wire))
end

--- Has everything in the sandbox stand still: programs, steps and connections, which all stay, and its life.
--- Until it goes on, calls of it end as "unavailable", unless it was made with `auto_resume`.
---@return boolean|nil paused false when it was paused already
---@return string? message
---@return string? code
function Box:pause() return call.finish(self:start_pause()) end

--- Lets a paused sandbox go on.
---@param options? {timeout?: number} seconds to live from then, default 300; one that was not paused lives at
---  least as long
---@return boolean|nil resumed false when it was not paused
---@return string? message
---@return string? code
function Box:resume(options)
  options = check.options("resume", options, RESUME_OPTIONS)
  return call.finish(self:start_resume(options.timeout or 0))
end

--- Keeps the sandbox's files as they are now, for other sandboxes to begin with: `create { snapshot = id }`.
--- What runs in it stands still for a moment, and is not kept.
---@param options? {name?: string} a name that is known stands for the new one from now on
---@return string|nil id
---@return string? message
---@return string? code
function Box:snapshot(options)
  options = check.options("snapshot", options, SNAPSHOT_OPTIONS)
  local text, message, code = call.finish(self:start_snapshot(options.name))
  if not text then return nil, message, code end
  return json.decode(text).snapshotID
end

--- Whether the sandbox runs, and is not paused.
---@return boolean|nil
---@return string? message
---@return string? code
function Box:is_running() return call.finish(self:start_is_running()) end

--- A line of a sandbox's log.
---@class stepbox.LogEntry
---@field time number Unix seconds
---@field level "debug"|"info"|"warn"|"error"
---@field message string
---@field fields table<string, string> more; the local engine gives `source`, "engine" or "agent"

---@class stepbox.LogsOptions
---@field since? number Unix seconds; only what happened from then on, with `backward` up to then
---@field limit? integer at most that many, 1 to 1000; default 1000
---@field backward? boolean the newest first
---@field level? "debug"|"info"|"warn"|"error" the least grave that is wanted
---@field search? string only messages that have this text

local LEVELS = { debug = true, info = true, warn = true, error = true }

local LOGS_OPTIONS = {
  since = check.seconds,
  limit = function(value)
    local wrong = check.count(value)
    if wrong then return wrong end
    if value > 1000 then return "at most 1000 expected, got " .. tostring(value) end
  end,
  backward = check.boolean,
  level = function(value)
    if not LEVELS[value] then return "debug, info, warn or error expected, got " .. tostring(value) end
  end,
  search = check.string,
}

local function log_entry(raw)
  return {
    time = timestamp.parse(raw.timestamp) or 0,
    level = raw.level,
    message = raw.message,
    fields = type(raw.fields) == "table" and raw.fields or {},
  }
end

--- What happened to the sandbox while it runs: its life as the server saw it, and what its agent complained
--- of. The local engine keeps the newest 512 lines, as long as the sandbox is there.
---@param options? stepbox.LogsOptions
---@return stepbox.LogEntry[]|nil
---@return string? message
---@return string? code
function Box:logs(options)
  options = check.options("logs", options, LOGS_OPTIONS)
  local text, message, code = call.finish(self:start_logs {
    cursor = options.since and math.floor(options.since * 1000),
    limit = options.limit,
    backward = options.backward,
    level = options.level,
    search = options.search,
  })
  if not text then return nil, message, code end
  local entries = {}
  for i, raw in ipairs(json.decode(text).logs or {}) do entries[i] = log_entry(raw) end
  return entries
end

local METRICS_OPTIONS = {
  start = check.seconds,
  end_ = check.seconds,
}

--- What a sandbox had taken of its host at a moment.
---@class stepbox.Metric
---@field timestamp number Unix seconds
---@field cpu_count number
---@field cpu_percent number of all its processors, since the sample before: 0 to 100
---@field memory_used number bytes, without the cache
---@field memory_total number
---@field memory_cache number bytes that give way when memory is needed
---@field disk_used number bytes
---@field disk_total number

---@class stepbox.MetricsOptions
---@field start? number Unix seconds; default: from the first sample
---@field end_? number Unix seconds; default: up to now

--- What the sandbox has taken of its host: a sample every few seconds, and one taken now, the oldest first.
---@param options? stepbox.MetricsOptions
---@return stepbox.Metric[]|nil
---@return string? message
---@return string? code
function Box:metrics(options)
  options = check.options("metrics", options, METRICS_OPTIONS)
  local text, message, code = call.finish(self:start_metrics {
    start = options.start and math.floor(options.start),
    end_ = options.end_ and math.ceil(options.end_),
  })
  if not text then return nil, message, code end
  local metrics = {}
  for i, raw in ipairs(json.decode(text)) do
    metrics[i] = {
      timestamp = raw.timestampUnix,
      cpu_count = raw.cpuCount,
      cpu_percent = raw.cpuUsedPct,
      memory_used = raw.memUsed,
      memory_total = raw.memTotal,
      memory_cache = raw.memCache,
      disk_used = raw.diskUsed,
      disk_total = raw.diskTotal,
    }
  end
  return metrics
end

--- Interrupts the step that runs in a context, from another task or process; its state is kept, and the step
--- ends with a KeyboardInterrupt in `error`.
---@param context? string a context's id; default the default context
---@return boolean|nil interrupted whether something was running
---@return string? message
---@return string? code "unsupported" on servers that cannot (E2B's own)
function Box:interrupt(context)
  if context ~= nil then check.argument("interrupt", 1, check.string, context) end
  return call.finish(self:start_interrupt(context))
end

return Box
