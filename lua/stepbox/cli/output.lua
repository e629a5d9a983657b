--- What goes to stdout and stderr.

local console = require "stepbox.console"
local progress = require "stepbox.cli.progress"
local status = require "stepbox.cli.status"

local BROKEN_PIPE = 141 -- what a shell says of a program that SIGPIPE ended

local output = {}

local function write(fd, text)
  if text == "" then return end
  progress.hide()
  local ok, message, code = console.write(fd, text)
  if ok then
    if console.is_terminal(fd) then progress.wrote(text) end
    return
  end
  -- Nobody reads any more: that is no fault to speak of.
  if code == "broken_pipe" then status.leave(BROKEN_PIPE) end
  status.leave(status.FAILED, (fd == 1 and "standard output: " or "standard error: ") .. message, "system")
end

function output.out(text) write(1, text) end

function output.err(text) write(2, text) end

function output.line(text) write(1, text .. "\n") end

--- Says what the engine has dropped of a step's or a command's output; nothing when that is nothing.
function output.dropped(result)
  if not result.dropped then return end
  output.err(("stepbox: %d bytes beyond the sandbox's limit of output were dropped\n"):format(result.dropped))
end

--- One line of JSON.
function output.json(value)
  write(1, require("stepbox.json_text").encode(value) .. "\n")
end

function output.is_terminal() return console.is_terminal(1) end

--- Text of others for a terminal or a line of its own: no control characters.
function output.plain(text)
  return (tostring(text):gsub("[%c\127]", function(c) return ("\\x%02x"):format(c:byte()) end))
end

--- How many columns a text takes; every character counts as one.
local function width(text)
  local _, count = text:gsub("[^\128-\191]", "")
  return count
end

local function widen(widths, cells)
  for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, width(cell)) end
end

local function row(cells, widths)
  local parts = {}
  for i, cell in ipairs(cells) do
    parts[i] = i < #cells and cell .. (" "):rep(widths[i] - width(cell)) or cell
  end
  return (table.concat(parts, "  "):gsub(" +$", ""))
end

--- A table for people: a head and rows of strings.
function output.table(head, rows)
  local widths = {}
  widen(widths, head)
  for _, cells in ipairs(rows) do widen(widths, cells) end
  local lines = { row(head, widths) }
  for _, cells in ipairs(rows) do lines[#lines + 1] = row(cells, widths) end
  output.out(table.concat(lines, "\n") .. "\n")
end

--- Seconds for people: "42s", "3m", "2h05m", "4d".
function output.duration(seconds)
  seconds = math.max(0, math.floor(seconds + 0.5))
  if seconds < 120 then return seconds .. "s" end
  if seconds < 7200 then return math.floor(seconds / 60) .. "m" end
  if seconds < 172800 then
    return ("%dh%02dm"):format(math.floor(seconds / 3600), math.floor(seconds % 3600 / 60))
  end
  return math.floor(seconds / 86400) .. "d"
end

return output
