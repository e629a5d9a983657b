local sandbox = require "spec.support.sandbox"
local cli = require "spec.support.cli"
local screen = require "spec.support.screen"

describe("stepbox sh", function()
  local id
  setup(function() id = cli.new("--timeout", "600") end)
  teardown(function() cli.run("kill", id) end)

  --- Whether something with this in its arguments runs in the sandbox.
  local function runs(text)
    local look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q '[%s]%s'"
    return select(3, cli.run("sh", id, look:format(text:sub(1, 1), text:sub(2)))) == 0
  end

  describe("between pipes", function()
    it("joins the streams, and ends with the command's status", function()
      assert.same({ "out\n", "err\n", 3 }, { cli.run("sh", id, "echo out; echo err >&2; exit 3") })
      assert.same({ "a b\n-l\n", "", 0 }, { cli.run("sh", id, "printf", "%s\\n", "a b", "-l") })
      assert.equal(137, (select(3, cli.run("sh", id, "kill -KILL $$"))))
      assert.equal(3, (select(3, cli.run("sh", id, "/no/such/program", "x"))))
      assert.equal("shell\n", (cli.feed("echo shell\n", "sh", id)))
    end)

    it("passes every byte both ways", function()
      local bytes = {}
      for i = 0, 255 do bytes[i + 1] = string.char(i) end
      bytes = table.concat(bytes):rep(2000)
      local out, err, status = cli.feed(bytes, "sh", id, "cat")
      assert.same({ "", 0 }, { err, status })
      assert.is_true(out == bytes)
    end)

    it("takes its own options before the id only", function()
      assert.equal("/tmp 1\n", (cli.run("sh", "--cwd", "/tmp", "-e", "A=1", id, "echo $PWD $A")))
      assert.equal("--json -e\n", (cli.run("sh", id, "echo", "--json", "-e")))
      assert.equal("--json\n", (cli.run("sh", id, "--", "echo", "--json")))
      local _, err, status = cli.run("sh", "--timeout", "0.4", id, "sleep 20")
      assert.equal(124, status)
      assert.matches("0.4 s", err, 1, true)
    end)

    it("does not wait for input that the command leaves", function()
      local begin = sandbox.now()
      local folder = sandbox.temporary()
      finally(function() os.execute("rm -r " .. folder) end)
      -- A pipe that nobody writes to, and nobody closes.
      local out = cli.shell(("mkfifo %s/in; exec 3<>%s/in; %s <&3; echo $?"):format(folder, folder,
        cli.line("sh", id, "true")))
      assert.is_true(sandbox.now() - begin < 10)
      assert.equal("0\n", out)
    end)

    it("leaves no command behind when nobody reads, or it is killed", function()
      cli.shell(cli.line("sh", id, "yes unread") .. " | head -n 1")
      assert.is_true(sandbox.eventually(5, function() return not runs "yes unread" end))
      cli.shell(cli.line("sh", id, "sleep 987") .. " & pid=$!; sleep 1; kill -KILL $pid; wait")
      assert.is_true(sandbox.eventually(5, function() return not runs "sleep 987" end))
      cli.shell(cli.line("sh", id, "sleep 986") .. " & pid=$!; sleep 1; kill -TERM $pid; wait")
      assert.is_true(sandbox.eventually(5, function() return not runs "sleep 986" end))
    end)
  end)

  describe("at a terminal", function()
    local terminal
    after_each(function() terminal:close() end)

    it("is a terminal there: keys, Ctrl-C, size and status", function()
      local shell = cli.line("sh", "-e", "PS1=ready> ", id, "bash", "--norc", "-i")
      terminal = screen.open(shell, { columns = 93, rows = 31 })
      terminal:expect "ready>"
      terminal:type "tty; stty size; echo $TERM"
      terminal:expect "/dev/pts/%d+\n31 93\n%S"
      terminal:resize(71, 19)
      sandbox.sleep(0.3)
      terminal:type "stty size"
      terminal:expect "\n19 71\n"
      terminal:type "sleep 1000"
      sandbox.sleep(0.5)
      terminal:press "C-c"
      terminal:type "echo after-$?"
      terminal:expect "\nafter%-130\n"
      terminal:type "exit 7"
      terminal:expect "%[status 7%]"
    end)

    it("tells a program of a change of size while it runs", function()
      local program = "import os, signal\n"
        .. "def tell(*_): os.write(1, b'%d %d\\r\\n' % os.get_terminal_size(0))\n"
        .. "signal.signal(signal.SIGWINCH, tell)\nprint('up', flush=True)\nwhile True: signal.pause()"
      terminal = screen.open(cli.line("sh", id, "python3", "-c", program), { columns = 80, rows = 24 })
      terminal:expect "up"
      terminal:resize(66, 20)
      terminal:expect "66 20"
      terminal:press "C-c"
      terminal:expect "%[status %d+%]"
    end)

    it("leaves the terminal as it was", function()
      local folder = sandbox.temporary()
      finally(function() os.execute("rm -r " .. folder) end)
      terminal = screen.open(("stty -a >%s/before; %s; %s; stty -a | cmp - %s/before && echo same"):format(
        folder, cli.line("sh", id, "true"), cli.line("sh", id, "kill -9 $$"), folder))
      terminal:expect "same"
    end)
  end)
end)
