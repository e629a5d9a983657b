--- Branches of a repository.

local check = require "stepbox.options"
local git = require "stepbox.git.run"
local rules = require "stepbox.git.rules"

---@class stepbox.Git
local Git = git.Git

local PLAIN_OPTIONS = rules.with()
local CREATE_OPTIONS = rules.with { target = rules.revision }
local DELETE_OPTIONS = rules.with { force = check.boolean }

--- The branches of a repository.
---@class stepbox.GitBranches
---@field current? string absent when HEAD is detached, and before the first commit
---@field list string[] in the order of the names

--- The local branches.
---@param path string the repository
---@param options? stepbox.GitOptions
---@return stepbox.GitBranches|nil
---@return string? message
---@return string? code
function Git:branches(path, options)
  git.box_of(self, "branches")
  check.argument("branches", 1, rules.path, path)
  options = check.options("branches", options, PLAIN_OPTIONS)
  local result, message, code, partial = git.run(self, path, {
    "for-each-ref", "--format=%(HEAD)%(refname:lstrip=2)", "refs/heads",
  }, options)
  if not result then return nil, message, code, partial end
  local branches = { list = {} }
  -- No name of a branch has a space or a line break.
  for mark, name in result.stdout:gmatch "([* ])([^\n]+)\n" do
    branches.list[#branches.list + 1] = name
    if mark == "*" then branches.current = name end
  end
  return branches
end

---@class stepbox.GitCreateBranchOptions: stepbox.GitOptions
---@field target? string where it starts: a commit, branch or tag; default HEAD

--- Makes a branch and changes to it.
---@param path string the repository
---@param name string
---@param options? stepbox.GitCreateBranchOptions
---@return true|nil
---@return string? message
---@return string? code "exists", "not_found" when there is no such target
function Git:create_branch(path, name, options)
  git.box_of(self, "create_branch")
  check.argument("create_branch", 1, rules.path, path)
  check.argument("create_branch", 2, rules.branch, name)
  options = check.options("create_branch", options, CREATE_OPTIONS)
  local arguments = { "checkout", "--quiet", "-b", name }
  if options.target then arguments[#arguments + 1] = options.target end
  arguments[#arguments + 1] = "--"
  return git.run_plainly(self, path, arguments, options)
end

--- Changes to a branch, also to one that only a remote has; or to a commit or tag, with HEAD detached.
---@param path string the repository
---@param target string
---@param options? stepbox.GitOptions
---@return true|nil
---@return string? message
---@return string? code "not_found"; "conflict" when changes that are not committed would be lost
function Git:checkout(path, target, options)
  git.box_of(self, "checkout")
  check.argument("checkout", 1, rules.path, path)
  check.argument("checkout", 2, rules.revision, target)
  options = check.options("checkout", options, PLAIN_OPTIONS)
  return git.run_plainly(self, path, { "checkout", "--quiet", target, "--" }, options)
end

---@class stepbox.GitDeleteBranchOptions: stepbox.GitOptions
---@field force? boolean also when its commits are in no other branch

--- Deletes a local branch.
---@param path string the repository
---@param name string
---@param options? stepbox.GitDeleteBranchOptions
---@return true|nil
---@return string? message
---@return string? code "not_found"; "conflict" when it is checked out, or has commits that would be lost
function Git:delete_branch(path, name, options)
  git.box_of(self, "delete_branch")
  check.argument("delete_branch", 1, rules.path, path)
  check.argument("delete_branch", 2, rules.branch, name)
  options = check.options("delete_branch", options, DELETE_OPTIONS)
  return git.run_plainly(self, path, { "branch", options.force and "-D" or "-d", "--", name }, options)
end
