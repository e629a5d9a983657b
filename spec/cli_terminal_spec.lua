local sandbox = require "spec.support.sandbox"
local cli = require "spec.support.cli"
local screen = require "spec.support.screen"

local PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
local SHOW_PNG = "import base64\nfrom IPython.display import Image, display\n"
  .. "display(Image(base64.b64decode('" .. PNG .. "'), format='png'))"

describe("stepbox at a terminal", function()
  local id, terminal
  setup(function() id = cli.new("--timeout", "600", "--metadata", "purpose=terminal spec") end)
  teardown(function() cli.run("kill", id) end)
  after_each(function()
    if terminal then terminal:close() end
    terminal = nil
  end)

  it("ls is a table, info has times for people", function()
    local ls = cli.line("ls", "--metadata", "purpose=terminal spec")
    terminal = screen.open(ls .. "; " .. cli.line("info", id))
    terminal:expect "%[status 0%]"
    local text = terminal:text()
    assert.matches("^ID +STATE +TEMPLATE +AGE +LEFT +METADATA\n" .. id
      .. " +running +code%-interpreter%-v1 +%d+s +%w+ +purpose=terminal spec\n", text)
    assert.matches("end_at +%d+%-%d+%-%d+ [%d:]+ %(in %w+%)", text)
  end)

  it("says what takes long, and takes that away", function()
    terminal = screen.open(cli.line("step", id, "import time; time.sleep(1.5); print('done')"))
    terminal:expect "running… [01]%.%d s"
    terminal:expect "done\n%[status 0%]"
    assert.is_nil(terminal:text():find("running", 1, true))
  end)

  it("says nothing of that to pipes", function()
    local _, err = cli.run("step", id, "import time; time.sleep(1)")
    assert.equal("", err)
  end)

  it("Ctrl-C interrupts a step, whose variables stay", function()
    terminal = screen.open(cli.line("step", id, "kept = 5\nwhile True: pass"))
    terminal:expect "running…"
    terminal:press "C-c"
    terminal:expect "KeyboardInterrupt.*%[status 130%]"
    assert.equal("5\n", (cli.run("step", id, "kept")))
  end)

  it("Ctrl-C ends run, with its sandbox", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    sandbox.write(folder .. "/loop.py", "while True: pass")
    terminal = screen.open(cli.line("run", folder .. "/loop.py", "--metadata", "ctrl=c"))
    terminal:expect "running…"
    terminal:press "C-c"
    terminal:expect "%[status 130%]"
    assert.equal("", (cli.run("ls", "--metadata", "ctrl=c")))
  end)

  it("Ctrl-C ends the program while it reads code", function()
    terminal = screen.open(cli.line("step", id, "-"))
    sandbox.sleep(0.5)
    terminal:press "C-c"
    terminal:expect "%[status 130%]"
  end)

  it("a second Ctrl-C does not wait for code that catches the first", function()
    terminal = screen.open(cli.line("step", id, "import time\nwhile True:\n"
      .. "    try: time.sleep(0.01)\n    except BaseException: pass"))
    terminal:expect "running…"
    terminal:press "C-c"
    sandbox.sleep(0.5)
    terminal:press "C-c"
    terminal:expect "%[status 130%]"
  end)

  --- What a step writes to a terminal of this kind.
  local function show(environment, answer)
    local line = ("env -u TMUX -u TERM_PROGRAM -u LC_TERMINAL -u KITTY_WINDOW_ID TERM=xterm %s "
      .. "/usr/bin/python3 spec/support/answering_terminal.py '%s' %s"):format(environment, answer or "none",
      cli.line("step", id, SHOW_PNG))
    local out, err, status = cli.shell(line)
    assert.equal(0, status, err)
    return out
  end

  it("shows images by kitty's and iTerm2's protocols", function()
    for _, environment in ipairs { "KITTY_WINDOW_ID=1", "TERM=xterm-kitty", "TERM_PROGRAM=ghostty" } do
      assert.is_truthy(show(environment):find("\27_Ga=T,f=100,m=0;" .. PNG .. "\27\\", 1, true), environment)
    end
    for _, environment in ipairs { "TERM_PROGRAM=iTerm.app", "TERM_PROGRAM=WezTerm", "LC_TERMINAL=iTerm2" } do
      local out = show(environment)
      local escaped = PNG:gsub("%p", "%%%0")
      assert.is_truthy(out:find("\27]1337;File=inline=1;size=%d+:" .. escaped .. "\7"), environment)
    end
  end)

  it("shows images by sixel when the terminal says so", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    sandbox.write(folder .. "/img2sixel", "#!/bin/sh\nhead -c 4 \"$1\" | tail -c 3\necho -sixel\n")
    os.execute("chmod +x " .. folder .. "/img2sixel")
    local path = "PATH=" .. folder .. ":$PATH"
    assert.matches("PNG-sixel", show(path, "?62;4;22c"), 1, true)
    assert.matches("PNG-sixel", show(path .. " STEPBOX_IMAGES=sixel"), 1, true)
    for _, answer in ipairs { "?62;22c", "none" } do
      local out = show(path .. " TMPDIR=/tmp", answer)
      local saved = out:match "chart saved as ([^\r\n]+)"
      assert.is_truthy(saved, out)
      os.remove(saved)
    end
  end)

  it("saves and names images that cannot be shown", function()
    local out, err = cli.run("step", id, SHOW_PNG)
    local path = assert(err:match "^stepbox: chart saved as ([^\n]+%.png)\n$", err)
    assert.equal("", (out:gsub("<IPython[^\n]*\n", "")))
    assert.matches("^\137PNG", sandbox.read(path))
    assert.equal("600\n", (sandbox.sh("stat -c %a " .. path)))
    os.remove(path)
  end)
end)

describe("what comes with stepbox", function()
  it("completes its commands and options in bash", function()
    local out, err, status = cli.shell(cli.line("completion", "bash") .. [[ > /dev/stdout | bash -c '
      source /dev/stdin && complete -p stepbox &&
      COMP_WORDS=(stepbox st) COMP_CWORD=1 && _stepbox && echo "${COMPREPLY[@]}" &&
      COMP_WORDS=(stepbox step --la) COMP_CWORD=2 && _stepbox && echo "${COMPREPLY[@]}"']])
    assert.equal(0, status, err)
    assert.matches("complete .*%-F _stepbox .*stepbox\nstep\n%-%-lang %-%-language\n$", out)
  end)

  for _, shell in ipairs { "zsh", "fish" } do
    it("has completions that " .. shell .. " can read", function()
      local _, missing = sandbox.sh("command -v " .. shell)
      if missing ~= 0 then pending(shell .. " is not installed") return end
      local path = os.tmpname()
      local made = cli.line("completion", shell) .. " >" .. path
      local _, err, status = cli.shell(made .. " && " .. shell .. " -n " .. path)
      os.remove(path)
      assert.same({ "", 0 }, { err, status })
    end)
  end

  it("has a man page without mistakes that names every command and option", function()
    local page = sandbox.read(sandbox.root .. "/share/man/stepbox.1"):gsub("\\", "")
    local help = {}
    for _, name in ipairs(require("stepbox.cli.arguments").commands) do
      assert.is_truthy(page:find("\nfB" .. name .. "fR") or page:find("\nfB" .. name .. " "), name)
      help[#help + 1] = cli.run(name, "--help")
    end
    for option in table.concat(help):gmatch "%-%-[%a]+" do
      assert.is_truthy(page:find(option, 1, true), option)
    end
    if select(2, sandbox.sh "command -v man") ~= 0 then pending "man is not installed" return end
    local out, status = sandbox.sh("LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings=all -E UTF-8 -l -Tutf8 -P cat "
      .. sandbox.root .. "/share/man/stepbox.1 2>&1 >/dev/null")
    assert.same({ "", 0 }, { out, status })
  end)
end)
