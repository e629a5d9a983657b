local languages = require "spec.support.languages"
local sandbox = require "spec.support.sandbox"

describe("the examples", function()
  local function lines(path) return select(2, sandbox.read(path):gsub("\n", "")) end

  it("are each under sixty lines", function()
    for path in sandbox.sh("ls examples/*"):gmatch "%S+" do
      assert.is_true(lines(path) < 60, path .. " has " .. lines(path) .. " lines")
    end
  end)

  it("steps.lua does the main job", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    local chart = folder .. "/chart.png"
    local output, status = sandbox.sh("STEPBOX_CHART=" .. chart .. " lua5.4 examples/steps.lua")
    assert.equal(0, status, output)
    assert.matches("visits in all: 390", output, 1, true)
    assert.matches("ZeroDivisionError", output, 1, true)
    assert.matches("state is intact: total = 390", output, 1, true)
    assert.matches("day 1 day 2 day 3", output, 1, true)
    assert.matches("back in the first process: total = 1390", output, 1, true)
    assert.equal("\137PNG", sandbox.read(chart):sub(1, 4))
  end)

  it("project.lua shows commands, files, watches, git, ports and a terminal", function()
    local output, status = sandbox.sh("lua5.4 examples/project.lua")
    assert.equal(0, status, output)
    for _, line in ipairs {
      "test says: all well", "ls exits with 2", "the directory saw: create sorted.txt", "sorted: 1 2 3",
      "the page: <h1>Made in a sandbox</h1>", "a terminal of 30 100", "back here, the first number is 1",
    } do assert.matches(line, output, 1, true) end
    assert.matches("committed %x%x%x%x%x%x%x\n", output)
  end)

  it("limits.lua shows limits, metrics, a pause, a snapshot and a program that root installs", function()
    local output, status = sandbox.sh "lua5.4 examples/limits.lua"
    assert.equal(0, status, output)
    for _, line in ipairs {
      "a gigabyte: MemoryError", "a file of 65 MB: no_space", "kept: 42", "and on: 43",
      "in another sandbox: hello from /", "state: paused; a step now: unavailable",
    } do assert.matches(line, output, 1, true) end
    assert.matches("held by %w+: 256 MB of memory, 64 MB of files, 0.5 processors, 50 processes", output)
    assert.matches("it takes [1-9]%d* of 256 MB of memory, %d+ of 64 MB of files", output)
  end)

  it("languages.lua uses the languages that there are, and says what is missing", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -r " .. folder) end)
    local notebook = folder .. "/session.ipynb"
    local output, status = sandbox.sh("STEPBOX_NOTEBOOK=" .. notebook .. " lua5.4 examples/languages.lua")
    assert.equal(0, status, output)
    local count, says = 0, {
      javascript = "14", typescript = "4", bash = "5 numbers", r = "%[1%] 2.8", java = "15", lua = "5",
    }
    for name, wanted in pairs(says) do
      if languages.has(name) then
        assert.matches(name .. " +says " .. wanted .. "\n", output)
        count = count + 1
      end
    end
    assert.matches(count .. " contexts share /home/user/numbers.json\n", output, 1, true)
    assert.matches(count * 2 + 1 .. " steps written to " .. notebook, output, 1, true)
    assert.matches('"nbformat":4', sandbox.read(notebook), 1, true)
  end)

  it("pipeline.lua sets up once for many steps, and saves time", function()
    local output, status = sandbox.sh "STEPBOX_STEPS=3 STEPBOX_ROWS=20000 lua5.4 examples/pipeline.lua"
    assert.equal(0, status, output)
    local id = output:match "set up once in [%d.]+ s: sandbox (%w+)"
    assert.is_false(sandbox.listed(id))
    assert.matches("3 steps by id, from 3 processes", output, 1, true)
    assert.is_true(tonumber(output:match "saved: (-?[%d.]+) s") > 0, output)
  end)

  describe("agent.lua", function()
    local folder, pid, settings
    before_each(function()
      folder = sandbox.temporary()
      local program = "exec /usr/bin/python3 spec/support/chat_server.py %s/port secret-key"
      pid = sandbox.background(program:format(folder))
      assert(sandbox.eventually(5, function() return sandbox.read(folder .. "/port"):find "\n" end))
      settings = ("export OPENAI_MODEL=recorded OPENAI_API_KEY=secret-key OPENAI_BASE_URL=%s; ")
        :format("http://127.0.0.1:" .. sandbox.read(folder .. "/port"):match "%d+" .. "/v1")
    end)
    after_each(function()
      os.execute("kill " .. pid)
      os.execute("rm -r " .. folder)
    end)

    it("lets a model run code by tool calls, and leaves no sandbox and no file", function()
      local output, status = sandbox.sh(settings .. [[lua5.4 examples/agent.lua 'What is "6" times 7?']])
      assert.equal(0, status, output)
      assert.matches("It is 42.\n$", output)
      local id = output:match '"sandbox_id":"(%w+)"'
      assert.is_false(sandbox.listed(id))
      assert.equal("", (sandbox.sh "grep -l secret-key /tmp/lua_* 2>/dev/null"))
    end)

    it("says what the endpoint says, and what is missing", function()
      local output, status = sandbox.sh(settings .. "OPENAI_API_KEY=other lua5.4 examples/agent.lua question")
      assert.equal(1, status)
      assert.matches("the endpoint: .*the key", output)
      output, status = sandbox.sh "unset OPENAI_API_KEY; lua5.4 examples/agent.lua question"
      assert.equal(1, status)
      assert.matches("set OPENAI_API_KEY", output, 1, true)
    end)
  end)

  it("embed.c is a host that runs a script, with the module linked in", function()
    local script = os.tmpname()
    sandbox.write(script, [[
      assert(package.preload["stepbox.core"])
      local box <close> = assert(require("stepbox").create { timeout = 60 })
      print(box:step("'" .. arg[1] .. "' * 2").text)
    ]])
    local host = sandbox.build .. "/examples/embed "
    local output, status = sandbox.sh("LUA_CPATH=';;' " .. host .. script .. " ab")
    os.remove(script)
    assert.equal("abab\n", output)
    assert.equal(0, status)
  end)
end)
