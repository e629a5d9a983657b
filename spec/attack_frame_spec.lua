--- The frame that the attack suite's probes run in: it tells those that prove nothing.

local attack = require "spec.support.attack"

describe("the frame of the attacks", function()
  local frame
  setup(function() frame = attack.frame { name = "frame" } end)
  teardown(function() frame:close() end)

  local function entry(fields)
    fields.attack, fields.naive, fields.ours = "a", "b", "c"
    return fields
  end

  it("tells a probe that cannot succeed outside from one that fails inside", function()
    local verdict, why = attack.run(frame, entry { shell = "echo EPERM", works = "ok", answer = "EPERM" })
    assert.equal("BROKEN", verdict)
    assert(why:find("outside", 1, true), why)
  end)

  it("tells an attack that succeeds", function()
    local verdict, why = attack.run(frame, entry { shell = "echo ok", works = "ok", answer = "EPERM" })
    assert.equal("BROKEN", verdict)
    assert(why:find("as user", 1, true), why)
  end)

  it("skips with a reason, and never passes, what cannot be shown", function()
    local lacking = entry { shell = "echo ENOSYS", lacking = "ENOSYS", answer = "ENOSYS" }
    local verdict, why = attack.run(frame, lacking)
    assert.equal("skipped", verdict)
    assert(why:find("ENOSYS", 1, true), why)
    local needy = entry { shell = "echo", answer = "", needs = function() return "x" end }
    assert.equal("skipped", attack.run(frame, needy))
    assert.equal("skipped", attack.run(frame, entry {
      control = function(f) f:skip "none" end, attempt = function() end }))
  end)

  it("runs Python, shell and C in both places, with the values of each", function()
    local place = { outside = { where = "out" }, inside = { where = "in" } }
    local function prepare() return place end
    for _, probe in ipairs {
      entry { python = "print('@where@')" }, entry { shell = "echo @where@" },
      entry { c = '#include <stdio.h>\nint main(void) { puts("@where@"); }' },
    } do
      probe.prepare, probe.works, probe.answer = prepare, "out", "in"
      local verdict, why = attack.run(frame, probe)
      assert.equal("holds", verdict, why)
    end
  end)
end)
