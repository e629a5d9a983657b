local blocks = require "stepbox.blocks"
local cjson = require "cjson"
local support = require "spec.support.blocks"
local stepbox = require "stepbox"

local NAMES = { "CodeExecutionBlock", "InstantiationBlock", "StepExecutionBlock" }

local function call(...) return cjson.decode(blocks.call(...)) end

describe("the blocks as tools", function()
  it("are defined for OpenAI, Anthropic and MCP", function()
    local openai, anthropic, mcp = blocks.tools "openai", blocks.tools "anthropic", blocks.tools "mcp"
    for i, name in ipairs(NAMES) do
      assert.equal("function", openai[i].type)
      assert.equal(name, openai[i]["function"].name)
      assert.same({ name = name, description = openai[i]["function"].description,
        input_schema = openai[i]["function"].parameters }, anthropic[i])
      assert.equal(name, mcp[i].name)
      assert.same(anthropic[i].input_schema, mcp[i].inputSchema)
      assert.equal("object", mcp[i].outputSchema.type)
      assert.is_false(mcp[i].annotations.openWorldHint)
      assert.matches("^[%w_-]+$", name)
      assert.is_true(#anthropic[i].description > 50)
    end
    assert.same({ "sandbox_id" }, anthropic[3].input_schema.required)
    assert.is_nil(anthropic[1].input_schema.required)
    -- As any JSON library has it, an empty table nowhere.
    assert.is_nil(cjson.encode(openai):find "{}")
    assert.error_matches(function() blocks.tools "gemini" end,
      "openai, anthropic or mcp expected, got gemini")
  end)

  it("do not offer what is the host's to decide", function()
    for _, tool in ipairs(blocks.tools "anthropic") do
      for _, name in ipairs { "credentials", "allow_internet", "metadata", "keep_on_error", "max_output" } do
        assert.is_nil(tool.input_schema.properties[name])
      end
      assert.is_false(tool.input_schema.additionalProperties)
    end
  end)

  it("are called with JSON and answer with JSON", function()
    local out = call("CodeExecutionBlock",
      [[{"code": "print('hi')\n6 * 7", "files": {"a": "b"}, "outputs": ["a"]}]])
    assert.same({
      results = { { text = "42", is_main_result = true } },
      main_result = { text = "42" },
      response = "42",
      stdout_logs = "hi\n",
      files = { { path = "a", content = "b", encoding = "utf-8" } },
    }, out)
  end)

  it("work step by step, by name, alias or id, with files in base64", function()
    local made = call("InstantiateCodeSandboxBlock",
      '{"setup_code": "x = 1", "files": {"raw": {"content": "AP8K", "encoding": "base64"}}, "timeout": 60}')
    local arguments = cjson.encode { sandbox_id = made.sandbox_id, step_code = "x, open('raw', 'rb').read()" }
    assert.equal("(1, b'\\x00\\xff\\n')", call("StepExecutionBlock", arguments).response)
    arguments = cjson.encode { sandbox_id = made.sandbox_id, outputs = { "raw" }, dispose_sandbox = true }
    assert.same({ { path = "raw", content = "AP8K", encoding = "base64" } },
      call("82b59b8e-ea10-4d57-9161-8b169b0adba6", arguments).files)
    support.assert_gone(made.sandbox_id)
  end)

  it("never raise for what a model wrote, and make nothing of it", function()
    local before = support.ids()
    for arguments, text in pairs {
      ['{"code": 1}'] = "bad input 'code' (string expected, got number)",
      ['{"kode": "1"}'] = "unknown input 'kode'",
      ['{"timeout": -1}'] = "bad input 'timeout'",
      ['{"timeout": 1e999}'] = "",
      ['{"setup_commands": {"a": "ls"}}'] = "bad input 'setup_commands'",
      ['{"setup_commands": [null]}'] = "bad input 'setup_commands'",
      ['{"files": {"a": null}}'] = "bad input 'files'",
      ['{"files": ["a"]}'] = "bad input 'files'",
      ['{"language": "cobol"}'] = "bad input 'language'",
      ['{"allow_internet": true}'] = "bad input 'allow_internet' (the host alone",
      ['{"keep_on_error": true}'] = "bad input 'keep_on_error' (the host alone",
      ['{"metadata": {"a": "b"}}'] = "bad input 'metadata' (the host alone",
      ['{"credentials": {"api_url": "http://evil"}}'] = "bad input 'credentials' (the host gives",
      ['{"credentials": "key"}'] = "bad input 'credentials'",
      ["[]"] = "a JSON object expected",
      ["[1]"] = "a JSON object expected",
      ["7"] = "a JSON object expected",
      ["null"] = "a JSON object expected",
      ['"text"'] = "a JSON object expected",
      ['{"code": "1"'] = "they are no JSON",
      ["{'code': '1'}"] = "they are no JSON",
      ["\255\254"] = "they are no JSON",
      [("["):rep(5000)] = "they are no JSON",
    } do
      local out = call("CodeExecutionBlock", arguments)
      assert.is_string(out.error, arguments)
      assert.matches(text, out.error, 1, true)
      assert.is_nil(out.error:find "%.lua:")
    end
    assert.matches("'sandbox_id' (it is missing", call("StepExecutionBlock", "{}").error, 1, true)
    assert.matches("no tool 'rm -rf'", call("rm -rf", "{}").error, 1, true)
    assert.matches("no tool", call(nil, "{}").error, 1, true)
    assert.matches("no tool", call("call", "{}").error, 1, true)
    assert.matches("JSON text expected", call("CodeExecutionBlock", 7).error, 1, true)
    assert.same(before, support.ids())
  end)

  it("take null and nothing at all for what is not given", function()
    for _, arguments in ipairs { "", " ", "{}", '{"code": null, "timeout": null, "template_id": ""}' } do
      assert.same({}, call("CodeExecutionBlock", arguments))
    end
    assert.same({}, call "CodeExecutionBlock")
    assert.equal("1", call("CodeExecutionBlock",
      '{"code": "1", "setup_commands": [], "credentials": {"provider": "e2b", "type": "api_key"}}').response)
  end)

  it("obey the host, whose word counts", function()
    local host = { timeout = 50, metadata = { mark = "host's" }, step_timeout = 1 }
    local made = call("InstantiationBlock", '{"timeout": 3000, "step_timeout": 60}', host)
    assert.equal(1, support.count "host's")
    local info = assert(assert(stepbox.connect(made.sandbox_id)):info())
    assert.is_true(info.end_at - info.started_at < 60)
    host.sandbox_id = made.sandbox_id
    local function step(arguments) return call("StepExecutionBlock", arguments, host) end
    assert.matches("within 1 s", step('{"step_code": "import time; time.sleep(9)"}').error)
    assert.equal("7", step('{"sandbox_id": "another", "step_code": "7"}').response)
    assert(stepbox.kill(made.sandbox_id))
  end)

  it("raise for the host's own mistakes", function()
    assert.error_matches(function() blocks.call("CodeExecutionBlock", "{}", { timeout = 0 }) end,
      "bad options of 'call': bad input 'timeout'")
    assert.error_matches(function() blocks.call("CodeExecutionBlock", "{}", { tiemout = 1 }) end,
      "unknown option 'tiemout' of 'call'")
    assert.error_matches(function() blocks.call("CodeExecutionBlock", "{}", 1) end, "table expected")
  end)

  it("answer in UTF-8, whatever the code does", function()
    local json = blocks.call("CodeExecutionBlock", cjson.encode {
      code = "import os\nos.write(1, b'\\xff\\x00\\xc3')\nopen(b'\\xff.txt', 'w').close()\nprint('\\ud800')",
      outputs = { "*.txt" },
    })
    assert.is_truthy(utf8.len(json))
    assert.equal("\u{fffd}.txt", cjson.decode(json).files[1].path)
  end)
end)
