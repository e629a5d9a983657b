local sandbox = require "spec.support.sandbox"
local cli = require "spec.support.cli"

--- Begins a command line whose program gets a signal in this state, whatever the shell does.
local function with_signal(signal, state)
  return ("/usr/bin/python3 -c 'import os, signal, sys; signal.signal(signal.%s, signal.%s); "
    .. "os.execvp(sys.argv[1], sys.argv[1:])' "):format(signal, state or "SIG_DFL")
end

describe("stepbox", function()
  local id
  setup(function() id = cli.new("--timeout", "600", "--metadata", "purpose=cli spec", "--env", "WHO=me") end)
  teardown(function() cli.run("kill", id) end)

  it("new prints an id and nothing else, and lets go of the sandbox", function()
    local out, err, status = cli.run("new", "--timeout", "60", "--setup", "echo made > made")
    assert.equal(0, status, err)
    assert.equal("", err)
    local made = assert(out:match "^(%w+)\n$")
    sandbox.sleep(0.2)
    assert.is_true(sandbox.listed(made))
    assert.equal("made\n", (cli.run("sh", made, "cat made")))
    assert.equal(made .. "\n", (cli.run("kill", made)))
    sandbox.assert_gone(made)
  end)

  it("new leaves nothing when the set-up fails, and shows what it said", function()
    local out, err, status = cli.run("new", "--metadata", "fails=yes", "--setup", "echo oh no; exit 4")
    assert.equal(3, status)
    assert.equal("", out) -- there is no id
    assert.matches("^oh no\nstepbox: .* exited with 4\n$", err)
    assert.equal("", (cli.run("ls", "--metadata", "fails=yes")))
  end)

  it("step keeps variables from call to call, and prints the value last", function()
    assert.same({ "", "", 0 }, { cli.run("step", id, "x = 20 + 1") })
    assert.same({ "said\n42\n", "", 0 }, { cli.run("step", id, "print('said'); x * 2") })
    assert.same({ "me\n", "", 0 }, { cli.run("step", id, "import os; print(os.environ['WHO'])") })
  end)

  it("step takes code, a file, stdin and -", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    sandbox.write(folder .. "/code.py", "'from the file'")
    assert.equal("from the file\n", (cli.run("step", id, folder .. "/code.py")))
    assert.equal("from stdin\n", (cli.feed("'from stdin'", "step", id)))
    assert.equal("from -\n", (cli.feed("'from -'", "step", id, "-")))
    assert.equal("-1\n", (cli.run("step", id, "-c", "-1")))
    assert.equal("-1\n", (cli.run("step", id, "--", "-1")))
    local _, err, status = cli.run("step", id, folder .. "/other.py")
    assert.equal(2, status)
    assert.matches("there is no file", err, 1, true)
  end)

  it("step gives the step's streams, variables and deadline", function()
    local code = "import os, sys; print(os.environ['A']); print('bad', file=sys.stderr)"
    assert.same({ "1 = 2\n", "bad\n", 0 }, { cli.run("step", id, "-e", "A=1 = 2", code) })
    code = "print('so far', flush=True)\nwhile True: pass"
    local out, err, status = cli.run("step", id, "--timeout", "0.3", code)
    assert.equal(124, status)
    assert.equal("so far\n", out)
    assert.matches("0.3 s", err, 1, true)
    assert.equal("21\n", (cli.run("step", id, "x")))
  end)

  it("tells what the code raised on stderr, and ends with 1", function()
    local out, err, status = cli.run("step", id, "print('before'); 1 / 0")
    assert.equal(1, status)
    assert.equal("before\n", out)
    assert.matches("\nZeroDivisionError: division by zero\n$", err)
  end)

  it("ends with 2 when it is called wrongly", function()
    cli.assert_called_wrongly {
      {}, { "nosuch" }, { "new", "--nosuch" }, { "new", "--timeout", "0" }, { "new", "--timeout", "soon" },
      { "new", "--env", "1A=b" }, { "new", "--metadata", "x" }, { "step" }, { "step", id, "1", "2" },
      { "step", id, "-c", "1", "2" }, { "step", id, "-l", "python", "--context", "x", "1" },
      { "kill" }, { "kill", "--all", id }, { "timeout", id, "-5" }, { "engine", "dance" },
      { "engine", "start", "--force" },
      { "run", "/nowhere/x.py" }, { "run" }, { "blocks", "run" }, { "blocks", "run", "Nosuch" },
      { "logs", id, "--limit", "0" },
    }
  end)

  it("ends with 3 when the world fails, and says why", function()
    for _, words in ipairs {
      { "step", "nosuch", "1" }, { "info", "nosuch" }, { "kill", "nosuch" }, { "sh", "nosuch", "ls" },
      { "timeout", "nosuch", "5" }, { "logs", "nosuch" }, { "new", "--template", "nosuch" },
    } do
      local out, err, status = cli.run(table.unpack(words))
      assert.equal(3, status, out .. err)
      assert.equal("", out)
      assert.matches("not found", err, 1, true)
    end
  end)

  it("run uses a sandbox of its own, which is gone afterwards", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    sandbox.write(folder .. "/job.py", "print('x' in globals()); 6 * 7")
    assert.same({ "False\n42\n", "", 0 }, { cli.run("run", folder .. "/job.py", "--metadata", "run=one") })
    assert.equal("", (cli.run("ls", "--metadata", "run=one")))
    local _, err, status = cli.feed("raise SystemError('no')", "run", "-", "--metadata", "run=two")
    assert.equal(1, status)
    assert.matches("SystemError: no", err, 1, true)
    assert.equal("", (cli.run("ls", "--metadata", "run=two")))
  end)

  for signal, expected in pairs { INT = 130, TERM = 143 } do
    it("run kills its sandbox also when SIG" .. signal .. " ends it", function()
      local name = "signal=" .. signal
      local job = sandbox.temporary()
      finally(function() os.execute("rm -r " .. job) end)
      sandbox.write(job .. "/job.py", "while True: pass")
      local out, _, status = cli.shell(([[
        %s %s & pid=$!
        for i in $(seq 100); do [ -n "$(%s)" ] && break; sleep 0.1; done
        sleep 0.5; kill -%s $pid; wait $pid; echo $?
      ]]):format(with_signal "SIGINT", cli.line("run", job .. "/job.py", "--metadata", name),
        cli.line("ls", "--metadata", name), signal))
      assert.equal(0, status)
      assert.matches("^" .. expected .. "\n", out)
      assert.equal("", (cli.run("ls", "--metadata", name)))
    end)
  end

  it("new leaves nothing when Ctrl-C comes while it sets up", function()
    local out, err, status = cli.shell(([[
      %s %s & pid=$!
      for i in $(seq 100); do [ -n "$(%s)" ] && break; sleep 0.1; done
      sleep 0.3; kill -INT $pid; wait $pid; echo $?
    ]]):format(with_signal "SIGINT", cli.line("new", "--metadata", "ctrl=new", "--setup", "sleep 100"),
      cli.line("ls", "--metadata", "ctrl=new")))
    assert.same({ "130\n", "", 0 }, { out, err, status })
    assert.equal("", (cli.run("ls", "--metadata", "ctrl=new")))
  end)

  it("step passes output on as it comes", function()
    local code = "import time\nprint('first', flush=True)\ntime.sleep(1.5)\nprint('second')"
    local line = cli.line("step", id, code)
    local out = cli.shell(line .. " | while read line; do echo $line $(date +%s%N); done")
    local first, second = out:match "first (%d+)\nsecond (%d+)\n"
    assert.is_true(tonumber(second) - tonumber(first) > 1e9, out)
  end)

  it("ls lists lines with tabs for programs", function()
    local out = cli.run("ls", "--metadata", "purpose=cli spec")
    local found, state, template, from, to, metadata =
      out:match "^(%w+)\t(%w+)\t([%w-]+)\t(%d+)\t(%d+)\t([^\n]+)\n$"
    assert.same({ id, "running", "code-interpreter-v1", '{"purpose":"cli spec"}' },
      { found, state, template, metadata })
    assert.near(600, to - from, 2)
  end)

  it("info tells names and values", function()
    local out = cli.run("info", id)
    assert.matches("id\t" .. id .. "\n", out, 1, true)
    assert.matches("state\trunning\n", out, 1, true)
    assert.matches("metadata.purpose\tcli spec\n", out, 1, true)
  end)

  it("timeout moves the end", function()
    local info = cli.json("timeout", id, "1000", "--json")
    assert.near(os.time() + 1000, info.end_at, 5)
    assert.same({ "", "", 0 }, { cli.run("timeout", id, "600") })
  end)

  it("logs tell the life of the sandbox, and pick", function()
    local out = cli.run("logs", id)
    assert.matches("^%d%d%d%d%-%S+Z info  engine: starting: asked for\n", out)
    assert.matches("running: its agent is ready\n", out, 1, true)
    assert.equal(1, select(2, cli.run("logs", id, "-n", "1"):gsub("\n", "")))
    assert.equal("", (cli.run("logs", id, "--level", "error")))
    assert.matches("lease: released", (cli.run("logs", id, "--search", "released")), 1, true)
  end)

  it("metrics tell what the sandbox takes, and new takes its limits", function()
    local line = cli.run("metrics", id)
    assert.matches("^%d+\t%d+%.%d%d\t%d+\t%d+\t%d+\t%d+\t%d+\t%d+\n$", line)
    assert.truthy(cli.json("metrics", id, "--json", "-n", "3")[1].memory_used > 0)
    local words = { "new", "--memory", "100M", "--disk", "0.01G", "--cpus", "0.5", "--timeout", "60" }
    local small = cli.run(table.unpack(words)):match "%S+"
    local info = cli.json("info", small, "--json")
    assert.equal(100, info.memory_mb)
    assert.equal(11, info.disk_mb)
    assert.equal(0.5, info.details.limits.cpuCount)
    cli.run("kill", small)
    assert.equal(2, select(3, cli.run("new", "--memory", "much")))
    assert.equal(2, select(3, cli.run("new", "--cpus", "0")))
  end)

  it("kill kills several, and tells of those that are not there", function()
    local one, two = cli.new(), cli.new()
    local out, err, status = cli.run("kill", one, "nosuch", two)
    assert.equal(one .. "\n" .. two .. "\n", out)
    assert.matches("^stepbox: nosuch: ", err)
    assert.equal(3, status)
  end)

  it("blocks are listed and run", function()
    assert.matches("StepExecutionBlock\t", (cli.run("blocks")), 1, true)
    local out, err, status = cli.feed('{"code": "6 * 7"}', "blocks", "run", "CodeExecutionBlock")
    assert.equal(0, status, err)
    assert.equal("42", require("cjson").decode(out).response)
    assert.equal(1, (select(3, cli.feed('{"code": "1 / 0"}', "blocks", "run", "CodeExecutionBlock"))))
    for _, wrong in ipairs { "[]", "nonsense", '{"code": 5}', '{"nosuch": 1}' } do
      out, err, status = cli.feed(wrong, "blocks", "run", "CodeExecutionBlock")
      assert.equal(2, status, wrong .. out)
      assert.is_truthy(err:find "^stepbox: ", err)
    end
  end)

  it("ends quietly when nobody reads its output", function()
    local numbers = cli.line("step", id, "for i in range(100000): print(i)")
    local err = select(2, cli.shell(numbers .. " | head -n 1"))
    assert.equal("", err)
    -- Also where SIGPIPE is ignored, as some programs leave it to their children.
    err = select(2, cli.shell(with_signal("SIGPIPE", "SIG_IGN") .. numbers .. " | head -n 1"))
    assert.equal("", err)
    local _, full, status = cli.shell(cli.line("step", id, "1") .. " >/dev/full")
    assert.equal(3, status)
    assert.matches("No space left", full, 1, true)
  end)
end)

describe("stepbox kill --all", function()
  it("kills all that ls lists, and says how many", function()
    local folder = sandbox.temporary()
    local environment = "XDG_RUNTIME_DIR=" .. folder .. " "
    finally(function()
      cli.shell(environment .. cli.line("engine", "stop", "--force"))
      os.execute("rm -r " .. folder)
    end)
    for _ = 1, 2 do cli.shell(environment .. cli.line "new") end
    local out, err, status = cli.shell(environment .. cli.line("kill", "--all"))
    assert.equal("", err)
    assert.equal(2, select(2, out:gsub("\n", "")))
    assert.equal(0, status)
    assert.equal("", (cli.shell(environment .. cli.line("ls"))))
    out = cli.shell(environment .. cli.line("kill", "--all", "--json"))
    assert.equal('{"failed":[],"killed":[]}\n', out)
  end)
end)

describe("stepbox engine", function()
  local folder
  before_each(function() folder = sandbox.temporary() end)
  after_each(function()
    cli.shell("XDG_RUNTIME_DIR=" .. folder .. " " .. cli.line("engine", "stop", "--force"))
    os.execute("rm -r " .. folder)
  end)

  local function engine(...)
    return cli.shell("XDG_RUNTIME_DIR=" .. folder .. " " .. cli.line("engine", ...))
  end

  it("starts, tells and stops", function()
    assert.same({ "running\tno\n", "", 3 }, { engine "status" })
    local out, err, status = engine "start"
    assert.equal(0, status, err)
    local pid = assert(out:match "^(%d+)\n$")
    assert.equal("stepboxd\n", sandbox.read("/proc/" .. pid .. "/comm"))
    assert.same({ out, "", 0 }, { engine "start" })
    out, err, status = engine "status"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("pid\t" .. pid .. "\n", out, 1, true)
    assert.matches("sandboxes\t0\n", out, 1, true)
    assert.same({ "", "", 0 }, { engine "stop" })
    local function is_gone() return sandbox.read("/proc/" .. pid .. "/stat") == "" end
    assert.is_true(sandbox.eventually(3, is_gone))
    assert.same({ "", "stepbox: no engine runs\n", 0 }, { engine "stop" })
  end)

  it("does not stop with sandboxes unless it must", function()
    cli.shell("XDG_RUNTIME_DIR=" .. folder .. " " .. cli.line("new"))
    local _, err, status = engine "stop"
    assert.equal(3, status)
    assert.matches("--force", err, 1, true)
    assert.same({ '{"sandboxes":1,"stopped":true}\n', "", 0 }, { engine("stop", "--force", "--json") })
  end)

  it("says when there is none to start", function()
    local _, err, status =
      cli.shell("STEPBOX_ENGINE=/nowhere XDG_RUNTIME_DIR=" .. folder .. " " .. cli.line("engine", "start"))
    assert.equal(3, status)
    assert.matches("/nowhere", err, 1, true)
  end)
end)
