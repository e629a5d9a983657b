local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a watch", function()
  local box, files
  setup(function()
    box = assert(stepbox.create { timeout = 300 })
    files = box.files
  end)
  teardown(function() assert(box:kill()) end)
  before_each(function() assert(box.commands:run "mkdir -p watched/sub other") end)
  after_each(function() assert(box.commands:run "rm -rf watched other") end)

  local seen
  before_each(function() seen = {} end)

  --- The event that is like that, of all that were seen in this test; fails after three seconds.
  local function expect(watch, change, name)
    local found = sandbox.eventually(3, function()
      for _, event in ipairs(assert(watch:poll())) do seen[#seen + 1] = event end
      for _, event in ipairs(seen) do
        if event.change == change and event.name == name then return event end
      end
    end)
    local words = {}
    for i, event in ipairs(seen) do words[i] = event.change .. " " .. event.name end
    return assert(found, ("no %s %s among: %s"):format(change, name, table.concat(words, ", ")))
  end

  it("tells what happens in the directory", function()
    local watch <close> = assert(files:watch "watched")
    assert(files:write("watched/a", "1"))
    assert.is_nil(expect(watch, "create", "a").entry)
    assert(files:write("watched/a", "2"))
    expect(watch, "write", "a")
    assert(box.commands:run "chmod 600 watched/a")
    expect(watch, "chmod", "a")
    assert(files:rename("watched/a", "watched/b"))
    expect(watch, "rename", "a")
    assert(files:remove "watched/b")
    expect(watch, "remove", "b")
    assert(files:write("watched/sub/deep", "1"))
    assert(files:write("watched/last", "1"))
    expect(watch, "create", "last")
  end)

  it("that is recursive sees what is made below, however fast", function()
    local watch <close> = assert(files:watch("watched", { recursive = true }))
    assert(box.commands:run "cd watched; mkdir -p x/y/z && echo 1 > x/y/z/file; echo 2 > sub/file")
    expect(watch, "create", "x/y/z/file")
    expect(watch, "create", "sub/file")
    assert(box.commands:run "mv watched/x other/x; mv other/x watched/back; echo 3 > watched/back/y/new")
    expect(watch, "create", "back/y/new")
  end)

  it("gives the entry of what changed when asked", function()
    local watch <close> = assert(files:watch("watched", { include_entry = true }))
    assert(files:write("watched/sized", "12345"))
    local event = expect(watch, "create", "sized")
    assert.equal("file", event.entry.type)
    assert.equal("/home/user/watched/sized", event.entry.path)
    assert.equal("integer", math.type(event.entry.size))
  end)

  it("is an iterator that waits", function()
    local watch = assert(files:watch "watched")
    assert(box.commands:run("sleep 0.3; touch watched/later", { background = true }))
    assert.equal("later", watch:events()().name)
    watch:stop()
    watch:stop()
    assert.is_true(watch.stopped)
    for _ in watch:events() do error "an event after the end" end
    assert.same({}, watch:poll())
  end)

  it("waits in a task while others go on", function()
    stepbox.run(function()
      local watch = assert(files:watch "watched")
      local names = {}
      local task = stepbox.spawn(function()
        for event in watch:events() do
          if event.change == "create" then names[#names + 1] = event.name end
          if #names == 3 then return watch:stop() end
        end
      end)
      for i = 1, 3 do assert(files:write("watched/" .. i, "")) end
      task:wait()
      assert.same({ "1", "2", "3" }, names)
    end)
  end)

  it("that another task stops ends its iteration", function()
    stepbox.run(function()
      local watch = assert(files:watch(".", {}))
      local waiter = stepbox.spawn(function()
        for _ in watch:events() do end
        return "ended"
      end)
      stepbox.sleep(0.05)
      watch:stop()
      local limit = stepbox.spawn(function()
        stepbox.sleep(5)
        waiter:cancel()
      end)
      assert.equal("ended", waiter:wait())
      limit:cancel()
    end)
  end)

  it("breaks off with an error when the directory or the sandbox goes", function()
    local watch = assert(files:watch "watched")
    assert(box.commands:run "rm -rf watched")
    local ok, message = pcall(function() for _ in watch:events() do end end)
    assert.is_false(ok)
    assert.matches("broke off", message, 1, true)
    local other = assert(stepbox.create { timeout = 60 })
    local second = assert(other.files:watch ".")
    assert(other:kill())
    assert.is_false(pcall(function() for _ in second:events() do end end))
  end)
end)
