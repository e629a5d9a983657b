local helper = require "spec.support.network"
local stepbox = require "stepbox"

local missing = helper.missing()

describe("box.network", function()
  local world, client
  setup(function()
    if missing then return end
    world = helper.start()
    client = assert(stepbox.client { socket = world.daemon.socket })
  end)
  teardown(function()
    client = nil
    collectgarbage()
    if world then world:stop() end
  end)

  local function it_in_world(name, body)
    it(name, function()
      if missing then return pending(missing) end
      body()
    end)
  end

  --- Who answers in the box at an address, or "no".
  local function asked(box, host)
    local answer = assert(box:step(helper.probes .. ("tcp(%q)"):format(host)))
    return answer.stdout:find "^no: " and "no" or (answer.stdout:gsub("%s+$", ""))
  end

  it_in_world("is closed without a word, and open when it is asked for", function()
    local closed = assert(client:create())
    assert.equal("no", asked(closed, "198.51.100.7"))
    local open = assert(client:create { allow_internet = true })
    assert.equal("world 198.51.100.7", asked(open, "198.51.100.7"))
    assert.equal("no", asked(open, "10.9.9.9"))
    assert.equal("up", open:info().details.network.link)
    assert(closed:kill())
    assert(open:kill())
  end)

  it_in_world("takes lists at create, and other ones later", function()
    local box = assert(client:create { network = { allow_out = { "10.9.9.0/24" }, deny_out = {
      "0.0.0.0/0" } } })
    assert.equal("world 10.9.9.9", asked(box, "10.9.9.9"))
    assert.equal("no", asked(box, "198.51.100.7"))
    assert.is_true(box:set_network { allow_internet = true, deny_out = { "198.51.100.8" } })
    assert.equal("world 198.51.100.7", asked(box, "198.51.100.7"))
    assert.equal("no", asked(box, "198.51.100.8"))
    assert.equal("no", asked(box, "10.9.9.9"))
    assert.is_true(box:set_network { allow_internet = false })
    assert.equal("no", asked(box, "198.51.100.7"))
    assert(box:kill())
    assert.same({ "closed" }, { select(3, box:set_network { allow_internet = true }) })
  end)

  it_in_world("stays closed when it was made closed, whatever a change denies", function()
    local box = assert(client:create { allow_internet = false })
    assert.is_true(box:set_network { deny_out = { "198.51.100.8" } })
    assert.equal("no", asked(box, "198.51.100.7"))
    local told = box:info().details.network
    assert.same({ "none", "none" }, { told.access, told.link })
    assert.is_true(box:set_network { allow_internet = true })
    assert.equal("world 198.51.100.7", asked(box, "198.51.100.7"))
    assert.equal("internet", box:info().details.network.access)
    assert(box:kill())
  end)

  it_in_world("goes through a proxy, with a user and a password", function()
    world:noted "socks"
    local box = assert(client:create {
      egress_proxy = { address = "203.0.113.1:1080", username = "me", password = "secret" } })
    assert.equal("world 198.51.100.7", asked(box, "public.example"))
    assert.equal("me public.example 8080\n", world:noted "socks")
    assert.is_true(box:set_network { egress_proxy = "203.0.113.1:1080" })
    assert.equal("world 198.51.100.7", asked(box, "198.51.100.7"))
    assert.equal("- 198.51.100.7 8080\n", world:noted "socks")
    assert(box:kill())
  end)

  it_in_world("tells what the engine does not take", function()
    local box, message, code = client:create { network = { allow_out = { "a.example" } } }
    assert.is_nil(box)
    assert.equal("invalid", code)
    assert(message:find("0.0.0.0/0", 1, true), message)
  end)
end)

describe("options of a network", function()
  local client = assert(stepbox.client { socket = "/nonexistent/socket" })

  it("raise when an entry is no address, range or name, in any spelling", function()
    for _, entry in ipairs { "", " ", "127.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "0177.0.0.1",
      "01.2.3.4",
      "1.2.3.4.5", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/08", "::1/129", "fe80::1%eth0",
      "a b.example",
      "a..example", "*.", "**.example", "a.0x7f", "http://a.example", "a.example:80", "\n.example",
      "a\0.example",
      "localhost" } do
      assert.error_matches(function() client:create { network = { allow_out = { entry } } } end,
        "bad option 'network' of 'create' %(allow_out: .*entry 1 is", nil, nil, entry)
    end
    for _, entry in ipairs { "a.example", "*.a.example", "127.1" } do
      assert.error_matches(function() client:create { network = { deny_out = { entry } } } end, "deny_out: ")
    end
    assert.error_matches(function() client:create { network = { allow = {} } } end, "unknown field 'allow'")
    assert.error_matches(function() client:create { network = "x" } end, "table expected")
  end)

  it("raise when a proxy is none", function()
    for _, proxy in ipairs { "x", ":1080", { username = "a", password = "b" }, { address = "a:1",
      username = "b" },
      { address = "a:1", user = "b" }, 1 } do
      assert.error_matches(function() client:create { egress_proxy = proxy } end, "bad option 'egress_proxy'")
    end
  end)
end)
