--- What is told of a sandbox: what it is, what happened to it, and what it takes. More methods of boxes.

local core = require "stepbox.core"
local call = require "stepbox.call"
local check = require "stepbox.options"
local json = require "stepbox.json"
local timestamp = require "stepbox.timestamp"

local Box = core.box_methods

--- What the local engine alone tells of a sandbox, by the names of its API.
---@class stepbox.Details
---@field limits table in force: memoryMB, diskMB, cpuCount, processes, openFiles, outputMB; `by`: "cgroup2",
---  "cgroup1" or "rlimit"; `notEnforced`: names of those that hold for each process or user alone
---@field network table `access`: "none", "allowed" (what allow_out has) or "internet"; allowOut, denyOut and
---  egressProxy as they are in force; `link`: "none", "up", "down", with `error`; `restarts`: how often
---  what carries it had to be started anew
---@field isolation table `ids`: "range" when it has a root of its own, else "single" and `why`; `systemTree`:
---  what root may change, "writable" (all), "local" (/usr/local) or "readonly"; `refusedCallsCounted`
---@field refusedCalls table<string, integer> how often which system call was refused
---@field runners table how Python contexts are started: `forked`, how many were, and `refused`, how many
---  could not be; `zygote`: the number of the process that they are forked from

--- What is known of a sandbox.
---@class stepbox.Info
---@field id string
---@field template string
---@field alias? string
---@field state "running"|"paused"
---@field started_at number Unix seconds
---@field end_at number Unix seconds; when its life will be over unless its timeout is set anew; of a paused
---  one, when it was paused
---@field cpu_count integer processors that it may use, a part of one counting as one
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
  search = check.text,
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
---@field cpu_count number processors that it may use, a part of one counting as one
---@field cpu_percent number of what it may use of them (limit `cpus`), since the sample before: 0 to 100
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
