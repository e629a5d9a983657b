--- Images for the terminals that can show them, by the protocols of kitty, iTerm2 and sixel.

local console = require "stepbox.console"
local base64 = require "stepbox.base64"

local images = {}

local KITTY_PIECE = 4096 -- what one escape sequence may carry
local ANSWER_SECONDS = 0.1

local function has(variable, ...)
  local value = os.getenv(variable) or ""
  for _, wanted in ipairs { ... } do
    if value:lower():find(wanted, 1, true) then return true end
  end
  return false
end

local function kitty(png)
  local text, out = base64.encode(png), {}
  for first = 1, #text, KITTY_PIECE do
    local more = first + KITTY_PIECE <= #text and 1 or 0
    local head = first == 1 and "a=T,f=100,m=" .. more or "m=" .. more
    out[#out + 1] = "\27_G" .. head .. ";" .. text:sub(first, first + KITTY_PIECE - 1) .. "\27\\"
  end
  return table.concat(out) .. "\n"
end

local function iterm(bytes)
  return "\27]1337;File=inline=1;size=" .. #bytes .. ":" .. base64.encode(bytes) .. "\7\n"
end

local function run(command)
  local pipe = io.popen(command, "r")
  local text = pipe and pipe:read "*a"
  if pipe then pipe:close() end
  return text or ""
end

local function has_img2sixel() return run "command -v img2sixel 2>/dev/null" ~= "" end

local function sixel(bytes)
  local path = os.tmpname()
  local file = io.open(path, "wb")
  if not file then return nil end
  file:write(bytes)
  file:close()
  local text = run("img2sixel '" .. path .. "' 2>/dev/null")
  os.remove(path)
  return text ~= "" and text .. "\n" or nil
end

--- Asks the terminal what it is (DA1) and looks for 4, sixel, in the answer. Waits a tenth of a second.
local function says_sixel()
  if not console.is_terminal(0) then return false end
  local raw = console.raw(0)
  if not raw then return false end
  console.write(1, "\27[c")
  local answer, deadline = "", console.now() + ANSWER_SECONDS
  while not answer:find "\27%[%?[%d;]*c" do
    local left = deadline - console.now()
    if left <= 0 or not console.wait({ 0 }, left)[0] then break end
    answer = answer .. (console.read(0, 256) or "")
  end
  raw:restore()
  local attributes = answer:match "\27%[%?([%d;]*)c"
  return attributes ~= nil and (";" .. attributes .. ";"):find(";4;", 1, true) ~= nil
end

local function detect()
  if not console.is_terminal(1) or has("TERM", "dumb") then return nil end
  -- What runs between us and the terminal does not pass images on.
  if os.getenv "TMUX" or has("TERM", "screen", "tmux") then
    return has("STEPBOX_IMAGES", "sixel") and sixel or nil
  end
  if has("STEPBOX_IMAGES", "none") then return nil end
  if has("STEPBOX_IMAGES", "kitty") then return kitty end
  if has("STEPBOX_IMAGES", "iterm") then return iterm end
  if has("STEPBOX_IMAGES", "sixel") then return sixel end
  if os.getenv "KITTY_WINDOW_ID" or has("TERM", "kitty", "ghostty") or has("TERM_PROGRAM", "ghostty") then
    return kitty
  end
  if has("TERM_PROGRAM", "iterm", "wezterm") or has("LC_TERMINAL", "iterm") then return iterm end
  if has_img2sixel() and says_sixel() then return sixel end
  return nil
end

local encoder, is_known

--- What to write to standard output so that its terminal shows the image, PNG or JPEG; nil when it cannot.
---@param bytes string
---@param format string
---@return string|nil
function images.encode(bytes, format)
  if not is_known then encoder, is_known = detect(), true end
  if not encoder or (encoder == kitty and format ~= "png") then return nil end
  return encoder(bytes)
end

return images
