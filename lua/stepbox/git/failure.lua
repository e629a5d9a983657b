--- Why git failed: its own words made short, and one of the codes.

local redact = require("stepbox.git.credentials").redact

-- The longest message that is handed on, in bytes.
local LONGEST = 1000

-- What git says (in the C locale, in lower case, without what it quotes), and what that means. The first
-- that is found counts.
local MEANINGS = {
  { "unauthorized",
    "authentication failed", "could not read username", "could not read password",
    "terminal prompts disabled", "invalid username or password", "permission denied (",
    "host key verification failed", "access denied", "not authorized", "returned error: 401",
    "returned error: 403" },
  { "unavailable",
    "could not resolve host", "couldn't connect", "failed to connect", "connection refused", "timed out",
    "network is unreachable", "no route to host", "name resolution", "connection reset", "unable to connect",
    "returned error: 5", "the remote end hung up", "empty reply from server" },
  { "no_space", "no space left on device", "disk quota exceeded" },
  { "permission",
    "permission denied", "read-only file system", "operation not permitted", "dubious ownership",
    "hook declined" },
  { "conflict",
    "conflict (", "[rejected]", "automatic merge failed", "would be overwritten", "not fully merged",
    "reconcile divergent branches", "not possible to fast-forward", "unmerged", "unstaged changes",
    "uncommitted changes", "currently checked out", "checked out at", "used by worktree",
    "resolve your current index first", "could not apply", "unrelated histories",
    "unable to create : file exists", "cannot lock ref", "you have not concluded your merge",
    "not uptodate", "[remote rejected]" },
  { "exists", "already exists", "file exists" },
  { "not_directory", "not a directory" },
  { "not_found",
    "not a git repository", "does not appear to be a git repository", "not found", "no such",
    "does not exist", "did not match", "couldn't find remote ref", "does not match any", "unknown revision",
    "bad revision", "invalid reference", "invalid object name", "not a commit", "not a valid object",
    "could not parse object", "could not resolve", "failed to resolve", "no upstream",
    "no tracking information", "did not specify a branch", "no configured push destination",
    "needed a single revision", "no remote repository specified" },
  { "unchanged", "nothing to commit", "nothing added to commit", "no changes added to commit" },
}

-- What to do about it, in words of this module.
local ADVICE = {
  { "terminal prompts disabled", "give 'username' and 'password'" },
  { "auto-detect email address", "call configure_user, or give 'author_name' and 'author_email'" },
  { "empty ident name", "call configure_user, or give 'author_name' and 'author_email'" },
  { "reconcile divergent branches", "give 'mode'" },
}

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\r\n]+" do
    line = line:gsub("[%z\1-\31\127]+", " "):gsub("%s+$", "")
    if line ~= "" then lines[#lines + 1] = line end
  end
  return lines
end

local function is_noise(line)
  return line:find "^hint:" or line:find "^From " or line:find "^To " or line:find "^Cloning into "
    or line:find "^ %* " or line:find "^warning:" or line:find "^%s*%x+%.%.%.?%x+ "
    or line:find "^Auto%-merging "
end

local function is_telling(line)
  return line:find "^fatal: " or line:find "^error: " or line:find "^CONFLICT" or line:find "rejected%]"
    or line:find "^remote: " or line:find "^ssh: " or line:find "^ERROR: " or line:find "errno="
    or line:find "Permission denied" or line:find "Host key verification"
end

--- Git's own words on one line.
local function words(result)
  local all, telling = {}, {}
  for _, text in ipairs { result.stderr, result.stdout } do
    for _, line in ipairs(lines_of(text)) do
      if is_telling(line) then telling[#telling + 1] = line end
      if not is_noise(line) then all[#all + 1] = line end
    end
  end
  local chosen = telling[1] and telling or all
  for i, line in ipairs(chosen) do
    chosen[i] = line:gsub("^fatal: ", ""):gsub("^error: ", ""):gsub("^%s+", "")
  end
  local text = table.concat(chosen, "; ")
  if text == "" then
    if result.exit_code then return "it exited with " .. result.exit_code end
    return "it ended by " .. tostring(result.how)
  end
  return #text > LONGEST and text:sub(1, LONGEST) .. "..." or text
end

--- What it means. Names of files and branches that git quotes, and what a server says, count for nothing.
local function meaning(result)
  local text = {}
  for _, line in ipairs(lines_of(result.stderr .. "\n" .. result.stdout)) do
    if not line:find "^remote: " then text[#text + 1] = line:gsub("'[^']*'", ""):lower() end
  end
  text = table.concat(text, "\n")
  for _, meant in ipairs(MEANINGS) do
    for i = 2, #meant do
      if text:find(meant[i], 1, true) then return meant[1] end
    end
  end
  return "invalid"
end

local MISSING = "git is not installed in the sandbox: install the package 'git'"

--- The failure of a git that has ended otherwise than by exiting with 0.
---@param name string what was tried, "git push"
---@param result stepbox.CommandResult redacted
---@return nil
---@return string message
---@return string code
---@return stepbox.CommandResult result
local function of_result(name, result)
  if result.exit_code == 127 then return nil, name .. ": " .. MISSING, "unsupported", result end
  local code, text = meaning(result), words(result)
  -- A usage error: the arguments are ours, so this git is too old for one of them.
  if result.exit_code == 129 then code = "unsupported" end
  if not result.exit_code then code = "process_gone" end
  for _, advice in ipairs(ADVICE) do
    if text:find(advice[1], 1, true) then text = text .. " (" .. advice[2] .. ")" end
  end
  return nil, name .. ": " .. text, code, result
end

--- The failure of a git that could not run to its end: a deadline, a lost sandbox, no git.
local function of_call(name, credentials, message, code, partial)
  message = redact(tostring(message), credentials)
  -- The words of the local engine, and those of E2B's.
  if message:find "['\"]git['\"]" and (message:find "No such file" or message:find "not found") then
    return nil, name .. ": " .. MISSING, "unsupported"
  end
  return nil, name .. ": " .. message, code, partial
end

return { of_call = of_call, of_result = of_result }
