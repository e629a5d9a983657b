--- What arguments of box.git may be. Each is data: none may turn into an option of git.

local check = require "stepbox.options"

local rules = {}

--- Any text. What runs a program cannot pass a NUL byte on.
function rules.text(value)
  if type(value) ~= "string" then return "string expected, got " .. type(value) end
  if value:find("\0", 1, true) then return "a NUL byte is in it" end
end

function rules.filled(value)
  local wrong = rules.text(value)
  if wrong then return wrong end
  if value == "" then return "the string is empty" end
end

rules.path = rules.filled

function rules.paths(value)
  local wrong = check.strings(value)
  if wrong then return wrong end
  if not value[1] then return "the list is empty" end
  for i, path in ipairs(value) do
    wrong = rules.path(path)
    if wrong then return "entry " .. i .. ": " .. wrong end
  end
end

-- As git-check-ref-format has it. Git would take "@{-1}" for the branch before this one, and what begins with
-- a dash for an option.
local function is_reference(name)
  if name:find "[\1-\32\127~^:?*%[\\]" or name:find "^[-/]" or name:find "[/.]$" then return false end
  if name:find("..", 1, true) or name:find("@{", 1, true) or name:find("//", 1, true) then return false end
  if name == "" or name == "@" or name == "HEAD" then return false end
  for part in name:gmatch "[^/]+" do
    if part:find "^%." or part:find "%.lock$" then return false end
  end
  return true
end

local function named(what)
  return function(value)
    local wrong = rules.filled(value)
    if wrong then return wrong end
    if not is_reference(value) then return "'" .. value .. "' is no name for a " .. what end
  end
end

rules.branch = named "branch"
rules.remote = named "remote"

--- A commit, branch, tag, or how git writes one ("HEAD~2").
function rules.revision(value)
  local wrong = rules.filled(value)
  if wrong then return wrong end
  if value:find "^%-" then return "a commit, branch or tag does not begin with '-'" end
end

function rules.config_key(value)
  local wrong = rules.filled(value)
  if wrong then return wrong end
  if value:find "\n" or not value:find "^[%w-]+%..+" or value:find "^%-" then
    return "a key like 'user.name' expected, got '" .. value .. "'"
  end
end

--- One of the given words.
function rules.one_of(...)
  local words = { ... }
  return function(value)
    for _, word in ipairs(words) do
      if value == word then return nil end
    end
    return "one of '" .. table.concat(words, "', '") .. "' expected, got " .. tostring(value)
  end
end

--- The options that every call takes, and those of this one.
function rules.with(own)
  local all = { user = check.text, envs = check.envs, timeout = check.seconds }
  for name, rule in pairs(own or {}) do all[name] = rule end
  return all
end

--- The same for calls that may reach a server.
function rules.with_credentials(own)
  local all = rules.with(own)
  -- What these hold is in no message.
  all.username, all.password = rules.credential, rules.credential
  return all
end

-- Git's credential protocol is made of lines.
function rules.credential(value)
  local wrong = rules.text(value)
  if wrong then return wrong end
  if value:find "[\r\n]" then return "a line break is in it" end
end

return rules
