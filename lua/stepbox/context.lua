--- Contexts: interpreters in one sandbox that share nothing but its files. More methods of boxes, and what
--- `box:context` makes.

local core = require "stepbox.core"
local call = require "stepbox.call"
local check = require "stepbox.options"
local recording = require "stepbox.recording"
local step = require "stepbox.step"

local Box = core.box_methods

--- An interpreter of its own in a sandbox: its language, its variables, its directory. It is there until it
--- is removed or its sandbox ends; letting go of the object leaves it alone.
---@class stepbox.Context
---@field id string for the `context` of `box:step`, in other processes too
---@field language? string
---@field cwd? string the directory that its code begins in
---@field box stepbox.Box the sandbox that it is in
---@field envs? table<string, string> variables that are sent with each step, on servers that keep none with
---  a context
local Context = {}
Context.__index = Context

-- What other servers do not keep: box -> id of a context -> its variables.
local kept = setmetatable({}, { __mode = "k" })

local function context(box, raw)
  raw.box, raw.envs = box, kept[box] and kept[box][raw.id]
  recording.note_context(box, raw.id, raw.language)
  return setmetatable(raw, Context)
end

local function copy(map)
  local made = {}
  for name, value in pairs(map) do made[name] = value end
  return made
end

---@class stepbox.ContextOptions
---@field language? string default "python"; what there is, `box:languages()` tells
---@field cwd? string the directory that its code begins in; a relative one is in the home directory, which is
---  the default, and what it is when there is no such directory
---@field envs? table<string, string> variables for all its code. The local engine keeps them with the
---  context; on other servers this object sends them with each step

local CONTEXT_OPTIONS = { language = check.text, cwd = check.text, envs = check.envs }

--- Makes a context: an interpreter of its own, with variables of its own, in the same sandbox.
---@param options? stepbox.ContextOptions
---@return stepbox.Context|nil context
---@return string? message
---@return string? code "unsupported" when the sandbox does not have the language: the message says why
function Box:context(options)
  options = check.options("context", options, CONTEXT_OPTIONS)
  local envs = options.envs
  if envs and next(envs) == nil then envs = nil end
  local keeps = self:is_local()
  local raw, message, code = call.finish(self:start_new_context {
    language = options.language,
    cwd = options.cwd,
    envs = keeps and envs or nil,
  })
  if not raw then return nil, message, code end
  if envs and not keeps then
    kept[self] = kept[self] or {}
    kept[self][raw.id] = copy(envs)
  end
  return context(self, raw)
end

--- The contexts of the sandbox, the oldest first: those that were made, and the default ones of languages
--- that steps have used.
---@return stepbox.Context[]|nil
---@return string? message
---@return string? code
function Box:contexts()
  local list, message, code = call.finish(self:start_contexts())
  if not list then return nil, message, code end
  for i, raw in ipairs(list) do list[i] = context(self, raw) end
  return list
end

--- A language that code can be in.
---@class stepbox.Language
---@field name string
---@field aliases string[] what else it is called
---@field available boolean whether the sandbox can run it
---@field message? string why it cannot, and what to install

--- The languages that the sandbox knows, also those that are not installed.
---@return stepbox.Language[]|nil
---@return string? message
---@return string? code "unsupported" on servers that do not tell (E2B's own)
function Box:languages() return call.finish(self:start_languages()) end

--- Both sets of variables, those of the step before the context's.
local function variables(self, envs)
  if not self.envs then return envs end
  local both = copy(self.envs)
  for name, value in pairs(envs or {}) do both[name] = value end
  return both
end

--- Runs code in the context, as `box:step` does; steps of one context come one after the other.
---@param code string
---@param options? stepbox.StepOptions without language and context
---@return stepbox.Execution|nil execution
---@return string? message
---@return string? code "not_found" when the context was removed
---@return stepbox.Execution? partial
function Context:step(code, options)
  check.argument("step", 1, check.string, code)
  options = check.options("step", options, step.OPTIONS)
  return step.run(self.box, code, options, {
    context = self.id,
    of = self.language,
    envs = variables(self, options.envs),
  })
end

--- Starts the interpreter afresh: its variables are gone, and a step that runs in it ends. Its directory and
--- its `envs` stay.
---@return true|nil
---@return string? message
---@return string? code "not_found" when the context was removed
function Context:restart() return call.finish(self.box:start_restart_context(self.id)) end

--- Ends the interpreter; a step that runs in it ends too.
---@return true|nil
---@return string? message
---@return string? code "not_found" when the context was removed already
function Context:remove()
  local done, message, code = call.finish(self.box:start_remove_context(self.id))
  if done then
    if kept[self.box] then kept[self.box][self.id] = nil end
    recording.note_context(self.box, self.id, nil)
  end
  return done, message, code
end

--- Interrupts the step that runs in it, from another task or process; its state is kept.
---@return boolean|nil interrupted whether something was running
---@return string? message
---@return string? code "not_found", or "unsupported" on servers that cannot (E2B's own)
function Context:interrupt() return call.finish(self.box:start_interrupt(self.id)) end

function Context:__tostring()
  return ("stepbox.Context %s (%s)"):format(self.id, self.language or "?")
end

return Context
