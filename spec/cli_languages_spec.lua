local cjson = require "cjson"
local cli = require "spec.support.cli"
local languages = require "spec.support.languages"
local sandbox = require "spec.support.sandbox"
local screen = require "spec.support.screen"
local stepbox = require "stepbox"

-- Files of each language, and what `run` prints of them.
local FILES = {
  { "javascript", "a.js", "console.log(6 * 7)", "42\n" },
  { "javascript", "a.mjs", "6 * 7", "42\n" },
  { "typescript", "a.ts", "const x: number = 21; console.log(x * 2)", "42\n" },
  { "bash", "a.sh", "echo $((6 * 7))", "42\n" },
  { "r", "a.R", "cat(6 * 7, '\n', sep = '')", "42\n" },
  { "java", "a.java", 'System.out.println(6 * 7);', "42\n" },
  { "lua", "a.lua", "print(6 * 7)", "42\n" },
}

--- Whether a language is there; else the test is skipped, and says why.
local function has(name)
  local is_there, why = languages.has(name)
  if not is_there then pending(why) end
  return is_there
end

describe("stepbox", function()
  local folder
  before_each(function() folder = sandbox.temporary() end)
  after_each(function() os.execute("rm -rf " .. folder) end)

  local function file(name, text)
    sandbox.write(folder .. "/" .. name, text)
    return folder .. "/" .. name
  end

  for _, case in ipairs(FILES) do
    it("runs a file that ends like " .. case[2] .. " in its language", function()
      if not has(case[1]) then return end
      local out, err, status = cli.run("run", file(case[2], case[3]))
      assert.same({ case[4], "", 0 }, { out, err, status })
    end)
  end

  it("takes a language by any of its names, whatever the file is called", function()
    local job = file("job.R", "print('python')")
    for _, option in ipairs { "-l", "--lang", "--language" } do
      assert.same({ "python\n", "", 0 }, { cli.run("run", option, "py", job) })
    end
    local _, err, status = cli.run("run", "--language", "cobol", job)
    assert.equal(3, status)
    assert.matches("cobol", err, 1, true)
  end)

  it("ends with the status of a script of bash, and shows nothing for it", function()
    if not has "bash" then return end
    local id = cli.new("--timeout", "60")
    finally(function() cli.run("kill", id) end)
    local job = file("job.sh", "echo said\nexit 7")
    assert.same({ "said\n", "", 7 }, { cli.run("run", job) })
    assert.same({ "", "", 3 }, { cli.run("step", id, "--language", "bash", "(exit 3)") })
    assert.same({ "", "", 0 }, { cli.run("step", id, "--language", "bash", "true") })
    assert.same({ "a\n", "", 0 }, { cli.feed("false\necho a\n", "repl", id, "-l", "bash") })
    assert.same({ "", "", 1 }, { cli.feed("true\nfalse\n", "repl", id, "-l", "bash") })
    local told, number = cli.json("step", id, "--json", "-l", "bash", "false")
    assert.same({ 1, 1 }, { number, told.results[1].data.exit_status })
  end)

  it("run writes a notebook, also when the code raises", function()
    local path = folder .. "/job.ipynb"
    assert.same({ "42\n", "", 0 }, { cli.run("run", file("a.py", "6 * 7"), "--notebook", path) })
    local book = cjson.decode(sandbox.read(path))
    assert.equal("42", book.cells[1].outputs[1].data["text/plain"][1])
    local _, _, status = cli.run("run", file("a.py", "print('x' * 10)\n1 / 0"), "--notebook", path)
    assert.equal(1, status)
    book = cjson.decode(sandbox.read(path))
    assert.equal("xxxxxxxxxx\n", book.cells[1].outputs[1].text[1])
    assert.equal("ZeroDivisionError", book.cells[1].outputs[2].ename)
    local loop = file("a.py", "print('so far', flush=True)\nwhile True: pass")
    assert.equal(124, (select(3, cli.run("run", loop, "--timeout", "3", "--notebook", path))))
    book = cjson.decode(sandbox.read(path))
    local outputs = book.cells[1].outputs
    assert.same({ "so far\n", "timeout" }, { outputs[1].text[1], outputs[2].ename })
  end)

  it("repl writes its session as a notebook, of a sandbox that is there too", function()
    local path = folder .. "/session.ipynb"
    local out, err, status = cli.feed("x = 1\nx + 1\n", "repl", "--notebook", path)
    assert.same({ "2\n", "", 0 }, { out, err, status })
    local id = cli.new("--timeout", "60")
    finally(function() cli.run("kill", id) end)
    cli.feed("y = 2\n", "repl", id)
    assert.equal(2, #cjson.decode(sandbox.read(path)).cells)
    cli.feed("y\ndef f():\n  return y\n\nf()\n", "repl", id, "--notebook", path)
    local cells = cjson.decode(sandbox.read(path)).cells
    assert.same({ 3, { "def f():\n", "  return y" } }, { #cells, cells[2].source })
  end)

  it("repl reads what is typed into a context in the language of that", function()
    if not has "bash" then return end
    local box = assert(stepbox.create { timeout = 60 })
    finally(function() box:kill() end)
    local context = assert(box:context { language = "bash" })
    local path = folder .. "/session.ipynb"
    local typed = "for i in 1 2\ndo\n  echo $i\ndone\n"
    assert.same({ "1\n2\n", "", 0 },
      { cli.feed(typed, "repl", box.id, "--context", context.id, "--notebook", path) })
    local book = cjson.decode(sandbox.read(path))
    assert.equal("bash", book.metadata.language_info.name)
    assert.same({ context = context.id }, book.cells[1].metadata.stepbox)
  end)

  it("sees before it runs anything that a notebook can be written, and leaves what is there", function()
    local job = file("a.py", "open('/home/user/x', 'w')")
    for _, words in ipairs { { "run", job }, { "repl" } } do
      words[#words + 1] = "--notebook"
      words[#words + 1] = "/nowhere/a.ipynb"
      cli.assert_called_wrongly { words }
    end
    local old = file("old.ipynb", "old")
    cli.run("run", job, "--template", "nosuch", "--notebook", old)
    assert.equal("old", sandbox.read(old))
    cli.run("run", job, "--template", "nosuch", "--notebook", folder .. "/new.ipynb")
    assert.equal("a.py\nold.ipynb\n", (sandbox.sh("ls " .. folder)))
    sandbox.sh(("ln -s later.ipynb %s/link.ipynb; mkfifo %s/pipe"):format(folder, folder))
    cli.run("run", job, "--template", "nosuch", "--notebook", folder .. "/link.ipynb")
    assert.equal("a.py\nlink.ipynb\nold.ipynb\npipe\n", (sandbox.sh("ls " .. folder)))
    assert.equal("symbolic link\n", (sandbox.sh("stat -c %F " .. folder .. "/link.ipynb")))
    local pipe = folder .. "/pipe"
    local out, _, status = cli.shell(("cat %s & timeout 20 %s; wait"):format(pipe,
      cli.line("run", job, "--notebook", pipe)))
    assert.equal(0, status)
    assert.matches("nbformat", out)
  end)

  it("sees before it runs anything that a notebook can be put where it shall be", function()
    local somebody = "setpriv --reuid 65534 --clear-groups lua5.4 -e "
    local _, cannot = sandbox.sh(somebody .. "'require \"stepbox.console\"' 2>/dev/null")
    if cannot ~= 0 then pending "this needs root, setpriv, and a tree that others may read" return end
    sandbox.write(folder .. "/a.ipynb", "old")
    os.execute(("chmod 755 %s; chmod 666 %s/a.ipynb"):format(folder, folder))
    local out = cli.shell(somebody .. "'print(require(\"stepbox.console\").can_replace_file(arg[1]))' - "
      .. folder .. "/a.ipynb </dev/null")
    assert.equal("nil\t" .. folder .. "/a.ipynb: Permission denied\tsystem\n", out)
  end)

  it("repl takes a context of a sandbox that is there alone", function()
    cli.assert_called_wrongly { { "repl", "--context", "x" } }
  end)

  it("doctor lists the languages, and what the others need", function()
    local told = cli.json("doctor", "--json")
    local found
    for _, check in ipairs(told.checks) do
      if check.name == "languages" then found = check end
    end
    for _, name in ipairs { "python", "javascript", "typescript", "bash", "r", "java", "lua" } do
      local is_there, why = languages.has(name)
      if is_there then assert.matches(name, found.detail, 1, true) end
      if not is_there and not why:find "has no runner" then
        assert.matches(why, found.remedy, 1, true)
        assert.equal("note", found.state)
      end
    end
  end)
end)

describe("stepbox at Ctrl-C", function()
  local terminal
  after_each(function()
    if terminal then terminal:close() end
    terminal = nil
  end)

  -- Of each language an endless loop, and what keeps and shows a variable.
  local LOOPS = {
    javascript = { "while (true) {}", "var kept = 5", "kept" },
    bash = { "while :; do :; done", "kept=5", "echo $kept" },
    r = { "while (TRUE) {}", "kept <- 5", "kept" },
    java = { "while (true) {}", "int kept = 5;", "kept" },
    lua = { "while true do end", "kept = 5", "kept" },
  }

  for name, loop in pairs(LOOPS) do
    it("interrupts code in " .. name .. ", and its variables stay", function()
      if not has(name) then return end
      local home = sandbox.temporary()
      finally(function() os.execute("rm -rf " .. home) end)
      terminal = screen.open("export XDG_STATE_HOME=" .. home .. "; " .. cli.line("repl", "--language", name))
      terminal:expect ">>> *$"
      terminal:type(loop[2])
      terminal:expect "kept.*5.*\n>>> *$" -- it is typed and run: the prompt before it looks the same
      terminal:type(loop[1])
      terminal:expect "running… [%d.]+ s"
      terminal:press "C-c"
      terminal:expect "[Ii]nterrupt.*\n>>> *$"
      terminal:type(loop[3])
      terminal:expect "5\n>>> *$"
    end)
  end
end)
