local blocks = require "stepbox.blocks"
local cjson = require "cjson"
local sandbox = require "spec.support.sandbox"

local python = sandbox.build .. "/peers/python/venv/bin/python"

-- What each block is given, and whether that is right.
local INPUTS = {
  CodeExecutionBlock = {
    { {}, true },
    { { code = "1", language = "js", timeout = 0.5, step_timeout = 86400, setup_commands = { "ls" } }, true },
    { { template_id = "", dispose_sandbox = false, keep_on_error = true, allow_internet = true }, true },
    { { files = { ["a b/c"] = "text" }, outputs = { "*" } }, true },
    { { files = { d = { content = "AP8=", encoding = "base64" }, e = { content = "" } } }, true },
    { { envs = { PATH = "/bin" }, metadata = { ["any name"] = "" }, max_output = 1 }, true },
    { { credentials = { provider = "e2b", id = "x", type = "api_key", title = "x" } }, true },
    { { credentials = { api_url = "http://x", sandbox_url = "http://y", headers = { A = "b" } } }, true },
    { { timeout = 0 }, false },
    { { timeout = 86401 }, false },
    { { timeout = "300" }, false },
    { { step_timeout = -1 }, false },
    { { language = "perl" }, false },
    { { code = 1 }, false },
    { { setup_commands = "ls" }, false },
    { { setup_commands = { "" } }, false },
    { { setup_commands = { 1 } }, false },
    { { files = { a = 1 } }, false },
    { { files = { a = { encoding = "base64" } } }, false },
    { { files = { a = { content = "x", encoding = "hex" } } }, false },
    { { files = { a = { content = "x", more = "y" } } }, false },
    { { outputs = { "" } }, false },
    { { envs = { ["1X"] = "y" } }, false },
    { { envs = { X = 1 } }, false },
    { { metadata = { x = true } }, false },
    { { allow_internet = "no" }, false },
    { { max_output = 1.5 }, false },
    { { max_output = 2 ^ 40 }, false },
    { { credentials = { api_kee = "x" } }, false },
    { { credentials = { provider = "other" } }, false },
    { { sandbox_id = "x" }, false },
  },
  InstantiationBlock = {
    { { setup_code = "x = 1" }, true },
    { { code = "x = 1" }, false },
    { { dispose_sandbox = true }, false },
  },
  StepExecutionBlock = {
    { { sandbox_id = "ix", step_code = "1", timeout = 5, dispose_sandbox = true }, true },
    { { step_code = "1" }, false },
    { { sandbox_id = "" }, false },
    { { sandbox_id = "ix", allow_internet = true }, false },
    { { sandbox_id = "ix", setup_commands = { "ls" } }, false },
  },
}

--- Runs the validator. The schemas by name must be valid; each case is {name, JSON text of the value}.
--- Returns what it says of each case.
local function validate(schemas, cases)
  local folder = sandbox.temporary()
  sandbox.write(folder .. "/schemas", cjson.encode(schemas))
  local lines = {}
  for i, case in ipairs(cases) do lines[i] = '["' .. case[1] .. '",' .. case[2] .. "]\n" end
  sandbox.write(folder .. "/cases", table.concat(lines))
  local output, status = sandbox.sh(("%s -B %s/spec/support/validate.py %s/schemas < %s/cases"):format(
    python, sandbox.root, folder, folder))
  sandbox.sh("rm -r " .. folder)
  assert.equal(0, status, output)
  local verdicts = {}
  for line in output:gmatch "[^\n]+" do verdicts[#verdicts + 1] = line end
  assert.equal(#cases, #verdicts, output)
  return verdicts
end

local function encode(value) return next(value) == nil and "{}" or cjson.encode(value) end

local function without_validator()
  local mark = sandbox.build .. "/peers/python/requirements.txt"
  if os.rename(mark, mark) then return false end
  pending("the validator is not installed: " .. sandbox.read(sandbox.build .. "/peers/python/reason"))
  return true
end

describe("the schemas of the blocks", function()
  it("are JSON Schema, and accept what the blocks accept", function()
    if without_validator() then return end
    local schemas, cases, wanted = {}, {}, {}
    for name, inputs in pairs(INPUTS) do
      local schema = blocks[name]:schema()
      schemas[name], schemas[name .. " output"] = schema.input, schema.output
      for _, case in ipairs(inputs) do
        cases[#cases + 1] = { name, encode(case[1]) }
        wanted[#wanted + 1] = case[2]
      end
    end
    for i, verdict in ipairs(validate(schemas, cases)) do
      assert.equal(wanted[i], verdict == "valid", cases[i][2] .. ": " .. verdict)
    end
  end)

  it("describe what the blocks check themselves", function()
    for name, inputs in pairs(INPUTS) do
      for _, case in ipairs(inputs) do
        local ok, message = pcall(blocks[name].run, blocks[name], case[1])
        assert.equal(case[2], ok, encode(case[1]) .. ": " .. tostring(message))
      end
    end
  end)

  it("describe what the blocks give, in JSON", function()
    if without_validator() then return end
    local outputs = {
      blocks.call("CodeExecutionBlock", cjson.encode {
        code = [[
import matplotlib.pyplot as plt, pandas as pd
from IPython.display import display, HTML, JSON, Markdown, Latex, Javascript
plt.plot([1]); plt.show()
for shown in (HTML("<b>"), JSON({"empty": []}), Markdown("*"), Latex("$x$"), Javascript("1")): display(shown)
display({"application/x-own": {"a": []}}, raw=True)
open("bytes", "wb").write(bytes(range(256)))
open("text", "w").write("\u00e9")
pd.DataFrame({"a": []})]],
        outputs = { "bytes", "text" },
      }),
      blocks.call("CodeExecutionBlock", '{"code": "1 / 0"}'),
      blocks.call("CodeExecutionBlock", '{"code": ""}'),
      blocks.call("CodeExecutionBlock", '{"code": 3}'),
      blocks.call("StepExecutionBlock", '{"sandbox_id": "ix", "step_code": "1"}'),
    }
    local cases = {}
    for i, output in ipairs(outputs) do cases[i] = { "output", output } end
    for i, verdict in ipairs(validate({ output = blocks.CodeExecutionBlock:schema().output }, cases)) do
      assert.equal("valid", verdict, outputs[i])
    end
    local first = cjson.decode(outputs[1])
    assert.is_nil(first.error)
    assert.equal("iVBOR", first.results[1].png:sub(1, 5))
    -- Empty lists are lists, whichever lua-cjson there is.
    assert.matches('"data":{"a":[]}', outputs[1], 1, true)
    assert.matches('"json":{"empty": ?%[%]}', outputs[1])
    assert.equal("base64", first.files[1].encoding)
    assert.equal("AAECAwQFBgcICQ", first.files[1].content:sub(1, 14))
    assert.equal("\u{e9}", first.files[2].content)
    assert.equal("{}", outputs[3])
  end)

  it("have no empty table, and are the caller's own copies", function()
    local function look(value)
      assert.is_truthy(next(value))
      for _, inner in pairs(value) do
        if type(inner) == "table" then look(inner) end
      end
    end
    for name in pairs(INPUTS) do
      local schema = blocks[name]:schema()
      look(schema)
      schema.input.properties.language.enum[1] = "changed"
      assert.equal("python", blocks[name]:schema().input.properties.language.enum[1])
    end
  end)
end)
