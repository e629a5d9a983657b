local cjson = require "cjson"
local sandbox = require "spec.support.sandbox"
local cli = require "spec.support.cli"
local json_text = require "stepbox.json_text"
local utf8_text = require "stepbox.utf8_text"

describe("JSON as stepbox prints it", function()
  it("keeps lists that are empty, orders names, and writes whole numbers as such", function()
    local value =
      { b = json_text.list(), a = { 1, 2.5, 1e20 }, c = {}, d = json_text.null, e = true, f = 42.0 }
    assert.equal('{"a":[1,2.5,1e+20],"b":[],"c":{},"d":null,"e":true,"f":42}', json_text.encode(value))
    assert.equal("[[],{}]", json_text.encode(json_text.list { json_text.list(), {} }))
    assert.equal("null", json_text.encode(0 / 0))
  end)

  it("is UTF-8 whatever bytes come", function()
    local bad = "a\xffb\xc3(\xe2\x82\xed\xa0\x80\xf4\x90\x80\x80ü€😀"
    local text = utf8_text.clean(bad)
    assert.is_truthy(utf8.len(text))
    assert.matches("ü€😀$", text)
    assert.equal("plain", utf8_text.clean "plain")
    for _ = 1, 500 do
      local bytes = {}
      for i = 1, 40 do bytes[i] = string.char(math.random(0, 255)) end
      assert.is_truthy(utf8.len((utf8_text.clean(table.concat(bytes)))))
    end
  end)
end)

describe("stepbox --json", function()
  local id
  setup(function() id = cli.new("--timeout", "600") end)
  teardown(function() cli.run("kill", id) end)

  it("of new, info and timeout tells the sandbox", function()
    local made, status = cli.json("new", "--json", "--timeout", "60")
    assert.equal(0, status)
    assert.equal("code-interpreter-v1", made.template)
    assert.near(os.time() + 60, made.end_at, 5)
    local info, _, text = cli.json("info", made.id, "--json")
    assert.matches('"allowOut":[],', text, 1, true)
    assert.is_nil(text:find('"notEnforced":{', 1, true))
    assert.equal(made.id, info.id)
    assert.matches('"metadata":{}', text, 1, true)
    local killed = select(3, cli.json("kill", made.id, "--json"))
    assert.equal('{"failed":[],"killed":["' .. made.id .. '"]}\n', killed)
  end)

  it("of step tells all that came, in one object", function()
    local code = "print('out'); import sys; print('err', file=sys.stderr); 5"
    local step, status = cli.json("step", id, "--json", code)
    assert.equal(0, status)
    assert.same({ "5", "out\n", "err\n" }, { step.text, step.stdout, step.stderr })
    assert.equal(cjson.null, step.error)
    assert.equal(1, #step.results)
    assert.is_true(step.results[1].is_main)
    local text
    step, status, text = cli.json("step", id, "--json", "1 / 0")
    assert.equal(1, status)
    assert.equal("ZeroDivisionError", step.error.name)
    assert.equal(cjson.null, step.text)
    assert.matches('"results":[]', text, 1, true)
    assert.matches('"files":[]', text, 1, true)
  end)

  it("of step tells a failure with what had arrived", function()
    local code = "print('x', flush=True)\nwhile True: pass"
    local step, status = cli.json("step", id, "--json", "--timeout", "0.3", code)
    assert.equal(124, status)
    assert.equal("x\n", step.stdout)
    assert.equal("timeout", step.failure.code)
  end)

  it("of step has images as base64, and the files they were saved in", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    local code = "import base64\nfrom IPython.display import Image, display\n"
      .. "display(Image(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
      .. "DwAChwGA60e6kgAAAABJRU5ErkJggg=='), format='png'))"
    local step = cli.json("step", id, "--json", "--save", folder .. "/charts", code)
    assert.matches("^iVBORw0KGgo", step.results[1].png)
    assert.same({ { path = folder .. "/charts/chart-1.png", format = "png" } }, step.files)
    assert.matches("^\137PNG", sandbox.read(step.files[1].path))
    step = cli.json("step", id, "--json", "--save", folder .. "/charts", code)
    assert.equal(folder .. "/charts/chart-2.png", step.files[1].path)
  end)

  it("of sh tells the command's end and output", function()
    local result, status = cli.json("sh", "--json", id, "echo out; echo err >&2; printf '\\377'; exit 3")
    assert.equal(3, status)
    assert.same({ 3, "out\n\u{fffd}", "err\n", cjson.null },
      { result.exit_code, result.stdout, result.stderr, result.how })
    result, status = cli.json("sh", "--json", id, "kill -9 $$")
    assert.equal(137, status)
    assert.equal(cjson.null, result.exit_code)
    assert.matches("killed", result.how, 1, true)
  end)

  it("of ls, logs, blocks, engine and doctor decodes", function()
    local list = cli.json("ls", "--json")
    assert.is_true(#list >= 1)
    assert.equal("[]\n", select(3, cli.json("ls", "--json", "--metadata", "no=such")))
    assert.equal("starting: asked for", cli.json("logs", id, "--json")[1].message)
    assert.equal("[]\n", select(3, cli.json("logs", id, "--json", "--level", "error")))
    assert.equal("object", cli.json("blocks", "--json")[1].input.type)
    local engine, _, text = cli.json("engine", "status", "--json")
    assert.is_true(engine.running)
    assert.matches('"notEnforced":[', text, 1, true)
    local doctor, status = cli.json("doctor", "--json")
    assert.equal(0, status)
    assert.is_true(doctor.ok)
    local states = {}
    for _, check in ipairs(doctor.checks) do states[check.name] = check.state end
    for _, name in ipairs { "bubblewrap", "engine", "sandbox", "ipython", "user namespaces" } do
      assert.equal("ok", states[name], name)
    end
    assert(states["network helper"] == "ok" or states["network helper"] == "note")
    assert(states.contexts)
    local info = cli.json("info", id, "--json").details.isolation
    assert.equal(info.ids == "range" and info.systemTree == "writable" and "ok" or "note", states.isolation)
  end)

  it("of a failure is an object that names its code", function()
    for _, words in ipairs {
      { "step", "--json", "nosuch", "1" }, { "info", "--json", "nosuch" }, { "logs", "nosuch", "--json" },
      { "sh", "--json", "nosuch", "ls" }, { "timeout", "nosuch", "5", "--json" },
    } do
      local answer, status = cli.json(table.unpack(words))
      assert.equal(3, status)
      assert.equal("not_found", answer.failure.code)
      assert.matches("nosuch", answer.failure.message, 1, true)
    end
    local answer, status = cli.json("kill", "nosuch", "--json")
    assert.equal(3, status)
    assert.equal("not_found", answer.failed[1].code)
  end)

  it("of repl is an object a step", function()
    local out, _, status = cli.feed("z = 1\nz + 1\n1 / 0\n", "repl", id, "--json")
    local values = {}
    for line in out:gmatch "[^\n]+" do values[#values + 1] = cjson.decode(line) end
    assert.equal(3, #values)
    assert.equal("2", values[2].text)
    assert.equal("ZeroDivisionError", values[3].error.name)
    assert.equal(1, status)
  end)
end)
