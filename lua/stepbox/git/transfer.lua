--- What moves commits between repositories: clone, push, pull, fetch.

local check = require "stepbox.options"
local credentials = require "stepbox.git.credentials"
local git = require "stepbox.git.run"
local rules = require "stepbox.git.rules"
local url = require "stepbox.git.url"

---@class stepbox.Git
local Git = git.Git

local CLONE_OPTIONS = rules.with_credentials {
  path = rules.path,
  branch = rules.branch,
  depth = check.count,
}
local PUSH_OPTIONS = rules.with_credentials {
  remote = rules.remote,
  branch = rules.branch,
  set_upstream = check.boolean,
  force_with_lease = check.boolean,
}
local PULL_OPTIONS = rules.with_credentials {
  remote = rules.remote,
  branch = rules.branch,
  mode = rules.one_of("merge", "rebase", "ff-only"),
}
local FETCH_OPTIONS = rules.with_credentials { remote = rules.remote, prune = check.boolean }

--- What calls take that may reach a server. User and password are for servers that are reached by http or
--- https. They are stored nowhere, and sent to that server (scheme, host and port) alone, when it asks. While
--- git runs they are in its environment and in that of what it starts, hooks included: code that runs in the
--- sandbox as the same user can read them there (`/proc`), and so can who lists the sandbox's processes.
---@class stepbox.GitCredentialOptions: stepbox.GitOptions
---@field username? string
---@field password? string or a token

---@class stepbox.GitCloneOptions: stepbox.GitCredentialOptions
---@field path? string where to; default what the address ends with, in the home directory
---@field branch? string the branch or tag to check out
---@field depth? integer how many commits of history; default all

--- Clones a repository by http, https, ssh or git, or from a path in the sandbox. A user and password in the
--- address count as if given as options: they do not stay in the clone.
---@param address string
---@param options? stepbox.GitCloneOptions
---@return string|nil path where the clone is
---@return string? message
---@return string? code "not_found", "exists", "unauthorized", "unavailable"
function Git:clone(address, options)
  git.box_of(self, "clone")
  check.argument("clone", 1, url.rule, address)
  options = check.options("clone", options, CLONE_OPTIONS)
  local parts = url.split(address)
  local secret = credentials.take("clone", parts, options)
  if secret and not secret.origin then
    error("bad option 'username' of 'clone' (only http and https take a username and a password)", 2)
  end
  local path = options.path or url.directory(address)
  if not path then error("bad options of 'clone' ('path' is missing, and the address has no name)", 2) end
  local arguments = { "clone" }
  if options.branch then arguments[#arguments + 1] = "--branch=" .. options.branch end
  if options.depth then arguments[#arguments + 1] = ("--depth=%d"):format(options.depth) end
  local from, start = git.locate(parts.plain)
  local to, start_too = git.locate(path)
  arguments[#arguments + 1] = "--"
  arguments[#arguments + 1] = from
  arguments[#arguments + 1] = to
  local result, message, code, partial =
    git.run(self, nil, arguments, options, { credentials = secret, start = start or start_too })
  if not result then return nil, message, code, partial end
  return path
end

--- What the branch that is checked out is joined to: {branch, upstream, fetch = remote, push = remote}.
local function tracking(self, path, options)
  local result, message, code, partial = git.run(self, path, { "for-each-ref",
    "--format=%(HEAD)%00%(refname:lstrip=2)%00%(upstream)%00%(upstream:remotename)%00%(push:remotename)%00",
    "refs/heads" }, options)
  if not result then return nil, message, code, partial end
  local branch, upstream, fetch, push =
    result.stdout:match "%*%z([^%z]*)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z"
  local function given(text) return text ~= "" and text or nil end
  return { branch = branch, upstream = given(upstream), fetch = given(fetch), push = given(push) }
end

--- The one remote that there is, or "origin".
local function only_remote(self, name, path, options)
  local result, message, code, partial = git.run(self, path, { "remote" }, options)
  if not result then return nil, message, code, partial end
  local first, second = result.stdout:match "^([^\n]+)\n([^\n]*)"
  if first and second == "" then return first end
  if ("\n" .. result.stdout):find("\norigin\n", 1, true) then return "origin" end
  local why = first and "the repository has several remotes: say which" or "the repository has no remote"
  return nil, name .. ": " .. why, "not_found"
end

--- The credentials for a remote: they go where its address leads, as git sees it.
---@return table|nil|false secret false when there are none; nil, message, code on a failure
local function secret_for(self, name, path, remote, options, push)
  if not options.username then return false end
  local arguments = { "remote", "get-url", "--", remote }
  if push then table.insert(arguments, 3, "--push") end
  local result, message, code, partial = git.run(self, path, arguments, options)
  if not result then return nil, message, code, partial end
  local parts = url.split((result.stdout:gsub("\n$", "")))
  if not parts.origin then
    return nil, name .. ": remote '" .. remote .. "' is not reached by http or https, and takes no password",
      "invalid"
  end
  return credentials.take(name, { origin = parts.origin }, options)
end

--- Raises at the caller's caller when only one of user and password is given.
local function check_pair(name, options) credentials.take(name, {}, options, 3) end

---@class stepbox.GitPushOptions: stepbox.GitCredentialOptions
---@field remote? string default the branch's own, else the only one, else "origin"
---@field branch? string default the branch that is checked out
---@field set_upstream? boolean make that the branch's upstream; default when it has none
---@field force_with_lease? boolean replace what is there, unless somebody has pushed since the last fetch

--- Pushes a branch to the branch of the same name.
---@param path string the repository
---@param options? stepbox.GitPushOptions
---@return true|nil
---@return string? message
---@return string? code "conflict" when the remote has commits that are missing here; "unauthorized"
function Git:push(path, options)
  git.box_of(self, "push")
  check.argument("push", 1, rules.path, path)
  options = check.options("push", options, PUSH_OPTIONS)
  check_pair("push", options)
  local joined, message, code, partial = tracking(self, path, options)
  if not joined then return nil, message, code, partial end
  local branch, remote = options.branch or joined.branch, options.remote or joined.push
  if not branch then
    return nil, "git push: no branch is checked out that has a commit: say which to push", "not_found"
  end
  if not remote then
    remote, message, code, partial = only_remote(self, "git push", path, options)
    if not remote then return nil, message, code, partial end
  end
  local secret
  secret, message, code, partial = secret_for(self, "git push", path, remote, options, true)
  if secret == nil then return nil, message, code, partial end
  local arguments = { "push" }
  local set_upstream = options.set_upstream
  if set_upstream == nil then set_upstream = branch == joined.branch and not joined.upstream end
  if set_upstream then arguments[#arguments + 1] = "--set-upstream" end
  if options.force_with_lease then arguments[#arguments + 1] = "--force-with-lease" end
  arguments[#arguments + 1] = "--"
  arguments[#arguments + 1] = remote
  -- In full, so that a name is nothing else to git: "+x" would push with force, "a:b" to another branch.
  arguments[#arguments + 1] = "refs/heads/" .. branch .. ":refs/heads/" .. branch
  return git.run_plainly(self, path, arguments, options, { credentials = secret or nil })
end

--- The arguments for a remote, and the credentials for it; or nil, message, code.
local function remote_for(self, name, path, options, needed)
  local remote = options.remote
  local message, code, partial
  if not remote and (needed or options.username) then
    local joined
    joined, message, code, partial = tracking(self, path, options)
    if not joined then return nil, message, code, partial end
    remote = joined.fetch
    if not remote then remote, message, code, partial = only_remote(self, name, path, options) end
    if not remote then return nil, message, code, partial end
  end
  local secret
  if remote then
    secret, message, code, partial = secret_for(self, name, path, remote, options, false)
    if secret == nil then return nil, message, code, partial end
  end
  return { name = remote, credentials = secret or nil }
end

---@class stepbox.GitPullOptions: stepbox.GitCredentialOptions
---@field remote? string default the branch's upstream
---@field branch? string of the remote; default the branch's upstream
---@field mode? "merge"|"rebase"|"ff-only" how both sides' commits are joined; default what git is set up for

--- Fetches from a remote and joins what is new to the branch that is checked out. When both sides have
--- commits, git wants to be told the `mode`. After a conflict the files are in it, as `status` shows.
---@param path string the repository
---@param options? stepbox.GitPullOptions
---@return true|nil
---@return string? message
---@return string? code "conflict"; "not_found" when the branch has no upstream; "unauthorized"
function Git:pull(path, options)
  git.box_of(self, "pull")
  check.argument("pull", 1, rules.path, path)
  options = check.options("pull", options, PULL_OPTIONS)
  check_pair("pull", options)
  local remote, message, code, partial = remote_for(self, "git pull", path, options, options.branch ~= nil)
  if not remote then return nil, message, code, partial end
  local arguments = { "pull" }
  if options.mode == "merge" then arguments[2] = "--no-rebase" end
  if options.mode == "rebase" then arguments[2] = "--rebase" end
  if options.mode == "ff-only" then arguments[2] = "--ff-only" end
  if options.remote or options.branch then
    arguments[#arguments + 1] = "--"
    arguments[#arguments + 1] = remote.name
    if options.branch then arguments[#arguments + 1] = "refs/heads/" .. options.branch end
  end
  return git.run_plainly(self, path, arguments, options, { credentials = remote.credentials })
end

---@class stepbox.GitFetchOptions: stepbox.GitCredentialOptions
---@field remote? string default the branch's own, else the only one, else "origin"
---@field prune? boolean forget branches that the remote has no more

--- Fetches what is new in a remote and changes nothing else: `status` tells how far it is ahead.
---@param path string the repository
---@param options? stepbox.GitFetchOptions
---@return true|nil
---@return string? message
---@return string? code
function Git:fetch(path, options)
  git.box_of(self, "fetch")
  check.argument("fetch", 1, rules.path, path)
  options = check.options("fetch", options, FETCH_OPTIONS)
  check_pair("fetch", options)
  local remote, message, code, partial = remote_for(self, "git fetch", path, options, true)
  if not remote then return nil, message, code, partial end
  local arguments = { "fetch" }
  if options.prune then arguments[#arguments + 1] = "--prune" end
  arguments[#arguments + 1] = "--"
  arguments[#arguments + 1] = remote.name
  return git.run_plainly(self, path, arguments, options, { credentials = remote.credentials })
end
