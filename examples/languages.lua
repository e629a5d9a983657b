-- Several languages in one sandbox: a context for each, with variables of its own, and files for all of them.
local stepbox = require "stepbox"

-- What each does with the numbers that Python writes, and how it keeps and shows its answer.
local STEPS = {
  javascript = { "const fs = require('fs'); var numbers = JSON.parse(fs.readFileSync('numbers.json'))",
    "numbers.reduce((a, b) => a + b)" },
  typescript = { "const words: string[] = ['a', 'b']; function twice(n: number): number { return 2 * n }",
    "twice(words.length)" },
  bash = { "count=$(tr -cd , < numbers.json | wc -c)", "echo $((count + 1)) numbers" },
  r = { "numbers <- scan(text = gsub('[^0-9,]', '', readLines('numbers.json', warn = FALSE)), sep = ',')",
    "mean(numbers)" },
  java = { 'import java.nio.file.*; var text = Files.readString(Path.of("numbers.json"));', "text.length()" },
  lua = { "text = io.open('numbers.json'):read 'a'", "select(2, text:gsub('%d+', ''))" },
}

local box <close> = assert(stepbox.create { timeout = 300 })
assert(box:step "import json\njson.dump([3, 1, 4, 1, 5], open('numbers.json', 'w'))")

local languages, missing = {}, {}
for _, language in ipairs(assert(box:languages())) do
  if STEPS[language.name] and language.available then
    languages[#languages + 1] = language.name
  elseif STEPS[language.name] then
    missing[#missing + 1] = language.message
  end
end

local function show(name)
  local context = assert(box:context { language = name })
  local answer
  for _, code in ipairs(STEPS[name]) do
    answer = assert(context:step(code))
    if answer.error then error(name .. ": " .. tostring(answer)) end
  end
  return ("%-10s says %s"):format(name, (answer.text or answer.stdout):match "^%s*(.-)%s*$")
end

-- All at once, each in a task; the answers in order.
stepbox.run(function()
  local tasks = {}
  for i, name in ipairs(languages) do tasks[i] = stepbox.spawn(show, name) end
  for _, task in ipairs(tasks) do print(task:wait()) end
end)

print(("%d contexts share %s"):format(#languages, assert(box.files:info "numbers.json").path))
for _, message in ipairs(missing) do print("missing: " .. message) end

local path = os.getenv "STEPBOX_NOTEBOOK" or "languages.ipynb"
print(("%d steps written to %s"):format(assert(box:notebook(path)), path))
