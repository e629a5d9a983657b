--- The local engine itself: `require "stepbox.engine"`. Programs need none of this, since the engine starts
--- when it is first needed and leaves by itself; it is for tools.

local call = require "stepbox.call"
local check = require "stepbox.options"
local json = require "stepbox.json"
local new_client = require "stepbox.client"
local timestamp = require "stepbox.timestamp"

---@class stepbox.engine
local engine = {}

--- What the engine is and does.
---@class stepbox.EngineStatus
---@field version string
---@field pid integer
---@field socket? string
---@field started_at number Unix seconds
---@field sandboxes integer how many run, or start, or end
---@field connections integer
---@field idle_timeout number seconds without sandbox and client after which it leaves; 0: never
---@field languages string[] those that it has runners for
---@field host table what this host offers it: by what `limits` hold, the `caps` on sandboxes, ...

---@class stepbox.StopOptions: stepbox.ClientOptions
---@field force? boolean also when sandboxes run in it: they are killed

local STOP_OPTIONS = { force = check.boolean }
for name, rule in pairs(check.connection) do STOP_OPTIONS[name] = rule end

local function status_of(text, message, code)
  if not text then return nil, message, code end
  local raw = json.decode(text)
  local languages = {}
  for i, name in ipairs(raw.languages or {}) do languages[i] = name end
  table.sort(languages)
  return {
    version = raw.version,
    pid = raw.pid,
    socket = type(raw.socket) == "string" and raw.socket or nil,
    started_at = timestamp.parse(raw.startedAt) or 0,
    sandboxes = raw.sandboxes,
    connections = raw.connections,
    idle_timeout = raw.idleTimeout,
    languages = languages,
    host = raw.host or {},
  }
end

local function ask(may_start, options)
  local client, message, code = new_client(options)
  if not client then return nil, message, code end
  return status_of(call.finish(client.core:start_engine_status(may_start)))
end

--- Asks the engine what it does; does not start it.
---@param options? stepbox.ClientOptions
---@return stepbox.EngineStatus|nil
---@return string? message
---@return string? code "not_found" when none runs, "unsupported" when the client uses a server
function engine.status(options)
  options = check.options("status", options, check.connection)
  return ask(false, options)
end

--- Starts the engine unless it runs. Without sandbox and client it leaves after a minute.
---@param options? stepbox.ClientOptions
---@return stepbox.EngineStatus|nil
---@return string? message
---@return string? code
function engine.start(options)
  options = check.options("start", options, check.connection)
  return ask(true, options)
end

--- Has the engine leave.
---@param options? stepbox.StopOptions
---@return integer|nil killed how many sandboxes ended with it
---@return string? message
---@return string? code "not_found" when none runs, "invalid" when sandboxes run in it, without `force`
function engine.stop(options)
  local connection, force = {}, false
  for name, value in pairs(check.options("stop", options, STOP_OPTIONS)) do
    if name == "force" then force = value else connection[name] = value end
  end
  local client, message, code = new_client(connection)
  if not client then return nil, message, code end
  local text
  text, message, code = call.finish(client.core:start_engine_stop(force))
  if not text then return nil, message, code end
  return json.decode(text).sandboxes
end

return engine
