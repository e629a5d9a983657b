--- The limit of output: what a step or a command writes beyond it is dropped and counted, and the code goes
--- on. The other limits are in limits_spec.lua.

local stepbox = require "stepbox"
local host = require "spec.support.host"

local MIB = 1024 * 1024

describe("a limit on output", function()
  local box, wide

  setup(function()
    box = assert(stepbox.create { timeout = 300, output = MIB })
    wide = assert(stepbox.create { timeout = 300 })
  end)
  teardown(function()
    box:kill()
    wide:kill()
  end)

  it("is shown, and by default leaves room for all files", function()
    assert.equal(1, box:info().details.limits.outputMB)
    local limits = wide:info().details.limits
    assert.truthy(limits.outputMB >= 1024 and limits.outputMB >= 2 * limits.diskMB)
  end)

  it("cuts what a step prints, says so, and keeps its state", function()
    local code = "kept = 0\nfor i in range(300):\n    print('x' * 9999)\n    kept += 1"
    local whole = assert(wide:step(code))
    assert.equal(3000000, #whole.stdout)
    assert.is_false(whole.truncated)
    assert.is_nil(whole.dropped)
    local cut = assert(box:step(code))
    assert.equal(MIB, #cut.stdout)
    assert.equal("", cut.stderr)
    assert.same({ true, true, false, 3000000 - MIB },
      { cut.truncated, cut.stdout_truncated, cut.stderr_truncated, cut.dropped })
    assert.is_nil(cut.error)
    assert.equal("300", assert(box:step "kept").text)
  end)

  it("gives handlers what passes, and nothing of stepbox's own", function()
    local out, err = {}, {}
    local done = assert(box:step("import sys\nprint('x' * (2 << 20))\nprint('hidden', file=sys.stderr)", {
      on_stdout = function(text) out[#out + 1] = text end,
      on_stderr = function(text) err[#err + 1] = text end,
    }))
    assert.equal(MIB, #table.concat(out))
    assert.same({}, err)
    assert.is_true(done.stdout_truncated and done.stderr_truncated)
    assert.equal(MIB + 1 + 7, done.dropped)
  end)

  it("replaces results beyond it by an error, but never the error of the code", function()
    local done = assert(box:step "'x' * (2 << 20)")
    assert.same({}, done.results)
    assert.equal("OutputLimitExceeded", done.error.name)
    assert.matches("1048576 bytes for each step: 1 result or error of %d+ bytes$", done.error.value)
    assert.truthy(done.dropped > 2 * MIB)
    assert.same({ true, false, false }, { done.truncated, done.stdout_truncated, done.stderr_truncated })
    done = assert(box:step "print('x' * (2 << 20))\n1 / 0")
    assert.equal("ZeroDivisionError", done.error.name)
    assert.equal(MIB + 1, done.dropped)
  end)

  it("lets a bomb be interrupted as always", function()
    local _, _, code, partial = box:step("kept = 7\nwhile True: print('x' * 1000)", { timeout = 1 })
    assert.equal("timeout", code)
    assert.equal(MIB, #partial.stdout)
    assert.equal("7", assert(box:step "kept").text)
  end)

  it("cuts a command, which ends as it would have", function()
    local line = "head -c 3000000 /dev/zero; echo hidden >&2; echo there >/tmp/there; exit 3"
    local whole = assert(wide.commands:run(line))
    assert.same({ 3000000, "hidden\n", 3 }, { #whole.stdout, whole.stderr, whole.exit_code })
    local cut = assert(box.commands:run(line))
    assert.same({ MIB, "", 3 }, { #cut.stdout, cut.stderr, cut.exit_code })
    assert.same({ true, true, 3000000 - MIB + 7 },
      { cut.stdout_truncated, cut.stderr_truncated, cut.dropped })
    assert.equal("there\n", assert(box.files:read "/tmp/there"))
  end)

  it("fails the download of a directory that does not fit, and no file is taken for whole", function()
    assert(box.commands:run "mkdir -p /tmp/many; head -c 3000000 /dev/zero >/tmp/many/file")
    local folder = host.temporary()
    local done, message, code = box.files:download_dir("/tmp/many", folder .. "/many")
    assert.is_nil(done)
    assert.equal("too_large", code)
    assert.matches("limit of output", message)
    host.sh("rm -rf " .. folder)
  end)

  it("does not hold for terminals", function()
    local terminal = assert(box.pty:create { command = { "head", "-c", "2000000", "/dev/zero" } })
    local ended = assert(terminal:wait())
    assert.equal(2000000, #ended.stdout)
  end)
end)
