--- stepbox: isolated sandboxes for code that nobody vouches for, used step by step with the state kept.
---
---     local stepbox = require "stepbox"
---     local box <close> = assert(stepbox.create { timeout = 300 })
---     box:step "x = 20 + 1"
---     print(assert(box:step "x * 2").text)  --> 42

local core = require "stepbox.core"
local call = require "stepbox.call"
local new_client = require "stepbox.client"
local check = require "stepbox.options"
local task = require "stepbox.task"
require "stepbox.ports"

---@class stepbox
---@field version string
---@field null userdata JSON's null in results, the same value as lua-cjson's
---@field loop stepbox.Loop for hosts with a loop of their own
local stepbox = {
  version = core.version,
  null = core.null,
  loop = task.host,
  client = new_client,
  run = task.run,
  spawn = task.spawn,
}

--- Waits for so many seconds; in a task the others go on.
---@param seconds number
---@return true|nil
---@return string? message
---@return string? code "cancelled" when the task was
function stepbox.sleep(seconds)
  check.argument("sleep", 1, check.seconds, seconds)
  return call.finish(task.loop():start_sleep(seconds))
end

local default

--- The client for a call, and the options that are left for the call itself. Connection options make a
--- client of their own; without them it is the default client, made from the environment. `request_timeout`
--- is left for the call too where that takes it.
local function client_for(name, options, takes_timeout)
  if type(options) ~= "table" then options = check.options(name, options, {}, 3) end
  local connection, rest, own = {}, {}, false
  for option, value in pairs(options) do
    if option == "request_timeout" and takes_timeout then
      rest[option] = value
    elseif check.connection[option] then
      connection[option], own = value, true
    else
      rest[option] = value
    end
  end
  if own then
    check.options(name, connection, check.connection, 3)
    local made, message, code = new_client(connection)
    return made, made and rest or message, code
  end
  if not default then
    local made, message, code = new_client()
    if not made then return nil, message, code end
    default = made
  end
  return default, rest
end

--- Makes a sandbox with the default client, or with one made from the connection options among `options`.
---@param options? stepbox.CreateOptions
---@return stepbox.Box|nil box
---@return string? message
---@return string? code
---@return table? failed_command
function stepbox.create(options)
  local client, rest, code = client_for("create", options, true)
  if not client then return nil, rest, code end
  return client:create(rest)
end

--- A box for a sandbox that exists.
---@param id string
---@param options? stepbox.ConnectOptions
---@return stepbox.Box|nil box
---@return string? message
---@return string? code
function stepbox.connect(id, options)
  check.argument("connect", 1, check.string, id)
  local client, rest, code = client_for("connect", options, true)
  if not client then return nil, rest, code end
  return client:connect(id, rest)
end

--- Iterates over the sandboxes.
---@param options? stepbox.ListOptions
---@return (fun(): stepbox.Info|nil)|nil iterator
---@return string? message
---@return string? code
function stepbox.list(options)
  local client, rest, code = client_for("list", options)
  if not client then return nil, rest, code end
  return client:list(rest)
end

--- Kills a sandbox by its id.
---@param id string
---@param options? stepbox.ClientOptions
---@return true|nil
---@return string? message
---@return string? code
function stepbox.kill(id, options)
  check.argument("kill", 1, check.string, id)
  local client, rest, code = client_for("kill", options)
  if not client then return nil, rest, code end
  return client:kill(id, rest)
end

--- The snapshots, the newest first.
---@param options? stepbox.SnapshotsOptions
---@return stepbox.Snapshot[]|nil
---@return string? message
---@return string? code
function stepbox.snapshots(options)
  local client, rest, code = client_for("snapshots", options)
  if not client then return nil, rest, code end
  return client:snapshots(rest)
end

--- Deletes a snapshot. Sandboxes that were made of it stay.
---@param id string
---@param options? stepbox.ClientOptions
---@return true|nil
---@return string? message
---@return string? code "not_found" when there is none
function stepbox.delete_snapshot(id, options)
  check.argument("delete_snapshot", 1, check.text, id)
  local client, rest, code = client_for("delete_snapshot", options)
  if not client then return nil, rest, code end
  return client:delete_snapshot(id, rest)
end

return stepbox
