local cli = require "spec.support.cli"
local stepbox = require "stepbox"

describe("stepbox", function()
  local id
  setup(function() id = cli.new("--timeout", "600", "--metadata", "purpose=life spec") end)
  teardown(function() cli.run("kill", id) end)

  local function state() return (cli.run("info", id)):match "state\t(%w+)" end

  it("pause has a sandbox stand still until resume; asking about it does not wake it", function()
    assert.equal(0, select(3, cli.run("step", id, "x = 42")))
    assert.same({ "", "", 0 }, { cli.run("pause", id) })
    assert.equal("paused", state())
    assert.equal(id, (cli.run("ls", "--metadata", "purpose=life spec", "--state", "paused"):match "^%w+"))
    assert.equal("", (cli.run("ls", "--metadata", "purpose=life spec", "--state", "running")))
    for _, command in ipairs { "logs", "metrics" } do assert.equal(0, select(3, cli.run(command, id))) end
    local _, err, status = cli.run("timeout", id, "60")
    assert.equal(3, status)
    assert.matches("is paused", err, 1, true)
    assert.equal("paused", state())
    assert.same({ "", "stepbox: " .. id .. " was paused already\n", 0 }, { cli.run("pause", id) })
    assert.same({ "", "", 0 }, { cli.run("resume", id, "--timeout", "900") })
    assert.equal("running", state())
    assert.near(os.time() + 900, cli.json("info", id, "--json").end_at, 5)
    assert.same({ "", "stepbox: " .. id .. " was not paused\n", 0 }, { cli.run("resume", id) })
    assert.equal("42\n", (cli.run("step", id, "x")))
  end)

  it("pause and resume tell programs what they did", function()
    assert.same({ id = id, paused = true }, (cli.json("pause", id, "--json")))
    assert.same({ id = id, paused = false }, (cli.json("pause", id, "--json")))
    local resumed = cli.json("resume", id, "--json")
    assert.is_true(resumed.resumed)
    assert.near(os.time() + 300, resumed.end_at, 5)
    assert.is_false(cli.json("resume", id, "--json").resumed)
  end)

  it("snapshot keeps files, which new begins with, until snapshots deletes it", function()
    cli.run("sh", id, "echo kept > file")
    local out, err, status = cli.run("snapshot", id)
    assert.equal(0, status, err)
    local snapshot = assert(out:match "^(%S+)\n$")
    local named = cli.json("snapshot", id, "--name", "life-spec", "--json")
    assert.equal(id, named.box)
    local listed = cli.run("snapshots", "--box", id)
    assert.equal(named.id .. "\tlife-spec:default\n" .. snapshot .. "\t\n", listed)
    assert.equal(2, #cli.json("snapshots", "--box", id, "--json"))
    local made = cli.new("--snapshot", snapshot)
    assert.equal("kept\n", (cli.run("sh", made, "cat file")))
    cli.run("kill", made)
    assert.same({ "", "", 0 }, { cli.run("snapshots", "--delete", snapshot, "--delete", named.id) })
    assert.equal("[]\n", select(3, cli.json("snapshots", "--box", id, "--json")))
    assert.equal(3, select(3, cli.run("snapshots", "--delete", snapshot)))
    assert.equal(3, select(3, cli.run("new", "--snapshot", snapshot)))
  end)

  it("sh runs a command as root when it is asked to", function()
    local info = assert(assert(stepbox.connect(id)):info())
    assert.equal("user\n", (cli.run("sh", id, "whoami")))
    local out, err, status = cli.run("sh", "--user", "root", id, "id", "-u")
    if info.details.isolation.ids == "range" then
      assert.same({ "0\n", "", 0 }, { out, err, status })
    else
      assert.equal(3, status)
      assert.matches("root", err, 1, true)
    end
    assert.equal(3, select(3, cli.run("sh", "--user", "nosuch", id, "true")))
  end)

  it("new takes limits, and what happens at the end of its life", function()
    local made = cli.new("--processes", "40", "--open-files", "100", "--output", "2M",
      "--timeout", "1", "--on-timeout", "pause")
    local limits = cli.json("info", made, "--json").details.limits
    assert.same({ 40, 100, 2 }, { limits.processes, limits.openFiles, limits.outputMB })
    os.execute "sleep 1.5"
    assert.matches("state\tpaused\n", (cli.run("info", made)), 1, true)
    cli.run("kill", made)
  end)

  it("info tells limits, what may be reached, isolation and calls that were refused", function()
    assert.equal(0, select(3, cli.run("step", id,
      "import ctypes; ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None)")))
    local out = cli.run("info", id)
    for _, pattern in ipairs {
      "\nlimits.by\t%w+\n", "\nlimits.memoryMB\t%d+\n", "\nlimits.openFiles\t%d+\n",
      "\nnetwork.access\tnone\n", "\nnetwork.link\tnone\n", "\nisolation.ids\t%w+\n",
      "\nisolation.systemTree\t%w+\n",
    } do assert.matches(pattern, out) end
    if cli.json("info", id, "--json").details.isolation.refusedCallsCounted then
      assert.matches("\nrefused.mount\t[1-9]", out)
    end
  end)

  it("new says what may be reached, and info tells it", function()
    if select(3, cli.run("new", "--internet", "--timeout", "5")) ~= 0 then
      return pending "this host can give sandboxes no internet"
    end
    local made = cli.new("--allow", "example.com", "--allow", "198.51.100.7", "--proxy", "198.51.100.9:1080")
    local out = cli.run("info", made)
    cli.run("kill", made)
    assert.matches("network.access\tallowed\n", out, 1, true)
    assert.matches("network.allowOut\texample.com 198.51.100.7\n", out, 1, true)
    assert.matches("network.egressProxy\t198.51.100.9:1080\n", out, 1, true)
    made = cli.new("--deny", "198.51.100.0/24")
    out = cli.run("info", made)
    cli.run("kill", made)
    assert.matches("network.access\tinternet\n", out, 1, true)
    assert.matches("network.denyOut\t198.51.100.0/24\n", out, 1, true)
  end)

  it("ends with 2 when these are called wrongly, and with 3 for what is not there", function()
    cli.assert_called_wrongly {
      { "pause" }, { "resume" }, { "resume", id, "--timeout", "0" }, { "snapshot" },
      { "snapshot", id, "--name", "" }, { "snapshots", "--box", id, "--delete", "x" },
      { "new", "--snapshot", "a", "--template", "b" }, { "new", "--allow", "127.1" },
      { "new", "--deny", "example.com" }, { "new", "--proxy", "nowhere" }, { "new", "--on-timeout", "stop" },
      { "repl", id, "--memory", "1G" }, { "repl", id, "--setup", "true" },
      { "new", "--processes", "0" }, { "new", "--open-files", "many" }, { "ls", "--state", "asleep" },
    }
    for _, words in ipairs {
      { "pause", "nosuch" }, { "resume", "nosuch" }, { "snapshot", "nosuch" },
      { "snapshots", "--delete", "nosuch" }, { "new", "--snapshot", "nosuch" },
    } do
      local _, err, status = cli.run(table.unpack(words))
      assert.equal(3, status, err)
      assert.is_truthy(err:find "not found" or err:find "there is no", err)
    end
  end)
end)
