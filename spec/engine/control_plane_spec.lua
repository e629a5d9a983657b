local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local UNKNOWN = "i0000000000000000000"

local assert_error = engine.assert_error

local start_create = engine.start_create

describe("the engine's control plane", function()
  local daemon
  setup(function() daemon = engine.start() end)
  teardown(function() daemon:stop() end)

  it("makes, shows, lists and kills a sandbox", function()
    local made = daemon:create { metadata = { user = "ada" }, timeout = 100 }
    assert.truthy(made.sandboxID:find "^i" and #made.sandboxID == 20)
    assert.equal("base", made.templateID)
    assert.equal("local", made.clientID)
    assert.truthy(made.envdAccessToken:find "^%x+$" and #made.envdAccessToken == 32)

    local shown = daemon:call("GET", "/sandboxes/" .. made.sandboxID)
    assert.equal(200, shown.status)
    assert.equal("running", shown.json.state)
    assert.equal("ada", shown.json.metadata.user)
    assert.equal(made.envdAccessToken, shown.json.envdAccessToken)
    assert.equal("kill", shown.json.lifecycle.onTimeout)
    assert.truthy(shown.json.startedAt:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$")
    assert.truthy(shown.json.endAt > shown.json.startedAt)

    local listed = daemon:call("GET", "/sandboxes?metadata=user%3Dada")
    assert.equal(1, #listed.json)
    assert.equal(made.sandboxID, listed.json[1].sandboxID)
    assert.is_nil(listed.json[1].envdAccessToken)

    assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. made.sandboxID).status)
    assert_error(daemon:call("GET", "/sandboxes/" .. made.sandboxID), 404,
      'sandbox "' .. made.sandboxID .. '" not found')
    assert_error(daemon:call("DELETE", "/sandboxes/" .. made.sandboxID), 404, made.sandboxID)
  end)

  it("answers a kill when the processes are gone", function()
    local before = #engine.holders(daemon.pid)
    local made = daemon:create()
    assert.equal(before + 2, #engine.holders(daemon.pid))
    assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. made.sandboxID).status)
    assert.equal(before, #engine.holders(daemon.pid))
  end)

  it("has tokens and time to live by the generation of the API", function()
    local first = daemon:call("POST", "/sandboxes", { templateID = "code-interpreter-v1" })
    assert.equal(201, first.status)
    assert.is_nil(first.json.envdAccessToken)
    local secure = daemon:call("POST", "/sandboxes", { templateID = "code-interpreter-v1", secure = true })
    assert.truthy(secure.json.envdAccessToken)
    local second = daemon:create()
    local function life(id)
      local shown = daemon:call("GET", "/sandboxes/" .. id).json
      local function seconds(text)
        local hour, minute, second_ = text:match "T(%d+):(%d+):(%d+)"
        return hour * 3600 + minute * 60 + second_
      end
      return (seconds(shown.endAt) - seconds(shown.startedAt)) % 86400
    end
    assert.equal(15, life(first.json.sandboxID))
    assert.equal(300, life(second.sandboxID))
    for _, id in ipairs { first.json.sandboxID, secure.json.sandboxID, second.sandboxID } do
      assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status)
    end
  end)

  it("ends a sandbox when its time is over", function()
    local id = daemon:create({ timeout = 1 }).sandboxID
    assert.is_true(daemon:is_running(id))
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
  end)

  it("moves the end only when asked to", function()
    local id = daemon:create({ timeout = 1000 }).sandboxID
    local path = "/sandboxes/" .. id
    local function end_at() return daemon:call("GET", path).json.endAt end
    local before = end_at()
    -- Connecting extends, and never shortens.
    local connected = daemon:call("POST", "/v2" .. path .. "/connect")
    assert.equal(200, connected.status)
    assert.equal(id, connected.json.sandboxID)
    assert.truthy(connected.json.envdAccessToken)
    local second = daemon:call("POST", "/v2" .. path .. "/connect", { timeout = 5, memory = false })
    assert.equal(200, second.status)
    assert.equal(200, daemon:call("POST", path .. "/connect", { timeout = 5 }).status)
    assert.equal(204, daemon:call("POST", path .. "/refreshes", { duration = 5 }).status)
    assert.equal(204, daemon:call("POST", path .. "/refreshes").status)
    assert.equal(before, end_at())
    assert.equal(200, daemon:call("POST", path .. "/connect", { timeout = 2000 }).status)
    local extended = end_at()
    assert.truthy(extended > before)
    assert.equal(204, daemon:call("POST", path .. "/refreshes", { duration = 3600 }).status)
    assert.truthy(end_at() > extended)
    -- set_timeout does both.
    assert.equal(204, daemon:call("POST", path .. "/timeout", { timeout = 1 }).status)
    assert.truthy(end_at() < before)
    assert(engine.eventually(2, function() return not daemon:is_running(id) end))
    for _, operation in ipairs { "timeout", "refreshes", "connect" } do
      assert_error(daemon:call("POST", path .. "/" .. operation, { timeout = 5 }), 404, id)
    end
  end)

  it("pages through the list", function()
    local ids = {}
    for i = 1, 5 do ids[i] = daemon:create({ metadata = { page = "yes" } }).sandboxID end
    local seen, token = {}, nil
    for _ = 1, 3 do
      local answer = daemon:call("GET", "/v2/sandboxes?limit=2&metadata=page%3Dyes&state=running&state=paused"
        .. (token and "&nextToken=" .. token or ""))
      assert.equal(200, answer.status)
      assert.equal("5", answer.headers["x-total-running"])
      for _, item in ipairs(answer.json) do seen[#seen + 1] = item.sandboxID end
      token = answer.headers["x-next-token"]
    end
    assert.is_nil(token)
    for i = 1, 5 do assert.equal(ids[6 - i], seen[i]) end -- newest first
    assert.equal(0, #daemon:call("GET", "/v2/sandboxes?state=paused").json)
    for _, id in ipairs(ids) do daemon:call("DELETE", "/sandboxes/" .. id) end
  end)

  it("refuses by name what it does not know or cannot do", function()
    local id = daemon:create().sandboxID
    local path = "/sandboxes/" .. id
    local wrong = {
      { "POST", "/v2/sandboxes", { templateID = "base", timeout = 0 }, "timeout" },
      { "POST", "/v2/sandboxes", { templateID = "base", autoPause = 1 }, "autoPause" },
      { "POST", "/v2/sandboxes", { templateID = "base", autoResume = true }, "autoResume" },
      { "POST", "/v2/sandboxes", { templateID = "base", allow_internet_access = 1 }, "internet_access" },
      { "POST", "/v2/sandboxes", { templateID = "base", network = { denyOut = { "a.b" } } }, "a.b" },
      { "PUT", path .. "/network", { allowOut = { "0x7f.1" } }, "0x7f.1" },
      { "POST", "/v2/sandboxes", { templateID = "base", envVars = { ["A B"] = "x" } }, "A B" },
      { "POST", "/v2/sandboxes", { templateID = "base", wish = 1 }, "wish" },
      { "POST", "/sandboxes", { timeout = 5 }, "templateID" },
      { "POST", "/sandboxes", "{", "JSON" },
      { "POST", "/sandboxes", "", "empty" },
      { "POST", path .. "/timeout", { timeout = 86401 }, "timeout" },
      { "POST", path .. "/timeout", {}, "timeout" },
      { "POST", path .. "/timeout", "", "empty" },
      { "POST", path .. "/refreshes", { duration = 3601 }, "duration" },
      { "POST", path .. "/connect", {}, "timeout" },
      { "POST", "/v2" .. path .. "/connect", { memory = 1 }, "memory" },
      { "GET", "/v2/sandboxes?limit=0", nil, "limit" },
      { "GET", "/v2/sandboxes?wish=1", nil, "wish" },
      { "GET", "/sandboxes?limit=1", nil, "limit" },
    }
    for _, case in ipairs(wrong) do
      assert_error(daemon:call(case[1], case[2], case[3]), 400, case[4])
    end
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "nope" }), 404, "nope")
    local lease = { ["Stepbox-Lease"] = "x" }
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base" }, lease), 400, "Stepbox-Lease")
    daemon:call("DELETE", path)
  end)

  it("refuses a body of more than a MiB", function()
    local body = '{"templateID":"' .. ("x"):rep(1024 * 1024) .. '"}'
    assert_error(daemon:call("POST", "/v2/sandboxes", body), 413, "large")
  end)

  it("tells unknown paths from wrong methods", function()
    assert_error(daemon:call("GET", "/nope"), 404, "/nope")
    assert_error(daemon:call("POST", "/sandboxes/" .. UNKNOWN .. "/stop"), 404, "stop")
    assert_error(daemon:call("GET", "/sandboxes/%ff"), 404, "not found")
    assert_error(daemon:call("GET", "/sandboxes/" .. ("x"):rep(500)), 404, "not found")
    local answer = daemon:call("PUT", "/v2/sandboxes")
    assert_error(answer, 405, "PUT")
    assert.equal("POST, GET", answer.headers.allow)
    assert.equal("GET, DELETE", daemon:call("POST", "/sandboxes/" .. UNKNOWN).headers.allow)
    assert.equal(204, daemon:call("GET", "/health").status)
  end)

  it("makes fifty at once", function()
    local handles, ids = {}, {}
    for i = 1, 50 do
      handles[i] = start_create(daemon)
    end
    for i = 1, 50 do
      local answer = engine.decode(assert(handles[i].finish()))
      assert.equal(201, answer.status, answer.body)
      ids[answer.json.sandboxID] = true
      handles[i] = curl.start {
        socket = daemon.socket,
        url = "http://localhost/sandboxes/" .. answer.json.sandboxID,
        method = "DELETE",
      }
    end
    local count = 0
    for _ in pairs(ids) do count = count + 1 end
    assert.equal(50, count)
    for i = 1, 50 do assert.equal(204, assert(handles[i].finish()).status) end
  end)
end)
