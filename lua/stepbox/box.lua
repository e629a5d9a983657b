--- A box: the handle of one sandbox. Adds the public methods to the userdata of the core.

local core = require "stepbox.core"
local call = require "stepbox.call"
local Commands = require "stepbox.commands"
local Files = require "stepbox.files"
local Pty = require "stepbox.pty"
local check = require "stepbox.options"
local recording = require "stepbox.recording"
local step = require "stepbox.step"
require "stepbox.context"
require "stepbox.info"
require "stepbox.life"

--- The handle of a sandbox. One that `create` made owns it: `kill`, a `<close>` variable that ends, the
--- collector and the end of the program all kill the sandbox. One that `connect` made does not own it.
---@class stepbox.Box
---@field id string the sandbox's id, to hand on to another process
---@field owned boolean whether this handle kills the sandbox when it goes
---@field closed boolean whether it was killed or closed through this handle
---@field commands stepbox.Commands
---@field pty stepbox.Pty
---@field files stepbox.Files
---@field git stepbox.Git
local Box = core.box_methods

-- Made anew whenever it is asked for: a box that kept them could not be collected in Lua 5.1.
local function property(name, class)
  core.box_properties[name] = function(box) return setmetatable({ box = box }, class) end
end

property("commands", Commands)
property("pty", Pty)
property("files", Files)
-- Many files, for few programs: loaded when they are asked for.
core.box_properties.git = function(box) return setmetatable({ box = box }, require "stepbox.git") end

local STEP_OPTIONS = { language = check.text, context = check.text }
for name, rule in pairs(step.OPTIONS) do STEP_OPTIONS[name] = rule end

---@class stepbox.StepOptions
---@field language? string "python" and what else the sandbox offers
---@field context? string a context's id; not together with language
---@field envs? table<string, string> variables for this step alone
---@field timeout? number seconds; the step's deadline, default 300. The state survives it
---@field on_stdout? fun(text: string, time: number) gets each piece of output as it comes
---@field on_stderr? fun(text: string, time: number)
---@field on_result? fun(result: stepbox.Result)
---@field on_error? fun(error: stepbox.StepError)
---@field max_output? integer bytes kept of each stream, default 32 MiB; the rest is read and dropped

--- Runs code; variables, imports and files stay for the next step. Code that raises is no failure: look at
--- `execution.error`. On a failure the fourth value is what had arrived.
---@param code string
---@param options? stepbox.StepOptions
---@return stepbox.Execution|nil execution
---@return string? message
---@return string? code
---@return stepbox.Execution? partial
function Box:step(code, options)
  check.argument("step", 1, check.string, code)
  options = check.options("step", options, STEP_OPTIONS)
  if options.language and options.context then
    error("bad options of 'step' (only one of 'language' and 'context' can be given)", 2)
  end
  return step.run(self, code, options, {
    language = options.language,
    context = options.context,
    of = not options.context and options.language or nil,
  })
end

--- Kills the sandbox, owned or not, and closes this handle.
---@return true|nil
---@return string? message
---@return string? code "not_found" when it was gone already, "closed" when this handle had closed it
function Box:kill() return call.finish(self:start_kill()) end

--- Gives up ownership: the sandbox stays until its timeout, and another process can connect to it.
---@return string|nil id
---@return string? message
---@return string? code
function Box:detach()
  local ok, message, code = call.finish(self:start_detach())
  if not ok then return nil, message, code end
  return self.id
end

--- Interrupts the step that runs in a context, from another task or process; its state is kept, and the step
--- ends with a KeyboardInterrupt in `error`.
---@param context? string a context's id; default the default context
---@return boolean|nil interrupted whether something was running
---@return string? message
---@return string? code "unsupported" on servers that cannot (E2B's own)
function Box:interrupt(context)
  if context ~= nil then check.argument("interrupt", 1, check.string, context) end
  return call.finish(self:start_interrupt(context))
end

--- Writes the session so far as a Jupyter notebook (nbformat 4.5): each step of this handle is a cell, in the
--- order in which they began, with its code and what it gave. A cell of another language than the notebook's
--- keeps its source as it is; its metadata `stepbox` have `language` and `context`. A file that is there is
--- replaced at once, never half. Works also when the box is closed. What is kept is bounded: see `record` of
--- `create`.
---@param path string
---@return integer|nil cells how many the notebook has
---@return string? message
---@return string? code "invalid" when this box records nothing, "system" when the file cannot be written
function Box:notebook(path)
  check.argument("notebook", 1, check.text, path)
  local session = recording.of(self)
  if not session then return nil, "notebook: this box was made with 'record = false'", "invalid" end
  local text, cells = require("stepbox.notebook").encode(session)
  local done, message, code = require("stepbox.console").replace_file(path, text)
  if not done then return nil, "notebook: " .. message, code end
  return cells
end

return Box
