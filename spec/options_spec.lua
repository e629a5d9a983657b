local stepbox = require "stepbox"

describe("misuse raises and names what is wrong:", function()
  local function raises(pattern, fn, ...)
    local ok, message = pcall(fn, ...)
    assert.is_false(ok)
    assert.matches(pattern, message)
    assert.matches("^[^:]*options_spec.lua:", message) -- at the caller's line
  end

  it("an option that create does not know", function()
    raises("unknown option 'tiemout' of 'create'", function() stepbox.create { tiemout = 3 } end)
  end)

  it("an option of the wrong type", function()
    raises("bad option 'template' of 'create' %(string expected, got number%)", function()
      stepbox.create { template = 3 }
    end)
    raises("bad option 'setup' of 'create' %(list of strings expected, entry 2 is a number%)", function()
      stepbox.create { setup = { "true", 2 } }
    end)
    raises("bad option 'api_key' of 'create'", function() stepbox.create { api_key = true } end)
    raises("bad options of 'create' %(table expected, got string%)", function() stepbox.create "x" end)
  end)

  it("seconds that are zero, negative, or not a number", function()
    for _, seconds in ipairs { 0, -1, 0 / 0 } do
      raises("a number of seconds above 0 expected", function() stepbox.create { timeout = seconds } end)
    end
    raises("number of seconds expected, got string", function() stepbox.create { timeout = "5" } end)
    local box, message, code = stepbox.create { timeout = math.huge }
    assert.same({ nil, "timeout: must be fewer seconds", "invalid" }, { box, message, code })
  end)

  it("names and values of variables that no process could have", function()
    raises("'A=B' is no name of a variable", function() stepbox.create { envs = { ["A=B"] = "1" } } end)
    raises("must not contain a NUL byte", function() stepbox.create { envs = { A = "1\0" } } end)
    raises("the value of 'A' must be a string", function() stepbox.create { envs = { A = 1 } } end)
  end)

  it("strings that a NUL byte would cut short", function()
    for _, name in ipairs {
      "template", "name", "api_key", "domain", "api_url", "sandbox_url", "proxy", "ca_file", "socket",
      "engine",
    } do
      raises("bad option '" .. name .. "' of 'create' %(it must not contain a NUL byte%)", function()
        stepbox.create { [name] = "a\0b" }
      end)
    end
    raises("bad option 'setup' of 'create' %(strings without NUL bytes expected, entry 2 is", function()
      stepbox.create { setup = { "true", "a\0b" } }
    end)
    raises("bad option 'state' of 'list'", function() stepbox.list { state = "running\0" } end)
  end)

  it("a list of no state, which would list everything", function()
    raises("bad option 'state' of 'list' %(at least one state expected%)", function()
      stepbox.list { state = {} }
    end)
  end)

  it("limits of a sandbox that are none", function()
    for _, value in ipairs { 0, -1, 0 / 0, math.huge } do
      raises("bad option 'memory' of 'create' %(a number of bytes above 0", function()
        stepbox.create { memory = value }
      end)
      raises("bad option 'cpus' of 'create' %(a number above 0", function()
        stepbox.create { cpus = value }
      end)
    end
    raises("number of bytes expected, got string", function() stepbox.create { disk = "1G" } end)
    raises("whole number of at least 1", function() stepbox.create { processes = 1.5 } end)
    local box, message, code = stepbox.create { memory = 1e30 }
    assert.same({ nil, "memory: must be fewer bytes", "invalid" }, { box, message, code })
    assert.matches('"diskMB": it must be an integer from 4', select(2, stepbox.create { disk = 1 }), 1, true)
  end)

  it("a timeout for a sandbox that shall stay paused", function()
    raises("not with 'resume = false'", function()
      stepbox.connect("x", { resume = false, timeout = 5 })
    end)
  end)

  it("a time to wait for the loop that is none", function()
    for _, seconds in ipairs { -1, 0 / 0, "1", true } do
      raises("bad argument #1 to 'step' %(a number of seconds from 0 on", function()
        stepbox.loop.step(seconds)
      end)
    end
  end)

  it("ids that are no strings", function()
    raises("bad argument #1 to 'connect' %(string expected, got nil%)", function() stepbox.connect() end)
    raises("bad argument #1 to 'kill' %(string expected, got table%)", function() stepbox.kill {} end)
  end)

  it("functions that are none", function()
    raises("bad argument #1 to 'spawn'", function() stepbox.spawn(3) end)
    raises("bad argument #1 to 'run' %(function expected, got nil%)", function() stepbox.run() end)
    raises("bad option 'on_stdout' of 'create' %(function expected", function()
      stepbox.create { on_stdout = "print" }
    end)
  end)
end)

describe("misuse of a box raises and names what is wrong:", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 60 }) end)
  teardown(function() box:kill() end)

  it("code that is not a string", function()
    assert.error_matches(function() box:step() end, "bad argument #1 to 'step' %(string expected, got nil%)")
    assert.error_matches(function() box:step(42) end, "string expected, got number")
  end)

  it("an option that step does not know", function()
    assert.error_matches(function() box:step("1", { lang = "r" }) end, "unknown option 'lang' of 'step'")
  end)

  it("both language and context", function()
    assert.error_matches(function() box:step("1", { language = "python", context = "x" }) end,
      "only one of 'language' and 'context'")
  end)

  it("names that a NUL byte would cut short", function()
    for _, name in ipairs { "language", "context" } do
      assert.error_matches(function() box:step("1", { [name] = "a\0b" }) end,
        "bad option '" .. name .. "' of 'step' %(it must not contain a NUL byte%)")
    end
    assert.error_matches(function() box:logs { search = "a\0b" } end, "bad option 'search' of 'logs'")
  end)

  it("a timeout of zero, and an output bound that is no count", function()
    assert.error_matches(function() box:step("1", { timeout = 0 }) end, "above 0 expected")
    assert.error_matches(function() box:step("1", { max_output = 1.5 }) end, "whole number")
    assert.error_matches(function() box:set_timeout(-1) end, "above 0 expected")
  end)
end)
