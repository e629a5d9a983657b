--- The `credentials` of a block: where its sandboxes are, and as whom.

local check = require "stepbox.options"
local stepbox = require "stepbox"

local credentials = {}

-- What the original's credentials say of themselves; none of it chooses anything here.
local LABELS = { provider = true, id = true, type = true, title = true }

local function is_client(value)
  return type(value) == "table" and type(value.create) == "function" and type(value.connect) == "function"
end

--- The rule for a host's own code.
---@return string|nil wrong
function credentials.wrong(value)
  if type(value) ~= "table" then return "table or client expected, got " .. type(value) end
  if is_client(value) then return nil end
  for name, inner in pairs(value) do
    local rule = LABELS[name] and check.string or check.connection[name]
    if not rule then return "unknown field '" .. tostring(name) .. "'" end
    local wrong = rule(inner)
    if wrong then return "field '" .. name .. "': " .. wrong end
  end
  if value.provider and value.provider ~= "e2b" then
    return "field 'provider': \"e2b\" expected, got \"" .. value.provider .. "\""
  end
  if value.type and value.type ~= "api_key" then
    return "field 'type': \"api_key\" expected, got \"" .. value.type .. "\""
  end
end

--- The rule for arguments that a model made: it may name credentials, but neither keys nor addresses.
---@return string|nil wrong
function credentials.wrong_from_model(value)
  for name in pairs(type(value) == "table" and value or {}) do
    if not LABELS[name] then
      return "the host gives keys and addresses, not the arguments: field '" .. tostring(name) .. "'"
    end
  end
  return credentials.wrong(value)
end

local default = {}

function default.create(_, options) return stepbox.create(options) end

function default.connect(_, id, options) return stepbox.connect(id, options) end

--- The client for credentials that were checked; without any, or with labels alone, the default client.
---@return table|nil client
---@return string? message
---@return string? code
function credentials.client(value)
  if is_client(value) then return value end
  local connection = {}
  for name, inner in pairs(value or {}) do
    if not LABELS[name] then connection[name] = inner end
  end
  if next(connection) == nil then return default end
  return stepbox.client(connection)
end

local function text(description) return { type = "string", description = description } end

credentials.schema = {
  type = "object",
  description = "Where the sandboxes are, and as whom; without it the environment decides, or else it is the "
    .. "local engine.",
  properties = {
    provider = { const = "e2b" },
    type = { const = "api_key" },
    id = text "A label.",
    title = text "A label.",
    api_key = text "The API key; default E2B_API_KEY of the environment.",
    domain = text "The service's domain.",
    api_url = text "The address of the control plane.",
    sandbox_url = text "One address for all sandboxes.",
    headers = {
      type = "object",
      description = "Headers that are added to each request.",
      additionalProperties = { type = "string" },
    },
    proxy = text "A proxy, as curl takes it.",
    ca_file = text "A PEM file of certificates to trust.",
    socket = text "The unix socket of the local engine.",
    engine = text "The program that is started as the local engine.",
    request_timeout = { type = "number", exclusiveMinimum = 0, description = "Seconds for one exchange." },
  },
  additionalProperties = false,
}

return credentials
