--- Runs git in a sandbox, for the methods of box.git.

local credentials = require "stepbox.git.credentials"
local failure = require "stepbox.git.failure"
local namespace = require "stepbox.namespace"
local url = require "stepbox.git.url"

---@class stepbox.Git
local Git, box_of = namespace "box.git"

-- Longer texts, in bytes, go to git's standard input: one word of a command may have 128 KiB, all of them
-- 2 MiB.
local LONGEST = 65536

local utf8 = rawget(_G, "utf8")

-- What a caller's own `envs` may change. No question is asked, since nobody is there to answer.
local DEFAULTS = { GIT_ASKPASS = "", GIT_EDITOR = ":", GIT_MERGE_AUTOEDIT = "no", GCM_INTERACTIVE = "never" }

-- What they may not: messages are told apart by their words.
local FIXED = { LC_ALL = "C", LANGUAGE = "C", GIT_TERMINAL_PROMPT = "0", GIT_ALLOW_PROTOCOL = url.ALLOWED }

local function merge(...)
  local all = {}
  for _, envs in ipairs { ... } do
    for name, value in pairs(envs) do all[name] = value end
  end
  return all
end

--- A path as git takes it, and the directory to start from. The sandbox knows where "~" is, git does not; and
--- what begins with a dash shall be no option.
local function locate(path)
  if path == "~" or path == "~/" then return ".", "~" end
  if path:sub(1, 2) == "~/" then return "./" .. path:sub(3), "~" end
  if path:sub(1, 1) == "-" then return "./" .. path end
  return path
end

--- Whether a text can be an argument: those are UTF-8, and not too long. Lua 5.1 and 5.2 can tell ASCII only.
local function fits(text)
  if #text > LONGEST then return false end
  if utf8 then return utf8.len(text) ~= nil end
  return not text:find "[\128-\255]"
end

--- Adds paths to arguments, or to what git reads.
---@return string|nil stdin
local function add_paths(arguments, paths)
  if fits(table.concat(paths, " ")) then
    arguments[#arguments + 1] = "--"
    for _, path in ipairs(paths) do arguments[#arguments + 1] = path end
    return nil
  end
  arguments[#arguments + 1] = "--pathspec-from-file=-"
  arguments[#arguments + 1] = "--pathspec-file-nul"
  return table.concat(paths, "\0") .. "\0"
end

--- Runs one command of git. Paths among the arguments are names, not patterns.
---@param self stepbox.Git
---@param path string|nil the repository; nil to run in `start`
---@param arguments string[] the command and what follows
---@param options table the caller's: user, envs, timeout
---@param more? table {credentials, envs, stdin, start = the directory to start from}
---@return stepbox.CommandResult|nil result of a git that exited with 0; not for callers to see
---@return string? message
---@return string? code
---@return stepbox.CommandResult? result of one that did not
local function run(self, path, arguments, options, more)
  more = more or {}
  local name = "git " .. arguments[1]
  local line, start = { "git", "--literal-pathspecs" }, more.start
  if path then
    line[3] = "-C"
    line[4], start = locate(path)
  end
  local before, secret_envs = credentials.pass(more.credentials)
  for _, argument in ipairs(before) do line[#line + 1] = argument end
  for _, argument in ipairs(arguments) do line[#line + 1] = argument end
  local result, message, code, partial = self.box.commands:run(line, {
    cwd = start,
    user = options.user,
    timeout = options.timeout,
    stdin = more.stdin,
    envs = merge(DEFAULTS, options.envs or {}, FIXED, more.envs or {}, secret_envs),
  })
  if result and result.ok and not result.stdout_truncated then return result end
  local output = result or partial
  if output then
    output.stdout = credentials.redact(output.stdout, more.credentials)
    output.stderr = credentials.redact(output.stderr, more.credentials)
  end
  if not result then return failure.of_call(name, more.credentials, message, code, partial) end
  if result.ok then return nil, name .. ": it gave too much output", "too_large", result end
  return failure.of_result(name, result)
end

--- The same, for commands whose success is all that they tell.
---@return true|nil
local function run_plainly(...)
  local result, message, code, partial = run(...)
  if not result then return nil, message, code, partial end
  return true
end

--- Iterates over what NUL bytes end.
local function records(text)
  local first = 1
  return function()
    local last = text:find("\0", first, true)
    if not last then return nil end
    local record = text:sub(first, last - 1)
    first = last + 1
    return record
  end
end

return {
  Git = Git,
  add_paths = add_paths,
  box_of = box_of,
  fits = fits,
  locate = locate,
  records = records,
  run = run,
  run_plainly = run_plainly,
}
