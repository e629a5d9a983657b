-- Makes docs/differences.md from spec/conformance/differences.json, whose answers the tests check.
--   lua5.4 tools/differences.lua [--check]

local cjson = require "cjson"

local function read(path)
  local file = io.open(path)
  local content = file and file:read "a" or ""
  if file then file:close() end
  return content
end

local by_reason, reasons = {}, {}
for case, difference in pairs(cjson.decode(read "spec/conformance/differences.json")) do
  local cases = by_reason[difference.reason]
  if not cases then
    cases = {}
    by_reason[difference.reason] = cases
    reasons[#reasons + 1] = difference.reason
  end
  cases[#cases + 1] = "`" .. case .. "`"
end
table.sort(reasons)

local out = {
  "# Where step answers differ from the recorded server on purpose\n",
  "Made from `spec/conformance/differences.json` by `make docs`. The names are the recorded requests in",
  "`spec/conformance/events/`. Every other recording is answered alike; each answer here is checked too.\n",
}
for _, reason in ipairs(reasons) do
  table.sort(by_reason[reason])
  out[#out + 1] = "- " .. reason .. " (" .. table.concat(by_reason[reason], ", ") .. ")"
end
local page = table.concat(out, "\n") .. "\n"

if arg[1] ~= "--check" then
  io.write(page)
elseif read "docs/differences.md" ~= page then
  io.stderr:write("docs/differences.md is old: run `make docs`\n")
  os.exit(false)
end
