--- Whether what was typed so far is a whole piece of code, or more lines belong to it.

local languages = require "stepbox.languages"
local shell = require "stepbox.cli.lines_shell"

local lines = {}

local CLOSING = { [")"] = true, ["]"] = true, ["}"] = true }
local OPENING = { ["("] = true, ["["] = true, ["{"] = true }

-- How each language writes comments and strings. `quotes`: whether a string may span lines. `continues`: what
-- a line ends with that goes on, and the words of that kind; `complete`: what looks like that, but is whole.
-- `words`: what opens and closes blocks. A language that is not here is read like C.
local C_LIKE = {
  comment = "//", block_comment = true, quotes = { ['"'] = false, ["'"] = false },
  continues = "[=,&|?:+*.%-]$", arrow = "[=-]>$", continuing = { ["else"] = true },
  complete = "[+][+]$", complete_too = "%-%-$",
}

local function like_c(own)
  for name, value in pairs(C_LIKE) do
    if own[name] == nil then own[name] = value end
  end
  return own
end

local SYNTAX = {
  python = { comment = "#", quotes = { ['"'] = false, ["'"] = false }, triple = "[\"']" },
  javascript = like_c { quotes = { ['"'] = false, ["'"] = false, ["`"] = true }, patterns = true },
  java = like_c { triple = '"' },
  r = {
    comment = "#", quotes = { ['"'] = true, ["'"] = true, ["`"] = true }, continues = "[-+*/^=<|&~,%%>]$",
    continuing = { ["else"] = true }, complete = "%-%-$",
  },
  lua = {
    comment = "--", long_brackets = true, quotes = { ['"'] = false, ["'"] = false },
    continues = "[=,+*/%%^<>~.-]$", continuing = { ["and"] = true, ["or"] = true, ["not"] = true },
    complete = "%.%.%.$", complete_too = "<%s*%a+%s*>$",
    words = {
      ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1, ["until"] = -1,
    },
  },
}
SYNTAX.typescript = SYNTAX.javascript

--- Where a string that begins at `i` ends: the index behind it, or nil when it does not end in the text. A
--- quote of one line ends with its line: then the code is wrong, but whole.
local function skip_string(text, i, quotes, spans_lines)
  local stop = "[\\\n" .. quotes:sub(1, 1) .. "]"
  i = text:find(stop, i + #quotes)
  while i do
    local c = text:sub(i, i)
    if c == "\n" and not spans_lines then return i end
    if text:sub(i, i + #quotes - 1) == quotes then return i + #quotes end
    i = text:find(stop, i + (c == "\\" and 2 or 1))
  end
  return not spans_lines and #text + 1 or nil
end

--- The quotes of a string that begins here, and whether it may span lines.
local function quotes_at(text, i, syntax)
  local c = text:sub(i, i)
  if syntax.quotes[c] == nil then return nil end
  if syntax.triple and c:find(syntax.triple) and text:sub(i, i + 2) == c:rep(3) then return c:rep(3), true end
  return c, syntax.quotes[c]
end

local function skip_to(text, from, closing)
  local _, last = text:find(closing, from, true)
  return last and last + 1
end

--- Behind the comment that begins here: an index; false when it does not end; nil when there is none.
local function skip_comment(text, i, syntax)
  local mark = syntax.comment
  if syntax.block_comment and text:sub(i, i + 1) == "/*" then return skip_to(text, i + 2, "*/") or false end
  if text:sub(i, i + #mark - 1) ~= mark then return nil end
  local level = syntax.long_brackets and text:match("^%[(=*)%[", i + #mark)
  if level then return skip_to(text, i + #mark, "]" .. level .. "]") or false end
  return text:find("\n", i, true) or #text + 1
end

--- Behind the string that begins here: as above.
local function skip_text(text, i, syntax)
  local level = syntax.long_brackets and text:match("^%[(=*)%[", i)
  if level then return skip_to(text, i, "]" .. level .. "]") or false end
  local quotes, spans = quotes_at(text, i, syntax)
  if quotes then return skip_string(text, i, quotes, spans) or false end
end

-- Behind these words of JavaScript a value stands, and a slash begins a regular expression.
local BEFORE_VALUE = {
  ["return"] = true, ["typeof"] = true, ["case"] = true, ["in"] = true, ["of"] = true, ["do"] = true,
  ["else"] = true, ["void"] = true, ["delete"] = true, ["await"] = true, ["yield"] = true,
}

--- Behind the regular expression that begins at `i`, where what stands before it in its line allows one; nil
--- when there is none.
local function skip_pattern(text, i, before)
  local word = before:match "([%a_$][%w_$]*)%s*$"
  if before:find "[%w_$)%]}\"'`.]%s*$" and not BEFORE_VALUE[word or ""] then return nil end
  local in_class = false
  local at = text:find("[\\\n/%[%]]", i + 1)
  while at do
    local c = text:sub(at, at)
    if c == "\n" then return nil end
    if c == "/" and not in_class then return at + 1 end
    if c == "[" then in_class = true elseif c == "]" then in_class = false end
    at = text:find("[\\\n/%[%]]", at + (c == "\\" and 2 or 1))
  end
end

-- Where something else than plain text may begin.
local SPECIAL = "[\n\"'`/#%-%[%](){}]"

--- How many more blocks the words of plain text open than they close.
local function count_words(text, words)
  local depth = 0
  for word in text:gmatch "[%w_.]+" do depth = depth + (words[word] or 0) end
  return depth
end

--- Behind what begins at `i`, a character that may be special: an index, or nil when that does not end; and
--- what it is in the line that it is in, of which `line` came before it.
local function skip(text, i, syntax, line)
  local behind = skip_comment(text, i, syntax)
  if behind ~= nil then return behind or nil, "" end
  behind = skip_text(text, i, syntax)
  if behind ~= nil then return behind or nil, '"' end
  if syntax.patterns and text:sub(i, i) == "/" then
    behind = skip_pattern(text, i, table.concat(line))
    if behind then return behind, '"' end
  end
  return i + 1, text:sub(i, i)
end

local function trimmed(line) return (table.concat(line):gsub("%s+$", "")) end

--- Walks over the text. Returns how many brackets and blocks are open, whether a string or comment is, the
--- last line without comment and spaces, and whether a line before it ends with a colon outside of brackets.
--- It begins where `state` says, and notes there the last line that begins outside of strings and comments.
local function scan(text, syntax, state)
  local depth, i, last, has_colon = state.depth or 0, state.at or 1, {}, state.has_colon or false
  while i <= #text do
    local at = text:find(SPECIAL, i) or #text + 1
    local plain = text:sub(i, at - 1)
    last[#last + 1] = plain
    if syntax.words then depth = depth + count_words(plain, syntax.words) end
    if at > #text then break end
    local behind, said = skip(text, at, syntax, last)
    if not behind then return depth, true, "", has_colon end
    if OPENING[said] then depth = depth + 1 elseif CLOSING[said] then depth = depth - 1 end
    if said == "\n" then
      has_colon = has_colon or (depth == 0 and trimmed(last):sub(-1) == ":")
      last = {}
      state.depth, state.at, state.has_colon = depth, behind, has_colon
    else
      last[#last + 1] = said
    end
    i = behind
  end
  return depth, false, trimmed(last), has_colon
end

local function final_line(text) return text:match ".*\n(.*)" or text end

--- Python: a block goes on until an empty line, as in Python's own prompt.
local function python_block_is_open(text, last_line, has_colon)
  if last_line:find ":$" then return true end
  local is_block = has_colon or text:find "^%s*@" ~= nil
  return is_block and final_line(text):find "%S" ~= nil
end

local function goes_on(last_line, syntax)
  local word = syntax.continuing and last_line:match "[%w_.]+$"
  if word and syntax.continuing[word] or syntax.arrow and last_line:find(syntax.arrow) then return true end
  if not syntax.continues or not last_line:find(syntax.continues) then return false end
  for _, whole in ipairs { syntax.complete or false, syntax.complete_too or false } do
    if whole and last_line:find(whole) then return false end
  end
  return true
end

--- Whether more lines belong to the text.
---@param text string without the newline at its end
---@param language? string default python
---@param state? table empty at first, and given again with the text that has become longer: then what was
---  looked at is not looked at anew with each line
---@return boolean
function lines.is_open(text, language, state)
  state = state or {}
  language = languages.normalize(language)
  if not text:find "%S" then return false end
  if language == "bash" then return shell.is_open(text, state) end
  local is_python = language == "python"
  -- Magics of IPython take what is there; cells of them go on until an empty line.
  if is_python and text:find "^%s*[%%!]" then
    return text:find "^%s*%%%%" ~= nil and final_line(text):find "%S" ~= nil
  end
  local syntax = SYNTAX[language] or C_LIKE
  local depth, in_string, last_line, has_colon = scan(text, syntax, state)
  if in_string or depth > 0 then return true end
  if is_python then return last_line:find "\\$" ~= nil or python_block_is_open(text, last_line, has_colon) end
  return goes_on(last_line, syntax)
end

return lines
