--- The working tree and its commits: init, status, add, commit, reset, restore, log.

local check = require "stepbox.options"
local git = require "stepbox.git.run"
local parse_status = require "stepbox.git.status"
local rules = require "stepbox.git.rules"
local unpack = require("stepbox.compat").unpack

---@class stepbox.Git
local Git = git.Git

local INIT_OPTIONS = rules.with { bare = check.boolean, initial_branch = rules.branch }
local STATUS_OPTIONS = rules.with { untracked = rules.one_of("normal", "all", "no") }
local COMMIT_OPTIONS = rules.with {
  author_name = rules.filled,
  author_email = rules.filled,
  allow_empty = check.boolean,
}
local RESET_OPTIONS = rules.with {
  mode = rules.one_of("soft", "mixed", "hard", "merge", "keep"),
  target = rules.revision,
  paths = rules.paths,
}
local RESTORE_OPTIONS = rules.with {
  staged = check.boolean,
  worktree = check.boolean,
  source = rules.revision,
}
local LOG_OPTIONS = rules.with { max_count = check.count, target = rules.revision }
local PLAIN_OPTIONS = rules.with()

--- What every call of `box.git` takes. A repository's path is absolute, or relative to the home directory.
--- A git that fails gives its own words as message, the command's result as fourth value, and a code:
--- "not_found" (a repository, branch, remote or file), "exists", "conflict" (with changes that are not
--- committed, with what others have pushed, of a merge), "unchanged" (there is nothing to commit),
--- "unauthorized", "unavailable" (no way to the server), "permission", "unsupported" (no git in the sandbox,
--- or one that is too old), and "invalid" for all the rest.
---@class stepbox.GitOptions
---@field user? string default the sandbox's own user
---@field envs? table<string, string> variables for git and what it starts
---@field timeout? number seconds, then git is killed; default 300

---@class stepbox.GitInitOptions: stepbox.GitOptions
---@field bare? boolean without a working tree
---@field initial_branch? string default what the sandbox's git is set up for

--- Makes a repository, and the directory where that is missing. One that is there already is left as it is.
---@param path string
---@param options? stepbox.GitInitOptions
---@return true|nil
---@return string? message
---@return string? code
function Git:init(path, options)
  git.box_of(self, "init")
  check.argument("init", 1, rules.path, path)
  options = check.options("init", options, INIT_OPTIONS)
  local arguments = { "init", "--quiet" }
  if options.bare then arguments[#arguments + 1] = "--bare" end
  if options.initial_branch then
    arguments[#arguments + 1] = "--initial-branch=" .. options.initial_branch
  end
  local where, start = git.locate(path)
  arguments[#arguments + 1] = "--"
  arguments[#arguments + 1] = where
  return git.run_plainly(self, nil, arguments, options, { start = start })
end

---@class stepbox.GitStatusOptions: stepbox.GitOptions
---@field untracked? "normal"|"all"|"no" "all" lists the files in untracked directories, "no" none at all

--- The branch, how far it is from its upstream as last fetched, and what differs from the last commit.
---@param path string the repository
---@param options? stepbox.GitStatusOptions
---@return stepbox.GitStatus|nil
---@return string? message
---@return string? code "not_found" when there is no repository
function Git:status(path, options)
  git.box_of(self, "status")
  check.argument("status", 1, rules.path, path)
  options = check.options("status", options, STATUS_OPTIONS)
  local result, message, code, partial = git.run(self, path, {
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=" .. (options.untracked or "normal"),
  }, options, { envs = { GIT_OPTIONAL_LOCKS = "0" } })
  if not result then return nil, message, code, partial end
  return parse_status(result.stdout)
end

--- Stages files, removed ones too; without a list everything that differs.
---@param path string the repository
---@param files? string[] relative to `path`; names, not patterns
---@param options? stepbox.GitOptions
---@return true|nil
---@return string? message
---@return string? code "not_found" when there is no such file
function Git:add(path, files, options)
  git.box_of(self, "add")
  check.argument("add", 1, rules.path, path)
  if files ~= nil then check.argument("add", 2, rules.paths, files) end
  options = check.options("add", options, PLAIN_OPTIONS)
  if not files then return git.run_plainly(self, path, { "add", "--all" }, options) end
  local arguments = { "add" }
  local stdin = git.add_paths(arguments, files)
  return git.run_plainly(self, path, arguments, options, { stdin = stdin })
end

---@class stepbox.GitCommitOptions: stepbox.GitOptions
---@field author_name? string author and committer; default what `configure_user` has set
---@field author_email? string
---@field allow_empty? boolean also when nothing is staged

local function identity(options)
  return {
    GIT_AUTHOR_NAME = options.author_name,
    GIT_COMMITTER_NAME = options.author_name,
    GIT_AUTHOR_EMAIL = options.author_email,
    GIT_COMMITTER_EMAIL = options.author_email,
  }
end

--- Commits what is staged. Of the message, space at the ends of lines and empty lines around it are dropped.
---@param path string the repository
---@param message string
---@param options? stepbox.GitCommitOptions
---@return string|nil hash
---@return string? message
---@return string? code "unchanged" when nothing is staged, "conflict" when a merge is not resolved
function Git:commit(path, message, options)
  git.box_of(self, "commit")
  check.argument("commit", 1, rules.path, path)
  check.argument("commit", 2, rules.filled, message)
  options = check.options("commit", options, COMMIT_OPTIONS)
  local arguments, more = { "commit", "--cleanup=whitespace" }, { envs = identity(options) }
  if options.allow_empty then arguments[#arguments + 1] = "--allow-empty" end
  if git.fits(message) then
    arguments[#arguments + 1] = "--message=" .. message
  else
    arguments[#arguments + 1] = "--file=-"
    more.stdin = message
  end
  local result, why, code, partial = git.run(self, path, arguments, options, more)
  if not result then return nil, why, code, partial end
  result, why, code, partial = git.run(self, path, { "rev-parse", "--verify", "HEAD" }, options)
  if not result then return nil, why, code, partial end
  return (result.stdout:gsub("%s+$", ""))
end

---@class stepbox.GitResetOptions: stepbox.GitOptions
---@field mode? "soft"|"mixed"|"hard"|"merge"|"keep" default "mixed"; not together with paths
---@field target? string a commit, branch or tag; default HEAD
---@field paths? string[] unstage these alone; names, not patterns

--- Moves the branch, and with it what is staged ("mixed") and the files ("hard"); or unstages some paths.
---@param path string the repository
---@param options? stepbox.GitResetOptions
---@return true|nil
---@return string? message
---@return string? code "not_found" when there is no such target
function Git:reset(path, options)
  git.box_of(self, "reset")
  check.argument("reset", 1, rules.path, path)
  options = check.options("reset", options, RESET_OPTIONS)
  if options.mode and options.paths then
    error("bad options of 'reset' (only one of 'mode' and 'paths' can be given)", 2)
  end
  local arguments = { "reset", "--quiet" }
  if options.mode then arguments[#arguments + 1] = "--" .. options.mode end
  if options.target then arguments[#arguments + 1] = options.target end
  local stdin
  if options.paths then
    stdin = git.add_paths(arguments, options.paths)
  else
    arguments[#arguments + 1] = "--"
  end
  return git.run_plainly(self, path, arguments, options, { stdin = stdin })
end

---@class stepbox.GitRestoreOptions: stepbox.GitOptions
---@field staged? boolean restore what is staged: unstage
---@field worktree? boolean restore the files; the default without `staged`
---@field source? string a commit, branch or tag to take them from

--- Gives files the content that they had: what is not staged of them is lost.
---@param path string the repository
---@param paths string[] relative to `path`; names, not patterns; {"."} for all
---@param options? stepbox.GitRestoreOptions
---@return true|nil
---@return string? message
---@return string? code "not_found" when git knows no such file
function Git:restore(path, paths, options)
  git.box_of(self, "restore")
  check.argument("restore", 1, rules.path, path)
  check.argument("restore", 2, rules.paths, paths)
  options = check.options("restore", options, RESTORE_OPTIONS)
  local worktree = options.worktree
  if worktree == nil then worktree = not options.staged end
  if not worktree and not options.staged then
    error("bad options of 'restore' (neither 'staged' nor 'worktree' is true)", 2)
  end
  local arguments = { "restore" }
  if worktree then arguments[#arguments + 1] = "--worktree" end
  if options.staged then arguments[#arguments + 1] = "--staged" end
  if options.source then arguments[#arguments + 1] = "--source=" .. options.source end
  local stdin = git.add_paths(arguments, paths)
  return git.run_plainly(self, path, arguments, options, { stdin = stdin })
end

---@class stepbox.GitLogOptions: stepbox.GitOptions
---@field max_count? integer default 100
---@field target? string where to start: a commit, branch or tag; default HEAD

---@class stepbox.GitCommit
---@field hash string
---@field parents string[]
---@field author_name string
---@field author_email string
---@field authored_at integer Unix seconds
---@field message string

local LOG_FIELDS = 6
local LOG_FORMAT = "--format=%H%x00%P%x00%an%x00%ae%x00%at%x00%B"

local function parse_log(text)
  local commits, fields = {}, {}
  for field in git.records(text) do
    fields[#fields + 1] = field
    if #fields == LOG_FIELDS then
      local hash, parents, name, email, at, message = unpack(fields)
      local commit = { hash = hash, parents = {}, author_name = name, author_email = email,
        authored_at = tonumber(at), message = (message:gsub("\n$", "")) }
      for parent in parents:gmatch "%x+" do commit.parents[#commit.parents + 1] = parent end
      commits[#commits + 1], fields = commit, {}
    end
  end
  return commits
end

--- The commits that led to here, the newest first; an empty list when there is none yet.
---@param path string the repository
---@param options? stepbox.GitLogOptions
---@return stepbox.GitCommit[]|nil
---@return string? message
---@return string? code
function Git:log(path, options)
  git.box_of(self, "log")
  check.argument("log", 1, rules.path, path)
  options = check.options("log", options, LOG_OPTIONS)
  local arguments = { "log", "-z", LOG_FORMAT, ("--max-count=%d"):format(options.max_count or 100),
    "--encoding=UTF-8", "--no-color", "--no-patch", "--no-show-signature" }
  if options.target then arguments[#arguments + 1] = options.target end
  arguments[#arguments + 1] = "--"
  local result, message, code, partial = git.run(self, path, arguments, options)
  if result then return parse_log(result.stdout) end
  if message:find("does not have any commits yet", 1, true) then return {} end
  return nil, message, code, partial
end
