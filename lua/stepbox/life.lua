--- How long a sandbox lives, when it stands still, what it may reach, and what stays of it. More methods of
--- boxes.

local core = require "stepbox.core"
local call = require "stepbox.call"
local check = require "stepbox.options"
local json = require "stepbox.json"
local network = require "stepbox.network"

local Box = core.box_methods

local RESUME_OPTIONS = { timeout = check.seconds }

local SNAPSHOT_OPTIONS = { name = check.text }

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
--- Until it goes on, calls of it end as "unavailable", unless it was made with `auto_resume`. The deadline of
--- a step or a command that somebody waits for is the caller's, and goes on.
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
--- What runs in it stands still for a moment, and is not kept. A call that is cancelled may have made one all
--- the same: `snapshots` lists it.
---@param options? {name?: string} a name that is known stands for the new one from now on
---@return string|nil id
---@return string? message
---@return string? code "no_space" when the server has no room for it
function Box:snapshot(options)
  options = check.options("snapshot", options, SNAPSHOT_OPTIONS)
  local text, message, code = call.finish(self:start_snapshot(options.name))
  if not text then return nil, message, code end
  return json.decode(text).snapshotID
end
