local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a command", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300, envs = { FROM_CREATE = "yes" } }) end)
  teardown(function() assert(box:kill()) end)

  local function run(command, options) return assert(box.commands:run(command, options)) end

  --- How many processes of the sandbox have this in their command line.
  local function count(pattern)
    local code = [[
import os
def _count(pattern):
    found = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if pattern in open(f'/proc/{pid}/cmdline', 'rb').read().replace(b'\0', b' ').decode(): found += 1
        except OSError: pass
    return found
_count(']] .. pattern .. "')"
    return tonumber(assert(box:step(code)).text)
  end

  it("gives its output, apart, and its exit code", function()
    local result = run "echo out; echo err >&2; exit 3"
    assert.equal("out\n", result.stdout)
    assert.equal("err\n", result.stderr)
    assert.equal(3, result.exit_code)
    assert.equal("integer", math.type(result.exit_code))
    assert.is_false(result.ok)
    assert.is_nil(result.how)
    assert.is_false(result.truncated)
    assert.is_true(run("true").ok)
  end)

  it("keeps every byte of its output", function()
    local bytes = {}
    for i = 0, 255 do bytes[#bytes + 1] = string.char(i) end
    local all = table.concat(bytes)
    local result = run({ "python3", "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)))" })
    assert.equal(all, result.stdout)
  end)

  it("as a string goes through a login shell, as a list through none", function()
    assert.equal("yes 3\n", run("echo $FROM_CREATE $((1 + 2))").stdout)
    local words = { "echo", "$FROM_CREATE", "$(id)", "'a'", '"b"', "*" }
    assert.equal("$FROM_CREATE $(id) 'a' \"b\" *\n", run(words).stdout)
    assert.equal("-l\n", run([[shopt -q login_shell && echo -- -l | cut -c4-]]).stdout)
    local name = "new\nline ' \" \\ 💣"
    assert.equal(name, run({ "printf", "%s", name }).stdout)
  end)

  it("gets variables and a directory as data", function()
    local value = "it's \"$(touch /tmp/injected)\" \\ \n `x` 💣"
    local print_both = { "sh", "-c", 'printf "%s|%s" "$VALUE" "$PWD"' }
    local result = run(print_both, { envs = { VALUE = value }, cwd = "/tmp" })
    assert.equal(value .. "|/tmp", result.stdout)
    assert.is_false(run("test -e /tmp/injected").ok)
    assert.equal("\n", run("echo $VALUE").stdout)
    assert.equal("/home/user\n", run("pwd").stdout)
  end)

  it("says what a bad directory, program or user is", function()
    local _, message, code = box.commands:run("true", { cwd = "/nowhere" })
    assert.matches("/nowhere", message, 1, true)
    assert.equal("not_found", code)
    _, message, code = box.commands:run { "/no/such/program" }
    assert.matches("/no/such/program", message, 1, true)
    assert.equal("not_found", code)
    _, message, code = box.commands:run("true", { user = "nobody-here" })
    assert.matches("user", message, 1, true)
    assert.equal("unauthorized", code)
  end)

  it("reads nothing unless it is given something", function()
    assert.equal("0\n", run("wc -c", { timeout = 5 }).stdout)
    assert.equal("a\0b", run("cat", { stdin = "a\0b" }).stdout)
    assert.equal("", run("cat", { stdin = "" }).stdout)
    local pieces, n = { "one ", "two ", "three" }, 0
    assert.equal("one two three", run("cat", { stdin = function()
      n = n + 1
      return pieces[n]
    end }).stdout)
  end)

  it("takes in and gives out more than any buffer holds, at once", function()
    local size = 20 * 1024 * 1024
    local input = string.rep("0123456789abcdef", size / 16)
    local got = 0
    local result = run("cat", { stdin = input, on_stdout = function(text) got = got + #text end })
    assert.equal(size, got)
    assert.is_true(result.stdout == input)
  end)

  it("that stops reading its input ends as it ends", function()
    local result = run("head -c 3; exit 7", { stdin = string.rep("x", 5000000), timeout = 20 })
    assert.equal("xxx", result.stdout)
    assert.equal(7, result.exit_code)
  end)

  it("gets all of its input however late it reads it", function()
    local client = assert(stepbox.client { request_timeout = 1 })
    local own <close> = assert(client:create { timeout = 60 })
    local result = assert(own.commands:run("sleep 1.5; wc -c", { stdin = ("x"):rep(300000), timeout = 30 }))
    assert.equal("300000\n", result.stdout)
  end)

  it("that cannot be given its input is killed, and says so", function()
    stepbox.run(function()
      local pid
      local waiter = stepbox.spawn(function()
        return box.commands:run("echo $$; exec sleep 63.5", {
          stdin = ("x"):rep(300000),
          on_stdout = function(text) pid = tonumber(text) end,
        })
      end)
      while not pid do stepbox.sleep(0.01) end
      stepbox.sleep(0.1)
      waiter:cancel()
      local result, message, code, partial = waiter:wait()
      assert.is_nil(result)
      assert.equal("cancelled", code)
      assert.matches("^stdin: ", message)
      assert.equal(pid .. "\n", partial.stdout)
    end)
    assert.is_true(sandbox.eventually(5, function() return count "sleep 63.5" == 0 end))
  end)

  it("hands out output as it comes, outside of any transfer", function()
    local seen, start = {}, sandbox.now()
    run("for i in 1 2 3; do echo $i; sleep 0.3; done", {
      on_stdout = function(text, time)
        assert.is_true(math.abs(time - os.time()) < 60)
        seen[#seen + 1] = { text, sandbox.now() - start }
        assert.equal("inner\n", run("echo inner").stdout)
      end,
    })
    assert.equal("1\n", seen[1][1])
    assert.is_true(seen[3][2] - seen[1][2] > 0.4)
  end)

  it("whose handler raises is killed, and the error goes on", function()
    local ok, raised = pcall(run, "echo now; sleep 6001", { on_stdout = function() error("mine", 0) end })
    assert.is_false(ok)
    assert.equal("mine", raised)
    assert(sandbox.eventually(2, function() return count "sleep 6001" == 0 end))
  end)

  it("that is late is killed with all that it started, and what had arrived stays", function()
    local start = sandbox.now()
    local result, message, code, partial = box.commands:run(
      "echo begun; setsid sleep 6002 & sleep 6002", { timeout = 0.5 })
    assert.is_nil(result)
    assert.equal("timeout", code)
    assert.matches("0.5", message, 1, true)
    assert.equal("begun\n", partial.stdout)
    assert.is_nil(partial.exit_code)
    assert.is_true(sandbox.now() - start < 3)
    assert(sandbox.eventually(2, function() return count "sleep 6002" == 0 end))
  end)

  it("ends when its leader does, though children hold its pipes", function()
    local start = sandbox.now()
    local result = run "sleep 6003 & echo done"
    assert.equal("done\n", result.stdout)
    assert.is_true(sandbox.now() - start < 3)
    assert.equal(1, count "sleep 6003")
    run "pkill -f 'sleep 6003'"
  end)

  it("that a signal ends says how", function()
    local result = run "kill -TERM $$"
    assert.is_nil(result.exit_code)
    assert.matches("terminated", result.how, 1, true)
    assert.is_false(result.ok)
  end)

  it("keeps no more output than it may", function()
    local result = run("head -c 100000 /dev/zero; head -c 10 /dev/zero >&2", { max_output = 1000 })
    assert.equal(1000, #result.stdout)
    assert.is_true(result.stdout_truncated and result.truncated)
    assert.is_false(result.stderr_truncated)
  end)

  it("in the background is a handle", function()
    local command = "echo one; read line; echo got $line; cat; exit 4"
    local handle <close> = run(command, { background = true, stdin = true })
    assert.equal("integer", math.type(handle.pid))
    assert(sandbox.eventually(3, function() return handle.stdout == "one\n" end))
    assert.is_false(handle.done)
    assert.is_nil(handle.exit_code)
    assert(handle:send_stdin "here\n")
    assert(handle:send_stdin "rest")
    assert(handle:close_stdin())
    local result = assert(handle:wait())
    assert.equal("one\ngot here\nrest", result.stdout)
    assert.equal(4, result.exit_code)
    assert.equal(4, handle.exit_code)
    assert.equal(result, (handle:wait()))
    assert.equal("process_gone", select(3, handle:kill()))
    assert.is_not_nil(select(2, handle:send_stdin "late"))
  end)

  it("in the background has no deadline, and goes on when its handle goes", function()
    local pid
    do
      local handle <close> = run("sleep 6004", { background = true, tag = "sleeper" })
      pid = handle.pid
    end
    collectgarbage()
    local found
    for _, info in ipairs(assert(box.commands:list())) do
      if info.pid == pid then found = info end
    end
    assert.equal("sleeper", found.tag)
    assert.equal("sleep 6004", found.args[#found.args])
    assert.equal("table", type(found.envs))
    local again = assert(box.commands:connect "sleeper")
    assert.equal(pid, again.pid)
    assert(box.commands:kill(pid))
    local result = assert(again:wait())
    assert.matches("killed", result.how, 1, true)
    assert(sandbox.eventually(2, function() return count "sleep 6004" == 0 end))
    assert.equal("process_gone", select(3, box.commands:kill(pid)))
    assert.equal("process_gone", select(3, box.commands:connect "no such tag"))
    assert.equal("process_gone", select(3, box.commands:send_stdin(999999, "x")))
  end)

  it("in the background takes input while its output is handed out", function()
    local client = assert(stepbox.client { request_timeout = 5 })
    local own <close> = assert(client:create { timeout = 60 })
    local got = 0
    local handle = assert(own.commands:run({ "cat" }, {
      background = true,
      stdin = true,
      on_stdout = function(text) got = got + #text end,
    }))
    assert(handle:send_stdin(("x"):rep(6000000)))
    assert(handle:close_stdin())
    assert(handle:wait())
    assert.equal(6000000, got)
    assert.equal("process_gone", select(3, handle:send_stdin "more"))
  end)

  it("in the background outlives a handler that raises, and so does its handle", function()
    local handle = assert(run("echo out; exec sleep 64.5", {
      background = true,
      on_stdout = function() error { of_mine = true } end,
    }))
    stepbox.run(function()
      local other = stepbox.spawn(function() return select(3, handle:wait()) end)
      stepbox.sleep(0.001)
      local ok, raised = pcall(handle.wait, handle)
      if ok then ok, raised = pcall(other.wait, other) end -- the other was handed the piece
      assert.is_false(ok)
      assert.is_true(raised.of_mine)
    end)
    assert.is_true(handle.done)
    assert.equal("out\n", handle.stdout)
    assert.equal("cancelled", select(3, handle:wait()))
    assert.equal(1, count "sleep 64.5")
    assert(handle:kill())
  end)

  it("keeps its sandbox from the collector", function()
    stepbox.run(function()
      stepbox.spawn(function()
        for _ = 1, 40 do
          collectgarbage()
          stepbox.sleep(0.005)
        end
      end)
      for _ = 1, 3 do
        assert(stepbox.create({ timeout = 60 }).commands:list())
        assert(stepbox.create({ timeout = 60 }).files:info "/")
      end
    end)
  end)

  it("can be followed from another handle of the sandbox", function()
    local handle = run("read go; echo said $go", { background = true, stdin = true })
    local other = assert(stepbox.connect(box.id))
    local seen = assert(other.commands:connect(handle.pid))
    assert(other.commands:send_stdin(handle.pid, "go\n"))
    assert.equal("said go\n", assert(seen:wait()).stdout)
    assert.equal("said go\n", assert(handle:wait()).stdout)
  end)

  it("gets signals", function()
    local command = "trap 'echo INT; exit 5' INT; echo ready; while true; do sleep 0.05; done"
    local handle = run(command, { background = true })
    assert(sandbox.eventually(3, function() return handle.stdout == "ready\n" end))
    assert(handle:signal "INT")
    local result = assert(handle:wait())
    assert.equal("ready\nINT\n", result.stdout)
    assert.equal(5, result.exit_code)
  end)

  it("that is killed takes along what it started", function()
    local handle = run("setsid sleep 6005 & sleep 6005 & sleep 6005", { background = true })
    assert(sandbox.eventually(3, function() return count "sleep 6005" >= 3 end))
    assert(handle:kill())
    assert(handle:wait())
    assert(sandbox.eventually(2, function() return count "sleep 6005" == 0 end))
  end)

  it("that is not followed any more says so", function()
    local handle = run("sleep 6006", { background = true })
    handle:disconnect()
    handle:disconnect()
    assert.equal("cancelled", select(3, handle:wait()))
    assert(handle:kill())
  end)

  it("yields inside tasks, many at once", function()
    local start = sandbox.now()
    local total = stepbox.run(function()
      local tasks, sum = {}, 0
      for i = 1, 20 do
        tasks[i] = stepbox.spawn(function()
          return tonumber(run("sleep 0.5; echo " .. i).stdout)
        end)
      end
      for _, task in ipairs(tasks) do sum = sum + task:wait() end
      return sum
    end)
    assert.equal(210, total)
    assert.is_true(sandbox.now() - start < 6)
  end)

  it("of a cancelled task is killed", function()
    stepbox.run(function()
      local task = stepbox.spawn(function() return select(3, box.commands:run "sleep 6007") end)
      stepbox.spawn(function()
        run "true"
        task:cancel()
      end)
      assert.equal("cancelled", task:wait())
    end)
    assert(sandbox.eventually(2, function() return count "sleep 6007" == 0 end))
  end)

  it("lets two tasks wait for one handle", function()
    local codes = stepbox.run(function()
      local handle = run("sleep 0.3; exit 9", { background = true })
      local first = stepbox.spawn(function() return handle:wait().exit_code end)
      local second = stepbox.spawn(function() return handle:wait().exit_code end)
      return { first:wait(), second:wait() }
    end)
    assert.same({ 9, 9 }, codes)
  end)

  it("on a sandbox that is gone is a failure", function()
    local other = assert(stepbox.create { timeout = 60 })
    local handle = assert(other.commands:run("sleep 100", { background = true }))
    assert(stepbox.kill(other.id))
    assert.equal("sandbox_lost", select(3, handle:wait()))
    assert.equal("sandbox_lost", select(3, other.commands:run "true"))
    assert.equal("sandbox_lost", select(3, other.commands:list()))
    assert.equal("sandbox_lost", select(3, other.files:exists "x"))
    assert.equal("sandbox_lost", select(3, other.files:read "x"))
    other:kill()
    assert.equal("closed", select(3, other.commands:run "true"))
  end)

  it("raises on misuse, naming it", function()
    local commands = box.commands
    for _, case in ipairs {
      { "empty", "" }, { "no program", {} }, { "list of strings", { 1 } }, { "string or", 5 },
      { "unknown option 'cmd'", "true", { cmd = 1 } }, { "'timeout'", "true", { timeout = 0 } },
      { "background", "true", { stdin = true } }, { "send_stdin", "true", { stdin = "", background = true } },
      { "no name of a variable", "true", { envs = { ["A-B"] = "x" } } }, { "'stdin'", "true", { stdin = 5 } },
      { "NUL", "a\0b" }, { "NUL", { "a", "\0" } }, { "'cwd'", "true", { cwd = "\0" } },
    } do
      local ok, message = pcall(function() commands:run(case[2], case[3]) end)
      assert.is_false(ok, case[1])
      assert.matches("commands_spec.lua:", message, 1, true)
      assert.matches(case[1], message, 1, true)
    end
    assert.matches("colon", select(2, pcall(commands.run, "true")), 1, true)
    assert.has_error(function() commands:signal(1, "NOPE") end)
    assert.has_error(function() commands:kill(0) end)
    assert.has_error(function() commands:kill "" end)
  end)
end)
