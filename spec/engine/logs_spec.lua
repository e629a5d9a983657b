local engine = require "spec.support.engine"

describe("the log of a sandbox", function()
  local daemon, id
  setup(function()
    daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key key" }
    id = daemon:create({ timeout = 100 }).sandboxID
  end)
  teardown(function() daemon:stop() end)

  local function messages(path)
    local answer = daemon:call("GET", path)
    assert.equal(200, answer.status, answer.body)
    local found = {}
    for i, entry in ipairs(answer.json.logs) do found[i] = entry.message or entry.line end
    return found, answer.json
  end

  it("has its life, in the schema of E2B's second generation, the newest first", function()
    local found, body = messages("/v2/sandboxes/" .. id .. "/logs")
    assert.equal("running: its agent is ready", found[1])
    assert.equal("starting: asked for", found[#found])
    local entry = body.logs[1]
    assert.matches("^%d%d%d%d%-%d%d%-%d%dT[%d:.]+Z$", entry.timestamp)
    assert.equal("info", entry.level)
    assert.same({ source = "engine" }, entry.fields)
  end)

  it("has the same in the first generation's, the oldest first, with lines and entries", function()
    local found, body = messages("/sandboxes/" .. id .. "/logs")
    assert.equal("starting: asked for", found[1])
    assert.equal(#body.logs, #body.logEntries)
    assert.equal(body.logs[1].line, body.logEntries[1].message)
    assert.equal(1, #(messages("/sandboxes/" .. id .. "/logs?limit=1")))
    assert.same({}, (messages("/sandboxes/" .. id .. "/logs?start=99999999999999")))
  end)

  it("honours direction, limit, cursor, level and search", function()
    local path = "/v2/sandboxes/" .. id .. "/logs?"
    assert.equal("starting: asked for", messages(path .. "direction=forward")[1])
    assert.equal(2, #messages(path .. "limit=2"))
    assert.same({}, (messages(path .. "limit=0")))
    assert.same({}, (messages(path .. "level=error")))
    assert.same({ "starting: asked for" }, (messages(path .. "search=asked+for")))
    assert.same({}, (messages(path .. "direction=forward&cursor=99999999999999")))
    assert.same({}, (messages(path .. "cursor=5")))
  end)

  it("tells of a new timeout", function()
    assert.equal(204, daemon:call("POST", "/sandboxes/" .. id .. "/timeout", { timeout = 77 }).status)
    assert.equal("timeout: 77 seconds from now", messages("/v2/sandboxes/" .. id .. "/logs")[1])
  end)

  it("refuses what it does not know, and sandboxes that are not there", function()
    local path = "/v2/sandboxes/" .. id .. "/logs?"
    for _, wrong in ipairs {
      "limit=1001", "limit=x", "cursor=-1", "direction=up", "level=loud", "start=5", "x=1",
    } do
      local name = wrong:match "^%a+"
      engine.assert_error(daemon:call("GET", path .. wrong), 400, name)
    end
    engine.assert_error(daemon:call("GET", "/v2/sandboxes/nosuch/logs"), 404, "nosuch")
    engine.assert_error(daemon:call("POST", "/v2/sandboxes/" .. id .. "/logs"), 405, "POST")
  end)
end)

describe("the engine about itself", function()
  local curl = require "spec.support.curl"

  it("tells its user what it does, on its unix socket alone", function()
    local daemon = engine.start { arguments = "--listen 127.0.0.1:0 --api-key key" }
    local status = daemon:call("GET", "/engine")
    assert.equal(200, status.status, status.body)
    assert.equal(daemon.engine_pid, status.json.pid)
    assert.equal(daemon.socket, status.json.socket)
    assert.equal(0, status.json.sandboxes)
    assert.matches("python", table.concat(status.json.languages, " "), 1, true)
    for _, method in ipairs { "GET", "DELETE" } do
      local answer = engine.decode(curl.request {
        url = "http://127.0.0.1:" .. daemon.port .. "/engine", method = method,
        headers = { ["X-API-Key"] = "key" },
      })
      engine.assert_error(answer, 403, "unix socket")
    end
    daemon:stop()
  end)

  it("leaves when it is asked to, but not with sandboxes unless it must", function()
    local daemon = engine.start()
    daemon:create()
    engine.assert_error(daemon:call("DELETE", "/engine"), 409, "1 sandbox runs")
    engine.assert_error(daemon:call("DELETE", "/engine?force=maybe"), 400, "force")
    local answer = daemon:call("DELETE", "/engine?force=true")
    assert.equal(200, answer.status, answer.body)
    assert.equal(1, answer.json.sandboxes)
    assert.is_true(engine.eventually(3, function() return not engine.is_alive(daemon.pid) end))
    assert.is_false(engine.exists(daemon.socket))
    daemon:stop()
  end)
end)
