local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a terminal", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300 }) end)
  teardown(function() assert(box:kill()) end)

  it("runs a login shell that a person could use", function()
    local terminal <close> = assert(box.pty:create { cols = 100, rows = 30, envs = { PS1 = "ready> " } })
    assert.equal("integer", math.type(terminal.pid))
    assert(terminal:send "stty size; tty; echo $TERM $LANG; echo ü | wc -m\n")
    assert(terminal:expect "30 100\r\n")
    assert(terminal:expect "/dev/pts/")
    assert(terminal:expect "xterm-256color C.UTF-8")
    assert(terminal:expect "\n2\r\n")
    assert(terminal:send "exit 3\n")
    local result = assert(terminal:wait())
    assert.equal(3, result.exit_code)
    assert.matches("xterm", result.stdout, 1, true)
    assert.equal(result.stdout, terminal.output)
    assert.is_true(terminal.done)
  end)

  it("tells its program of a new size", function()
    -- Not a trap of bash, which misses a signal that comes while the trap runs; and no pause, which waits for
    -- ever when the signal came just before it.
    local program = [[
import os, signal, time
# Not print, which must not interrupt itself.
signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b'%d %d\n' % os.get_terminal_size()))
print('up', flush=True)
while True: time.sleep(0.05)]]
    local terminal = assert(box.pty:create { command = { "python3", "-c", program } })
    assert(terminal:expect "up")
    assert(terminal:resize(132, 43))
    assert(terminal:expect "132 43")
    assert(box.pty:resize(terminal.pid, 20, 10))
    assert(terminal:expect "20 10")
    assert(terminal:kill())
    assert.matches("killed", assert(terminal:wait()).how, 1, true)
  end)

  it("is a controlling terminal: Ctrl-C interrupts, Ctrl-D ends", function()
    local terminal = assert(box.pty:create { command = { "bash", "--norc", "-i" }, envs = { PS1 = "$ " } })
    assert(terminal:send "sleep 100; echo after-$?\n")
    sandbox.sleep(0.3)
    assert(terminal:send "\3")
    assert(terminal:send "echo code-$?\n")
    assert(terminal:expect "code-130")
    assert(terminal:send "\4")
    assert.equal("integer", math.type(assert(terminal:wait()).exit_code))
  end)

  it("shows its output as it comes, every byte of it", function()
    local seen = {}
    local terminal = assert(box.pty:create {
      command = { "python3", "-c", "import os,tty; tty.setraw(1); os.write(1, bytes(range(256)))" },
      on_data = function(text) seen[#seen + 1] = text end,
    })
    local result = assert(terminal:wait())
    local all = {}
    for i = 0, 255 do all[#all + 1] = string.char(i) end
    assert.equal(table.concat(all), table.concat(seen))
    assert.equal(table.concat(all), result.stdout)
    assert.equal(0, result.exit_code)
  end)

  it("can be left and followed again", function()
    local first = assert(box.pty:create { command = "cat", tag = "notes" })
    first:disconnect()
    local second = assert(box.pty:connect "notes")
    assert.equal(first.pid, second.pid)
    assert(box.pty:send("notes", "hello\n"))
    assert(second:expect "hello\r\nhello\r\n")
    assert(box.pty:kill(second.pid))
    assert(second:wait())
    assert.equal("process_gone", select(3, box.pty:kill "notes"))
  end)

  it("can be waited for to show something", function()
    local terminal <close> = assert(box.pty:create { command = "echo one; read line; echo two" })
    local start = sandbox.now()
    local _, _, code, instead = terminal:expect("two", { timeout = 0.5 })
    assert.equal("timeout", code)
    assert.matches("one", instead, 1, true)
    assert.is_true(sandbox.now() - start < 3)
    assert(terminal:send "go\n")
    assert(terminal:expect "two")
    assert.equal("closed", select(3, terminal:expect "three"))
  end)

  it("that is waited for is left alone by what ends the waiting", function()
    local terminal = assert(box.pty:create { command = { "cat" }, max_output = 100000 })
    stepbox.run(function()
      local waiter = stepbox.spawn(function() return terminal:expect "never" end)
      stepbox.sleep(0.05)
      waiter:cancel()
      assert.equal("cancelled", select(3, waiter:wait()))
    end)
    assert.is_false(terminal.done)
    assert(terminal:send "hello\n")
    assert.equal("hello\r\nhello", assert(terminal:expect("hello\r\nhello", { timeout = 5 })))
    local line = ("x"):rep(99) .. "\n"
    for _ = 1, 11 do assert(terminal:send(line:rep(50))) end
    assert.equal("too_large", select(3, terminal:expect("never", { timeout = 5 })))
    assert(terminal:kill())
    assert(terminal:wait())
    assert.is_true(terminal.done)
  end)

  it("finds a text in much output, and one that comes in two pieces", function()
    local command = "seq 300000; printf 'he'; sleep 0.2; printf 'llo'; cat"
    local terminal = assert(box.pty:create { command = command })
    local shown = assert(terminal:expect("hello", { timeout = 20 }))
    assert.equal("1\r\n2\r\n", shown:sub(1, 6))
    assert.equal("300000\r\nhello", shown:sub(-13))
    assert(terminal:send "more\n")
    assert.equal("more", assert(terminal:expect("more", { timeout = 5 })))
    assert(terminal:kill())
  end)

  it("refuses what is for a command's input, and the other way round", function()
    local terminal = assert(box.pty:create { command = "cat" })
    assert.is_nil((box.commands:send_stdin(terminal.pid, "x")))
    local command = assert(box.commands:run("cat", { background = true, stdin = true }))
    local _, message = box.pty:send(command.pid, "x")
    assert.is_string(message)
    assert.is_nil((box.pty:resize(command.pid, 80, 24)))
    assert(terminal:kill())
    assert(command:kill())
  end)

  it("raises on misuse, naming it", function()
    assert.has_error(function() box.pty:create { cols = 0 } end)
    assert.has_error(function() box.pty:create { rows = 70000 } end)
    assert.has_error(function() box.pty:create { colour = true } end)
    assert.has_error(function() box.pty.create {} end)
    local terminal = assert(box.pty:create { command = "cat" })
    assert.has_error(function() terminal:resize(1.5, 2) end)
    assert.has_error(function() terminal:send(5) end)
    assert(terminal:kill())
  end)
end)
