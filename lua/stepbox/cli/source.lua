--- Where the code of `step` and `run` comes from.

local console = require "stepbox.console"
local languages = require "stepbox.languages"
local status = require "stepbox.cli.status"

local source = {}

--- The language that a file's name tells, or nil. Python is the default, and not named.
function source.language(path)
  local language = languages.of_file(path)
  return language ~= "python" and language or nil
end

function source.read_file(path)
  local file, message = io.open(path, "rb")
  if not file then status.usage(message) end
  local text, why = file:read "*a"
  file:close()
  if not text then status.usage(path .. ": " .. (why or "cannot be read")) end
  return text
end

function source.read_stdin()
  local pieces = {}
  while true do
    local piece, message = console.read(0, 65536)
    if not piece then status.leave(status.FAILED, "standard input: " .. message, "system") end
    if piece == "" then return table.concat(pieces) end
    pieces[#pieces + 1] = piece
  end
end

local function is_file(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local _, problem = file:read(0)
  file:close()
  return problem == nil
end

local function looks_like_file(text)
  return text:find "^[%w_./~-]+%.%w+$" and languages.of_file(text)
end

--- The code that `step` shall run, and the language that its file's name tells.
function source.of_step(arguments)
  local given, literal = arguments.code, arguments.literal
  if given and literal then arguments.fail "code is given twice" end
  if literal then return literal end
  if not given then
    if console.is_terminal(0) then arguments.fail "no code: give code, a file, or something to stdin" end
    return source.read_stdin()
  end
  if given == "-" then return source.read_stdin() end
  if is_file(given) then return source.read_file(given), source.language(given) end
  if looks_like_file(given) then
    arguments.fail("there is no file " .. given .. " (with -c it is taken for code)")
  end
  return given
end

return source
