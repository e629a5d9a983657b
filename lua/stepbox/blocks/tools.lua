--- The blocks as tools of a language model: definitions in three formats, and calls that never raise for what
--- a model wrote.

local base64 = require "stepbox.base64"
local utf8_text = require "stepbox.utf8_text"
local input = require "stepbox.blocks.input"
local json = require "stepbox.json"
local json_text = require "stepbox.json_text"
local results = require "stepbox.blocks.results"
local run = require "stepbox.blocks.run"
local schema = require "stepbox.blocks.schema"

local tools = {}

local FORMATS = {}

function FORMATS.openai(block, parameters)
  return {
    type = "function",
    ["function"] = { name = block.name, description = block.description, parameters = parameters },
  }
end

function FORMATS.anthropic(block, parameters)
  return { name = block.name, description = block.description, input_schema = parameters }
end

function FORMATS.mcp(block, parameters)
  return {
    name = block.name,
    title = block.title,
    description = block.description,
    inputSchema = parameters,
    outputSchema = schema.outputs_of(),
    -- A given sandbox may be changed and killed; nothing outside of a sandbox is.
    annotations = {
      readOnlyHint = false,
      destructiveHint = block.inputs.sandbox_id ~= nil,
      idempotentHint = false,
      openWorldHint = false,
    },
  }
end

--- Definitions of blocks in a format, without what the host alone sets.
---@param format string
---@param list table[] the blocks
function tools.definitions(format, list)
  local define = FORMATS[format]
  if not define then
    error("bad argument #1 to 'tools' (openai, anthropic or mcp expected, got " .. tostring(format) .. ")", 3)
  end
  local out = {}
  for i, block in ipairs(list) do out[i] = define(block, schema.inputs_of(block, true)) end
  return out
end

local function file_to_json(file)
  local path = utf8_text.clean(file.path)
  local content, is_text = utf8_text.clean(file.bytes)
  if is_text then return { path = path, content = content, encoding = "utf-8" } end
  return { path = path, content = base64.encode(file.bytes), encoding = "base64" }
end

local function each(list, fn)
  local out = {}
  for i, value in ipairs(list) do out[i] = fn(value) end
  return json_text.list(out)
end

--- The outputs of a run as JSON text.
local function outputs_to_json(out)
  local object = {}
  for name, value in pairs(out) do
    if name == "results" then
      object.results = each(value, results.to_json)
    elseif name == "main_result" then
      object.main_result = results.to_json(value)
    elseif name == "files" then
      object.files = each(value, file_to_json)
    elseif value ~= "" then
      object[name] = utf8_text.clean(value)
    end
  end
  return json_text.encode(object)
end

local function failure(text) return json_text.encode { error = utf8_text.clean(text) } end

local function refusal(block, why)
  return failure(block.name .. ": " .. why .. ". Nothing was run: correct that and call it again.")
end

--- The arguments of a model as a table, or nil and why not.
local function parse(arguments)
  if type(arguments) == "table" then return arguments end
  if arguments == nil then return {} end
  if type(arguments) ~= "string" then return nil, "JSON text expected, got " .. type(arguments) end
  if not arguments:find "%S" then return {} end
  local ok, value = pcall(json.decode, arguments)
  if not ok then return nil, "they are no JSON: " .. tostring(value):gsub("^.-:%d+: ", "") end
  -- A list would be taken for an object whose fields have numbers.
  if type(value) ~= "table" or arguments:find "^%s*%[" then return nil, "a JSON object expected" end
  return value
end

--- Runs a block with a model's arguments.
---@param block table|nil
---@param name any how the model named it
---@param arguments any
---@param options table
---@param known string the names there are
---@return string json
function tools.call(block, name, arguments, options, known)
  if not block then
    return failure("There is no tool '" .. tostring(name) .. "'. Use one of " .. known .. ".")
  end
  local given, why = parse(arguments)
  if not given then return refusal(block, "bad arguments (" .. why .. ")") end
  local values, wrong, is_host = input.check(block, given, options)
  if is_host then error("bad options of 'call': " .. wrong, 3) end
  if not values then return refusal(block, wrong) end
  local one = run.new(block, values)
  one:perform()
  return outputs_to_json(one.out)
end

return tools
