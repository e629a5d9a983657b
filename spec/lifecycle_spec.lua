local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

local create = function(options)
  options = options or {}
  options.timeout = options.timeout or 120
  return assert(stepbox.create(options))
end

describe("a box", function()
  it("says in words what it is", function()
    local box = create()
    assert.matches("^stepbox.box i%w+ %(owned%)$", tostring(box))
    assert.is_true(box.owned)
    local id = box.id
    assert.equal(20, #id)
    assert(box:kill())
    assert.matches("%(closed%)", tostring(box))
    assert.is_true(box.closed)
  end)

  it("that was killed through this handle is closed", function()
    local box = create()
    assert(box:kill())
    for _, try in ipairs { "step", "kill", "info", "is_running", "detach", "interrupt" } do
      local value, message, code = box[try](box, try == "step" and "1" or nil)
      assert.is_nil(value)
      assert.equal("closed", code)
      assert.matches("closed", message)
    end
  end)

  it("that somebody else killed is lost to its box, and not found by its id", function()
    local box = create()
    assert(stepbox.kill(box.id))
    local value, message, code = box:step "1"
    assert.is_nil(value)
    assert.equal("sandbox_lost", code)
    assert.matches(box.id, message)
    for _, call in ipairs { "info", "logs", "metrics", "set_network", "pause", "resume", "snapshot" } do
      assert.equal("sandbox_lost", select(3, box[call](box)), call)
    end
    assert.equal("sandbox_lost", select(3, box:set_timeout(5)))
    assert.is_false(box:is_running())
    assert.equal("not_found", select(3, stepbox.kill(box.id)))
    assert.equal("not_found", select(3, stepbox.connect(box.id)))
  end)

  it("that expired is lost", function()
    local box = create { timeout = 1 }
    sandbox.sleep(1.5)
    assert.equal("sandbox_lost", select(3, box:step "1"))
    assert.equal("not_found", select(3, box:kill()))
  end)

  it("that is killed during a step ends the step as sandbox_lost, with what had arrived", function()
    local box = create()
    local value, _, code, partial = box:step("print('on', flush=True)\nimport time; time.sleep(30)", {
      on_stdout = function() assert(stepbox.kill(box.id)) end,
    })
    assert.is_nil(value)
    assert.equal("sandbox_lost", code)
    assert.equal("on\n", partial.stdout)
  end)

  it("whose agent is killed by SIGKILL is lost, and leaves no process", function()
    local box = create()
    local function processes()
      return sandbox.sh("grep -l -s -a " .. box.id .. " /proc/[0-9]*/environ; true")
    end
    assert(box:step "import subprocess\nchild = subprocess.Popen(['sleep', '100'])")
    local agent
    for pid in processes():gmatch "/proc/(%d+)/" do
      if sandbox.read("/proc/" .. pid .. "/comm") == "stepbox-agent\n" then agent = pid end
    end
    if not agent then return pending "only root sees the processes of a sandbox" end
    local _, _, code = box:step("print('on', flush=True)\nimport time; time.sleep(30)", {
      on_stdout = function() os.execute("kill -9 " .. agent) end,
    })
    assert.equal("sandbox_lost", code)
    sandbox.assert_gone(box.id)
    assert(sandbox.eventually(2, function() return processes() == "" end), processes())
  end)

  it("gives up its sandbox, which another handle finds again with its state", function()
    local box = create()
    assert(box:step "x = 5")
    local id = assert(box:detach())
    assert.is_false(box.owned)
    box = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    local other = assert(stepbox.connect(id))
    assert.is_false(other.owned)
    assert.equal("5", assert(other:step "x").text)
    assert(other:kill())
  end)

  it("that connected with own takes the sandbox over", function()
    local id = assert(create():detach())
    local box = assert(stepbox.connect(id, { own = true }))
    assert.is_true(box.owned)
    box = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    sandbox.assert_gone(id)
  end)

  it("has its life set anew, and connecting never shortens it", function()
    local box <close> = create { timeout = 100 }
    local before = assert(box:info()).end_at
    assert.is_true(math.abs(before - os.time() - 100) < 10)
    assert(stepbox.connect(box.id))
    assert.equal(before, assert(box:info()).end_at)
    assert(stepbox.connect(box.id, { timeout = 10 }))
    assert.equal(before, assert(box:info()).end_at)
    assert(stepbox.connect(box.id, { timeout = 1000 }))
    assert.is_true(assert(box:info()).end_at > before + 500)
    assert(box:set_timeout(50))
    assert.is_true(assert(box:info()).end_at < before)
  end)
end)

describe("an abandoned sandbox is gone within two seconds:", function()
  it("when the last reference is dropped", function()
    local id = create().id
    collectgarbage()
    collectgarbage()
    sandbox.assert_gone(id)
  end)

  it("when its <close> variable ends, also by an error", function()
    local id
    pcall(function()
      local box <close> = create()
      id = box.id
      error "over"
    end)
    sandbox.assert_gone(id)
  end)

  local endings = {
    ["when the script just ends"] = "",
    ["when the script ends by an error"] = "error 'over'",
    ["when the script ends by os.exit"] = "os.exit(3)",
    ["when the script ends by os.exit with its state closed"] = "os.exit(3, true)",
    ["when the script is killed by SIGKILL"] = "os.execute('kill -9 $PPID')",
    ["when the script is killed by SIGTERM"] = "os.execute('kill -15 $PPID; sleep 1')",
  }
  for name, ending in pairs(endings) do
    it(name, function()
      local output = sandbox.lua([[
        local stepbox = require "stepbox"
        box = assert(stepbox.create { timeout = 120 })
        io.write(box.id, "\n")
        io.stdout:flush()
      ]] .. ending)
      local id = output:match "^(i%w+)"
      assert.is_truthy(id, output)
      sandbox.assert_gone(id)
    end)
  end

  it("but not while the process lives and holds it", function()
    local box <close> = create()
    collectgarbage()
    sandbox.sleep(2)
    assert.is_true(sandbox.listed(box.id))
  end)
end)

describe("a process that forked after create", function()
  it("leaves its parent's sandbox alone when it ends, and the parent goes on", function()
    local output, status = sandbox.sh(sandbox.build .. "/spec/support/fork_host")
    assert.equal(0, status, output)
  end)
end)
