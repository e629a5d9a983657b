-- The blocks elsewhere than on the local engine: by E2B's own protocol, at addresses and with keys.

local blocks = require "stepbox.blocks"
local cjson = require "cjson"
local engine = require "spec.support.engine"
local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"
local support = require "spec.support.blocks"

local key = "e2b_0123456789abcdef"

describe("the blocks by E2B's protocol over TCP", function()
  local daemon, credentials
  setup(function()
    daemon = engine.start {
      socket = false, arguments = "--listen 127.0.0.1:0", environment = "STEPBOX_API_KEY=" .. key,
    }
    local url = "http://127.0.0.1:" .. daemon.port
    credentials = { api_key = key, api_url = url, sandbox_url = url }
  end)
  teardown(function() daemon:stop() end)

  it("work unchanged", function()
    local names, made = support.names(blocks.InstantiationBlock:run {
      credentials = credentials,
      setup_commands = { "echo 3 > three" },
      setup_code = "x = 1; print('set up')",
      files = { bytes = "\0\255" },
      envs = { A = "b" },
      metadata = { c = "d" },
      timeout = 60,
    })
    assert.equal("sandbox_id response stdout_logs", names)
    local function step(more)
      more.credentials, more.sandbox_id = credentials, made.sandbox_id
      return blocks.StepExecutionBlock:collect(more)
    end
    assert.equal("[1, 3, 2]", step({
      step_code = "[x, int(open('three').read()), len(open('bytes', 'rb').read())]",
    }).response)
    assert.same({ { path = "bytes", bytes = "\0\255" } }, step({ outputs = { "b*" } }).files)
    support.assert_says(step { step_code = "x / 0" }, "ZeroDivisionError", "alive")
    support.assert_says(step { step_code = "while True: pass", step_timeout = 0.4 }, "alive")
    assert.equal("1", step({ step_code = "x", dispose_sandbox = true }).response)
    support.assert_says(step { step_code = "x" }, "is not there (any more)")

    assert.equal("7", blocks.CodeExecutionBlock:collect({ credentials = credentials, code = "7" }).response)
    support.assert_says(blocks.CodeExecutionBlock:collect {
      credentials = credentials, setup_commands = { "echo why >&2; exit 3" },
    }, "code 3", "why", "killed")
    for info in assert(stepbox.client(credentials)):list() do error(info.id .. " is left") end
  end)

  it("say that the key is wrong", function()
    support.assert_says(blocks.CodeExecutionBlock:collect {
      credentials = { api_key = "e2b_00", api_url = credentials.api_url },
    }, "Check the API key")
  end)

  it("take the service from the environment, with credentials that are labels alone", function()
    local output = sandbox.sh(([[
      export E2B_API_KEY=%s E2B_API_URL=%s E2B_SANDBOX_URL=%s
      lua5.4 -e '
        local out = require("stepbox.blocks").CodeExecutionBlock:collect {
          credentials = { provider = "e2b", type = "api_key" }, code = "6 * 7",
        }
        print(out.response, require("stepbox").client().local_engine)'
    ]]):format(key, credentials.api_url, credentials.sandbox_url))
    assert.equal("42\tfalse\n", output)
  end)
end)

describe("the blocks ask E2B's service", function()
  local folder, pid, credentials
  before_each(function()
    folder = sandbox.temporary()
    local program = "exec /usr/bin/python3 spec/support/recorder.py %s/port %s/record"
    pid = sandbox.background(program:format(folder, folder))
    assert(sandbox.eventually(5, function() return sandbox.read(folder .. "/port"):find "\n" end))
    local url = "http://127.0.0.1:" .. sandbox.read(folder .. "/port"):match "%d+"
    credentials = { api_key = key, api_url = url, sandbox_url = url }
  end)
  after_each(function()
    os.execute("kill " .. pid)
    os.execute("rm -r " .. folder)
  end)

  local function asked()
    local list = {}
    for line in io.lines(folder .. "/record") do list[#list + 1] = cjson.decode(line) end
    return list
  end

  it("for a sandbox without internet, of that life, and kill it", function()
    local out = blocks.CodeExecutionBlock:collect {
      credentials = credentials, code = "6 * 7", timeout = 77, template_id = "own", envs = { A = "b" },
      metadata = { c = "d" },
    }
    assert.equal("42", out.response)
    assert.is_nil(out.error)
    local list = asked()
    local body = list[1].body
    assert.equal("POST /v2/sandboxes " .. key, list[1].method .. " " .. list[1].path .. " " .. list[1].key)
    assert.is_false(body.allow_internet_access)
    assert.equal(77, body.timeout)
    assert.equal("own", body.templateID)
    assert.same({ A = "b" }, body.envVars)
    assert.same({ c = "d" }, body.metadata)
    assert.equal("DELETE /sandboxes/irecorded", list[#list].method .. " " .. list[#list].path)
  end)

  it("with internet only when the host says so", function()
    blocks.CodeExecutionBlock:collect { credentials = credentials, code = "1", allow_internet = true }
    assert.is_not_false(asked()[1].body.allow_internet_access)
  end)

  it("for nothing that kills a sandbox which is handed on", function()
    assert.equal("irecorded", blocks.InstantiationBlock:collect({ credentials = credentials }).sandbox_id)
    blocks.StepExecutionBlock:collect { credentials = credentials, sandbox_id = "irecorded", step_code = "1" }
    collectgarbage()
    sandbox.sleep(0.2)
    for _, request in ipairs(asked()) do assert.not_equal("DELETE", request.method) end
  end)

  it("whether a sandbox is still there when a step was cut off", function()
    local out = blocks.StepExecutionBlock:collect {
      credentials = credentials, sandbox_id = "irecorded", step_code = "gone",
    }
    support.assert_says(out, "The sandbox irecorded ended while the block worked in it", "InstantiationBlock")
    assert.equal("printed\n", out.stdout_logs)
  end)
end)
