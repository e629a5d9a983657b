--- User and password for a git server: how git gets them, and how they are kept out of all else.

local base64 = require("stepbox.base64").encode
local split = require("stepbox.git.url").split

local function percent(text, form)
  return (text:gsub("[^%w._~-]", function(char) return form:format(char:byte()) end))
end

--- What must not be seen: the password, and how it may be written. A user without one is a token.
local function secrets_of(username, password)
  local secret = password ~= "" and password or username
  local both = base64(username .. ":" .. password)
  local list = { both, percent(secret, "%%%02X"), percent(secret, "%%%02x"), secret }
  table.sort(list, function(a, b) return #a > #b end)
  return list
end

--- Those that a call's options and an address give together. Raises when they are not whole.
---@param name string the function, for the message
---@param parts table the address, from url.split
---@param options table
---@param level? integer where the error points; default 2: the caller's caller
---@return table|nil credentials {username, password, origin, secrets}
local function take(name, parts, options, level)
  level = (level or 2) + 1
  local username = options.username or parts.username
  local password = options.password or parts.password
  if not username and not password then return nil end
  if not username then error("bad option 'password' of '" .. name .. "' ('username' is missing)", level) end
  if options.username and not password then
    error("bad option 'username' of '" .. name .. "' ('password' is missing)", level)
  end
  if username == "" or username:find ":" then
    error("bad option 'username' of '" .. name .. "' (it is empty, or has a colon)", level)
  end
  password = password or ""
  return { username = username, password = password, origin = parts.origin,
    secrets = secrets_of(username, password) }
end

-- The helpers that are set up are emptied first: one that stores would be given the password to keep. Git
-- asks ours for this origin alone, also when a server sends it on to another.
local HELPER = [[!f() { if test "$1" = get; then ]]
  .. [[printf 'username=%s\npassword=%s\n' "$STEPBOX_GIT_USERNAME" "$STEPBOX_GIT_PASSWORD"; fi; }; f]]

--- The arguments and variables that make git use them. The arguments tell nothing.
---@return string[] arguments
---@return table<string, string> envs
local function pass(credentials)
  if not credentials then return {}, {} end
  return {
    "-c", "credential.helper=", "-c", "credential." .. credentials.origin .. ".helper=" .. HELPER,
  }, { STEPBOX_GIT_USERNAME = credentials.username, STEPBOX_GIT_PASSWORD = credentials.password }
end

--- Text without them, and without what stands before the host of any address.
local function redact(text, credentials)
  for _, secret in ipairs(credentials and credentials.secrets or {}) do
    text = text:gsub(secret:gsub("%W", "%%%0"), "***")
  end
  return (text:gsub("([hH][tT][tT][pP][sS]?://)[^/%s'\"]*@", "%1***@"))
end

return {
  pass = pass,
  redact = redact,
  take = take,
  plain = function(url) return split(url).plain end,
}
