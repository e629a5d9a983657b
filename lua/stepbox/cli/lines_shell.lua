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
}
local LOOPS = { ["for"] = true, ["select"] = true }

local Scan = {}
Scan.__index = Scan

--- Behind the quotes that begin at `at`, or nil when they do not end.
local function skip_quotes(text, at)
  local quote = text:sub(at, at)
  at = at + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == quote then return at + 1 end
    at = at + (c == "\\" and quote ~= "'" and 2 or 1)
  end
end

--- Notes a here-document whose operator is at `at`; returns the index behind it.
function Scan:note_document(at)
  local dash, quote, word, behind = self.text:match("^<<(%-?)%s*([\"']?)([%w_.-]+)()", at)
  if not word then return at + 2 end
  self.documents[#self.documents + 1] = { word = word, may_be_indented = dash == "-" }
  return behind + #quote
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
  end
  if word == "do" then self.expects_do = false end
  self.at_command = BEFORE_COMMAND[word] or CLOSING[word] or false
end

--- What a bracket means: those of patterns of `case` close nothing.
function Scan:bracket(c)
  local stack = self.stack
  if c == "(" then
    stack[#stack + 1] = ")"
  elseif stack[#stack] == ")" then
    stack[#stack] = nil
  end
  self.at_command = true
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
  if c == "\\" then
    if at == #text then return nil end
    self.at_command = false
    return at + 2
  end
  if c == "'" or c == '"' or c == "`" then
    self.at_command = false
    return skip_quotes(text, at)
  end
  if text:find("^<<<", at) then return at + 3 end
  if text:find("^<<", at) then return self:note_document(at) end
  if text:find("^%${", at) then
    self.at_command = false
    local _, last = text:find("^%b{}", at + 1)
    return last and last + 1
  end
  if c == "(" or c == ")" then
    self:bracket(c)
    return at + 1
  end
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
  if self.at_command or (word == "do" and self.expects_do) then self:command_word(word) end
  return behind
end

function shell.is_open(text)
  local scan = setmetatable({ text = text, stack = {}, documents = {}, at_command = true }, Scan)
  local at = 1
  while at and at <= #text do at = scan:take(at) end
  return not at or scan.stack[1] ~= nil or scan.documents[1] ~= nil or scan.line_goes_on
    or scan.expects_do or false
end

return shell
