--- Where the lines of `repl` come from: a terminal with a line editor, or any other stdin.

local console = require "stepbox.console"
local status = require "stepbox.cli.status"

local prompt = {}

-- SIGHUP and SIGTERM end the line, and with it the program.
local SIGNALS = { "INT", "TERM", "HUP", "WINCH" }

local Typed = {}
Typed.__index = Typed

--- Asks for a line: the line | nil, "interrupted" or "ended". Signals are taken only meanwhile, so that a
--- step that runs has them for itself.
function Typed:read(is_first)
  local line, why = self.editor:read(is_first and ">>> " or "... ")
  return line, why
end

function Typed:remember(text) self.editor:remember(text) end

function Typed.say(_, text) console.write(1, text) end

function Typed:close()
  self.editor:close()
  self.signals:close()
end

local Piped = {}
Piped.__index = Piped

function Piped:read()
  while not self.ended do
    local line, behind = self.waiting:match "^([^\n]*)\n()"
    if line then
      self.waiting = self.waiting:sub(behind)
      return line
    end
    local piece = console.read(0, 65536)
    self.ended = not piece or piece == ""
    if not self.ended then self.waiting = self.waiting .. piece end
  end
  local rest = self.waiting
  self.waiting = ""
  if rest ~= "" then return rest end
  return nil, "ended"
end

function Piped.remember() end

function Piped.say() end

function Piped.close() end

local function typed()
  -- What is typed is text of the terminal's encoding; one that nobody has named is UTF-8 today.
  local locale = os.setlocale("", "ctype")
  if locale == "C" or locale == "POSIX" or not locale then os.setlocale("C.UTF-8", "ctype") end
  local signals = status.check(console.signals(SIGNALS))
  local path = require("stepbox.cli.history").path()
  local editor = status.check(require("stepbox.editor").new(signals:descriptor(), path))
  return setmetatable({ signals = signals, editor = editor }, Typed)
end

--- `is_plain`: no editing, whatever stdin is.
function prompt.new(is_plain)
  if not is_plain and console.is_terminal(0) and console.is_terminal(1) then return typed() end
  return setmetatable({ waiting = "", ended = false }, Piped)
end

return prompt
