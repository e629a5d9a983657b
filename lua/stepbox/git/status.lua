--- What `git status --porcelain=v2 --branch -z` says.

local records = require("stepbox.git.run").records

--- One path that differs from the last commit, or that git does not know.
---@class stepbox.GitFile
---@field path string relative to the top of the repository
---@field index string what is staged: "." nothing, else git's letter: M, T, A, D, R, C, U; "?" untracked
---@field worktree string the same for what is not staged
---@field status "conflict"|"renamed"|"copied"|"deleted"|"added"|"modified"|"typechange"|"untracked"|"unknown"
---@field staged boolean whether something of it would be committed
---@field renamed_from? string the path that it had, of a renamed or copied one

--- The state of a repository.
---@class stepbox.GitStatus
---@field branch? string absent when HEAD is detached
---@field commit? string absent when there is none yet
---@field upstream? string "origin/main"
---@field ahead integer commits that the upstream lacks
---@field behind integer commits that only the upstream has
---@field detached boolean
---@field clean boolean whether `files` is empty
---@field staged integer how many of the files have something staged
---@field untracked integer how many are untracked
---@field conflicts integer how many are in conflict
---@field files stepbox.GitFile[]

-- In this order, since a path may have one letter staged and another not.
local WORDS = {
  { "R", "renamed" }, { "C", "copied" }, { "D", "deleted" }, { "A", "added" }, { "M", "modified" },
  { "T", "typechange" }, { "?", "untracked" },
}

local function word_for(index, worktree)
  for _, pair in ipairs(WORDS) do
    if index == pair[1] or worktree == pair[1] then return pair[2] end
  end
  return "unknown"
end

local function header(status, name, value)
  if name == "branch.oid" then
    if value ~= "(initial)" then status.commit = value end
  elseif name == "branch.head" then
    status.detached = value == "(detached)"
    if not status.detached then status.branch = value end
  elseif name == "branch.upstream" then
    status.upstream = value
  elseif name == "branch.ab" then
    local ahead, behind = value:match "^%+(%d+) %-(%d+)$"
    status.ahead, status.behind = tonumber(ahead) or 0, tonumber(behind) or 0
  end
end

-- The letters and the path are kept; modes and hashes stand between.
local FORMS = {
  ["1"] = "^1 (%S)(%S)" .. (" %S+"):rep(6) .. " (.+)$",
  ["2"] = "^2 (%S)(%S)" .. (" %S+"):rep(7) .. " (.+)$",
  ["u"] = "^u (%S)(%S)" .. (" %S+"):rep(8) .. " (.+)$",
  ["?"] = "^(%?)( )(.+)$",
}

local function add(status, kind, index, worktree, path, renamed_from)
  local file = {
    path = path,
    index = index,
    worktree = kind == "?" and "?" or worktree,
    renamed_from = renamed_from,
    staged = kind ~= "u" and kind ~= "?" and index ~= ".",
  }
  file.status = kind == "u" and "conflict" or word_for(index, file.worktree)
  status.files[#status.files + 1] = file
  if file.staged then status.staged = status.staged + 1 end
  if kind == "?" then status.untracked = status.untracked + 1 end
  if kind == "u" then status.conflicts = status.conflicts + 1 end
end

---@param text string
---@return stepbox.GitStatus|nil
---@return string? message
---@return string? code "protocol" when it is something else
local function parse(text)
  local status = { ahead = 0, behind = 0, detached = false, files = {}, staged = 0, untracked = 0,
    conflicts = 0 }
  local next_record = records(text)
  for record in next_record do
    local kind = record:sub(1, 1)
    if kind == "#" then
      header(status, record:match "^# (%S+) ?(.*)$")
    elseif kind ~= "!" then
      local index, worktree, path = record:match(FORMS[kind] or "^$()()()")
      local renamed_from = kind == "2" and next_record() or nil
      if not path or kind == "2" and not renamed_from then
        return nil, "git status: it said what is not understood", "protocol"
      end
      add(status, kind, index, worktree, path, renamed_from)
    end
  end
  status.clean = #status.files == 0
  return status
end

return parse
