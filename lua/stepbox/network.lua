--- What a sandbox may reach: checks it, and puts it as the core takes it.

local check = require "stepbox.options"

local network = {}

--- What many programs would take for an address although it is not written as one: "127.1", "0x7f.1".
local function ends_in_number(name)
  local last = name:match "[^.]*$"
  return last:find "^%d+$" or last:find "^0[xX]"
end

local function is_ipv4(text)
  local parts = 0
  for part in text:gmatch "[^.]+" do
    parts = parts + 1
    if not part:find "^%d+$" or #part > 3 or tonumber(part) > 255 or part:find "^0%d" then return false end
  end
  return parts == 4 and not text:find "%.%." and text:find "^%d" and text:find "%d$"
end

local function is_range(text)
  local address, bits = text:match "^([^/]+)/?(%d*)$"
  if not address or (text:find("/", 1, true) and bits == "") then return false end
  local most = 32
  if address:find(":", 1, true) then
    most = 128
    if address:find "[^%x:.]" then return false end
  elseif not is_ipv4(address) then
    return false
  end
  return bits == "" or (tonumber(bits) <= most and not bits:find "^0%d")
end

local function is_name(text)
  local name = text:gsub("^%*%.", "")
  return name:find "^[%w_-]+%.[%w._-]*[%w_-]$" and not name:find "%.%." and not ends_in_number(name)
end

local function entries(names)
  return function(value)
    local wrong = check.strings(value)
    if wrong then return wrong end
    for i, entry in ipairs(value) do
      if not is_range(entry) and not (names and is_name(entry)) then
        return ("an address or a range%s expected, entry %d is '%s'"):format(
          names and " or a name like *.example.com" or "", i, (entry:gsub("%c", "?")))
      end
    end
  end
end

local LISTS = { allow_out = entries(true), deny_out = entries(false) }

local function check_table(value, rules)
  if type(value) ~= "table" then return "table expected, got " .. type(value) end
  for name, inner in pairs(value) do
    local rule = rules[name]
    if not rule then return "unknown field '" .. tostring(name) .. "'" end
    local wrong = rule(inner)
    if wrong then return name .. ": " .. wrong end
  end
end

--- `network` of create.
function network.check(value) return check_table(value, LISTS) end

local PROXY = { address = check.text, username = check.text, password = check.text }

--- `egress_proxy` of create: "HOST:PORT", or a table with user and password.
function network.check_proxy(value)
  if type(value) == "string" then value = { address = value } end
  local wrong = check_table(value, PROXY)
  if wrong then return wrong end
  if not (value.address and value.address:find ".:%d+$") then return "HOST:PORT expected" end
  if (value.username == nil) ~= (value.password == nil) then
    return "username and password expected, or neither"
  end
end

--- Adds both to the options for the core.
function network.add(wire, lists, proxy)
  lists = lists or {}
  if type(proxy) == "string" then proxy = { address = proxy } end
  proxy = proxy or {}
  wire.allow_out, wire.deny_out = lists.allow_out, lists.deny_out
  wire.proxy, wire.proxy_user, wire.proxy_password = proxy.address, proxy.username, proxy.password
  return wire
end

--- Options of set_network.
network.options = {
  allow_internet = check.boolean,
  allow_out = LISTS.allow_out,
  deny_out = LISTS.deny_out,
  egress_proxy = network.check_proxy,
}

return network
