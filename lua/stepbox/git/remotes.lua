--- The remotes of a repository: which there are, and which one a push or pull means.

local check = require "stepbox.options"
local credentials = require "stepbox.git.credentials"
local git = require "stepbox.git.run"
local rules = require "stepbox.git.rules"
local url = require "stepbox.git.url"

---@class stepbox.Git
local Git = git.Git

local PLAIN_OPTIONS = rules.with()
local ADD_OPTIONS = rules.with_credentials { fetch = check.boolean, overwrite = check.boolean }

--- A remote of a repository.
---@class stepbox.GitRemote
---@field name string
---@field url string without user and password
---@field push_url? string when pushes go elsewhere

--- The remotes, as the configuration has them.
---@param path string the repository
---@param options? stepbox.GitOptions
---@return stepbox.GitRemote[]|nil
---@return string? message
---@return string? code
function Git:remotes(path, options)
  git.box_of(self, "remotes")
  check.argument("remotes", 1, rules.path, path)
  options = check.options("remotes", options, PLAIN_OPTIONS)
  -- Outside of a repository `git config` would answer with the user's settings.
  local result, message, code, partial = git.run(self, path, { "remote" }, options)
  if not result then return nil, message, code, partial end
  local list, by_name = {}, {}
  for name in result.stdout:gmatch "[^\n]+" do
    by_name[name] = { name = name }
    list[#list + 1] = by_name[name]
  end
  if not list[1] then return list end
  result, message, code, partial =
    git.run(self, path, { "config", "-z", "--get-regexp", [[^remote\..*\.(push)?url$]] }, options)
  if not result then
    if not partial or partial.exit_code ~= 1 then return nil, message, code, partial end
    result = partial
  end
  for setting in git.records(result.stdout) do
    local name, kind, value = setting:match "^remote%.(.-)%.(%l+)\n(.*)$"
    local remote = by_name[name]
    local field = kind == "pushurl" and "push_url" or "url"
    -- Of several addresses the first is the one that is fetched from.
    if remote and not remote[field] then remote[field] = credentials.plain(value) end
  end
  for _, remote in ipairs(list) do remote.url = remote.url or remote.name end
  return list
end

--- The address of a remote, without user and password.
---@param path string the repository
---@param name string
---@param options? stepbox.GitOptions
---@return string|nil url
---@return string? message
---@return string? code "not_found"
function Git:get_remote(path, name, options)
  git.box_of(self, "get_remote")
  check.argument("get_remote", 1, rules.path, path)
  check.argument("get_remote", 2, rules.remote, name)
  options = check.options("get_remote", options, PLAIN_OPTIONS)
  local result, message, code, partial = git.run(self, path, { "remote", "get-url", "--", name }, options)
  if not result then return nil, message, code, partial end
  return credentials.plain((result.stdout:gsub("\n$", "")))
end

---@class stepbox.GitAddRemoteOptions: stepbox.GitCredentialOptions
---@field fetch? boolean fetch from it at once
---@field overwrite? boolean give a remote that has the name this address

--- Adds a remote. A user and password in the address are used for `fetch`, and are not stored. When the fetch
--- fails the remote stays.
---@param path string the repository
---@param name string
---@param address string
---@param options? stepbox.GitAddRemoteOptions
---@return true|nil
---@return string? message
---@return string? code "exists" when there is one of that name and `overwrite` is not given
function Git:add_remote(path, name, address, options)
  git.box_of(self, "add_remote")
  check.argument("add_remote", 1, rules.path, path)
  check.argument("add_remote", 2, rules.remote, name)
  check.argument("add_remote", 3, url.rule, address)
  options = check.options("add_remote", options, ADD_OPTIONS)
  local parts = url.split(address)
  local secret = credentials.take("add_remote", parts, options)
  local ok, message, code, partial =
    git.run_plainly(self, path, { "remote", "add", "--", name, parts.plain }, options)
  if code == "exists" and options.overwrite then
    ok, message, code, partial =
      git.run_plainly(self, path, { "remote", "set-url", "--", name, parts.plain }, options)
  end
  if not ok or not options.fetch then return ok, message, code, partial end
  return git.run_plainly(self, path, { "fetch", "--", name }, options, { credentials = secret })
end

--- Removes a remote and the branches that were fetched from it.
---@param path string the repository
---@param name string
---@param options? stepbox.GitOptions
---@return true|nil
---@return string? message
---@return string? code "not_found"
function Git:remove_remote(path, name, options)
  git.box_of(self, "remove_remote")
  check.argument("remove_remote", 1, rules.path, path)
  check.argument("remove_remote", 2, rules.remote, name)
  options = check.options("remove_remote", options, PLAIN_OPTIONS)
  return git.run_plainly(self, path, { "remote", "remove", name }, options)
end
