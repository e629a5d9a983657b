local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

--- Runs Lua code with an engine socket of its own; returns output and the folder of the socket.
local function with_own_engine(folder, code, environment)
  local path = folder .. "/script.lua"
  sandbox.write(path, "local stepbox = require 'stepbox'\n" .. code)
  return sandbox.sh(("XDG_RUNTIME_DIR=%s %s lua5.4 %s"):format(folder, environment or "", path))
end

--- The processes that mention `text` in their arguments.
local function processes(text)
  local found = sandbox.sh("for d in /proc/[0-9]*; do tr '\\0' ' ' < $d/cmdline 2>/dev/null | grep -q -- '"
    .. text .. "' && echo ${d#/proc/}; done; true")
  local pids = {}
  for pid in found:gmatch "%d+" do
    local comm = io.open("/proc/" .. pid .. "/comm")
    local name = comm and comm:read "l" or ""
    if comm then comm:close() end
    if name:find "^stepbox" then pids[#pids + 1] = pid end
  end
  return pids
end

describe("the engine", function()
  local folder
  before_each(function() folder = sandbox.temporary() end)
  after_each(function()
    for _, pid in ipairs(processes(folder)) do os.execute("kill " .. pid .. " 2>/dev/null") end
    assert(sandbox.eventually(5, function() return #processes(folder) == 0 end), "an engine is left")
    os.execute("rm -rf " .. folder)
  end)

  it("is started by the first use, and shared by the next process", function()
    local code = "local box <close> = assert(stepbox.create { timeout = 60 }); print(box:step('1 + 1').text)"
    assert.equal("2\n", (with_own_engine(folder, code)))
    local first = processes(folder)
    assert.equal("2\n", (with_own_engine(folder, code)))
    assert.same(first, processes(folder))
  end)

  it("is one, also when two processes start it at the same moment", function()
    local script = folder .. "/two.lua"
    sandbox.write(script, "print(require('stepbox').create({ timeout = 60 }):detach())")
    local run = ("XDG_RUNTIME_DIR=%s lua5.4 %s"):format(folder, script)
    local output = sandbox.sh(("for i in 1 2 3 4; do %s & done; wait"):format(run))
    local count = select(2, output:gsub("i%w+\n", ""))
    assert.equal(4, count, output)
    local listed = with_own_engine(folder, "for info in assert(stepbox.list()) do print(info.id) end")
    assert.equal(4, select(2, listed:gsub("i%w+\n", "")))
    assert.equal(2, #processes(folder)) -- the engine and the process that watches it
  end)

  it("that cannot be started says what was tried", function()
    local output = with_own_engine(folder, [[
      local box, message, code = stepbox.create()
      print(box, code, message)
    ]], "STEPBOX_ENGINE=/no/such/stepboxd")
    assert.matches("^nil\tunavailable\t", output)
    assert.matches("/no/such/stepboxd", output, 1, true)
  end)

  it("that starts and fails gives its reason", function()
    local output = with_own_engine(folder, [[
      local box, message, code = stepbox.create()
      print(box, code, message)
    ]], "STEPBOX_ENGINE=/bin/false")
    assert.matches("^nil\tunavailable\t", output)
  end)

  it("on a host that forbids user namespaces makes no sandbox, and names the remedy", function()
    local refusing = folder .. "/bwrap"
    sandbox.write(refusing, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    -- Started as root, the engine first becomes a user who must be able to reach the program.
    os.execute("chmod 755 " .. folder .. " " .. refusing)
    local socket = folder .. "/run/own.sock"
    local pid = sandbox.background(("exec %s/bin/stepboxd --socket %s --bwrap %s"):format(
      sandbox.build, socket, refusing))
    assert(sandbox.eventually(5, function() return os.rename(socket, socket) end))
    local box, message, code = stepbox.create { socket = socket }
    os.execute("kill " .. pid)
    assert.is_nil(box)
    assert.equal("unavailable", code)
    assert.matches("[Uu]ser namespaces", message)
  end)

  it("killed by SIGKILL leaves no process and no socket, and the next use starts another", function()
    with_own_engine(folder, "print(assert(stepbox.create { timeout = 60 }):detach())")
    local pids = processes(folder)
    assert.equal(2, #pids)
    for _, pid in ipairs(pids) do
      local name = sandbox.read("/proc/" .. pid .. "/comm"):gsub("\n", "")
      if name == "stepboxd" then os.execute("kill -9 " .. pid) end
    end
    assert(sandbox.eventually(2, function() return #processes(folder) == 0 end))
    assert.equal("", (sandbox.sh("find " .. folder .. " -type s")))
    local output = with_own_engine(folder, "print(assert(stepbox.create { timeout = 60 }):kill())")
    assert.equal("true\n", output)
  end)
end)
