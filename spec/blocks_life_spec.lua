local blocks = require "stepbox.blocks"
local languages = require "spec.support.languages"
local sandbox = require "spec.support.sandbox"
local support = require "spec.support.blocks"
local stepbox = require "stepbox"

-- Each input carries a mark of its own, by which its sandboxes are counted.
local made = 0
local function marked(input)
  made = made + 1
  local mark = "life-" .. made
  input.metadata = { mark = mark }
  return input, mark
end

-- A language that is not installed here; nil when all are.
local absent
setup(function()
  for language, name in pairs { js = "javascript", bash = "bash", r = "r", java = "java" } do
    if not languages.has(name) then absent = language end
  end
end)

local function assert_none(mark)
  assert(sandbox.eventually(2, function() return support.count(mark) == 0 end), "a sandbox is left")
end

describe("a CodeExecutionBlock", function()
  it("has killed its sandbox before the first value comes, whatever the code did", function()
    for _, code in ipairs { "1", "1 / 0", "import os; os._exit(1)" } do
      local input, mark = marked { code = code }
      local following = blocks.CodeExecutionBlock:run(input)
      assert.is_string(following())
      assert.equal(0, support.count(mark))
    end
  end)

  it("kills it when set-up fails, when a file cannot be written, and when time is up", function()
    for _, input in ipairs {
      { setup_commands = { "exit 1" }, code = "1" },
      { files = { ["/proc/none"] = "x" }, code = "1" },
      { code = "import time; time.sleep(60)", step_timeout = 0.2 },
      absent and { code = "1", language = absent },
    } do
      local mark
      input, mark = marked(input)
      support.assert_says(blocks.CodeExecutionBlock:collect(input), "The sandbox was killed.")
      assert.equal(0, support.count(mark))
    end
  end)

  it("hands it on when it shall stay, and with keep_on_error when it failed", function()
    local out = blocks.CodeExecutionBlock:collect { code = "x = 5", dispose_sandbox = false, timeout = 60 }
    assert.equal("5", blocks.StepExecutionBlock:collect({
      sandbox_id = out.sandbox_id, step_code = "x", dispose_sandbox = true,
    }).response)
    local input, mark = marked { code = "1 / 0", dispose_sandbox = false }
    assert.is_nil(blocks.CodeExecutionBlock:collect(input).sandbox_id)
    assert.equal(0, support.count(mark))
    out = blocks.CodeExecutionBlock:collect { code = "y = 6; 1 / 0", keep_on_error = true, timeout = 60 }
    support.assert_says(out, "The code raised ZeroDivisionError", "The sandbox is kept")
    assert.equal("6", blocks.StepExecutionBlock:collect({
      sandbox_id = out.sandbox_id, step_code = "y", dispose_sandbox = true,
    }).response)
  end)

  -- In a process of its own: the scheduler cannot know of a task whose coroutine somebody closes.
  it("kills it at once when the loop over its outputs is closed in the middle", function()
    local _, mark = marked {}
    local output = sandbox.lua([[
      local blocks, stepbox = require "stepbox.blocks", require "stepbox"
      collectgarbage "stop"
      local function is_there()
        for _ in assert(stepbox.list { metadata = { mark = arg[1] } }) do return true end
        return false
      end
      local task = stepbox.spawn(function()
        for _ in blocks.CodeExecutionBlock:run {
          code = "import time; time.sleep(60)", metadata = { mark = arg[1] },
        } do error "nothing can have come" end
      end)
      repeat stepbox.loop.step(0.01) until is_there()
      stepbox.loop.step(0.2)
      assert(coroutine.close(task.coroutine))
      local deadline = os.time() + 3
      repeat until not is_there() or os.time() > deadline
      print(is_there())
      os.exit(true)]], mark)
    assert.equal("false\n", output)
  end)

  it("kills it when its task is cancelled, and says so", function()
    local input, mark = marked { code = "import time; time.sleep(60)" }
    local out
    stepbox.run(function()
      local task = stepbox.spawn(function() out = blocks.CodeExecutionBlock:collect(input) end)
      assert(sandbox.eventually(5, function()
        stepbox.sleep(0.01)
        return support.count(mark) == 1
      end))
      stepbox.sleep(0.1)
      task:cancel()
    end)
    assert.equal(0, support.count(mark))
    support.assert_says(out, "cancelled")
  end)

  it("leaves none when a run is abandoned in the middle, for the collector", function()
    local _, mark = marked {}
    local output, status = sandbox.lua([[
      local blocks, stepbox = require "stepbox.blocks", require "stepbox"
      stepbox.spawn(function()
        blocks.CodeExecutionBlock:collect {
          code = "import time; time.sleep(60)", metadata = { mark = arg[1] },
        }
      end)
      local function there()
        for _ in assert(stepbox.list { metadata = { mark = arg[1] } }) do return true end
      end
      repeat stepbox.loop.step(0.01) until there()
      stepbox.loop.step(0.2)
      print "abandoned"]], mark)
    assert.equal("abandoned\n", output)
    assert.equal(0, status)
    assert_none(mark)
  end)

  it("leaves none when its process is killed", function()
    local _, mark = marked {}
    local pid = sandbox.background(([[exec lua5.4 -e '
      require("stepbox.blocks").CodeExecutionBlock:collect {
        code = "import time; time.sleep(60)", metadata = { mark = "%s" } }']]):format(mark))
    assert(sandbox.eventually(5, function() return support.count(mark) == 1 end))
    os.execute("kill -9 " .. pid)
    assert_none(mark)
  end)
end)

describe("an InstantiationBlock", function()
  it("hands its sandbox on: it outlives the process that made it", function()
    local output = sandbox.lua [[
      local blocks = require "stepbox.blocks"
      print(blocks.InstantiationBlock:collect({ setup_code = "z = 9", timeout = 60 }).sandbox_id)]]
    local id = output:match "^(%w+)\n$"
    sandbox.sleep(0.3)
    local out = blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "z", dispose_sandbox = true }
    assert.equal("9", out.response)
    support.assert_gone(id)
  end)

  it("kills it on any failure, and gives no id then", function()
    for what, input in pairs {
      command = { setup_commands = { "true", "false" } },
      code = { setup_code = "raise ValueError('no')" },
      deadline = { setup_code = "import time; time.sleep(9)", step_timeout = 0.2 },
      life = { setup_commands = { "sleep 9" }, timeout = 1 },
      output = { outputs = { "nothing" } },
      language = absent and { setup_code = "1", language = absent },
    } do
      local mark
      input, mark = marked(input)
      local out = blocks.InstantiationBlock:collect(input)
      assert.is_string(out.error, what)
      assert.is_nil(out.sandbox_id, what)
      assert.equal(0, support.count(mark), what)
    end
  end)

  it("kills it when it cannot be handed on", function()
    local client = assert(stepbox.client())
    local id
    local out = blocks.InstantiationBlock:collect {
      credentials = support.client_with {
        create = function(_, options)
          local box = assert(client:create(options))
          id = box.id
          return support.box_with(box, { detach = function() return nil, "no answer", "unavailable" end })
        end,
      },
    }
    assert.is_nil(out.sandbox_id)
    support.assert_says(out, "could not be handed on: no answer")
    support.assert_gone(id)
  end)

  it("keeps it with keep_on_error, and gives its id", function()
    local out = blocks.InstantiationBlock:collect {
      setup_commands = { "echo here > mark", "exit 4" }, keep_on_error = true, timeout = 60,
    }
    support.assert_says(out, "exited with code 4", "The sandbox is kept", "StepExecutionBlock")
    assert.equal("['here\\n']", blocks.StepExecutionBlock:collect({
      sandbox_id = out.sandbox_id, step_code = "[open('mark').read()]", dispose_sandbox = true,
    }).response)
  end)
end)

describe("a StepExecutionBlock", function()
  local function instantiate(more)
    local input = { timeout = 60 }
    for name, value in pairs(more or {}) do input[name] = value end
    return assert(blocks.InstantiationBlock:collect(input).sandbox_id)
  end

  it("with dispose_sandbox kills the sandbox after the step, also when that failed", function()
    for _, input in ipairs {
      { step_code = "1" },
      { step_code = "1 / 0" },
      { step_code = "import time; time.sleep(9)", step_timeout = 0.2 },
      { step_code = "1", language = "bash" },
      { step_code = "" },
      { step_code = "1", outputs = { "nothing" } },
    } do
      input.sandbox_id, input.dispose_sandbox = instantiate(), true
      blocks.StepExecutionBlock:collect(input)
      assert.is_false(sandbox.listed(input.sandbox_id))
    end
  end)

  it("without it leaves the sandbox alone, whatever happens", function()
    local id = instantiate { setup_code = "kept = 1" }
    for _, input in ipairs {
      { step_code = "1 / 0" }, { step_code = "import time; time.sleep(9)", step_timeout = 0.2 },
      { step_code = "1", outputs = { "nothing" } },
      { files = { ["/proc/none"] = "x" } },
    } do
      input.sandbox_id = id
      support.assert_says(blocks.StepExecutionBlock:collect(input), "The sandbox and its variables are alive")
    end
    assert.equal("1", blocks.StepExecutionBlock:collect({ sandbox_id = id, step_code = "kept" }).response)
    assert(stepbox.kill(id))
  end)

  it("leaves its life alone, and with a timeout only ever extends it", function()
    local id = instantiate()
    local function end_at() return assert(assert(stepbox.connect(id)):info()).end_at end
    local first = end_at()
    blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "1" }
    assert.equal(first, end_at())
    blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "1", timeout = 5 }
    assert.equal(first, end_at())
    blocks.StepExecutionBlock:collect { sandbox_id = id, step_code = "1", timeout = 500 }
    assert.is_true(end_at() > first + 400)
    assert(stepbox.kill(id))
  end)
end)
