--- Whether what was typed so far is a whole piece of code, or more lines belong to it.

local lines = {}

local CLOSING = { [")"] = true, ["]"] = true, ["}"] = true }
local OPENING = { ["("] = true, ["["] = true, ["{"] = true }

--- Where a string that begins at `i` ends: the index behind it, or nil when it does not end in the text. A
--- quote of one line ends with its line: then the code is wrong, but whole.
local function skip_string(text, i, quotes, spans_lines)
  i = i + #quotes
  while i <= #text do
    local c = text:sub(i, i)
    if c == "\\" then
      i = i + 2
    elseif text:sub(i, i + #quotes - 1) == quotes then
      return i + #quotes
    elseif c == "\n" and not spans_lines then
      return i
    else
      i = i + 1
    end
  end
  return not spans_lines and #text + 1 or nil
end

--- The quotes of a string that begins here, and whether it may span lines.
local function quotes_at(text, i, language)
  local c = text:sub(i, i)
  if language == "python" then
    local three = text:sub(i, i + 2)
    if three == '"""' or three == "'''" then return three, true end
  end
  if c == "`" and language == "javascript" then return c, true end
  if c == '"' or c == "'" then return c, language == "bash" end
end

local function comment_at(text, i, language)
  if language == "javascript" then return text:sub(i, i + 1) == "//" end
  return text:sub(i, i) == "#" and (language == "python" or text:sub(i - 1, i - 1):find "^%s?$" ~= nil)
end

--- Walks over the text. Returns how many brackets are open, whether a string is, and the last line without
--- comment and spaces.
local function scan(text, language)
  local depth, i, last = 0, 1, {}
  while i <= #text do
    local c = text:sub(i, i)
    local quotes, spans = quotes_at(text, i, language)
    if quotes then
      local behind = skip_string(text, i, quotes, spans)
      if not behind then return depth, true, "" end
      last[#last + 1] = quotes
      i = behind
    elseif comment_at(text, i, language) then
      i = text:find("\n", i, true) or #text + 1
    else
      if OPENING[c] then depth = depth + 1 elseif CLOSING[c] then depth = depth - 1 end
      if c == "\n" then last = {} else last[#last + 1] = c end
      i = i + 1
    end
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

-- The names that a language may be given by, as far as they matter here.
local FAMILIES = {
  python = "python", py = "python", python3 = "python",
  javascript = "javascript", js = "javascript", typescript = "javascript", ts = "javascript",
  java = "javascript",
  bash = "bash", sh = "bash",
}

--- Whether more lines belong to the text.
---@param text string without the newline at its end
---@param language? string default python
---@return boolean
function lines.is_open(text, language)
  local family = FAMILIES[(language or "python"):lower()] or "other"
  if not text:find "%S" then return false end
  -- Magics of IPython take what is there; cells of them go on until an empty line.
  if family == "python" and text:find "^%s*[%%!]" then
    return text:find "^%s*%%%%" ~= nil and text:match("([^\n]*)$"):find "%S" ~= nil
  end
  local depth, in_string, last_line = scan(text, family)
  if in_string or last_line:find "\\$" then return true end
  if depth > 0 and family ~= "bash" then return true end
  return family == "python" and python_block_is_open(text, last_line)
end

return lines
