--- Whether what was typed so far is a whole piece of code, or more lines belong to it.

local languages = require "stepbox.languages"
local shell = require "stepbox.cli.lines_shell"

local lines = {}

local CLOSING = { [")"] = true, ["]"] = true, ["}"] = true }
local OPENING = { ["("] = true, ["["] = true, ["{"] = true }

-- How each language writes comments and strings. `quotes`: whether a string may span lines. `continues`: what
-- a line ends with that goes on; `complete`: what looks like that, but is whole. `words`: what opens and
-- closes blocks. A language that is not here is read like C.
local C_LIKE = {
  comment = "//", block_comment = true, quotes = { ['"'] = false, ["'"] = false },
  continues = "[=,&|?+*.%-]$", complete = "[+][+]$", complete_too = "%-%-$",
}
local SYNTAX = {
  python = { comment = "#", quotes = { ['"'] = false, ["'"] = false }, triple = "[\"']" },
  javascript = {
    comment = "//", block_comment = true, quotes = { ['"'] = false, ["'"] = false, ["`"] = true },
    continues = C_LIKE.continues, complete = C_LIKE.complete, complete_too = C_LIKE.complete_too,
  },
  java = {
    comment = "//", block_comment = true, quotes = { ['"'] = false, ["'"] = false }, triple = '"',
    continues = C_LIKE.continues, complete = C_LIKE.complete, complete_too = C_LIKE.complete_too,
  },
  r = {
    comment = "#", quotes = { ['"'] = true, ["'"] = true, ["`"] = true }, continues = "[-+*/^=<|&~,%%>]$",
    complete = "%-%-$",
  },
  lua = {
    comment = "--", long_brackets = true, quotes = { ['"'] = false, ["'"] = false },
    continues = "[=,+*/%%^<>~-]$",
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

-- Where something else than plain text may begin.
local SPECIAL = "[\n\"'`/#%-%[%](){}]"

--- How many more blocks the words of plain text open than they close.
local function count_words(text, words)
  local depth = 0
  for word in text:gmatch "[%w_.]+" do depth = depth + (words[word] or 0) end
  return depth
end

--- Behind what begins at `i`, a character that may be special: an index, or nil when that does not end; and
--- what it is in the line that it is in.
local function skip(text, i, syntax)
  local behind = skip_comment(text, i, syntax)
  if behind ~= nil then return behind or nil, "" end
  behind = skip_text(text, i, syntax)
  if behind ~= nil then return behind or nil, '"' end
  return i + 1, text:sub(i, i)
end

--- Walks over the text. Returns how many brackets and blocks are open, whether a string or comment is, and
--- the last line without comment and spaces.
local function scan(text, syntax)
  local depth, i, last = 0, 1, {}
  while i <= #text do
    local at = text:find(SPECIAL, i) or #text + 1
    local plain = text:sub(i, at - 1)
    last[#last + 1] = plain
    if syntax.words then depth = depth + count_words(plain, syntax.words) end
    if at > #text then break end
    local behind, said = skip(text, at, syntax)
    if not behind then return depth, true, "" end
    if OPENING[said] then depth = depth + 1 elseif CLOSING[said] then depth = depth - 1 end
    if said == "\n" then last = {} else last[#last + 1] = said end
    i = behind
  end
  return depth, false, (table.concat(last):gsub("%s+$", ""))
end

--- Python: a block goes on until an empty line, as in Python's own prompt.
local function python_block_is_open(text, last_line)
  if last_line:find ":$" then return true end
  local final = text:match "([^\n]*)$"
  local is_block = text:find "^%s*@" or text:find "\n[ \t]+%S" or text:find ":%s*\n"
  return final:find "%S" ~= nil and is_block ~= nil
end

local function goes_on(last_line, syntax)
  if not syntax.continues or not last_line:find(syntax.continues) then return false end
  for _, whole in ipairs { syntax.complete or false, syntax.complete_too or false } do
    if whole and last_line:find(whole) then return false end
  end
  return true
end

--- Whether more lines belong to the text.
---@param text string without the newline at its end
---@param language? string default python
---@return boolean
function lines.is_open(text, language)
  language = languages.normalize(language)
  if not text:find "%S" then return false end
  if language == "bash" then return shell.is_open(text) end
  local is_python = language == "python"
  -- Magics of IPython take what is there; cells of them go on until an empty line.
  if is_python and text:find "^%s*[%%!]" then
    return text:find "^%s*%%%%" ~= nil and text:match("([^\n]*)$"):find "%S" ~= nil
  end
  local syntax = SYNTAX[language] or C_LIKE
  local depth, in_string, last_line = scan(text, syntax)
  if in_string or depth > 0 then return true end
  if is_python then return last_line:find "\\$" ~= nil or python_block_is_open(text, last_line) end
  return goes_on(last_line, syntax)
end

return lines
