local sandbox = require "spec.support.sandbox"

describe("the official JavaScript SDK, unchanged,", function()
  it("works with stepboxd --listen", function()
    local modules = sandbox.build .. "/peers/js/node_modules"
    if not os.rename(modules, modules) then
      pending("the SDK is not installed: " .. sandbox.read(sandbox.build .. "/peers/js/reason"))
      return
    end
    os.execute(("cp spec/peers/js/*.mjs %s/peers/js/"):format(sandbox.build))
    local key, log = "e2b_0123456789abcdef", os.tmpname()
    local pid = sandbox.background(("STEPBOX_API_KEY=%s exec %s/bin/stepboxd --listen 127.0.0.1:0"):format(
      key, sandbox.build), log)
    finally(function()
      os.execute("kill " .. pid)
      os.remove(log)
    end)
    local port
    assert(sandbox.eventually(5, function()
      port = sandbox.read(log):match "127%.0%.0%.1:(%d+)"
      return port
    end), "stepboxd did not say where it listens")
    local url = "http://127.0.0.1:" .. port
    local output, status = sandbox.sh(
      ("cd %s/peers/js && E2B_API_KEY=%s E2B_API_URL=%s E2B_SANDBOX_URL=%s node session.mjs"):format(
        sandbox.build, key, url, url))
    assert.equal(0, status, output)
    assert.matches("the official SDK is content", output, 1, true)
  end)
end)
