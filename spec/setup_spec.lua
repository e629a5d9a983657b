local stepbox = require "stepbox"

describe("the setup of a sandbox", function()
  it("runs shell commands in order, in the home that steps see", function()
    local box <close> = assert(stepbox.create {
      timeout = 60,
      setup = { "mkdir -p d && cd d && pwd > where", "echo $GREETING >> d/where" },
      envs = { GREETING = "hello there" },
    })
    local where = assert(box:step "print(open('d/where').read(), end='')").stdout
    assert.equal("/home/user/d\nhello there\n", where)
  end)

  it("streams its output", function()
    local out, err = {}, {}
    local box <close> = assert(stepbox.create {
      timeout = 60,
      setup = { "echo one; echo two >&2", "echo three" },
      on_stdout = function(text) out[#out + 1] = text end,
      on_stderr = function(text) err[#err + 1] = text end,
    })
    assert.equal("one\nthree\n", table.concat(out))
    assert.equal("two\n", table.concat(err))
    assert.is_true(box:is_running())
  end)

  it("that fails kills the sandbox, and says which command, its code and its stderr", function()
    local tag = tostring(os.time()) .. "-setup"
    local box, message, code, failed = stepbox.create {
      timeout = 60,
      metadata = { tag = tag },
      setup = { "echo fine", "echo so far; echo 'it broke' >&2; exit 7", "touch never" },
    }
    assert.is_nil(box)
    assert.equal("setup_failed", code)
    assert.matches("exit 7", message, 1, true)
    assert.matches("it broke", message, 1, true)
    assert.equal(7, failed.exit_code)
    assert.equal("it broke\n", failed.stderr)
    assert.equal("so far\n", failed.stdout)
    assert.matches("it broke", failed.command, 1, true)
    for _ in assert(stepbox.list { metadata = { tag = tag } }) do error "the sandbox is still there" end
  end)

  it("reads no input, so that a command which asks ends", function()
    local box <close> = assert(stepbox.create { timeout = 60, setup = { "cat; read answer || true" } })
    assert.is_true(box:is_running())
  end)
end)
