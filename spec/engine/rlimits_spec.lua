--- An engine that has no control groups: what rlimits hold then, and what is told of them.

local engine = require "spec.support.engine"
local host = require "spec.support.host"

-- Hides the control groups from the engine.
local HIDE = [[unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh ]]

-- How many more children a process of the user gets, and how many threads.
local COUNT = [[
import os, threading, time
children = []
while len(children) < 100:
    try:
        child = os.fork()
    except BlockingIOError:
        break
    if child == 0:
        time.sleep(60)
        os._exit(0)
    children.append(child)
print(len(children))
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
done, threads = threading.Event(), []
try:
    while len(threads) < 100:
        thread = threading.Thread(target=done.wait)
        thread.start()
        threads.append(thread)
except RuntimeError:
    pass
print(len(threads))
done.set()
for thread in threads: thread.join()]]

for _, forks in ipairs { true, false } do
  describe("without control groups, runners being " .. (forks and "forked" or "started") .. ",", function()
    local daemon, limits, sandbox, reason

    setup(function()
      if host.sh "id -u" ~= "0\n" then
        reason = "only root can hide them from an engine"
        return
      end
      local file = host.temporary() .. "/engine.json"
      host.write(file, ('{"forkRunners": %s}'):format(forks))
      daemon = engine.start {
        arguments = "--config " .. file, environment = "ulimit -n 3000;",
        wrapper = function() return HIDE end,
      }
      sandbox = daemon:create { limits = { processes = 30, openFiles = 2000 } }
      limits = daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json["local"].limits
      host.sh("rm -rf " .. file:match "^(.*)/")
    end)
    teardown(function() if daemon then daemon:stop() end end)

    local function with_engine(name, test)
      it(name, function()
        if reason then return pending(reason) end
        assert.equal("rlimit", limits.by)
        test()
      end)
    end

    with_engine("the processes and threads of a context are bounded", function()
      for _ = 1, 2 do
        local children, threads = daemon:inside(sandbox, COUNT):match "^(%d+)\n(%d+)\n$"
        assert(tonumber(children) > 15 and tonumber(children) < 30, children)
        assert(tonumber(threads) > 15 and tonumber(threads) < 30, threads)
      end
      local runners = daemon:call("GET", "/sandboxes/" .. sandbox.sandboxID).json["local"].runners
      assert.equal(forks, runners.forked > 0)
    end)

    with_engine("what is told of open files is what a process gets", function()
      -- The engine has 3000, of which a sandbox gets half.
      assert.equal(1500, limits.openFiles)
      assert.equal("1500\n", daemon:inside(sandbox,
        "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])"))
    end)
  end)
end
