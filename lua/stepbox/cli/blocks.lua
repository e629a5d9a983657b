--- stepbox blocks: lists the blocks for pipelines of agents, or runs one with its input from stdin.

local blocks = require "stepbox.blocks"
local console = require "stepbox.console"
local decode = require("stepbox.json").decode
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local progress = require "stepbox.cli.progress"
local source = require "stepbox.cli.source"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local NAMES = { "InstantiationBlock", "StepExecutionBlock", "CodeExecutionBlock" }

local function list(arguments)
  local found = json.list()
  for i, name in ipairs(NAMES) do
    local block = blocks.find(name)
    local schema = block:schema()
    found[i] = { name = block.name, id = block.id, description = block.description,
      input = schema.input, output = schema.output }
  end
  if arguments.json then return output.json(found) end
  for _, block in ipairs(found) do
    output.line(output.is_terminal() and block.name .. "\n    " .. block.description
      or block.name .. "\t" .. output.plain(block.description))
  end
end

--- A message without the place in our source where it was raised.
local function without_place(message) return (tostring(message):gsub("^[^:]+:%d+: ", "")) end

--- The object on stdin. Whoever is at this prompt is the host: all inputs are theirs to set.
local function read_input(arguments)
  if console.is_terminal(0) then arguments.fail "the block's input is read from stdin, as a JSON object" end
  local text = source.read_stdin()
  local ok, input = pcall(decode, text:find "%S" and text or "{}")
  if not ok or type(input) ~= "table" or text:find "^%s*%[" then
    status.usage("the input is no JSON object" .. (ok and "" or ": " .. without_place(input)))
  end
  for name, value in pairs(input) do
    if value == json.null then input[name] = nil end
  end
  return input
end

local function run(arguments)
  local block = blocks.find(arguments.name)
  if not block then arguments.fail("there is no block '" .. arguments.name .. "'") end
  local input = read_input(arguments)
  for name in pairs(input) do
    if block.inputs[name] == nil then status.usage(block.name .. ": it has no input '" .. name .. "'") end
  end
  progress.set("running " .. block.name)
  return wait.run(function(state)
    local ok, text = pcall(blocks.call, block.name, "{}", input)
    if not ok then status.usage(without_place(text)) end
    output.line(text)
    return state.status or decode(text).error and status.RAISED or status.OK
  end)
end

return function(arguments)
  if not arguments.action then return list(arguments) end
  if not arguments.name then arguments.fail "the name of a block is missing" end
  return run(arguments)
end
