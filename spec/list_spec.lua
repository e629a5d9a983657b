local stepbox = require "stepbox"

describe("the list of sandboxes", function()
  local boxes, tag = {}, tostring(os.time())
  setup(function()
    for i = 1, 5 do
      boxes[i] = assert(stepbox.create {
        timeout = 120,
        name = "box " .. i,
        metadata = { tag = tag, parity = i % 2 == 0 and "even" or "odd & more" },
      })
    end
  end)
  teardown(function()
    for _, box in ipairs(boxes) do assert(box:kill()) end
  end)

  local function ids(options)
    local found = {}
    for info in assert(stepbox.list(options)) do found[info.id] = info end
    return found
  end

  local function count(found)
    local n = 0
    for _ in pairs(found) do n = n + 1 end
    return n
  end

  it("has them all, with what is known of them", function()
    local found = ids()
    for i, box in ipairs(boxes) do
      local info = found[box.id]
      assert.equal("running", info.state)
      assert.equal("box " .. i, info.metadata.name)
      assert.equal("integer", math.type(info.cpu_count))
      assert.is_true(info.end_at > info.started_at)
    end
  end)

  it("goes over pages", function()
    assert.equal(5, count(ids { metadata = { tag = tag }, limit = 2 }))
  end)

  it("filters by metadata, all of which must match", function()
    assert.equal(2, count(ids { metadata = { tag = tag, parity = "even" } }))
    assert.equal(3, count(ids { metadata = { tag = tag, parity = "odd & more" } }))
    assert.equal(0, count(ids { metadata = { tag = tag, parity = "neither" } }))
  end)

  it("filters by state", function()
    assert.equal(5, count(ids { state = "running", metadata = { tag = tag } }))
    assert.equal(0, count(ids { state = { "paused" }, metadata = { tag = tag } }))
    assert.equal(5, count(ids { state = { "running", "paused" }, metadata = { tag = tag } }))
  end)

  it("refuses a state that does not exist, instead of listing everything", function()
    local iterator, message, code = stepbox.list { state = "asleep" }
    assert.is_nil(iterator)
    assert.equal("invalid", code)
    assert.matches("state", message)
  end)

  it("agrees with a box's own info", function()
    local info = assert(boxes[1]:info())
    assert.equal(boxes[1].id, info.id)
    assert.equal("box 1", info.metadata.name)
    assert.is_true(assert(boxes[1]:is_running()))
  end)
end)

describe("a client of its own", function()
  it("shares the engine but no connection with the default one", function()
    local client = assert(stepbox.client { request_timeout = 20 })
    assert.is_true(client.local_engine)
    local box = assert(client:create { timeout = 60 })
    assert.equal("2", assert(box:step "1 + 1").text)
    assert(client:kill(box.id))
    assert.equal("not_found", select(3, client:connect(box.id)))
    assert.equal("function", type(client:list()))
  end)
end)
