-- Makes docs/reference.md from the annotations in the public Lua modules.
--   lua5.4 tools/reference.lua > docs/reference.md
--   lua5.4 tools/reference.lua --check    fails when the page is old, or a function has no annotation

local FILES = {
  "lua/stepbox/init.lua", "lua/stepbox/client.lua", "lua/stepbox/box.lua", "lua/stepbox/context.lua",
  "lua/stepbox/info.lua",
  "lua/stepbox/life.lua", "lua/stepbox/result.lua",
  "lua/stepbox/task.lua", "lua/stepbox/commands.lua", "lua/stepbox/process.lua", "lua/stepbox/pty.lua",
  "lua/stepbox/files.lua", "lua/stepbox/files/read.lua", "lua/stepbox/files/write.lua",
  "lua/stepbox/files/url.lua", "lua/stepbox/watch.lua", "lua/stepbox/ports.lua", "lua/stepbox/engine.lua",
  "lua/stepbox/git/status.lua", "lua/stepbox/git/work.lua",
  "lua/stepbox/git/branches.lua", "lua/stepbox/git/remotes.lua", "lua/stepbox/git/transfer.lua",
  "lua/stepbox/git/config.lua",
  "lua/stepbox/blocks.lua", "lua/stepbox/blocks/block.lua",
}

-- Local functions that the public module hands out under another name.
local EXPORTED = { client = "stepbox.client", spawn = "stepbox.spawn", run = "stepbox.run" }
-- Tables whose functions are public, and how a user writes them.
local OWNERS = { stepbox = "stepbox", engine = "engine", Box = "box", Client = "client", Task = "task",
  host = "stepbox.loop", Result = "result", Git = "box.git", Commands = "box.commands",
  Context = "context", Command = "command", Pty = "box.pty", Terminal = "terminal", Files = "box.files",
  Watch = "watch",
  Forward = "forward", blocks = "blocks", Block = "block" }

local problems = {}

local function problem(file, number, text)
  problems[#problems + 1] = ("%s:%d: %s"):format(file, number, text)
end

-- "---@param name? type what it is" and the like, taken apart.
local function tag(line)
  local kind, rest = line:match "^%-%-%-@(%w+)%s*(.*)$"
  return kind, rest
end

-- A type may have spaces inside brackets: fun(a: b): c, (fun(): x)|nil, table<a, b>.
local function split_type(text)
  local depth, i = 0, 1
  while i <= #text do
    local c = text:sub(i, i)
    if c:find "[(<{]" then depth = depth + 1 end
    if c:find "[)>}]" then depth = depth - 1 end
    if c == " " and depth == 0 and text:sub(i - 1, i - 1) ~= ":" then break end
    i = i + 1
  end
  return text:sub(1, i - 1), text:sub(i + 1)
end

local function describe(out, block)
  local prose, rows = {}, {}
  for _, line in ipairs(block) do
    local kind, rest = tag(line)
    local more = not kind and rows[1] and line:match "^%-%-%-  +(.*)$"
    if more then
      -- What a tag says may go on, indented.
      rows[#rows] = rows[#rows] .. " " .. more
    elseif not kind then
      prose[#prose + 1] = line:match "^%-%-%- ?(.*)$"
    elseif kind == "param" or kind == "field" then
      local name, after = rest:match "^(%S+)%s+(.*)$"
      local type_name, text = split_type(after)
      rows[#rows + 1] = ("- `%s` (`%s`) %s"):format(name, type_name, text)
    elseif kind == "return" then
      local type_name, text = split_type(rest)
      rows[#rows + 1] = ("- returns `%s` %s"):format(type_name, text)
    end
  end
  if #prose > 0 then out[#out + 1] = table.concat(prose, "\n") .. "\n" end
  for _, row in ipairs(rows) do out[#out + 1] = (row:gsub("%s+$", "")) end
  out[#out + 1] = ""
end

local function has(block, wanted)
  for _, line in ipairs(block) do
    if tag(line) == wanted then return true end
  end
  return false
end

local function annotated(block, argument)
  for _, line in ipairs(block) do
    local kind, rest = tag(line)
    local name = kind == "param" and rest:match "^(%S+)"
    if name == argument or name == argument .. "?" then return true end
  end
  return false
end

-- How a user writes the call of a function that is declared like this, or nil when it is not public.
local function signature(line)
  local owner, mark, name, arguments = line:match "^function (%w+)([.:])([%w_]+)(%b())"
  if owner and OWNERS[owner] and not name:find "^__" then
    return OWNERS[owner] .. mark .. name .. arguments
  end
  name, arguments = line:match "^local function ([%w_]+)(%b())"
  if name and EXPORTED[name] then return EXPORTED[name] .. arguments end
end

local function page()
  local out = {
    "# Reference\n",
    "Made from the annotations in `lua/stepbox/` by `make docs`. Seconds and bytes everywhere; a failure is",
    "`nil, message, code`, misuse raises.\n",
  }
  for _, file in ipairs(FILES) do
    local block, number = {}, 0
    for line in io.lines(file) do
      number = number + 1
      local call = signature(line)
      if line:find "^%-%-%-" then
        block[#block + 1] = line
      elseif call then
        if #block == 0 or tag(block[1]) then problem(file, number, call .. " has no description") end
        for name in call:match("%((.*)%)"):gmatch "[^,%s]+" do
          if not annotated(block, name) then
            problem(file, number, call .. ": argument '" .. name .. "' has no annotation")
          end
        end
        out[#out + 1] = "## `" .. call .. "`\n"
        describe(out, block)
        block = {}
      else
        local class
        for _, note in ipairs(block) do class = class or note:match "^%-%-%-@class (.*)$" end
        if class and has(block, "field") then
          out[#out + 1] = "## " .. class .. "\n"
          describe(out, block)
        end
        block = {}
      end
    end
  end
  return table.concat(out, "\n") .. "\n"
end

local text = page()
if arg[1] ~= "--check" then
  io.write(text)
else
  local file = io.open "docs/reference.md"
  local old = file and file:read "a"
  if file then file:close() end
  if old ~= text then problem("docs/reference.md", 1, "is old: run `make docs`") end
end
for _, line in ipairs(problems) do io.stderr:write(line, "\n") end
os.exit(#problems == 0)
