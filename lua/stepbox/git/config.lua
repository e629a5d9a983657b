--- Git's settings.

local check = require "stepbox.options"
local git = require "stepbox.git.run"
local rules = require "stepbox.git.rules"

---@class stepbox.Git
local Git = git.Git

local OPTIONS = rules.with { scope = rules.one_of("local", "global", "system"), path = rules.path }

---@class stepbox.GitConfigOptions: stepbox.GitOptions
---@field scope? "local"|"global"|"system" default "local" with `path`, else "global"
---@field path? string the repository, for the scope "local"

--- The options, and the flag for the scope. Raises at the caller's caller.
local function take(name, options, default)
  options = check.options(name, options, OPTIONS, 3)
  local scope = options.scope or default or options.path and "local" or "global"
  if scope == "local" and not options.path then
    error("bad options of '" .. name .. "' (the scope 'local' needs 'path')", 3)
  end
  return options, "--" .. scope
end

local function set(self, key, value, options, flag)
  return git.run_plainly(self, options.path, { "config", flag, "--", key, value }, options)
end

--- Gives a setting a value.
---@param key string "pull.rebase"
---@param value string
---@param options? stepbox.GitConfigOptions
---@return true|nil
---@return string? message
---@return string? code
function Git:set_config(key, value, options)
  git.box_of(self, "set_config")
  check.argument("set_config", 1, rules.config_key, key)
  check.argument("set_config", 2, rules.text, value)
  local flag
  options, flag = take("set_config", options)
  return set(self, key, value, options, flag)
end

--- The value of a setting. Without `scope` it is the one that counts in `path`; for the user without `path`.
---@param key string
---@param options? stepbox.GitConfigOptions
---@return string|nil value
---@return string? message
---@return string? code "not_found" when it is not set
function Git:get_config(key, options)
  git.box_of(self, "get_config")
  check.argument("get_config", 1, rules.config_key, key)
  local flag
  options, flag = take("get_config", options)
  local arguments = { "config", "-z", "--get" }
  if options.scope or not options.path then arguments[#arguments + 1] = flag end
  arguments[#arguments + 1] = "--"
  arguments[#arguments + 1] = key
  local result, message, code, partial = git.run(self, options.path, arguments, options)
  if result then return (result.stdout:gsub("%z$", "")) end
  if partial and partial.exit_code == 1 and partial.stderr == "" then
    return nil, "git config: '" .. key .. "' is not set", "not_found", partial
  end
  return nil, message, code, partial
end

--- Sets the name and the address that commits get.
---@param name string
---@param email string
---@param options? stepbox.GitConfigOptions
---@return true|nil
---@return string? message
---@return string? code
function Git:configure_user(name, email, options)
  git.box_of(self, "configure_user")
  check.argument("configure_user", 1, rules.filled, name)
  check.argument("configure_user", 2, rules.filled, email)
  local flag
  options, flag = take("configure_user", options)
  local ok, message, code, partial = set(self, "user.name", name, options, flag)
  if not ok then return nil, message, code, partial end
  return set(self, "user.email", email, options, flag)
end
