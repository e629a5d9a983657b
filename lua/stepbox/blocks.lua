--- Blocks for pipelines of agents, after the code execution blocks of AutoGPT: a sandbox set up once, used by
--- its id in any number of steps, and seen off.
---
---     local blocks = require "stepbox.blocks"
---     local made = blocks.InstantiationBlock:collect { setup_code = "x = 20" }
---     local step = blocks.StepExecutionBlock:collect { sandbox_id = made.sandbox_id, step_code = "x + 1" }
---     print(step.response)  --> 21

local block = require "stepbox.blocks.block"
local fields = require "stepbox.blocks.fields"
local tools = require "stepbox.blocks.tools"
local Run = require("stepbox.blocks.run").Run

-- Inputs of blocks that make a sandbox.
local function making(more)
  local inputs = {
    credentials = true, setup_commands = true, language = true, timeout = true, template_id = true,
    step_timeout = true, envs = true, metadata = true, allow_internet = true, files = true, outputs = true,
    keep_on_error = true, max_output = true,
  }
  for name, field in pairs(more) do inputs[name] = field end
  return inputs
end

local CodeExecutionBlock = block.new {
  name = "CodeExecutionBlock",
  title = "Execute code",
  id = "0b02b072-abe7-11ef-8372-fb5d162dd712",
  description = "Runs code in a new isolated sandbox, which is gone afterwards. Gives the value of the last "
    .. "expression, what was printed, and files. Nothing stays for the next call.",
  code = "code",
  begin = Run.create,
  inputs = making { code = true, dispose_sandbox = "dispose_own" },
}

local InstantiationBlock = block.new {
  name = "InstantiationBlock",
  title = "Instantiate a sandbox",
  id = "ff0861c9-1726-4aec-9e5b-bf53f3622112",
  description = "Makes an isolated sandbox and sets it up with shell commands, files and code. Gives its "
    .. "sandbox_id, with which StepExecutionBlock runs more code in it; variables, imports and files stay.",
  code = "setup_code",
  begin = Run.create,
  inputs = making { setup_code = true },
}

local StepExecutionBlock = block.new {
  name = "StepExecutionBlock",
  title = "Execute a step",
  id = "82b59b8e-ea10-4d57-9161-8b169b0adba6",
  description = "Runs code in a sandbox that InstantiationBlock made, with the variables, imports and files "
    .. "of the steps before. Set dispose_sandbox in the last step.",
  code = "step_code",
  begin = Run.connect,
  inputs = {
    credentials = true, sandbox_id = true, step_code = true, language = true, timeout = "extend",
    step_timeout = true, envs = true, files = true, outputs = true, dispose_sandbox = "dispose_given",
    max_output = true,
  },
}

--- The blocks, also under the original's newer names.
---@class stepbox.blocks
---@field CodeExecutionBlock stepbox.Block code in a sandbox of its own; alias ExecuteCodeBlock
---@field InstantiationBlock stepbox.Block makes a sandbox and gives its id; alias InstantiateCodeSandboxBlock
---@field StepExecutionBlock stepbox.Block code in a sandbox by its id; alias ExecuteCodeStepBlock
---@field ProgrammingLanguage table<string, string> PYTHON, JAVASCRIPT, BASH, R, JAVA
local blocks = {
  CodeExecutionBlock = CodeExecutionBlock,
  InstantiationBlock = InstantiationBlock,
  StepExecutionBlock = StepExecutionBlock,
  ExecuteCodeBlock = CodeExecutionBlock,
  InstantiateCodeSandboxBlock = InstantiationBlock,
  ExecuteCodeStepBlock = StepExecutionBlock,
  ProgrammingLanguage = fields.ProgrammingLanguage,
}

local ALL = { CodeExecutionBlock, InstantiationBlock, StepExecutionBlock }

--- The block of a name, an alias or an id.
---@param name string
---@return stepbox.Block|nil
function blocks.find(name)
  for _, one in ipairs(ALL) do
    if name == one.id or name == one.name or blocks[name] == one then return one end
  end
end

--- Definitions of the blocks as tools of a language model. What the host alone decides is not in them.
---@param format "openai"|"anthropic"|"mcp"
---@return table[] definitions to be encoded as JSON by any library: no table in them is empty
function blocks.tools(format) return tools.definitions(format, ALL) end

local function check_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    error("bad options of 'call' (table expected, got " .. type(options) .. ")", 3)
  end
  for name in pairs(options) do
    local is_known = false
    for _, one in ipairs(ALL) do is_known = is_known or one.inputs[name] ~= nil end
    if not is_known then error("unknown option '" .. tostring(name) .. "' of 'call'", 3) end
  end
  return options
end

--- Runs the block that a language model has called, and gives its outputs as JSON. It never raises for what
--- the model wrote: the JSON has `error` then, naming the field. `options` are inputs that the host sets;
--- they count more than the model's. `credentials`, `allow_internet`, `metadata`, `keep_on_error` and
--- `max_output` can be given here alone.
---@param name string a block's name, alias or id
---@param arguments string a JSON object; nothing counts as none
---@param options? stepbox.BlockInput
---@return string json
function blocks.call(name, arguments, options)
  options = check_options(options)
  return tools.call(blocks.find(name), name, arguments, options,
    "CodeExecutionBlock, InstantiationBlock, StepExecutionBlock")
end

return blocks
