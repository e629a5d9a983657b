local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a server that", function()
  local pid, url, folder
  setup(function()
    folder = sandbox.temporary()
    pid = sandbox.background("exec /usr/bin/python3 spec/support/server.py " .. folder .. "/port")
    assert(sandbox.eventually(5, function()
      local file = io.open(folder .. "/port")
      local port = file and file:read "l"
      if file then file:close() end
      url = port and "http://127.0.0.1:" .. port
      return url
    end))
  end)
  teardown(function()
    os.execute("kill " .. pid)
    os.execute("rm -r " .. folder)
  end)

  local function step(how, options)
    local client = assert(stepbox.client { api_url = url, sandbox_url = url, api_key = "e2b_00" })
    assert.is_false(client.local_engine)
    local box = assert(client:create { template = how })
    local value, message, code, partial = box:step("x", options)
    assert(box:kill())
    return value, message, code, partial
  end

  for _, how in ipairs { "good", "slowbytes", "unknownevent" } do
    it("answers well (" .. how .. ") is understood", function()
      local execution = assert(step(how))
      assert.equal("42", execution.text)
      assert.equal("h\u{e9}llo\n", execution.stdout)
      assert.equal(7, execution.execution_count)
      assert.equal(1767323045.5, execution.logs[1].time)
    end)
  end

  local failures = {
    html = { "protocol", "HTML" },
    htmlerror = { "unavailable", "502" },
    noend = { "protocol", "end" },
    halfline = { "protocol", "" },
    garbage = { "protocol", "" },
    empty500 = { "unavailable", "500" },
    limited = { "rate_limited", "slow down" },
    notjson = { "protocol", "" },
    cut = { "sandbox_lost", "" },
    lost = { "context_lost", "" },
  }
  for how, wanted in pairs(failures) do
    it("answers badly (" .. how .. ") gives " .. wanted[1], function()
      local value, message, code, partial = step(how)
      assert.is_nil(value)
      assert.equal(wanted[1], code)
      assert.matches(wanted[2], message, 1, true)
      if how == "noend" or how == "halfline" or how == "garbage" or how == "cut" or how == "lost" then
        assert.equal("h\u{e9}llo\n", partial.stdout)
        assert.equal("42", partial.text)
      end
    end)
  end

  it("never answers ends at the step's deadline", function()
    local start = sandbox.now()
    assert.equal("timeout", select(3, step("silent", { timeout = 0.5 })))
    assert.is_true(sandbox.now() - start < 10)
  end)

  it("refuses the key gives unauthorized", function()
    local box, message, code = stepbox.create { api_url = url, sandbox_url = url, api_key = "wrong" }
    assert.is_nil(box)
    assert.equal("unauthorized", code)
    assert.matches("invalid API key", message, 1, true)
  end)

  it("is not the local engine takes no limits, and its keys and networks as they are", function()
    local client = assert(stepbox.client { api_url = url, sandbox_url = url, api_key = "e2b_00" })
    local limits = { memory = 2 ^ 30, disk = 2 ^ 30, cpus = 1, processes = 100, open_files = 100 }
    for name, value in pairs(limits) do
      local box, message, code = client:create { template = "good", [name] = value }
      assert.is_nil(box)
      assert.equal("unsupported", code)
      assert.matches(name, message, 1, true)
    end
    assert(client:create {
      template = "good", allow_internet = true, network = { deny_out = { "198.51.100.7" } },
      on_timeout = "pause", auto_resume = true, idempotency_key = "mine",
    }):kill()
  end)

  it("is not there gives unavailable, naming the address", function()
    local box, message, code = stepbox.create { api_url = "http://127.0.0.1:9", api_key = "e2b_00" }
    assert.is_nil(box)
    assert.equal("unavailable", code)
    assert.matches("127.0.0.1", message, 1, true)
  end)
end)
