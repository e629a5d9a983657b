--- One line on the terminal that says what is happening, once that takes longer than half a second.

local console = require "stepbox.console"

local PATIENCE = 0.5 -- seconds
local TICK = 0.1

local progress = {}

local label, since, shown
local is_at_line_start = true
local enabled

--- Whether the terminal's encoding has more than ASCII.
local function is_utf8()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(name)
    if value and value ~= "" then return value:lower():gsub("-", ""):find("utf8", 1, true) ~= nil end
  end
  return false
end

local ellipsis = is_utf8() and "…" or "..."

local function is_enabled()
  if enabled == nil then enabled = console.is_terminal(2) and os.getenv "TERM" ~= "dumb" end
  return enabled
end

--- Begins something; nil ends it.
function progress.set(text)
  progress.hide()
  label, since = text, text and console.now()
end

--- Seconds after which `show` should be called, or nil.
function progress.delay()
  if not label or not is_enabled() then return nil end
  return shown and TICK or math.max(since + PATIENCE - console.now(), 0.01)
end

--- Shows or renews the line when it is time.
function progress.show()
  if not label or not is_enabled() or not is_at_line_start then return end
  local seconds = console.now() - since
  if seconds < PATIENCE then return end
  shown = true
  local text = ("%s%s %.1f s"):format(label, ellipsis, seconds)
  local columns = console.size(2) or 80
  if #text < columns then console.write(2, "\r\27[K\27[2m" .. text .. "\27[0m") end
end

--- Takes the line away, before anything else is written.
function progress.hide()
  if not shown then return end
  shown = nil
  console.write(2, "\r\27[K")
end

--- Says what was written to the terminal last: the line is not put behind half a line of output.
function progress.wrote(text)
  if text ~= "" then is_at_line_start = text:sub(-1) == "\n" end
end

return progress
