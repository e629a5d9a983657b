-- A project goes into a sandbox, is built and tested there, serves a page, and its results come back.
--   make run FILE=examples/project.lua
local stepbox = require "stepbox"

local box <close> = assert(stepbox.create { timeout = 300 })

-- Files: strings, open files, functions; metadata stays with them.
assert(box.files:write {
  { path = "site/index.html", data = "<h1>Made in a sandbox</h1>\n" },
  { path = "site/numbers.txt", data = "3\n1\n2\n" },
})
assert(box.files:write("site/test.sh", "test $(sort -n numbers.txt | head -1) = 1 && echo all well\n",
  { metadata = { author = "the example" } }))

-- Commands: a non-zero exit is a result, arguments are data, output comes as it is written.
local result = assert(box.commands:run("sh test.sh", {
  cwd = "site",
  on_stdout = function(text) io.write("test says: ", text) end,
}))
assert(result.ok, result.stderr)
result = assert(box.commands:run({ "ls", "no such file; rm -rf /" }))
print("ls exits with " .. result.exit_code)

-- Changes are seen as they happen.
local watch <close> = assert(box.files:watch("site", { recursive = true }))
assert(box.commands:run "sort -n site/numbers.txt > site/sorted.txt")
for event in watch:events() do
  print("the directory saw: " .. event.change .. " " .. event.name)
  if event.name == "sorted.txt" then break end
end
print("sorted: " .. assert(box.files:read "site/sorted.txt"):gsub("\n", " "))

-- A repository of it, with its first commit.
assert(box.git:init "site")
assert(box.git:add "site")
local who = { author_name = "Example", author_email = "example@localhost" }
print("committed " .. assert(box.git:commit("site", "Begin", who)):sub(1, 7))

-- A server inside is reached through a port of this machine.
local server = assert(box.commands:run("python3 -m http.server 8000", { cwd = "site", background = true }))
local forward <close> = assert(box:forward(8000))
local page = assert(io.popen("curl -s --retry 20 --retry-all-errors --retry-delay 1 " .. forward.url, "r"))
io.write("the page: ", page:read "a")
page:close()
assert(server:kill())

-- A terminal, for programs that want one.
local terminal <close> = assert(box.pty:create { cols = 100, rows = 30 })
assert(terminal:send "stty size\n")
print("a terminal of " .. assert(terminal:expect "30 100"):match "%d+ %d+$")

-- The whole directory comes back.
local here = os.tmpname()
os.remove(here)
assert(box.files:download_dir("site", here))
local file = assert(io.open(here .. "/sorted.txt"))
print("back here, the first number is " .. file:read "l")
file:close()
os.execute("rm -r " .. here)
