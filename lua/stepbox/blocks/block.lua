--- A block: what it takes, what it gives, and how it is run.

local fields = require("stepbox.blocks.fields").fields
local input = require "stepbox.blocks.input"
local run = require "stepbox.blocks.run"
local schema = require "stepbox.blocks.schema"

-- The outputs in the order in which they come.
local ORDER = {
  "sandbox_id", "results", "main_result", "response", "stdout_logs", "stderr_logs", "files", "error",
}

--- The three blocks. They keep nothing between runs.
---@class stepbox.Block
---@field name string "CodeExecutionBlock", "InstantiationBlock" or "StepExecutionBlock"
---@field id string AutoGPT's id of the block
---@field description string
local Block = {}
Block.__index = Block

--- Checks input; raises at the caller of the method that was called.
local function check(self, given)
  if getmetatable(self) ~= Block then error("a block is run with a colon: block:run(input)", 3) end
  local values, message = input.check(self, given)
  if not values then error(self.name .. ": " .. message, 3) end
  return values
end

function Block.__tostring(self) return "stepbox.Block " .. self.name end

---@class stepbox.BlockInput
---@field credentials? table|stepbox.Client `api_key` and the like, or a client; default: the default client
---@field setup_commands? string[] shell commands run in order first; not for StepExecutionBlock
---@field code? string of CodeExecutionBlock
---@field setup_code? string of InstantiationBlock
---@field sandbox_id? string of StepExecutionBlock, which needs it
---@field step_code? string of StepExecutionBlock
---@field language? "python"|"js"|"bash"|"r"|"java" default "python"
---@field timeout? number seconds a new sandbox lives, default 300; one that exists, at least from now
---@field step_timeout? number seconds for the code; the sandbox and its variables survive it
---@field template_id? string
---@field envs? table<string, string>
---@field metadata? table<string, string>
---@field allow_internet? boolean default false
---@field files? table<string, string> bytes by path, written before anything runs
---@field outputs? string[] paths and patterns of files whose bytes come back
---@field dispose_sandbox? boolean kill it afterwards; default true for CodeExecutionBlock, else false
---@field keep_on_error? boolean hand a sandbox on whose set-up or code failed, instead of killing it
---@field max_output? integer bytes kept of stdout, of stderr, and of all results; default 4 MiB

---@class stepbox.BlockFile
---@field path string
---@field bytes string

---@class stepbox.BlockOutput
---@field sandbox_id? string when the sandbox lives on
---@field results? table[] what the code showed: formats as in stepbox.Result, and `is_main_result`
---@field main_result? table the formats of the value of the last expression
---@field response? string the main result's text, or what was printed when there is none
---@field stdout_logs? string
---@field stderr_logs? string
---@field files? stepbox.BlockFile[]
---@field error? string what went wrong, what became of the sandbox, and what to do next

--- Runs the block. The iterator gives the name and the value of each output, in the order of BlockOutput,
--- only those that there are. All is done, and a sandbox that shall not go on is killed, before the first
--- comes. Input in the wrong shape raises here, naming the field, and nothing is made.
---@param given? stepbox.BlockInput
---@return fun(): string|nil, any iterator
---@return nil
---@return nil
---@return table closing kills the sandbox when a generic `for` is left before that
function Block:run(given)
  local one, state, at = run.new(self, check(self, given)), "new", 0
  local function following()
    if state == "running" then error(self.name .. ": this run is under way in another coroutine", 2) end
    if state == "new" then
      state = "running"
      one:perform()
      state = "done"
    end
    while at < #ORDER do
      at = at + 1
      local value = one.out[ORDER[at]]
      if value ~= nil and value ~= "" then return ORDER[at], value end
    end
  end
  return following, nil, nil, one
end

--- Runs the block and gives its outputs in one table.
---@param given? stepbox.BlockInput
---@return stepbox.BlockOutput
function Block:collect(given)
  local one, out = run.new(self, check(self, given)), {}
  one:perform()
  for _, name in ipairs(ORDER) do
    local value = one.out[name]
    if value ~= "" then out[name] = value end
  end
  return out
end

--- Describes the block in JSON Schema (2020-12). The output's is that of what `blocks.call` gives: images and
--- other bytes in base64.
---@return {input: table, output: table}
function Block:schema() return schema.of_block(self) end

--- Makes a block. inputs: field of `fields` by name, or `true` for the one of the same name.
local function new(definition)
  local inputs = {}
  for name, of in pairs(definition.inputs) do inputs[name] = fields[of == true and name or of] end
  definition.inputs = inputs
  return setmetatable(definition, Block)
end

return { new = new }
