local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

local assert_error = engine.assert_error

local start_create = engine.start_create

describe("stepboxd", function()
  local folder
  before_each(function() folder = engine.temporary() end)

  --- Runs it with arguments; returns what it printed and its exit status.
  local function run(arguments) return engine.sh("timeout 20 " .. engine.program .. " " .. arguments) end

  --- The processes that have the folder in their arguments.
  local function processes()
    local pids = {}
    for pid in engine.sh("pgrep -f -- '--socket " .. folder .. "'; true"):gmatch "%d+" do
      if engine.read("/proc/" .. pid .. "/comm"):find "^stepboxd" then pids[#pids + 1] = tonumber(pid) end
    end
    return pids
  end

  --- Stops those, and waits until they are gone.
  local function stop_all()
    engine.sh("kill " .. table.concat(processes(), " "))
    assert(engine.eventually(5, function() return #processes() == 0 end))
  end

  after_each(function()
    stop_all()
    engine.sh("rm -rf " .. folder)
  end)

  it("explains itself", function()
    local output, status = run "--help"
    assert.equal(0, status)
    for _, option in ipairs { "socket", "daemon", "ready-fd", "listen", "api-key", "domain", "idle-timeout",
      "log-level", "help", "version", "bwrap", "agent", "runners" } do
      assert(output:find("--" .. option, 1, true), option .. " is not explained")
    end
    assert(run("--version"):find "^stepboxd %d+%.%d+%.%d+\n$")
  end)

  it("refuses wrong arguments by name", function()
    for arguments, text in pairs {
      ["--nope"] = "nope",
      ["extra"] = "extra",
      ["--listen 127.0.0.1:0"] = "STEPBOX_API_KEY",
      ["--listen nonsense --api-key x"] = "--listen",
      ["--listen 127.0.0.1:99999 --api-key x"] = "port",
      ["--listen ::1:80 --api-key x"] = "brackets",
      ["--api-key 'a b'"] = "--api-key",
      ["--idle-timeout -1"] = "--idle-timeout",
      ["--log-level loud"] = "--log-level",
      ["--ready-fd 977"] = "--ready-fd",
    } do
      local output, status = run(arguments)
      assert.equal(2, status, arguments .. ": " .. output)
      assert(output:find(text, 1, true), arguments .. ": " .. output)
    end
  end)

  it("refuses a directory that others could use", function()
    engine.sh(("cd %s && mkdir open && chmod 755 open && ln -s . link"):format(folder))
    local wrong = { ["open/s"] = "open to others", ["link/s"] = "cannot use", ["no/no/s"] = "cannot make" }
    for name, text in pairs(wrong) do
      local output, status = run("--socket " .. folder .. "/" .. name)
      assert.equal(1, status)
      assert(output:find(text, 1, true), output)
    end
    engine.sh("touch " .. folder .. "/file")
    local output, status = run("--socket " .. folder .. "/file")
    assert.equal(1, status)
    assert(output:find("is not a socket", 1, true), output)
    assert.is_true(engine.exists(folder .. "/file"))
    output, status = run("--socket " .. folder .. "/" .. ("x"):rep(100))
    assert.equal(1, status)
    assert(output:find("too long", 1, true), output)
  end)

  it("reports why it cannot start, also from the background", function()
    for _, mode in ipairs { "", "--daemon" } do
      local command = "%s --socket %s/s %s --agent /nonexistent --ready-fd 3 3>%s/report"
      local output, status = engine.sh(command:format(engine.program, folder, mode, folder))
      assert.equal(1, status, output)
      assert(output:find("/nonexistent", 1, true), output)
      assert(engine.read(folder .. "/report"):find("^error: .*/nonexistent.*\n$"))
      assert.is_false(engine.exists(folder .. "/s"))
    end
  end)

  it("is one engine when several are started at once", function()
    local command = {}
    for i = 1, 6 do
      local one = "( %s --socket %s/s --daemon --ready-fd 3 3>%s/report%d >/dev/null 2>&1; echo $? ) &"
      command[i] = one:format(engine.program, folder, folder, i)
    end
    assert.equal(("0\n"):rep(6), (engine.sh(table.concat(command, "\n") .. "\nwait")))
    for i = 1, 6 do assert.equal("ready\n", engine.read(folder .. "/report" .. i)) end
    -- A watchdog and an engine: those that were not needed are about to end.
    assert(engine.eventually(2, function() return #processes() == 2 end))
    stop_all()
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("replaces the socket that a killed engine left", function()
    engine.sh(engine.program .. " --socket " .. folder .. "/s --daemon")
    -- Either tidies up when it sees the other one go.
    local pids = table.concat(processes(), " ")
    engine.sh("kill -STOP " .. pids .. "; kill -9 " .. pids)
    assert(engine.eventually(5, function() return #processes() == 0 end))
    assert.is_true(engine.exists(folder .. "/s"))
    local _, status = run("--socket " .. folder .. "/s --daemon")
    assert.equal(0, status)
    assert.equal(204, curl.request({ socket = folder .. "/s", url = "http://localhost/health" }).status)
  end)

  it("holds nothing of whoever started it", function()
    local command = "exec 9<>%s/held; %s --socket %s/s --daemon"
    local output = engine.sh(command:format(folder, engine.program, folder))
    assert.equal("", output)
    for _, pid in ipairs(processes()) do
      local fds = engine.sh("ls -l /proc/" .. pid .. "/fd")
      assert.is_nil(fds:find("/held", 1, true), fds)
      assert.equal(3, select(2, fds:gsub("/dev/null", "")), fds)
      assert.equal("/\n", (engine.sh("readlink /proc/" .. pid .. "/cwd")))
    end
  end)

  it("leaves when it has been idle", function()
    engine.sh(engine.program .. " --socket " .. folder .. "/s --daemon --idle-timeout 1")
    assert.equal(2, #processes())
    local made = curl.request {
      socket = folder .. "/s",
      url = "http://localhost/v2/sandboxes",
      method = "POST",
      body = '{"templateID":"base","timeout":2}',
    }
    assert.equal(201, made.status)
    os.execute "sleep 1.5"
    assert.equal(2, #processes()) -- not with a sandbox
    assert(engine.eventually(4, function() return #processes() == 0 end))
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("is never lost by a client that comes while it leaves", function()
    -- Engines that leave at once, and clients that start one when none answers, as the library does.
    local script = ([[
      for i in $(seq 20); do
        curl -sS --max-time 5 --unix-socket %s/s http://localhost/health >/dev/null 2>&1 && continue
        %s --socket %s/s --daemon --idle-timeout 0.05 || echo failed
      done
    ]]):format(folder, engine.program, folder)
    assert.equal("", (engine.sh("( " .. script .. " ) & ( " .. script .. " ) & wait")))
    assert(engine.eventually(5, function() return #processes() == 0 end))
    assert.is_false(engine.exists(folder .. "/s"))
  end)

  it("says what to change where sandboxes are forbidden", function()
    local program = folder .. "/bwrap"
    local file = assert(io.open(program, "w"))
    file:write "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
    file:close()
    engine.sh("chmod 755 " .. folder .. " " .. program)
    local daemon = engine.start { arguments = "--bwrap " .. program }
    finally(function() daemon:stop() end)
    local answer = daemon:call("POST", "/v2/sandboxes", { templateID = "base" })
    assert_error(answer, 503, "setting up uid map: Permission denied")
    assert(answer.json.message:find("userns", 1, true), answer.json.message)
    assert(answer.json.message:find("No sandbox was made", 1, true))
    assert.equal(0, #daemon:call("GET", "/v2/sandboxes").json)
    engine.sh("rm " .. program)
    assert_error(daemon:call("POST", "/v2/sandboxes", { templateID = "base" }), 503, "install the package")
  end)

  it("kills also what a bubblewrap that was killed too early leaves", function()
    local program = folder .. "/bwrap"
    local file = assert(io.open(program, "w"))
    file:write "#!/bin/sh\nsleep 600 &\nexec sleep 600\n"
    file:close()
    engine.sh("chmod 755 " .. folder .. " " .. program)
    local daemon = engine.start { arguments = "--bwrap " .. program }
    finally(function() daemon:stop() end)
    for _, victim in ipairs { "client", "engine" } do
      local handle = start_create(daemon)
      local below
      assert(engine.eventually(2, function()
        below = {} -- without the zygotes, which are the engine's own
        for _, pid in ipairs(engine.descendants(daemon.engine_pid)) do
          if engine.read("/proc/" .. pid .. "/cmdline"):find "^sleep" then below[#below + 1] = pid end
        end
        return #below == 2
      end))
      engine.sh("kill -9 " .. (victim == "client" and handle.pid or daemon.engine_pid))
      handle.finish()
      for _, pid in ipairs(below) do
        assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
      end
    end
  end)

  for _, victim in ipairs { "engine", "watchdog", "agent", "bwrap" } do
    it("leaves nothing behind when its " .. victim .. " is killed", function()
      local daemon = engine.start()
      finally(function() daemon:stop() end)
      for _ = 1, 3 do daemon:create() end
      local below = engine.descendants(daemon.pid)
      local parts = { engine = daemon.engine_pid, watchdog = daemon.pid }
      for _, pid in ipairs(below) do
        local name = engine.read("/proc/" .. pid .. "/cmdline")
        if name:find "^bwrap" then parts.bwrap = pid end
        if name:find "^/opt/stepbox/stepbox%-agent" then parts.agent = pid end
      end
      engine.sh("kill -9 " .. parts[victim])
      if victim == "agent" or victim == "bwrap" then
        -- Only that sandbox is gone.
        assert(engine.eventually(2, function() return #daemon:call("GET", "/sandboxes").json == 2 end))
      else
        for _, pid in ipairs(below) do
          assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
        end
        assert(engine.eventually(2, function() return not engine.is_alive(daemon.pid) end))
        assert.is_false(engine.exists(daemon.socket))
      end
    end)
  end

  it("leaves nothing behind when it is killed while sandboxes start", function()
    local daemon
    finally(function() daemon:stop() end)
    for delay = 0, 9 do
      if daemon then daemon:stop() end
      daemon = engine.start()
      local handles = {}
      for i = 1, 4 do
        handles[i] = start_create(daemon)
      end
      os.execute("sleep 0.0" .. delay)
      local below = engine.descendants(daemon.pid)
      engine.sh("kill -9 " .. daemon.engine_pid)
      for i = 1, 4 do handles[i].finish() end
      for _, pid in ipairs(below) do
        assert(engine.eventually(2, function() return not engine.is_alive(pid) end), pid .. " is left")
      end
    end
  end)
end)
