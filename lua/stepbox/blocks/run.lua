--- One run of a block: a sandbox made or found, used, and seen off whatever happens.

local utf8_text = require "stepbox.utf8_text"
local compat = require "stepbox.compat"
local credentials = require "stepbox.blocks.credentials"
local message = require "stepbox.blocks.message"
local setup = require "stepbox.blocks.setup"
local step = require "stepbox.blocks.step"
local wanted = require "stepbox.blocks.wanted"

--- out: the outputs by name. box: the sandbox. owns: whether this run made it, or shall kill it.
local Run = {}
Run.__index = Run

local function new(block, input)
  return setmetatable({ block = block, input = input, out = {}, problems = {} }, Run)
end

--- Notes what went wrong. Returns false, so that a stage can end with it.
function Run:fail(text)
  self.problems[#self.problems + 1] = text
  return false
end

function Run:has_failed() return self.problems[1] ~= nil end

--- What will have become of the sandbox when its user reads a message of failure.
function Run:fate(lost)
  if not self.born then
    if self.input.dispose_sandbox then return "The sandbox was killed, as 'dispose_sandbox' says" end
    return lost or "The sandbox and its variables are alive"
  end
  if not self.input.keep_on_error then return "The sandbox was killed" end
  return (lost or "The sandbox is kept")
    .. ": StepExecutionBlock goes on in it with its sandbox_id, until its timeout"
end

--- Whole seconds that a sandbox of this run lives still, at least one.
function Run:life_left() return math.max(1, math.ceil(self.input.timeout) - (os.time() - self.born)) end

--- Whether a call failed because the sandbox is not there any more.
function Run:is_gone(code)
  if code == "cancelled" then return false end
  local running = self.box:is_running()
  if running == nil then return code == "sandbox_lost" end
  return not running
end

function Run:lost(moment, first)
  self.is_lost = true
  local why, advice
  if self.born then
    if os.time() - self.born >= self.input.timeout - 1 then
      why = ("reached its timeout of %g s"):format(self.input.timeout)
    end
    advice = "Run the block again, with a longer 'timeout' if it needs more time"
  end
  local gone = message.gone(self.input.sandbox_id or self.box.id, moment, why)
  return self:fail(message.say(first, gone, advice or message.ANOTHER))
end

function Run:fail_in_sandbox(what, why, code)
  if self:is_gone(code) then return self:lost "in" end
  self.is_cancelled = code == "cancelled"
  return self:fail(message.failure(what, why, code, self:fate()))
end

function Run:client()
  local client, why = credentials.client(self.input.credentials)
  if not client then self:fail(message.say("credentials: " .. why, "Correct the field that it names")) end
  return client
end

--- Makes the sandbox.
function Run:create()
  local input, client = self.input, self:client()
  if not client then return false end
  self.born = os.time()
  local box, why, code = client:create {
    template = input.template_id,
    timeout = input.timeout,
    envs = input.envs,
    metadata = input.metadata,
    allow_internet = input.allow_internet,
  }
  if not box then return self:fail(message.create(why, code)) end
  self.box, self.owns = box, true
  return true
end

--- Finds the sandbox, which must be alive.
function Run:connect()
  local input, client = self.input, self:client()
  if not client then return false end
  local id = input.sandbox_id
  local box, why, code = client:connect(id, { timeout = input.timeout, own = input.dispose_sandbox })
  if box then
    self.box, self.owns = box, input.dispose_sandbox
    return true
  end
  if code == "not_found" or code == "sandbox_lost" then return self:lost "before" end
  if code == "invalid" and why:find "^id:" then
    return self:fail(message.say("sandbox_id: " .. utf8_text.head(utf8_text.clean(id), 100)
      .. " is no id of a sandbox", "Give the sandbox_id that InstantiationBlock gave"))
  end
  return self:fail(message.failure("The sandbox " .. id .. " cannot be reached", why, code))
end

--- Whether the sandbox goes on after this run.
function Run:is_kept()
  if not self.born then return not self.input.dispose_sandbox end
  if self:has_failed() then return self.input.keep_on_error end
  return not self.input.dispose_sandbox
end

--- Reads the outputs, and looks whether a sandbox that shall go on is still there.
function Run:look_after()
  local patterns = self.input.outputs
  if self.is_lost or self.is_cancelled then return end
  if patterns and patterns[1] then
    local files, problem = wanted.read(self.box, patterns, self:has_failed())
    if files[1] then self.out.files = files end
    if problem and self:is_gone() then
      self:lost "after"
    elseif problem then
      self:fail(message.say(problem, not self:has_failed() and self:fate() or nil))
    end
  elseif not self:has_failed() and self:is_kept() and self:is_gone() then
    self:lost "after"
  end
end

--- Kills the sandbox. One more try: a task may have been cancelled in the first.
function Run:kill()
  local box = self.box
  local ok, why, code = box:kill()
  if not ok and code ~= "not_found" and code ~= "closed" then ok, why, code = box:kill() end
  if not ok and code ~= "not_found" and code ~= "closed" then
    self:fail(message.say("The sandbox " .. box.id .. " could not be killed: " .. why,
      "It ends by its timeout; stepbox.kill tries again"))
  end
end

--- Lets go of the sandbox: handed on, or killed.
function Run:part()
  local box = self.box
  if not box then return end
  if self.is_lost then
    self:close()
  elseif not self:is_kept() then
    self:kill()
  elseif self.born then
    local id, why = box:detach()
    if id then
      self.out.sandbox_id = id
    else
      self:fail(message.say("The sandbox could not be handed on: " .. why,
        "It was killed. Run the block again"))
      self:kill()
    end
  end
  self.box = nil
end

local function work(self)
  local is_ready = self.block.begin(self) and setup.write_files(self) and setup.run_commands(self)
  if is_ready then step.run(self) end
  if self.box then self:look_after() end
  self:part()
end

--- Does it all. An error that is raised in it leaves no sandbox behind; where nothing can wait inside of a
--- pcall, that is left to the collector.
function Run:perform()
  if compat.pcall_yields then
    local ok, raised = pcall(work, self)
    if not ok then
      self:close()
      error(raised, 0)
    end
  else
    work(self)
  end
  if self:has_failed() then self.out.error = table.concat(self.problems, "\n\n") end
end

--- Kills the sandbox without waiting, if there still is one that is this run's.
function Run:close()
  local box = self.box
  self.box = nil
  if box and self.owns then getmetatable(box).__close(box) end
end

Run.__close = Run.close

return { new = new, Run = Run }
