local sandbox = require "spec.support.sandbox"

describe("a program that a script starts", function()
  --- The descriptors of such a program, once the script has done all this.
  local function inherited(script)
    return (sandbox.lua(script .. "\nos.execute 'ls /proc/self/fd | sort -n | tr \"\\n\" \" \"'"))
  end

  it("inherits none of stepbox's descriptors", function()
    local before = inherited ""
    assert.matches("^0 1 2 ", before)
    assert.equal(before, inherited [[
      local stepbox = require "stepbox"
      local box = assert(stepbox.create { timeout = 60 })
      local other = assert(stepbox.create { timeout = 60 })
      assert(box:step "1")
      assert(box.commands:run "true")
      assert(box.files:write("file", string.rep("x", 200000)))
      command = assert(box.commands:run("sleep 100", { background = true }))
      watch = assert(box.files:watch ".")
      terminal = assert(box.pty:create {})
      forward = assert(box:forward(8000))
      url = assert(box.files:download_url "file")
      local path = os.tmpname()
      assert(box.files:read("file", { to = path }))
      os.remove(path)
      other = nil
      collectgarbage() -- hands the kill to a thread of its own
      owner = box]])
  end)
end)
