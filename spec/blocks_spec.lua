local blocks = require "stepbox.blocks"
local languages = require "spec.support.languages"
local support = require "spec.support.blocks"
local stepbox = require "stepbox"

-- What AutoGPT's blocks are tested with, word by word.
local credentials = {
  provider = "e2b", id = "01234567-89ab-cdef-0123-456789abcdef", type = "api_key", title = "api_key",
}

-- What says hello in each language of the blocks, and what the sandbox calls that.
local HELLO = {
  js = { "javascript", "console.log('Hello World')" },
  bash = { "bash", "echo Hello World" },
  r = { "r", 'cat("Hello World\\n")' },
  java = { "java", 'System.out.println("Hello World");' },
}

describe("the blocks", function()
  for language, hello in pairs(HELLO) do
    it("run " .. language .. " where the sandbox has it", function()
      local is_there, why = languages.has(hello[1])
      if not is_there then pending(why) return end
      local out = blocks.CodeExecutionBlock:collect { code = hello[2], language = language, timeout = 120 }
      assert.is_nil(out.error)
      assert.same({ "Hello World", "Hello World\n" }, { out.response, out.stdout_logs })
    end)
  end

  it("give the exit status of a script of bash as a result", function()
    local is_there, why = languages.has "bash"
    if not is_there then pending(why) return end
    local out = blocks.CodeExecutionBlock:collect { code = "echo said\nfalse", language = "bash" }
    assert.is_nil(out.error)
    assert.same({ "said", { exit_status = 1 } }, { out.response, out.main_result.data })
  end)

  it("have the original's ids and names, old and new", function()
    assert.equal("0b02b072-abe7-11ef-8372-fb5d162dd712", blocks.CodeExecutionBlock.id)
    assert.equal("ff0861c9-1726-4aec-9e5b-bf53f3622112", blocks.InstantiationBlock.id)
    assert.equal("82b59b8e-ea10-4d57-9161-8b169b0adba6", blocks.StepExecutionBlock.id)
    assert.equal(blocks.CodeExecutionBlock, blocks.ExecuteCodeBlock)
    assert.equal(blocks.InstantiationBlock, blocks.InstantiateCodeSandboxBlock)
    assert.equal(blocks.StepExecutionBlock, blocks.ExecuteCodeStepBlock)
    assert.equal(blocks.StepExecutionBlock, blocks.find "82b59b8e-ea10-4d57-9161-8b169b0adba6")
    assert.equal(blocks.StepExecutionBlock, blocks.find "ExecuteCodeStepBlock")
    assert.is_nil(blocks.find "call")
    assert.same({ PYTHON = "python", JAVASCRIPT = "js", BASH = "bash", R = "r", JAVA = "java" },
      blocks.ProgrammingLanguage)
  end)

  it("give the original's published outputs for its published inputs", function()
    local names, out = support.names(blocks.CodeExecutionBlock:run {
      credentials = credentials,
      code = "print('Hello World')",
      language = "python",
      setup_commands = {},
      timeout = 300,
      template_id = "",
    })
    assert.equal("response stdout_logs", names)
    assert.equal("Hello World", out.response)
    assert.equal("Hello World\n", out.stdout_logs)

    names, out = support.names(blocks.InstantiationBlock:run {
      credentials = credentials,
      setup_code = "print('Hello World')",
      language = "python",
      setup_commands = {},
      timeout = 300,
      template_id = "",
    })
    assert.equal("sandbox_id response stdout_logs", names)
    assert.equal("string", type(out.sandbox_id))
    assert.equal("Hello World", out.response)
    assert.equal("Hello World\n", out.stdout_logs)

    local id = out.sandbox_id
    names, out = support.names(blocks.StepExecutionBlock:run {
      credentials = credentials, sandbox_id = id, step_code = "print('Hello World')", language = "python",
    })
    assert(stepbox.kill(id))
    assert.equal("response stdout_logs", names)
    assert.equal("Hello World", out.response)
    assert.equal("Hello World\n", out.stdout_logs)
  end)

  it("give their outputs in one order, each only when there is something", function()
    local names, out = support.names(blocks.CodeExecutionBlock:run {
      code = [[
import sys
from IPython.display import display, HTML, Markdown
print("to stdout"); print("to stderr", file=sys.stderr)
display(HTML("<b>bold</b>"))
open("a.txt", "w").write("a")
6 * 7]],
      outputs = { "a.txt", "b.txt" },
    })
    assert.equal("results main_result response stdout_logs stderr_logs files error", names)
    assert.equal("42", out.response)
    assert.same({ text = "42" }, out.main_result)
    assert.equal("<b>bold</b>", out.results[1].html)
    assert.is_false(out.results[1].is_main_result)
    assert.is_nil(out.results[1].png)
    assert.same({ text = "42", is_main_result = true }, out.results[2])
    assert.equal("to stdout\n", out.stdout_logs)
    assert.equal("to stderr\n", out.stderr_logs)
    assert.same({ { path = "a.txt", bytes = "a" } }, out.files)
    assert.matches("b.txt", out.error, 1, true)

    assert.equal("", support.names(blocks.CodeExecutionBlock:run { code = "x = 1" }))
    assert.same({}, blocks.CodeExecutionBlock:collect { code = "x = 1" })
  end)

  it("keep variables, imports and files from instantiation to step to step", function()
    local made = blocks.InstantiationBlock:collect {
      setup_commands = { "echo one > one.txt" }, setup_code = "import math; x = 20", timeout = 60,
      envs = { WHO = "it's \"me\"" }, files = { ["deep/two"] = "\0\255" },
    }
    assert.is_nil(made.error)
    local function step(code, more)
      local input = { sandbox_id = made.sandbox_id, step_code = code }
      for name, value in pairs(more or {}) do input[name] = value end
      return blocks.StepExecutionBlock:collect(input)
    end
    assert.equal("['one\\n']", step("x += 1; [open('one.txt').read()]").response)
    assert.equal("(21, 3, b'\\x00\\xff')",
      step("x, math.floor(math.pi), open('deep/two', 'rb').read()").response)
    assert.equal("it's \"me\"", step("import os; print(os.environ['WHO'])").response)
    assert.equal("('it', 'step')",
      step("os.environ['WHO'][:2], os.environ['MORE']", { envs = { MORE = "step" } }).response)
    assert.equal("None", step("print(os.environ.get('MORE'))").response)
    assert.equal("7", step("open('three').read()", { files = { three = "7" } }).response)
    assert.is_nil(step("1", { dispose_sandbox = true }).error)
    support.assert_gone(made.sandbox_id)
  end)

  it("raise for input in the wrong shape before anything is made, naming the field", function()
    local before = support.ids()
    for name, value in pairs {
      code = 3, setup_commands = "ls", language = "perl", timeout = 0, step_timeout = -1, template_id = 1,
      envs = { [""] = "x" }, metadata = { a = 1 }, allow_internet = "yes", files = { "x" }, outputs = { "" },
      dispose_sandbox = 1, keep_on_error = "no", max_output = 0.5, credentials = { api_kee = "x" },
    } do
      assert.error_matches(function() blocks.CodeExecutionBlock:run { [name] = value } end,
        "^CodeExecutionBlock: bad input '" .. name .. "' %(")
      assert.error_matches(function() blocks.CodeExecutionBlock:collect { [name] = value } end,
        "^CodeExecutionBlock: bad input '" .. name .. "' %(")
    end
    for _, input in ipairs {
      { timeout = 86401 }, { timeout = math.huge }, { timeout = "300" }, { files = { [""] = "x" } },
      { files = { x = { content = "a", encoding = "base64" } } }, { files = { x = { content = 1 } } },
      { setup_commands = { "ls", "" } }, { setup_commands = { "a\0b" } }, { outputs = { "a\0b" } },
      { credentials = { provider = "other" } }, { credentials = "e2b_key" }, { max_output = 2 ^ 40 },
    } do
      assert.error_matches(function() blocks.CodeExecutionBlock:run(input) end, "bad input '" .. next(input))
    end
    assert.error_matches(function() blocks.StepExecutionBlock:run { step_code = "1" } end,
      "'sandbox_id' %(it is missing")
    assert.error_matches(function() blocks.StepExecutionBlock:run { sandbox_id = "" } end, "'sandbox_id'")
    assert.error_matches(function() blocks.StepExecutionBlock:run { sandbox_id = "x", code = "1" } end,
      "unknown input 'code'")
    assert.error_matches(function() blocks.InstantiationBlock:run "x" end, "table expected, got string")
    assert.error_matches(function() blocks.InstantiationBlock.run { code = "" } end, "colon")
    local _, message = pcall(function() blocks.InstantiationBlock:run { timeout = 0 } end)
    assert.matches("blocks_spec.lua:%d+: InstantiationBlock: ", message)
    assert.same(before, support.ids())
  end)

  it("do nothing before the first value is asked for", function()
    local before = support.ids()
    local following = blocks.InstantiationBlock:run { timeout = 60 }
    assert.same(before, support.ids())
    local name, id = following()
    assert.equal("sandbox_id", name)
    assert.is_nil(following())
    assert.is_nil(following())
    assert(stepbox.kill(id))
  end)

  it("yield inside a task, so that one Lua state runs many at once", function()
    local answers, most, under_way = {}, 0, 0
    stepbox.run(function()
      for i = 1, 4 do
        stepbox.spawn(function()
          under_way = under_way + 1
          most = math.max(most, under_way)
          local code = "import time; time.sleep(0.3); " .. i .. " * 2"
          for name, value in blocks.CodeExecutionBlock:run { code = code } do
            if name == "response" then answers[i] = value end
          end
          under_way = under_way - 1
        end)
      end
    end)
    assert.same({ "2", "4", "6", "8" }, answers)
    assert.equal(4, most)
  end)

  it("take a client of the caller's own as credentials", function()
    local client, created = assert(stepbox.client()), 0
    local counting = support.client_with {
      create = function(_, options)
        created = created + 1
        return client:create(options)
      end,
    }
    assert.equal("1", blocks.CodeExecutionBlock:collect({ credentials = counting, code = "1" }).response)
    assert.equal(1, created)
    assert.equal("1", blocks.CodeExecutionBlock:collect({ credentials = client, code = "1" }).response)
  end)
end)
