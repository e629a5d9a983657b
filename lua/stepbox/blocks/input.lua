--- Checks what a block is given, before anything is made.

local null = require("stepbox.core").null

-- JSON's null, and the empty template of the original, say that nothing is given.
local function is_absent(name, value)
  return value == nil or value == null or (name == "template_id" and value == "")
end

local function host_alone(field)
  return function(value)
    if value ~= field.default then return "the host alone sets it: it is an option of blocks.call" end
  end
end

--- Adds one input to the values, or gives what is wrong with it.
local function add(values, block, name, value, from_model)
  local field = block.inputs[name]
  if not field then return "unknown input '" .. tostring(name) .. "'" end
  if is_absent(name, value) then return nil end
  local rule = field.rule
  if from_model then rule = field.model_rule or field.host and host_alone(field) or rule end
  local wrong = rule(value)
  if wrong then return "bad input '" .. name .. "' (" .. wrong .. ")" end
  values[name] = value
  if field.convert then values[name] = field.convert(value) end
end

--- Checks the input of a block and adds what is left to default.
---@param block table
---@param given any
---@param host? table what the host sets when a model made the rest; what this block does not know is left out
---@return table|nil values
---@return string? message names the field
---@return boolean? is_host whether it is the host's fault
local function check(block, given, host)
  if given == nil then given = {} end
  if type(given) ~= "table" then return nil, "bad input (table expected, got " .. type(given) .. ")" end
  local values = {}
  for name, value in pairs(host or {}) do
    local wrong = block.inputs[name] and add(values, block, name, value, false)
    if wrong then return nil, wrong, true end
  end
  for name, value in pairs(given) do
    local is_set = host and values[name] ~= nil
    local wrong = not is_set and add(values, block, name, value, host ~= nil)
    if wrong then return nil, wrong end
  end
  for name, field in pairs(block.inputs) do
    if values[name] == nil then
      if field.required then return nil, "bad input '" .. name .. "' (it is missing)" end
      values[name] = field.default
    end
  end
  return values
end

return { check = check }
