-- What reviewers missed in the original's blocks. Each probe is made with a naive port too, and fails there:
-- that is how these specs are known to look at the right thing.

local blocks = require "stepbox.blocks"
local naive = require "spec.support.naive_blocks"
local sandbox = require "spec.support.sandbox"
local support = require "spec.support.blocks"
local stepbox = require "stepbox"

--- Runs a probe with both; whatever sandboxes it leaves are killed.
local function both(probe)
  local verdicts = {}
  for name, set in pairs { naive = naive, ours = blocks } do
    local before = support.ids()
    verdicts[name] = probe(set, before)
    support.kill_new(before)
  end
  assert.is_false(verdicts.naive, "the naive port passes: the probe shows nothing")
  assert.is_true(verdicts.ours)
end

local function says(out, text) return out.error ~= nil and out.error:find(text, 1, true) ~= nil end

describe("sandboxes orphaned when setup fails:", function()
  it("a setup command that fails leaves none", function()
    both(function(set, before)
      local out = set.InstantiationBlock:collect { setup_commands = { "echo no >&2; exit 7" }, timeout = 60 }
      return out.error ~= nil and support.kill_new(before) == 0
    end)
  end)

  it("code that raises, or runs on without an end, leaves none", function()
    both(function(set, before)
      set.CodeExecutionBlock:collect { code = "1 / 0", timeout = 60 }
      set.CodeExecutionBlock:collect { code = "import os; os._exit(0)", timeout = 60 }
      return support.kill_new(before) == 0
    end)
  end)

  it("the message names the command, its code and the end of its stderr", function()
    both(function(set)
      local out = set.InstantiationBlock:collect {
        setup_commands = { "true", "seq 100000 >&2; echo the reason >&2; exit 7" }, timeout = 60,
      }
      return says(out, "seq 100000") and says(out, "2 of 2") and says(out, "code 7")
        and says(out, "the reason") and not says(out, "\n1\n") and #out.error < 5000
    end)
  end)
end)

describe("no check that the sandbox still lives:", function()
  it("one that is gone is told before the step, with what to do", function()
    both(function(set)
      local id = set.InstantiationBlock:collect({ timeout = 60 }).sandbox_id
      assert(stepbox.kill(id))
      local out = set.StepExecutionBlock:collect { sandbox_id = id, step_code = "1" }
      return says(out, id) and says(out, "The code did not run") and says(out, "InstantiationBlock")
    end)
  end)

  it("one that ends during the step is told apart from code that raised", function()
    both(function(set)
      local id = set.InstantiationBlock:collect({ timeout = 2 }).sandbox_id
      local out = set.StepExecutionBlock:collect {
        sandbox_id = id, step_code = "import time; time.sleep(20)",
      }
      return says(out, "ended while the block worked in it") and says(out, "InstantiationBlock")
    end)
  end)

  it("one that ends with the step is noticed after it, whether the code raised or not", function()
    for _, code in ipairs { "print('well')", "1 / 0" } do
      local id = blocks.InstantiationBlock:collect({ timeout = 60 }).sandbox_id
      local box = assert(stepbox.connect(id))
      -- It dies when the step has ended, and just before it is looked after.
      local dying = support.box_with(box, {
        is_running = function()
          stepbox.kill(id)
          return box:is_running()
        end,
      })
      local out = blocks.StepExecutionBlock:collect {
        sandbox_id = id,
        step_code = code,
        credentials = support.client_with { connect = function() return dying end },
      }
      support.assert_says(out, "The sandbox " .. id .. " ended with the code", "InstantiationBlock")
      assert.equal(code == "1 / 0", says(out, "The code raised ZeroDivisionError"))
      assert.equal(code ~= "1 / 0" and "well\n" or nil, out.stdout_logs)
    end
  end)

  it("code that raised costs neither the sandbox nor its variables", function()
    both(function(set)
      local id = set.InstantiationBlock:collect({ setup_code = "x = 3", timeout = 60 }).sandbox_id
      local out = set.StepExecutionBlock:collect { sandbox_id = id, step_code = "x / 0" }
      assert.matches("ZeroDivisionError", out.error)
      return set.StepExecutionBlock:collect({ sandbox_id = id, step_code = "x" }).response == "3"
    end)
  end)
end)

describe("no timeout on a step:", function()
  it("code without an end is interrupted; the sandbox and its variables are alive", function()
    both(function(set)
      local id = set.InstantiationBlock:collect({ setup_code = "x = 3", timeout = 4 }).sandbox_id
      local start = sandbox.now()
      local out = set.StepExecutionBlock:collect {
        sandbox_id = id, step_code = "while True: pass", step_timeout = 0.4,
      }
      local seconds = sandbox.now() - start
      local after = set.StepExecutionBlock:collect { sandbox_id = id, step_code = "x" }
      return says(out, "0.4 s") and says(out, "step_timeout") and seconds < 2 and after.response == "3"
    end)
  end)

  it("every step has a deadline, given or not", function()
    local deadlines = {}
    local client = assert(stepbox.client())
    -- Steps are only looked at.
    local function watched(box)
      return support.box_with(box, {
        start_step = function(_, _, options)
          deadlines[#deadlines + 1] = options.timeout
          return nil, "looked at", "invalid"
        end,
      })
    end
    local spy = support.client_with {
      create = function(_, options) return watched(assert(client:create(options))) end,
      connect = function(_, id, options) return watched(assert(client:connect(id, options))) end,
    }
    blocks.CodeExecutionBlock:collect { credentials = spy, code = "1", timeout = 40 }
    blocks.CodeExecutionBlock:collect { credentials = spy, code = "1", timeout = 40, step_timeout = 5 }
    blocks.CodeExecutionBlock:collect { credentials = spy, code = "1", timeout = 40, step_timeout = 500 }
    local id = blocks.InstantiationBlock:collect({ timeout = 60 }).sandbox_id
    blocks.StepExecutionBlock:collect { credentials = spy, sandbox_id = id, step_code = "1" }
    assert(stepbox.kill(id))
    for _, i in ipairs { 1, 3 } do assert.is_true(deadlines[i] > 35 and deadlines[i] <= 40) end
    assert.equal(5, deadlines[2])
    assert.equal(300, deadlines[4])
  end)
end)

describe("no thought for what the code may do:", function()
  it("output without an end is bounded, and that is said", function()
    both(function(set)
      local out = set.CodeExecutionBlock:collect {
        code = "for i in range(100): print('x' * 100000)", timeout = 60,
      }
      return #out.stdout_logs == 4 * 1024 * 1024 and out.stderr_logs:find "stdout beyond max_output" ~= nil
    end)
  end)

  it("results without an end are bounded too, cut between characters", function()
    both(function(set)
      local out = set.CodeExecutionBlock:collect { code = "'\u{e9}' * 5000001", timeout = 60 }
      return #out.response < 4 * 1024 * 1024 and utf8.len(out.response) ~= nil
        and out.stderr_logs:find "results had beyond max_output" ~= nil
    end)
    local out = blocks.CodeExecutionBlock:collect {
      code = "for i in range(1000): display(i)", max_output = 10000,
    }
    assert.is_true(#out.results < 200)
    assert.equal("0", out.results[1].text)
    out = blocks.CodeExecutionBlock:collect {
      code = "from IPython.display import HTML\nHTML('x' * 2000)", max_output = 1000,
    }
    assert.is_nil(out.results[1].html)
    assert.matches("IPython", out.results[1].text)
  end)

  it("what code raises is bounded, whatever it says of itself", function()
    both(function(set)
      local out = set.CodeExecutionBlock:collect {
        code = "raise ValueError('x' * 1000000)", timeout = 60,
      }
      return says(out, "ValueError: xxx") and #out.error < 20000
    end)
  end)

  it("sandboxes have no internet unless the host says so", function()
    local asked = {}
    local client = assert(stepbox.client())
    local spy = support.client_with {
      create = function(_, options)
        asked[#asked + 1] = options.allow_internet
        options.allow_internet = nil
        return client:create(options)
      end,
    }
    assert.equal("1", blocks.CodeExecutionBlock:collect({ credentials = spy, code = "1" }).response)
    assert.equal("1", blocks.CodeExecutionBlock:collect({
      credentials = spy, code = "1", allow_internet = true,
    }).response)
    assert.same({ false, true }, asked)
    -- What a model writes cannot say so.
    assert.matches("allow_internet", blocks.call("CodeExecutionBlock", '{"allow_internet": true}'), 1, true)
  end)

  it("a sandbox has nothing of the host: no variable, no file, no process", function()
    local out = blocks.CodeExecutionBlock:collect {
      setup_commands = {
        "test ! -e '" .. sandbox.root .. "/Makefile'", "test $(ls -d /proc/[0-9]* | wc -l) -lt 20",
      },
      code = 'import os; [name for name in os.environ if name.startswith(("STEPBOX", "E2B", "LUA"))]',
    }
    assert.is_nil(out.error)
    for _, name in ipairs { "STEPBOX_ROOT", "STEPBOX_ENGINE", "API_KEY", "LUA" } do
      assert.is_nil(out.response:find(name, 1, true))
    end
  end)
end)
