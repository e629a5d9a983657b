local stepbox = require "stepbox"

describe("the module under a collector at its most aggressive", function()
  before_each(function()
    -- A full collection every few instructions, also in the middle of calls.
    debug.sethook(function() collectgarbage() end, "", 200)
  end)
  after_each(function() debug.sethook() end)

  it("keeps what is in use, and frees what is not", function()
    local seen = {}
    local sum = stepbox.run(function()
      local total = 0
      for i = 1, 3 do
        local task = stepbox.spawn(function()
          local box <close> = assert(stepbox.create { timeout = 60, setup = { "echo hi" } })
          local execution = assert(box:step("print('a' * 10)\ndisplay(" .. i .. ")\n{'k': [1, None]}", {
            on_stdout = function(text) seen[#seen + 1] = text end,
            on_result = function(result) seen[#seen + 1] = result.text end,
          }))
          assert.equal(stepbox.null, execution.results[2].json.k[2])
          assert.equal("timeout", select(3, box:step("while True: pass", { timeout = 0.2 })))
          return i
        end)
        total = total + task:wait()
      end
      return total
    end)
    assert.equal(6, sum)
    assert.equal(3 * 3, #seen)
    for info in assert(stepbox.list { limit = 1 }) do assert.equal("string", type(info.id)) end
  end)

  it("keeps commands, files and watches going", function()
    local box <close> = assert(stepbox.create { timeout = 60 })
    local got, made = 0, 0
    local function count(bytes) got = got + #bytes end
    assert(box.commands:run("cat", { stdin = ("abc\n"):rep(50000), on_stdout = count }))
    assert.equal(200000, got)
    assert(box.files:write("file", function()
      made = made + 1
      return made <= 20 and ("x"):rep(50000) or nil
    end))
    local file <close> = io.tmpfile()
    assert.equal(1000000, assert(box.files:read("file", { to = file })))
    file:seek("set", 0)
    assert(box.files:write("copy", file))
    assert.equal(1000000, #assert(box.files:read "copy"))
    stepbox.run(function()
      local watch = assert(box.files:watch(".", { include_entry = true }))
      stepbox.spawn(function()
        for i = 1, 5 do assert(box.files:write("new" .. i, "x")) end
        stepbox.sleep(0.2)
        watch:stop()
      end)
      local seen = {}
      for event in watch:events() do seen[event.name] = event.entry or seen[event.name] end
      for i = 1, 5 do assert.equal("new" .. i, seen["new" .. i].name) end
    end)
  end)

  it("in its generational mode too", function()
    collectgarbage "generational"
    finally(function() collectgarbage "incremental" end)
    local box <close> = assert(stepbox.create { timeout = 60 })
    for i = 1, 20 do assert.equal(tostring(i), assert(box:step(tostring(i))).text) end
  end)
end)
