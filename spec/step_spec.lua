local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a step", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300, envs = { FROM_CREATE = "yes" } }) end)
  teardown(function() assert(box:kill()) end)

  local function text(code, options) return assert(box:step(code, options)).text end

  it("gives the value of the last expression, and keeps the state for the next", function()
    assert.is_nil(text "x = 20 + 1")
    assert.equal("42", text "x * 2")
    assert(box:step "def double(n): return 2 * n")
    assert.equal("84", text "double(x * 2)")
  end)

  it("counts its executions in integers", function()
    local first = assert(box:step "1").execution_count
    assert.equal("integer", math.type(first))
    assert.equal(first + 1, assert(box:step "1").execution_count)
  end)

  it("keeps stdout and stderr apart, whole and in pieces with their times", function()
    local execution = assert(box:step [[
import sys
print('out')
print('err', file=sys.stderr)
print('more')]])
    assert.equal("out\nmore\n", execution.stdout)
    assert.equal("err\n", execution.stderr)
    local pieces = {}
    for _, log in ipairs(execution.logs) do
      pieces[#pieces + 1] = log.stream .. ":" .. log.text
      assert.is_true(math.abs(log.time - os.time()) < 60)
    end
    assert.equal("stdout:out\nstderr:err\nstdout:more\n", table.concat(pieces))
    assert.is_true(execution.duration > 0 and execution.duration < 30)
    assert.is_false(execution.truncated)
  end)

  it("passes what the code's children write, and bytes that are no UTF-8 as U+FFFD", function()
    local execution = assert(box:step [[
import os, subprocess
os.write(1, b"raw \xff\n")
_ = subprocess.run(["echo", "child"])
!echo shell
]])
    assert.equal("raw \u{FFFD}\nchild\nshell\r\n", execution.stdout)
  end)

  it("streams output as it is written, also without flush", function()
    local arrived = {}
    local start = sandbox.now()
    assert(box:step("import time\nfor i in range(3):\n    print(i, end='')\n    time.sleep(0.3)", {
      on_stdout = function(piece, time)
        arrived[#arrived + 1] = { piece, sandbox.now() - start }
        assert.equal("number", type(time))
      end,
    }))
    assert.equal(3, #arrived)
    assert.equal("0", arrived[1][1])
    assert.is_true(arrived[3][2] - arrived[1][2] > 0.2)
  end)

  it("hands over results and errors as they come", function()
    local seen = {}
    local execution = assert(box:step("display('a')\n1/0", {
      on_result = function(result) seen[#seen + 1] = result.text end,
      on_error = function(raised) seen[#seen + 1] = raised.name end,
    }))
    assert.same({ "a", "ZeroDivisionError" }, seen)
    assert.equal("ZeroDivisionError", execution.error.name)
  end)

  it("raises what a handler raises, and the box goes on", function()
    local ok, message = pcall(box.step, box, "print(1)\nimport time; time.sleep(30)", {
      on_stdout = function() error({ mine = true }) end,
    })
    assert.is_false(ok)
    assert.is_true(message.mine)
    assert.equal("7", text "7")
  end)

  it("may be interrupted from its own handler", function()
    local interrupted
    local execution = assert(box:step("print('go', flush=True)\nimport time\ntime.sleep(30)", {
      on_stdout = function() interrupted = interrupted or assert(box:interrupt()) end,
    }))
    assert.is_true(interrupted)
    assert.equal("KeyboardInterrupt", execution.error.name)
    assert.is_false(box:interrupt())
  end)

  it("that raises is no failure: it has an error, and the state is intact", function()
    assert(box:step "before = 1")
    local execution = assert(box:step "print('p')\nbefore / 0")
    assert.equal("ZeroDivisionError", execution.error.name)
    assert.equal("division by zero", execution.error.value)
    assert.matches("before / 0", execution.error.traceback, 1, true)
    assert.equal("p\n", execution.stdout)
    assert.equal("1", text "before")
  end)

  it("with a syntax error says where", function()
    local execution = assert(box:step "a = 1\nif a\n")
    assert.equal("SyntaxError", execution.error.name)
    assert.matches("line 2", execution.error.traceback)
  end)

  it("awaits at top level", function()
    assert.equal("'slept'", assert(box:step "import asyncio\nrepr(await asyncio.sleep(0.01, 'slept'))").text)
  end)

  it("decodes what it shows", function()
    local execution = assert(box:step [[
{"list": [1, 2.5, None], "empty": {}}]])
    local value = execution.results[1].json
    assert.equal("integer", math.type(value.list[1]))
    assert.equal(2.5, value.list[2])
    assert.equal(stepbox.null, value.list[3])
    assert.same({ "text", "json" }, execution.results[1]:formats())
  end)

  it("gives a chart as the bytes of a PNG, which can be saved", function()
    local execution = assert(box:step "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    local chart
    for _, result in ipairs(execution.results) do chart = result.png and result or chart end
    assert.equal("\137PNG\r\n\26\n", chart.png:sub(1, 8))
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    assert.equal("png", assert(chart:save(folder .. "/chart.png")))
    assert.equal(chart.png, sandbox.read(folder .. "/chart.png"))
    local format, message, code = chart:save "/tmp/chart.gif"
    assert.is_nil(format)
    assert.equal("invalid", code)
    assert.matches("this result has", message)
    assert.equal("system", select(3, chart:save "/no/such/folder/chart.png"))
  end)

  it("gives a data frame as HTML and as columns", function()
    local code = "import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"
    local result = assert(box:step(code)).results[1]
    assert.matches("<table", result.html)
    assert.same({ a = { 1, 2 }, b = { "x", "y" } }, result.data)
    assert.is_true(result.is_main)
  end)

  it("gets variables as data, for itself alone", function()
    local value = "quo'te \"double\" $(id) back\\slash\nnewline \u{1F600}"
    local code = "import os\nprint(os.environ['V'], end='')"
    assert.equal(value, assert(box:step(code, { envs = { V = value } })).stdout)
    assert.equal("True", text "'V' not in os.environ")
    assert.equal("yes", text "os.environ['FROM_CREATE']")
    assert.equal("mine", text("os.environ['FROM_CREATE']", { envs = { FROM_CREATE = "mine" } }))
    assert.equal("yes", text "os.environ['FROM_CREATE']")
  end)

  it("past its deadline returns what had arrived, and the state survives", function()
    assert(box:step "x = 'kept'")
    local start = sandbox.now()
    local value, message, code, partial = box:step("print('partial')\nwhile True: pass", { timeout = 1 })
    local took = sandbox.now() - start
    assert.is_nil(value)
    assert.equal("timeout", code)
    assert.matches("1", message)
    assert.equal("partial\n", partial.stdout)
    assert.is_true(took >= 0.9 and took < 5)
    assert.equal("kept", text "x")
  end)

  it("frees the context from a background task that hogs it between steps", function()
    assert(box:step [[
import asyncio
async def hog():
    await asyncio.sleep(0.05)
    while True: pass
task = asyncio.create_task(hog())]])
    sandbox.sleep(0.3)
    assert.equal("timeout", select(3, box:step("1", { timeout = 0.5 })))
    assert.equal("kept", assert(box:step("x", { timeout = 5 })).text)
  end)

  it("has of earlier steps' threads what they write while it runs, and nothing from between steps", function()
    assert(box:step [[
import threading, time
go, gone = threading.Event(), threading.Event()
def talk():
    time.sleep(0.1)
    print('between'); display('between')
    go.wait(30)
    print('during'); gone.set()
thread = threading.Thread(target=talk)
thread.start()]])
    sandbox.sleep(1)
    local execution = assert(box:step "go.set()\ndone = gone.wait(30)\n'mine'")
    assert.equal("during\n", execution.stdout)
    assert.equal("mine", execution.text)
    assert.equal(1, #execution.results)
  end)

  it("gives a result that is too long for the protocol without what makes it so", function()
    local execution = assert(box:step("kept = 'y'\ndisplay({'text/html': 'x' * 70_000_000}, raw=True)\nkept"))
    assert.equal("y", execution.text)
    assert.matches("A result is too long: without html", execution.stderr)
    assert.equal("y", text "kept")
  end)

  it("keeps only as much output as it may, says so, and still ends", function()
    local execution = assert(box:step("import sys\nprint('o' * 5000)\nsys.stderr.write('e')\n'end'",
      { max_output = 1000 }))
    assert.equal(1000, #execution.stdout)
    assert.equal("e", execution.stderr)
    assert.is_true(execution.truncated)
    assert.is_true(execution.stdout_truncated)
    assert.is_false(execution.stderr_truncated)
    assert.equal("end", execution.text)
  end)

  it("in a language that is not there names the language", function()
    local value, message, code = box:step("1", { language = "cobol" })
    assert.is_nil(value)
    assert.equal("unsupported", code)
    assert.matches("cobol", message)
  end)

  it("in a context that is not there names the context", function()
    local value, message, code = box:step("1", { context = "nowhere" })
    assert.is_nil(value)
    assert.equal("not_found", code)
    assert.matches("nowhere", message)
  end)

  it("survives the end of the runner: the step is context_lost, the next one is fresh and says so", function()
    assert(box:step "gone = 1")
    local value, _, code, partial = box:step "print('last words', flush=True)\nimport os; os._exit(3)"
    assert.is_nil(value)
    assert.equal("context_lost", code)
    assert.equal("last words\n", partial.stdout)
    local execution = assert(box:step "'gone' in globals()")
    assert.equal("False", execution.text)
    assert.is_true(execution.restarted)
    assert.is_false(assert(box:step "1").restarted)
  end)

  it("that calls exit() ends well, and the next one is fresh", function()
    assert(box:step "gone = 1")
    assert.equal("bye\n", assert(box:step "print('bye')\nexit()").stdout)
    local execution = assert(box:step "'gone' in globals()")
    assert.equal("False", execution.text)
    assert.is_true(execution.restarted)
  end)

  it("comes through after one with heavy output, every time", function()
    for i = 1, 25 do
      assert.equal(5000001, #assert(box:step "print('z' * 5000000)").stdout)
      assert.equal(tostring(i), assert(box:step(tostring(i), { timeout = 5 })).text)
    end
  end)

  it("carries any text there and back", function()
    local code = "s = '''\u{e9}\u{1F600}\t\\\\'''\nprint(s, end='')"
    assert.equal("\u{e9}\u{1F600}\t\\", assert(box:step(code)).stdout)
    assert.equal("", assert(box:step "").stdout)
    assert.equal(3000000, #assert(box:step "print('y' * 3000000, end='')").stdout)
    assert.equal("5", text("# " .. ("z"):rep(200000) .. "\n5"))
  end)
end)
