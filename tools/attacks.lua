-- The table of the attack suite.
--   lua5.4 tools/attacks.lua [--check]          makes docs/attacks.md, or fails when it is old
--   lua5.4 tools/attacks.lua --verdicts FILE    prints the table with the verdicts of a run

package.path = "./?.lua;" .. package.path
local attack = require "spec.support.attack"

local function single_line(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

local function cell(text) return (single_line(text):gsub("|", "\\|"):gsub("<", "&lt;")) end

local function page()
  local out = {
    "# Attacks\n",
    "Made from `spec/attacks/` by `make docs`. Each line is a test of `make attack` (part of `make test`):",
    "its probe succeeds outside of a sandbox first, which shows that it can tell, and then fails inside, as",
    "`user` and, where it makes sense, as `root` of the sandbox. `make attack` prints this table with the",
    "verdicts of the machine it runs on; what that machine cannot show is skipped there with the reason.\n",
  }
  for _, family in ipairs(attack.families()) do
    out[#out + 1] = "## " .. family.title .. "\n"
    if family.about then out[#out + 1] = family.about:gsub("^%s+", ""):gsub("%s+$", "") .. "\n" end
    out[#out + 1] = "| attack | a naive sandbox | ours |"
    out[#out + 1] = "| --- | --- | --- |"
    for _, entry in ipairs(family) do
      out[#out + 1] = ("| %s | %s | %s |"):format(cell(entry.attack), cell(entry.naive), cell(entry.ours))
    end
    out[#out + 1] = ""
  end
  return table.concat(out, "\n")
end

-- Words in lines of at most so many characters.
local function wrap(text, width)
  local lines = { "" }
  for word in text:gmatch "%S+" do
    local last = lines[#lines]
    if last == "" then
      lines[#lines] = word
    elseif #last + 1 + #word <= width then
      lines[#lines] = last .. " " .. word
    else
      lines[#lines + 1] = word
    end
  end
  return lines
end

local WIDTHS = { 38, 30, 38, 22 }

local function print_row(...)
  local columns, height = {}, 1
  for i, width in ipairs(WIDTHS) do
    columns[i] = wrap(select(i, ...), width)
    height = math.max(height, #columns[i])
  end
  for line = 1, height do
    local parts = {}
    for i, width in ipairs(WIDTHS) do
      local text = columns[i][line] or ""
      parts[i] = text .. (" "):rep(width - #text)
    end
    print((table.concat(parts, " | "):gsub("%s+$", "")))
  end
end

local function print_verdicts(path)
  local verdicts, counts = {}, {}
  for line in io.lines(path) do
    local family, name, verdict, why = line:match "^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$"
    if family then verdicts[family .. "\t" .. name] = { verdict, why } end
  end
  print_row("attack", "a naive sandbox", "ours", "verdict")
  for _, family in ipairs(attack.families()) do
    print("\n" .. family.title)
    for _, entry in ipairs(family) do
      local found = verdicts[family.name .. "\t" .. entry.attack] or { "not run", "" }
      counts[found[1]] = (counts[found[1]] or 0) + 1
      print_row(entry.attack, entry.naive, entry.ours,
        found[1] .. (found[2] ~= "" and ": " .. found[2] or ""))
    end
  end
  local words = {}
  for _, verdict in ipairs { "holds", "skipped", "BROKEN", "not run" } do
    if counts[verdict] then words[#words + 1] = counts[verdict] .. " " .. verdict end
  end
  print("\nattacks: " .. table.concat(words, ", "))
end

if arg[1] == "--verdicts" then
  print_verdicts(arg[2])
elseif arg[1] ~= "--check" then
  io.write(page())
else
  local file = io.open "docs/attacks.md"
  local old = file and file:read "a"
  if file then file:close() end
  if old ~= page() then
    io.stderr:write("docs/attacks.md is old: run `make docs`\n")
    os.exit(false)
  end
end
