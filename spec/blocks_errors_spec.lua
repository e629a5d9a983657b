local blocks = require "stepbox.blocks"
local engine = require "spec.support.engine"
local languages = require "spec.support.languages"
local sandbox = require "spec.support.sandbox"
local support = require "spec.support.blocks"
local stepbox = require "stepbox"

local function run(input) return blocks.CodeExecutionBlock:collect(input) end

describe("the error of a block", function()
  it("shows what the code raised, with its traceback, and what to do", function()
    local out = run { code = "def f(x):\n    return 1 / x\nprint('before')\nf(0)" }
    support.assert_says(out, "The code raised ZeroDivisionError: division by zero.",
      "The sandbox was killed.", "Correct the code", "return 1 / x")
    assert.equal("before\n", out.stdout_logs)
    assert.is_nil(out.response)
    assert.is_nil(out.error:find "\27")
  end)

  it("says that a deadline passed, and gives what had come", function()
    local out = run { code = "print('so far', flush=True)\nimport time; time.sleep(9)", step_timeout = 0.5 }
    support.assert_says(out, "did not end within 0.5 s and was interrupted", "'step_timeout'")
    assert.equal("so far\n", out.stdout_logs)
  end)

  it("tells a sandbox whose time was up from a step whose time was up", function()
    support.assert_says(run { code = "import time; time.sleep(9)", timeout = 1 },
      "reached its timeout of 1 s", "longer 'timeout'")
    support.assert_says(run { setup_commands = { "sleep 9" }, timeout = 1 }, "timeout")
  end)

  it("tells an interpreter that ended from a sandbox that did", function()
    local id = blocks.InstantiationBlock:collect({ setup_code = "x = 1", timeout = 60 }).sandbox_id
    local out = blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "import os; os._exit(1)" }
    support.assert_says(out, "The interpreter ended", "variables are lost",
      "The sandbox and its files are alive")
    -- The next one that misses them is told why.
    out = blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "x" }
    support.assert_says(out, "NameError", "started afresh for this step")
    assert(stepbox.kill(id))
  end)

  it("says plainly that a language is not there, and what the sandbox says of that", function()
    local names = { js = "javascript", bash = "bash", r = "r", java = "java" }
    for language, name in pairs(names) do
      if not languages.has(name) then
        support.assert_says(run { code = "1", language = language }, "cannot run the language", language,
          'Use "python"')
      end
    end
  end)

  it("tells a server's own words about a language that is not there", function()
    local folder = sandbox.temporary()
    local pid = sandbox.background("exec /usr/bin/python3 spec/support/server.py " .. folder .. "/port")
    finally(function() os.execute("kill " .. pid .. "; rm -r " .. folder) end)
    assert(sandbox.eventually(5, function() return sandbox.read(folder .. "/port"):find "\n" end))
    local url = "http://127.0.0.1:" .. sandbox.read(folder .. "/port"):match "%d+"
    support.assert_says(run {
      code = "1", language = "r", template_id = "nolanguage",
      credentials = { api_key = "e2b_00", api_url = url, sandbox_url = url },
    }, 'This sandbox cannot run the language "r": install r-base-core.', 'Use "python"')
  end)

  it("says why no sandbox was made", function()
    support.assert_says(run { template_id = "none" }, "No sandbox was made", "none", "'template_id'")
    support.assert_says(run { credentials = { api_url = "http://127.0.0.1:1", api_key = "e2b_00" } },
      "No sandbox was made", "can be reached")
    support.assert_says(run { credentials = { api_url = "no address", api_key = "e2b_00" } }, "api_url")
  end)

  it("says what is wrong with an id", function()
    local function step(id) return blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "1" } end
    support.assert_says(step "iaaaaaaaaaaaaaaaaaaa", "is not there (any more)", "InstantiationBlock")
    support.assert_says(step "../x", "is no id of a sandbox", "InstantiationBlock")
    support.assert_says(step "sandbox_id", "InstantiationBlock")
  end)

  it("shows a setup command's stdout when stderr is empty, and how it ended", function()
    support.assert_says(run { setup_commands = { "echo to stdout; exit 2" } }, "exited with code 2",
      "The end of its stdout:\nto stdout")
    support.assert_says(run { setup_commands = { "kill -9 $$" } }, "ended by signal")
    local out = run { setup_commands = { "exit 1" } }
    assert.is_nil(out.error:find "The end of its")
  end)

  it("is always text, whatever a command writes", function()
    local out = run { setup_commands = { [[printf '\377\303(\0x' >&2; exit 1 # ]] .. ("\u{20ac}"):rep(500) } }
    assert.is_truthy(utf8.len(out.error))
    assert.matches("\u{fffd}\u{fffd}(", out.error, 1, true)
  end)

  it("names the file that cannot be written", function()
    support.assert_says(run { files = { ["/proc/none/x"] = "x" }, code = "1" }, "files:", "/proc/none")
  end)

  it("says when the sandbox cannot be killed, and tries twice", function()
    local tries = 0
    local client = assert(stepbox.client())
    local box
    local stubborn = support.client_with {
      create = function(_, options)
        box = assert(client:create(options))
        return support.box_with(box, {
          kill = function()
            tries = tries + 1
            return nil, "no answer", "unavailable"
          end,
        })
      end,
    }
    support.assert_says(run { credentials = stubborn, code = "1" }, "could not be killed: no answer",
      "It ends by its timeout")
    assert.equal(2, tries)
    assert(box:kill())
  end)

  it("leaves no sandbox behind when something in the block itself raises", function()
    local client = assert(stepbox.client())
    local id
    local raising = support.client_with {
      create = function(_, options)
        local box = assert(client:create(options))
        id = box.id
        return support.box_with(box, { start_step = function() error("out of memory", 0) end })
      end,
    }
    assert.error_matches(function() run { credentials = raising, code = "1" } end, "^out of memory$")
    support.assert_gone(id)
  end)

  it("tells that the service went away in the middle", function()
    local daemon = engine.start {
      socket = false,
      arguments = "--listen 127.0.0.1:0",
      environment = "STEPBOX_API_KEY=e2b_0123456789abcdef",
    }
    local url = "http://127.0.0.1:" .. daemon.port
    local pid = daemon.pid
    sandbox.background("sleep 3; kill " .. pid)
    local out = run {
      credentials = { api_url = url, sandbox_url = url, api_key = "e2b_0123456789abcdef" },
      code = "print('on', flush=True)\nimport time; time.sleep(20)",
    }
    assert.equal("on\n", out.stdout_logs)
    assert.is_string(out.error)
    assert.is_nil(out.error:find "The code raised")
    daemon:stop()
  end)
end)
