--- Snapshots whose files lead elsewhere: root of a sandbox can have put links where the engine builds the
--- next one.

local engine = require "spec.support.engine"

describe("a snapshot with links in the engine's way", function()
  local daemon, outside, ids
  setup(function()
    daemon = engine.start()
    outside = engine.temporary()
    engine.sh("chmod 777 " .. outside)
    local sandbox = daemon:create()
    ids = daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json["local"].isolation
    daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
  end)
  teardown(function()
    daemon:stop()
    engine.sh("rm -rf " .. outside)
  end)

  --- A sandbox is made of one in which root has run a command; what the engine answered.
  local function remake(command)
    local sandbox = daemon:create()
    assert.equal("0", daemon:as_root(sandbox, command))
    local answer = daemon:call("POST", "/sandboxes/" .. sandbox.sandboxID .. "/snapshots", "")
    assert.equal(201, answer.status, answer.body)
    daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
    local id = answer.json.snapshotID
    local made = daemon:call("POST", "/v2/sandboxes", { templateID = id })
    assert.equal(204, daemon:call("DELETE", "/templates/" .. id:gsub(":", "%%3A")).status)
    return made
  end

  local function skipped()
    if ids.ids == "single" then return "sandboxes have no root here: " .. tostring(ids.why) end
    if ids.systemTree ~= "writable" then return "the system tree is " .. ids.systemTree .. " here" end
  end

  it("has nothing run outside", function()
    if skipped() then return pending(skipped()) end
    local program = engine.sh("command -v bwrap"):match "[^\n]+"
    local mark = outside .. "/ran"
    local made = remake(([[
mv /var/lib /var/old && mkdir /var/lib && ln -s %s /var/lib/dpkg && cp /bin/sh /var/old/dpkg/sh &&
printf '#!%s/sh\necho ran >%s\n' >/var/old/dpkg/bwrap && chmod 755 /var/old/dpkg/bwrap]]):format(
      program:match "(.*)/", program:match "(.*)/", mark))
    assert.is_false(engine.exists(mark))
    assert.equal(201, made.status, made.body)
    -- It is as its root has left it.
    assert.equal("0", daemon:as_root(made.json, "test -L /var/lib/dpkg"))
    daemon:call("DELETE", "/sandboxes/" .. made.json.sandboxID)
  end)

  it("has nothing changed outside", function()
    if skipped() then return pending(skipped()) end
    local path = outside .. "/file"
    assert.equal("", (engine.sh(("echo kept >%s && chmod 666 %s"):format(path, path))))
    local made = remake(("cd /var/lib/dpkg && rm -f statoverride && ln -s %s statoverride"):format(path))
    assert.equal("kept\n", engine.read(path))
    assert.equal(201, made.status, made.body)
    daemon:call("DELETE", "/sandboxes/" .. made.json.sandboxID)
  end)

  it("has every file below it, wherever it has the name of one of the engine's", function()
    if ids.ids == "single" then return pending(skipped()) end
    local names = "/root/root/run /root/root/opt/stepbox /home/user/root/run/below /root/run"
    local made = remake("for at in " .. names .. "; do mkdir -p $at && echo x >$at/file || exit 1; done")
    assert.equal(201, made.status, made.body)
    local check = "for at in " .. names .. "; do test -f $at/file || exit 1; done"
    assert.equal("0", daemon:as_root(made.json, check))
    daemon:call("DELETE", "/sandboxes/" .. made.json.sandboxID)
  end)

  it("takes a bounded time, whatever names its files have", function()
    local sandbox = daemon:create { limits = { diskMB = 64 } }
    assert.equal("done\n", daemon:run(sandbox, [[
import os
os.chdir("/home/user")
for _ in range(400):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for i in range(3500):
    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY))
    os.link("f%d" % i, "l%d" % i)
print("done")]]))
    local answer = daemon:call("POST", "/sandboxes/" .. sandbox.sandboxID .. "/snapshots", "")
    engine.assert_error(answer, 504, "in time")
    assert.equal("2\n", daemon:run(sandbox, "print(1 + 1)"))
    daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
  end)
end)
