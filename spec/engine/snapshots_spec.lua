local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

describe("the snapshots of an engine", function()
  local daemon, folder
  setup(function()
    folder = engine.temporary()
    local config = assert(io.open(folder .. "/engine.json", "w"))
    config:write '{"maxSnapshotsMB": 60}'
    config:close()
    daemon = engine.start { arguments = "--config " .. folder .. "/engine.json" }
  end)
  teardown(function()
    daemon:stop()
    engine.sh("rm -rf " .. folder)
  end)

  local function path(sandbox, below) return "/sandboxes/" .. sandbox.sandboxID .. (below or "") end

  local function kill(sandbox) assert.equal(204, daemon:call("DELETE", path(sandbox)).status) end

  local function run_large(sandbox)
    daemon:run(sandbox, "import os; open('/home/user/large', 'wb').write(os.urandom(30 << 20))")
  end

  local function take(sandbox, body)
    local answer = daemon:call("POST", path(sandbox, "/snapshots"), body or "")
    assert.equal(201, answer.status, answer.body)
    return answer.json
  end

  local function delete(id) return daemon:call("DELETE", "/templates/" .. id:gsub(":", "%%3A")).status end

  it("have the files as they were, and a sandbox made of one begins with them", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, [[
import os, subprocess
os.chdir("/home/user")
open("text", "w").write("grüße")
open("bytes", "wb").write(bytes(range(256)) * 4096)
os.chmod("text", 0o640)
os.utime("text", (1e9, 1e9))
os.link("text", "linked")
os.symlink("/etc/passwd", "link")
os.symlink("../../../../etc", "out")
os.mkfifo("fifo")
os.makedirs("deep/er/ünï 'code\n")
with open("sparse", "w") as f: f.truncate(1 << 29)
open("/tmp/temporary", "w").write("kept")
x = 1]])
    local snapshot = take(sandbox)
    assert.truthy(snapshot.snapshotID:find "^%w+:default$")
    assert.same({}, snapshot.names)
    -- What happens later is not in it.
    daemon:run(sandbox, "open('/home/user/text', 'w').write('changed'); os.remove('/home/user/bytes')")
    local copy = daemon:create { templateID = snapshot.snapshotID }
    assert.equal(snapshot.snapshotID, copy.templateID)
    local expected = "grüße 33184 1000000000.0 2 1048576 /etc/passwd ../../../../etc True 536870912 0 kept "
      .. "True\n"
    assert.equal(expected, daemon:run(copy, [[
import os, stat
os.chdir("/home/user")
text = os.stat("text")
print(open("text").read(), text.st_mode, text.st_mtime, text.st_nlink, len(open("bytes", "rb").read()),
    os.readlink("link"), os.readlink("out"), stat.S_ISFIFO(os.stat("fifo").st_mode),
    os.stat("sparse").st_size, os.stat("sparse").st_blocks, open("/tmp/temporary").read(),
    os.path.isdir("deep/er/ünï 'code\n") and os.access("text", os.W_OK) and text.st_uid == os.getuid())]]))
    -- It is a sandbox of its own: nothing runs in it but what it began, and it changes nothing elsewhere.
    assert.equal("False\n", daemon:run(copy, "print('x' in globals())"))
    daemon:run(copy, "open('/home/user/text', 'w').write('of the copy')")
    local second = daemon:create { templateID = snapshot.snapshotID:gsub(":default", "") }
    assert.equal("grüße\n", daemon:run(second, "print(open('/home/user/text').read())"))
    assert.equal("changed\n", daemon:run(sandbox, "print(open('/home/user/text').read())"))
    assert.equal("1\n", daemon:run(sandbox, "print(x)"))
    for _, one in ipairs { sandbox, copy, second } do kill(one) end
    -- It outlives the sandbox that it is of.
    local third = daemon:create { templateID = snapshot.snapshotID }
    assert.equal("grüße\n", daemon:run(third, "print(open('/home/user/text').read())"))
    kill(third)
    assert.equal(204, delete(snapshot.snapshotID))
    assert.equal(404, delete(snapshot.snapshotID))
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = snapshot.snapshotID }), 404, "not found")
  end)

  it("have what root did to the system too, where it may", function()
    local sandbox = daemon:create()
    local shown = daemon:call("GET", path(sandbox)).json["local"].isolation
    if shown.ids == "single" or shown.systemTree ~= "writable" then
      kill(sandbox)
      return pending("the system tree of sandboxes is " .. shown.systemTree .. " here, ids: " .. shown.ids)
    end
    local change = "touch /usr/bin/new && rm /usr/bin/env && echo x > /etc/motd && rm /etc/hostname && "
      .. "rm -r /usr/share/base-files && mkdir /usr/share/base-files"
    assert.equal("0", daemon:as_root(sandbox, change))
    local check = "test -e /usr/bin/new && ! test -e /usr/bin/env && grep -q x /etc/motd && "
      .. "! test -e /etc/hostname && test -z \"$(ls /usr/share/base-files)\""
    assert.equal("0", daemon:as_root(sandbox, check))
    local snapshot = take(sandbox)
    local copy = daemon:create { templateID = snapshot.snapshotID }
    assert.equal("0", daemon:as_root(copy, check))
    kill(sandbox)
    kill(copy)
    assert.equal(204, delete(snapshot.snapshotID))
  end)

  it("are taken while the code goes on as if nothing was", function()
    local sandbox = daemon:create { timeout = 100 }
    local before = daemon:call("GET", path(sandbox)).json
    local step = curl.start(daemon:execution(sandbox, [[
import os, time
count, end = 0, time.monotonic() + 1.5
one, two = (os.open("/home/user/" + name, os.O_CREAT | os.O_WRONLY) for name in ("one", "two"))
while time.monotonic() < end:
    count += 1
    for file in (one, two): os.pwrite(file, b"%020d" % count, 0)
print("done")]]))
    assert(engine.eventually(20, function()
      return curl.request({
        socket = daemon.socket,
        url = "http://49983-" .. sandbox.sandboxID .. ".local/files?path=two",
        headers = { ["X-Access-Token"] = sandbox.envdAccessToken },
      }).body:find "^%d+$"
    end), "the code does not begin")
    local ids, states = {}, {}
    for i = 1, 3 do
      ids[i] = take(sandbox).snapshotID
      states[i] = daemon:call("GET", path(sandbox)).json.state
      assert.equal(204, daemon:call("POST", path(sandbox, "/timeout"), { timeout = 100 + i }).status)
    end
    assert.same({ "running", "running", "running" }, states)
    assert.truthy(assert(step.finish()).body:find("done", 1, true))
    local after = daemon:call("GET", path(sandbox)).json
    assert.is_true(after.endAt >= before.endAt)
    assert.equal("running", after.state)
    -- What is asked for while one is taken is done then.
    run_large(sandbox)
    local request = curl.start {
      socket = daemon.socket, method = "POST", url = "http://localhost" .. path(sandbox, "/snapshots"),
    }
    os.execute "sleep 0.02"
    assert.equal(204, daemon:call("POST", path(sandbox, "/timeout"), { timeout = 1000 }).status)
    assert.equal(200, daemon:call("POST", "/v2" .. path(sandbox, "/connect")).status)
    assert.equal("5\n", daemon:run(sandbox, "print(5)"))
    assert.equal(204, delete(engine.decode(assert(request.finish())).json.snapshotID))
    assert.is_true(daemon:call("GET", path(sandbox)).json.endAt > after.endAt)
    -- What was written one after the other is not torn apart.
    for i = 1, 3 do
      local copy = daemon:create { templateID = ids[i] }
      assert.equal("True\n", daemon:run(copy, [[
one, two = (int(open("/home/user/" + name).read()) for name in ("one", "two"))
print(one > 0 and 0 <= one - two <= 1)]]))
      kill(copy)
      assert.equal(204, delete(ids[i]))
    end
    kill(sandbox)
  end)

  it("can be taken of a paused sandbox, which stays so", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, "open('/home/user/a', 'w').write('b')")
    assert.equal(204, daemon:call("POST", path(sandbox, "/pause")).status)
    local id = take(sandbox).snapshotID
    assert.equal("paused", daemon:call("GET", path(sandbox)).json.state)
    local copy = daemon:create { templateID = id }
    assert.equal("b\n", daemon:run(copy, "print(open('/home/user/a').read())"))
    assert.equal(201, daemon:call("POST", path(sandbox, "/resume")).status)
    for _, one in ipairs { sandbox, copy } do kill(one) end
    assert.equal(204, delete(id))
  end)

  it("have names, and are listed by pages and by sandbox", function()
    local one, two = daemon:create(), daemon:create()
    assert.same({ snapshotID = "mine:default", names = { "mine:default" } }, take(one, { name = "mine" }))
    local second, third = take(one).snapshotID, take(two).snapshotID
    local function listed(query)
      local answer = daemon:call("GET", "/snapshots" .. query)
      assert.equal(200, answer.status, answer.body)
      local ids = {}
      for i, item in ipairs(answer.json) do ids[i] = item.snapshotID end
      return ids, answer.headers["x-next-token"]
    end
    assert.same({ third, second, "mine:default" }, (listed ""))
    assert.same({ second, "mine:default" }, (listed("?sandboxID=" .. one.sandboxID)))
    assert.same({ "mine:default" }, (listed "?name=mine"))
    local first, token = listed "?limit=2"
    assert.same({ third, second }, first)
    local rest, last = listed("?limit=2&nextToken=" .. token)
    assert.same({ "mine:default" }, rest)
    assert.is_nil(last)
    -- The same name again is another state of it.
    daemon:run(two, "open('/home/user/new', 'w').write('')")
    take(two, { name = "mine" })
    assert.same({ "mine:default", third, second }, (listed ""))
    local copy = daemon:create { templateID = "mine" }
    assert.equal("['new']\n", daemon:run(copy, "import os; print(os.listdir('/home/user'))"))
    for _, sandbox in ipairs { one, two, copy } do kill(sandbox) end
    for _, id in ipairs { "mine:default", second, third } do assert.equal(204, delete(id)) end
    assert.same({}, (listed ""))
  end)

  it("are refused by name where they cannot be", function()
    local sandbox = daemon:create()
    local below = path(sandbox, "/snapshots")
    for _, name in ipairs { "", "UPPER", "a b", "../x", ("x"):rep(41), "base", "code-interpreter-v1" } do
      assert_error(daemon:call("POST", below, { name = name }), 400, "name")
    end
    assert_error(daemon:call("POST", below, { memory = true }), 400, "memory")
    assert_error(daemon:call("POST", below, { wish = 1 }), 400, "wish")
    assert_error(daemon:call("POST", "/sandboxes/i0000000000000000000/snapshots"), 404, "not found")
    for _, query in ipairs { "limit=0", "limit=101", "nextToken=nope", "wish=1" } do
      assert_error(daemon:call("GET", "/snapshots?" .. query), 400, query:match "^%w+")
    end
    assert.equal(400, delete "base")
    assert.equal(404, delete "nope")
    kill(sandbox)
  end)

  it("take no more room than they may", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, "import os; open('/home/user/large', 'wb').write(os.urandom(40 << 20))")
    local id = take(sandbox).snapshotID
    assert_error(daemon:call("POST", path(sandbox, "/snapshots")), 507, "no room")
    assert.equal("running", daemon:call("GET", path(sandbox)).json.state)
    assert.equal(204, delete(id))
    assert.equal(204, delete(take(sandbox).snapshotID))
    -- One that does not fit into a sandbox's disk makes none.
    id = take(sandbox).snapshotID
    local answer = daemon:call("POST", "/v2/sandboxes", { templateID = id, limits = { diskMB = 16 } })
    assert.is_true(answer.status >= 400, answer.body)
    assert.truthy(answer.json.message:find("snapshot", 1, true), answer.json.message)
    kill(sandbox)
    assert.equal(204, delete(id))
  end)

  it("take no more room together when they are taken at the same time", function()
    local requests, answers = {}, {}
    for i = 1, 2 do
      local sandbox = daemon:create()
      run_large(sandbox)
      daemon:run(sandbox, "import os; open('/home/user/more', 'wb').write(os.urandom(10 << 20))")
      requests[i] = { sandbox = sandbox }
    end
    for _, each in ipairs(requests) do
      each.request = curl.start {
        socket = daemon.socket,
        method = "POST",
        url = "http://localhost" .. path(each.sandbox, "/snapshots"),
      }
    end
    for _, each in ipairs(requests) do
      local answer = engine.decode(assert(each.request.finish()))
      answers[answer.status] = answer
      kill(each.sandbox)
    end
    assert_error(answers[507], 507, "no room")
    assert.equal(204, delete(answers[201].json.snapshotID))
  end)

  it("leave no process when the sandbox is killed meanwhile", function()
    local sandbox = daemon:create()
    daemon:run(sandbox, "import os; open('/home/user/large', 'wb').write(os.urandom(40 << 20))")
    local before = #daemon:call("GET", "/snapshots").json
    local request = curl.start {
      socket = daemon.socket, method = "POST", url = "http://localhost" .. path(sandbox, "/snapshots"),
    }
    os.execute "sleep 0.02"
    kill(sandbox)
    local answer = engine.decode(assert(request.finish()))
    if answer.status == 201 then
      assert.equal(204, delete(answer.json.snapshotID))
    else
      assert.truthy(answer.json.message)
    end
    assert.equal(before, #daemon:call("GET", "/snapshots").json)
  end)

  it("say that the sandbox is not there any more when it is killed as they begin", function()
    local statuses = {}
    local function start(method, of)
      return curl.start { socket = daemon.socket, method = method, url = "http://localhost" .. of }
    end
    for _ = 1, 60 do
      local sandbox = daemon:create()
      local request = start("POST", path(sandbox, "/snapshots"))
      local killing = start("DELETE", path(sandbox))
      local answer = engine.decode(assert(request.finish()))
      assert.equal(204, engine.decode(assert(killing.finish())).status)
      statuses[answer.status] = answer.body
      if answer.status == 201 then assert.equal(204, delete(answer.json.snapshotID)) end
    end
    statuses[201], statuses[404] = nil, nil
    assert.same({}, statuses)
  end)
end)
