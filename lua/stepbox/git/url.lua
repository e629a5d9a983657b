--- Takes the address of a repository apart.

local rules = require "stepbox.git.rules"

-- Git runs the program git-remote-NAME for any other, and "ext" runs any command.
local TRANSPORTS = { http = true, https = true, ssh = true, git = true, file = true }

local function decode(text)
  return (text:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function is_host(text)
  return (text:find "^[%w._-]+:?%d*$" or text:find "^%[[%x:.]+%]:?%d*$") ~= nil and not text:find "^%-"
end

--- Its parts: `plain` is the address without user and password (an ssh user stays), `origin` scheme, host
--- and port of a server that is reached by HTTP. What is no URL (a path, host:path) has `plain` alone.
---@param url string
---@return table parts {plain, origin, username, password}
local function split(url)
  local scheme, authority, rest = url:match "^(%a[%w+.-]*)://([^/?#]*)(.*)$"
  scheme = scheme and scheme:lower()
  if scheme ~= "http" and scheme ~= "https" then return { plain = url } end
  -- The last "@", so that no part of a password is taken for the host.
  local who, host = authority:match "^(.*)@([^@]*)$"
  host = host or authority
  local parts = { plain = scheme .. "://" .. host .. rest }
  if is_host(host) then parts.origin = scheme .. "://" .. host:lower() end
  if who and who ~= "" then
    local username, password = who:match "^([^:]*):(.*)$"
    parts.username = decode(username or who)
    parts.password = password and decode(password)
  end
  return parts
end

--- A rule for arguments. What is wrong is said without the address, which may hold a password.
local function rule(value)
  local wrong = rules.filled(value)
  if wrong then return wrong end
  if value:find "^%-" then return "an address does not begin with '-'" end
  local helper = value:match "^([%w+.-]*)::"
  local scheme = helper or value:match "^(%a[%w+.-]*)://"
  if helper or scheme and not TRANSPORTS[scheme:lower()] then
    return "the transport '" .. scheme .. "' is not allowed"
  end
  local parts = split(value)
  if parts.username and not parts.origin then return "the address has a user but no host" end
  if parts.username and (rules.credential(parts.username) or parts.username:find ":") then
    return "the user in the address cannot be one"
  end
  if parts.password and rules.credential(parts.password) then
    return "the password in the address cannot be one"
  end
  if not parts.username and value:find "^%a[%w+.-]*://[^/?#@]*:[^/?#@]*@" then
    return "only http and https take a password in the address"
  end
end

--- The name that a clone of it gets, or nil.
local function directory(url)
  local name = split(url).plain:gsub("[?#].*$", ""):gsub("/+$", ""):gsub("/%.git$", ""):match "[^/:]+$"
  name = name and name:gsub("%.git$", "")
  if name and name ~= "" and name ~= "." and name ~= ".." then return name end
end

return {
  ALLOWED = "http:https:ssh:git:file",
  directory = directory,
  rule = rule,
  split = split,
}
