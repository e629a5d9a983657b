--- Where the history of the prompt is kept.

local history = {}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- The path of the history, whose folder is there; nil when there is no place for one.
function history.path()
  local state = os.getenv "XDG_STATE_HOME"
  if not state or state:sub(1, 1) ~= "/" then
    local home = os.getenv "HOME"
    if not home or home:sub(1, 1) ~= "/" then return nil end
    state = home .. "/.local/state"
  end
  local folder = state .. "/stepbox"
  local probe = io.open(folder .. "/history", "rb")
  if probe then
    probe:close()
  elseif not os.execute("mkdir -p -m 700 -- " .. quoted(folder) .. " 2>/dev/null") then
    return nil
  end
  return folder .. "/history"
end

return history
