-- From the code of a step to a function, whose value is that of the last expression.
--
-- Code that is an expression, or a list of them, has its values. Otherwise the last statement is looked for
-- that can be read as expressions, and begins a line or follows a semicolon. Lua decides: code is compiled in
-- parts, and only what compiles counts.
--
-- The values are handed to a function that the chunk gets as its only argument, and not returned: a call that
-- is returned is a tail call, and would leave no trace of the code's own line.

local byte, find, match, sub = string.byte, string.find, string.match, string.sub
local load = load

-- Lines from the end that are tried, and bytes that are compiled for that.
local CANDIDATES_MAX = 200
local BYTES_MAX = 16 * 1024 * 1024
local NEWLINE, SEMICOLON = byte "\n", byte ";"

-- Words that begin no expression.
local NO_EXPRESSION = {}
for word in ([[and break do else elseif end for goto if in local or repeat return then until while]])
  :gmatch "%l+" do
  NO_EXPRESSION[word] = true
end

local function compile(text, name) return load(text, name, "t") end

-- In code that is right as it is, a line that begins with an operator, a bracket or a string goes on with
-- what is before it.
local function begins_expression(rest, is_right)
  local word = match(rest, "^%s*([%a_][%w_]*)")
  if word then return not NO_EXPRESSION[word] end
  return not is_right or find(rest, "^%s*[%d#]") ~= nil
end

local function collecting(before, expressions, name)
  -- `...` of the code would be the argument.
  if find(before, "...", 1, true) or find(expressions, "...", 1, true) then return nil end
  return compile(before .. "(...)(" .. expressions .. "\n)", name)
end

local function with_last_expression(code, name, is_right)
  local tried, compiled = 0, 0
  for i = #code, 2, -1 do
    local separator = byte(code, i - 1)
    if separator == NEWLINE or separator == SEMICOLON then
      local rest = sub(code, i)
      tried, compiled = tried + 1, compiled + #rest
      if tried > CANDIDATES_MAX or compiled > BYTES_MAX then return nil end
      if begins_expression(rest, is_right) and compile("return " .. rest, name) then
        local before = sub(code, 1, i - 1)
        compiled = compiled + #code
        if compile(before, name) then return collecting(before .. ";", rest, name) end
      end
    end
  end
end

-- The function; or nil and what is wrong. The third value tells that it takes a function to hand its values
-- to; otherwise it returns them.
local function read(code, name)
  if sub(code, 1, 2) == "#!" then code = "--" .. sub(code, 3) end
  local expression = compile("return " .. code, name)
  if expression then
    local chunk = collecting("", code, name)
    return chunk or expression, nil, chunk ~= nil
  end
  local statements, fault = compile(code, name)
  local chunk = with_last_expression(code, name, statements ~= nil)
  if chunk then return chunk, nil, true end
  return statements, fault
end

return { read = read }
