--- Checks tables of options: an unknown name, a wrong type or a value out of range raises, naming it.

local check = {}

--- Tables that say what a call takes: name -> rule. A rule gets the value and returns nothing when it is
--- right, else what was expected.

local function is_type(wanted)
  return function(value)
    if type(value) ~= wanted then return wanted .. " expected, got " .. type(value) end
  end
end

check.string = is_type "string"
check.boolean = is_type "boolean"

--- A string that systems take: a NUL byte would end it.
function check.text(value)
  if type(value) ~= "string" then return "string expected, got " .. type(value) end
  if value:find "%z" then return "it must not contain a NUL byte" end
end

check.callable = function(value)
  local meta = type(value) == "table" and getmetatable(value)
  if type(value) ~= "function" and not (meta and meta.__call) then
    return "function expected, got " .. type(value)
  end
end

--- Seconds: a number above zero (zero and negative values raise; there is no "for ever" by accident).
function check.seconds(value)
  if type(value) ~= "number" then return "number of seconds expected, got " .. type(value) end
  if value ~= value or value <= 0 then
    return "a number of seconds above 0 expected, got " .. tostring(value)
  end
end

--- Bytes: a number above zero.
function check.bytes(value)
  if type(value) ~= "number" then return "number of bytes expected, got " .. type(value) end
  if value ~= value or value <= 0 or value == math.huge then
    return "a number of bytes above 0 expected, got " .. tostring(value)
  end
end

--- Of processors, of which one can have a part.
function check.cpus(value)
  if type(value) ~= "number" then return "number expected, got " .. type(value) end
  if value ~= value or value <= 0 or value == math.huge then
    return "a number above 0 expected, got " .. tostring(value)
  end
end

function check.count(value)
  if type(value) ~= "number" then return "number expected, got " .. type(value) end
  if value ~= value or value < 1 or value % 1 ~= 0 then
    return "a whole number of at least 1 expected, got " .. tostring(value)
  end
end

--- A port of TCP.
function check.port(value)
  if type(value) ~= "number" then return "port expected, got " .. type(value) end
  if value ~= value or value < 1 or value > 65535 or value % 1 ~= 0 then
    return "a port from 1 to 65535 expected, got " .. tostring(value)
  end
end

--- A table of strings by name.
function check.map(value)
  if type(value) ~= "table" then return "table expected, got " .. type(value) end
  for name, inner in pairs(value) do
    if type(name) ~= "string" then return "names must be strings, got a " .. type(name) end
    if type(inner) ~= "string" then
      return "the value of '" .. name .. "' must be a string, got " .. type(inner)
    end
    if name == "" then return "a name must not be empty" end
    if name:find("%z") or inner:find("%z") then
      return "'" .. name:gsub("%z", "\\0") .. "' must not contain a NUL byte"
    end
  end
end

--- Environment variables: names the shell can use too.
function check.envs(value)
  local wrong = check.map(value)
  if wrong then return wrong end
  for name in pairs(value) do
    if not name:find "^[%a_][%w_]*$" then return "'" .. name .. "' is no name of a variable" end
  end
end

--- A list of strings that systems take.
function check.strings(value)
  if type(value) ~= "table" then return "list of strings expected, got " .. type(value) end
  local count = 0
  for key in pairs(value) do
    count = count + 1
    if type(key) ~= "number" then
      return "list of strings expected, got a key '" .. tostring(key) .. "'"
    end
  end
  for i = 1, count do
    if type(value[i]) ~= "string" then
      return "list of strings expected, entry " .. i .. " is a " .. type(value[i])
    end
    if value[i]:find "%z" then return "strings without NUL bytes expected, entry " .. i .. " is none" end
  end
end

--- Whether something is recorded, or how many bytes of it.
function check.record(value)
  if type(value) == "boolean" then return nil end
  return check.bytes(value) and "boolean or a number of bytes above 0 expected, got " .. tostring(value)
end

--- What says where sandboxes are, the same for every call that may make a client of its own.
check.connection = {
  api_key = check.text,
  domain = check.text,
  api_url = check.text,
  sandbox_url = check.text,
  headers = check.map,
  proxy = check.text,
  ca_file = check.text,
  socket = check.text,
  engine = check.text,
  request_timeout = check.seconds,
}

--- Checks `options` of the function `name`; nil counts as no options.
---@param name string the function, for the message
---@param options table|nil
---@param rules table<string, function>
---@param level? integer where the error points, as `error` has it; default 2: the caller's caller
---@return table options never nil; the caller's own table
function check.options(name, options, rules, level)
  level = (level or 2) + 1
  if options == nil then return {} end
  if type(options) ~= "table" then
    error("bad options of '" .. name .. "' (table expected, got " .. type(options) .. ")", level)
  end
  for option, value in pairs(options) do
    local rule = rules[option]
    if not rule then
      error("unknown option '" .. tostring(option) .. "' of '" .. name .. "'", level)
    end
    local wrong = rule(value)
    if wrong then error("bad option '" .. option .. "' of '" .. name .. "' (" .. wrong .. ")", level) end
  end
  return options
end

--- Checks one argument. Raises at the caller's caller, or at another level, as `error` has it.
function check.argument(name, index, rule, value, level)
  local wrong = rule(value)
  if wrong then
    error("bad argument #" .. index .. " to '" .. name .. "' (" .. wrong .. ")", level or 3)
  end
end

return check
