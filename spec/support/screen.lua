--- A real terminal for the specs: tmux on a socket of its own.

local host = require "spec.support.host"

local Screen = {}
Screen.__index = Screen

local M = {}

local function quote(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end

function Screen:tmux(command)
  local output, status = host.sh(("tmux -S %s/socket -f /dev/null %s"):format(self.folder, command))
  return output, status
end

--- What is on the screen, with what has scrolled away, without spaces and empty lines at the ends.
function Screen:text()
  return (self:tmux "capture-pane -p -J -S -2000":gsub(" +\n", "\n"):gsub("\n+$", ""))
end

--- Types a text and Enter.
function Screen:type(text)
  self:tmux("send-keys -l " .. quote((text:gsub(";$", "\\;")))) -- which would end tmux's command
  self:tmux "send-keys Enter"
end

--- Presses keys by tmux's names: "C-c", "Up".
function Screen:press(...) self:tmux("send-keys " .. table.concat({ ... }, " ")) end

function Screen:resize(columns, rows)
  self:tmux(("resize-window -x %d -y %d"):format(columns, rows))
end

--- Fails unless the pattern shows within `seconds` (10).
function Screen:expect(pattern, seconds)
  local found = host.eventually(seconds or 10, function() return self:text():match(pattern) end)
  if not found then error("the screen does not show " .. pattern .. ":\n" .. self:text(), 2) end
  return found
end

function Screen:close()
  self:tmux "kill-server"
  os.execute("rm -rf " .. self.folder)
end

--- Starts a shell command on a terminal. The screen stays when it has ended, and shows its status.
function M.open(command, options)
  options = options or {}
  local self = setmetatable({ folder = host.temporary() }, Screen)
  -- Ctrl-C is for the command: the shell around it gets the signal too.
  local script = "unset LC_ALL LC_CTYPE; export LANG=C.UTF-8\ntrap : INT\n%s\n"
    .. "echo \"[status $?]\"\ntrap '' INT\nexec sleep 1000\n"
  host.write(self.folder .. "/command", (script:gsub("%%s", function() return command end)))
  local output, status = self:tmux(("new-session -d -x %d -y %d %s"):format(options.columns or 100,
    options.rows or 30, quote("exec sh " .. self.folder .. "/command")))
  assert(status == 0, output)
  return self
end

return M
