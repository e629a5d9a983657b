local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

describe("the key of a request to create a sandbox", function()
  local daemon
  setup(function() daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key e2b_00" } end)
  teardown(function() daemon:stop() end)

  local function keyed(key) return { ["Idempotency-Key"] = key } end

  local function count()
    return #daemon:call("GET", "/v2/sandboxes").json
  end

  local function kill(id) assert.equal(204, daemon:call("DELETE", "/sandboxes/" .. id).status) end

  local function start(key, body)
    return curl.start {
      socket = daemon.socket,
      url = "http://localhost/v2/sandboxes",
      method = "POST",
      headers = keyed(key),
      body = body or '{"templateID":"base"}',
    }
  end

  it("leads to the first one's sandbox when it is sent again", function()
    local first = daemon:create({ timeout = 60, metadata = { a = "b" } }, keyed "again")
    -- The order of the fields and the spaces between them do not matter.
    local again = daemon:call("POST", "/v2/sandboxes",
      '{ "metadata": {"a": "b"}, "timeout": 60, "templateID": "base" }', keyed "again")
    assert.equal(201, again.status)
    assert.same(first, again.json)
    assert.equal(1, count())
    assert.are_not.equal(first.sandboxID, daemon:create({ timeout = 60 }, keyed "another").sandboxID)
    assert.equal(2, count())
    -- Also when that has ended: there is no second one by mistake.
    for _, item in ipairs(daemon:call("GET", "/v2/sandboxes").json) do kill(item.sandboxID) end
    assert.same(first, daemon:create({ timeout = 60, metadata = { a = "b" } }, keyed "again"))
    assert.equal(0, count())
  end)

  it("leads to one sandbox while that is being made", function()
    local requests, ids = {}, {}
    for i = 1, 8 do requests[i] = start "together" end
    for i = 1, 8 do
      local answer = engine.decode(assert(requests[i].finish()))
      assert.equal(201, answer.status, answer.body)
      ids[answer.json.sandboxID] = true
    end
    local id = next(ids)
    assert.is_nil(next(ids, id))
    assert.equal(1, count())
    kill(id)
  end)

  it("is refused with another request, and when it is none", function()
    local id = daemon:create({ timeout = 60 }, keyed "mine").sandboxID
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base", timeout = 61 }, keyed "mine"),
      409, "Idempotency-Key")
    assert_error(daemon:call("POST", "/sandboxes", { templateID = "base", timeout = 60 }, keyed "mine"),
      409, "Idempotency-Key")
    for _, key in ipairs { "a b", ("x"):rep(256), "\200" } do
      assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base" }, keyed(key)), 400,
        "Idempotency-Key")
    end
    assert.equal(1, count())
    kill(id)
  end)

  it("belongs to those who use the same way to the engine", function()
    local here = daemon:create({}, keyed "shared").sandboxID
    local answer = engine.decode(curl.request {
      url = "http://127.0.0.1:" .. daemon.port .. "/v2/sandboxes",
      method = "POST",
      headers = { ["Idempotency-Key"] = "shared", ["X-API-Key"] = "e2b_00" },
      body = '{"templateID":"base"}',
    })
    assert.equal(201, answer.status, answer.body)
    assert.are_not.equal(here, answer.json.sandboxID)
    kill(here)
    kill(answer.json.sandboxID)
  end)

  it("is free again when nothing came of it", function()
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "nope" }, keyed "second"), 404, "nope")
    kill(daemon:create({}, keyed "second").sandboxID)
  end)

  it("lets a client whose connection broke find its sandbox, and leaves none when it does not come back",
    function()
      for round = 1, 6 do
        local request = start("broken-" .. round)
        if round % 2 == 0 then os.execute "sleep 0.01" end
        os.execute("kill -9 " .. request.pid)
        request.finish()
        local answer = engine.decode(assert(start("broken-" .. round).finish()))
        assert.equal(201, answer.status, answer.body)
        assert.equal(1, count())
        kill(answer.json.sandboxID)
      end
      for round = 1, 4 do
        local request = start("lost-" .. round)
        if round % 2 == 0 then os.execute "sleep 0.005" end
        os.execute("kill -9 " .. request.pid)
        request.finish()
      end
      -- One that was answered before the kill is as good as any other.
      os.execute "sleep 2"
      local listed = daemon:call("GET", "/v2/sandboxes").json
      for _, item in ipairs(listed) do
        local logs = daemon:call("GET", "/sandboxes/" .. item.sandboxID .. "/logs").body
        assert.falsy(logs:find("has gone", 1, true), logs)
        kill(item.sandboxID)
      end
    end)
end)
