local sandbox = require "spec.support.sandbox"
local cli = require "spec.support.cli"
local screen = require "spec.support.screen"

describe("stepbox repl", function()
  local id, home, terminal
  setup(function() id = cli.new("--timeout", "600") end)
  teardown(function() cli.run("kill", id) end)
  before_each(function() home = sandbox.temporary() end)
  after_each(function()
    if terminal then terminal:close() end
    terminal = nil
    os.execute("rm -rf " .. home)
  end)

  local function open(...)
    terminal = screen.open("export XDG_STATE_HOME=" .. home .. "; " .. cli.line("repl", ...))
    terminal:expect ">>> *$"
  end

  --- Types a line, and waits for what it shows and for the next prompt.
  local function say(text, pattern)
    terminal:type(text)
    terminal:expect(pattern .. "\n>>> *$")
  end

  it("shows values, keeps variables, and leaves at Ctrl-D", function()
    open(id)
    say("x = 20 + 1", "x = 20 %+ 1")
    say("x * 2", "\n42")
    say("print('out')", "\nout")
    say("1 / 0", "ZeroDivisionError: division by zero")
    terminal:press "C-d"
    terminal:expect "%[status 0%]"
    assert.is_true(sandbox.listed(id))
    assert.equal("21\n", (cli.run("step", id, "x")))
  end)

  it("takes several lines", function()
    open(id)
    terminal:type "def double(n):"
    terminal:expect "%.%.%. *$"
    terminal:type "    return n * 2"
    terminal:expect "n %* 2\n%.%.%. *$"
    say("", "%.%.%.")
    terminal:type "(double("
    terminal:expect "%.%.%. *$"
    say("21))", "\n42")
    terminal:type 'print("""a'
    terminal:expect "%.%.%. *$"
    say('b""")', "\na\nb")
  end)

  it("interrupts the step at Ctrl-C, not the program, and keeps variables", function()
    open(id)
    say("kept = 'still here'", "here'")
    terminal:type "while True: pass"
    terminal:expect "running… [%d.]+ s"
    terminal:press "C-c"
    terminal:expect "KeyboardInterrupt:? ?\n>>> *$"
    say("kept", "\nstill here")
    assert.is_nil(terminal:text():find("running", 1, true)) -- the line was taken away
    terminal:press "C-d"
    terminal:expect "%[status 0%]"
  end)

  it("clears the line at Ctrl-C", function()
    open(id)
    terminal:tmux "send-keys -l 'this is no code'"
    terminal:expect "no code$"
    terminal:press "C-c"
    say("'next'", "this is no code%^?C?\n>>> 'next'\nnext")
    terminal:type "for i in range(3):"
    terminal:expect "%.%.%. *$"
    terminal:press "C-c"
    terminal:expect "\n>>> *$"
    say("1 + 1", "\n2")
  end)

  it("remembers what was typed, in a file of its user alone", function()
    open(id)
    say("'first'", "\nfirst")
    terminal:type "if True:"
    terminal:type "    print('block')"
    say("", "\nblock")
    terminal:press "C-d"
    terminal:expect "%[status 0%]"
    assert.equal("600\n", (sandbox.sh("stat -c %a " .. home .. "/stepbox/history")))
    terminal:close()
    open(id)
    terminal:press("Up", "Up")
    terminal:expect ">>> 'first'$"
    terminal:press "Enter"
    terminal:expect "\nfirst\n>>> *$"
  end)

  it("edits text of any language", function()
    open(id)
    terminal:tmux "send-keys -l \"'grün' + '€'\""
    terminal:press("Left", "BSpace")
    terminal:tmux "send-keys -l 'ß'"
    terminal:press "Enter"
    terminal:expect "\ngrünß\n>>> *$"
  end)

  it("without an id has a sandbox of its own, which ends with it", function()
    open("--metadata", "repl=own")
    local own = cli.run("ls", "--metadata", "repl=own"):match "^%w+"
    assert.is_truthy(own)
    say("40 + 2", "\n42")
    terminal:type "exit"
    terminal:expect "%[status 0%]"
    sandbox.assert_gone(own)
  end)

  it("without an id kills its sandbox also when its terminal goes", function()
    open("--metadata", "repl=gone")
    terminal:close()
    terminal = nil
    local function is_gone() return cli.run("ls", "--metadata", "repl=gone") == "" end
    assert.is_true(sandbox.eventually(5, is_gone))
  end)

  it("tells when the sandbox is gone, and leaves", function()
    local other = cli.new()
    open(other)
    cli.run("kill", other)
    terminal:type "1"
    terminal:expect "stepbox: .*%[status 3%]"
  end)

  it("runs what comes from a pipe without prompts", function()
    local out, err, status = cli.feed("y = 5\nfor i in range(2):\n    print(i)\n\ny\n(1,\n2)", "repl", id)
    assert.same({ "0\n1\n5\n(1, 2)\n", "", 0 }, { out, err, status })
  end)
end)

describe("what stepbox repl takes for open", function()
  local is_open = require("stepbox.cli.lines").is_open

  it("are brackets, strings, blocks and lines that say so", function()
    for _, text in ipairs {
      "(", "f(1,", "[1,\n2", "{'a': (", '"""doc', "'''a\nb", "x = 1 + \\", "if x:", "if x:  # why",
      "def f():\n    pass", "@decorator", "class A:\n    def f(self):", "%%bash\nls",
      "for i in x:\n    if i:\n        y", "f('(', (",
    } do
      assert.is_true(is_open(text), text)
    end
  end)

  it("are not whole pieces, and what more lines would not mend", function()
    for _, text in ipairs {
      "", "x = 1", "f(')')", "'('", "# if x:", "x  # (", 'print("""a""")', "if x:\n    y\n",
      "def f():\n    pass\n",
      "%timeit x", "!ls (", "x = '", "a)", "d = {1: 2}", "x[1:]", "lambda: 1", "%%bash\nls\n",
      "'''a\nb'''",
    } do
      assert.is_false(is_open(text), text)
    end
  end)

  it("depends on the language", function()
    assert.is_true(is_open("f(`a", "javascript"))
    assert.is_true(is_open("if (x) {", "js"))
    assert.is_false(is_open("if (x) {} // (", "javascript"))
    assert.is_true(is_open("echo 'a", "bash"))
    assert.is_true(is_open("ls \\", "bash"))
    assert.is_true(is_open("case x in a)", "bash"))
  end)
end)
