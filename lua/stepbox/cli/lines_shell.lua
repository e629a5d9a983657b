--- Whether more lines belong to what was typed so far of Bash: quotes, here-documents, compound commands,
--- substitutions, and lines that end with an operator.

local shell = {}

-- Words that begin and end compound commands, where a command may stand.
local OPENING = { ["if"] = "fi", ["do"] = "done", ["case"] = "esac", ["{"] = "}" }
local CLOSING = { ["fi"] = true, ["done"] = true, ["esac"] = true, ["}"] = true }
-- Behind these a command may stand too.
local BEFORE_COMMAND = {
  ["if"] = true, ["then"] = true, ["elif"] = true, ["else"] = true, ["do"] = true, ["while"] = true,
  ["until"] = true, ["{"] = true, ["!"] = true, ["time"] = true,
  ["coproc"] = true,
}
local LOOPS = { ["for"] = true, ["select"] = true, ["while"] = true, ["until"] = true }

local Scan = {}
Scan.__index = Scan

--- Behind the quotes that begin at `at`, or nil when they do not end. `has_escapes`: single ones of $'...'.
local function skip_quotes(text, at, has_escapes)
  local quote = text:sub(at, at)
  at = at + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == quote then return at + 1 end
    at = at + (c == "\\" and (has_escapes or quote ~= "'") and 2 or 1)
  end
end

--- Notes a here-document whose operator is at `at`; returns the index behind it.
function Scan:note_document(at)
  local dash, _, word, behind = self.text:match("^<<(%-?)[ \t]*([\"'])([^\n]-)%2()", at)
  if not word then dash, word, behind = self.text:match("^<<(%-?)[ \t]*\\?([%w_.-]+)()", at) end
  if not word then return at + 2 end
  self.documents[#self.documents + 1] = { word = word, may_be_indented = dash == "-" }
  return behind
end

--- Whether what stands here is arithmetic, where << is no here-document.
function Scan:is_arithmetic()
  for i = #self.stack, 1, -1 do
    if self.stack[i] == "))" then return true end
    if self.stack[i] ~= ")" then return false end
  end
  return false
end

--- Behind the bodies of the here-documents of the line that ended before `at`; nil when one has no end.
function Scan:skip_documents(at)
  for _, document in ipairs(self.documents) do
    local is_found = false
    while not is_found do
      if at > #self.text then return nil end
      local line, behind = self.text:match("^([^\n]*)\n?()", at)
      if document.may_be_indented then line = line:gsub("^\t+", "") end
      is_found, at = line == document.word, behind
    end
  end
  self.documents = {}
  return at
end

--- A word where a command may stand.
function Scan:command_word(word)
  local stack = self.stack
  if OPENING[word] then
    stack[#stack + 1] = OPENING[word]
  elseif CLOSING[word] and stack[#stack] == word then
    stack[#stack] = nil
  elseif LOOPS[word] then
    self.expects_do = true
  elseif word == "function" then
    self.expects_name = true
  end
  if word == "do" then self.expects_do = false end
  self.at_command = BEFORE_COMMAND[word] or CLOSING[word] or false
end

--- What the bracket at `at` means: those of patterns of `case` close nothing, and two that open may be
--- arithmetic, or subshells. Returns the index behind it.
function Scan:bracket(at)
  local text, stack = self.text, self.stack
  local behind, top = at + 1, stack[#stack]
  self.at_command = true
  -- Those of a function, and not of an empty array or substitution.
  if text:find("^%(%s*%)", at) and text:sub(1, at - 1):find "[%w_%s.-]$" then self.expects_body = true end
  if text:find("^%(%(", at) then
    stack[#stack + 1], behind = "))", at + 2
  elseif text:sub(at, at) == "(" then
    stack[#stack + 1] = ")"
  elseif top == "))" and text:find("^%)%)", at) then
    stack[#stack], behind = nil, at + 2
  elseif top == "))" then
    stack[#stack] = ")"
  elseif top == ")" then
    stack[#stack] = nil
  end
  return behind
end

--- A word, which ends before `behind`.
function Scan:word(word, behind)
  if self.expects_name then
    self.expects_name, self.expects_body, self.at_command = false, true, true
  elseif self.at_command or (word == "do" and self.expects_do) then
    self:command_word(word)
  end
  return behind
end

--- Takes what is at `at`; returns the index behind it, or nil when it does not end.
function Scan:take(at)
  local text = self.text
  local c = text:sub(at, at)
  if c == "\n" then
    self.at_command, self.line_goes_on = true, false
    return self:skip_documents(at + 1)
  end
  if c == "#" and (at == 1 or text:find("^[%s;&|(]", at - 1)) then
    return text:find("\n", at, true) or #text + 1
  end
  if c:find "%s" then return at + 1 end
  self.line_goes_on = false
  if c ~= ")" then self.expects_body = false end
  if c == "\\" then
    if at == #text then return nil end
    self.at_command = false
    return at + 2
  end
  if c == "'" or c == '"' or c == "`" then
    self.at_command = false
    return skip_quotes(text, at)
  end
  if text:find("^%$'", at) then
    self.at_command = false
    return skip_quotes(text, at + 1, true)
  end
  if text:find("^<<<", at) then return at + 3 end
  if text:find("^<<", at) and not self:is_arithmetic() then return self:note_document(at) end
  if text:find("^%${", at) then
    self.at_command = false
    local _, last = text:find("^%b{}", at + 1)
    return last and last + 1
  end
  if c == "(" or c == ")" then return self:bracket(at) end
  if c == ";" or c == "&" or c == "|" then
    self.at_command = true
    self.line_goes_on = c == "|" or text:find("^&&", at) ~= nil
    return at + (text:find("^[&|;][&|;]", at) and 2 or 1)
  end
  local word, behind = text:match("^([^%s;&|()<>'\"`\\$]+)()", at)
  if not word then
    self.at_command = false
    return at + 1
  end
  return self:word(word, behind)
end

--- What is known where a line begins, for the text when that has become longer.
function Scan:note(state, at)
  state.at, state.stack = at, {}
  for i, word in ipairs(self.stack) do state.stack[i] = word end
  for _, name in ipairs { "expects_do", "expects_name", "expects_body" } do state[name] = self[name] end
end

--- As `lines.is_open`.
function shell.is_open(text, state)
  local scan = setmetatable({ text = text, stack = {}, documents = {}, at_command = true }, Scan)
  for i, word in ipairs(state.stack or {}) do scan.stack[i] = word end
  for _, name in ipairs { "expects_do", "expects_name", "expects_body" } do scan[name] = state[name] end
  local at = state.at or 1
  while at and at <= #text do
    local is_end = text:find("^\n", at)
    at = scan:take(at)
    if is_end and at then scan:note(state, at) end
  end
  return not at or scan.stack[1] ~= nil or scan.documents[1] ~= nil or scan.line_goes_on
    or scan.expects_do or scan.expects_body or false
end

return shell
