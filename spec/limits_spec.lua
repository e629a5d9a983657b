--- Alone: its bombs take all processors, and its shares of a processor are measured.
-- Limits of a sandbox: each probe passes where the limit is wide, and ends in an error that says what it was
-- where the limit is narrow. The sandbox, its neighbours and the engine go on.

local stepbox = require "stepbox"
local host = require "spec.support.host"
local languages = require "spec.support.languages"

local MIB = 1024 * 1024

local create = function(options)
  options = options or {}
  options.timeout = options.timeout or 120
  return assert(stepbox.create(options))
end

--- What the code raised, as "Name: value", or what it printed.
local function outcome(box, code)
  local execution = assert(box:step(code))
  if execution.error then return execution.error.name .. ": " .. execution.error.value end
  return execution.stdout
end

local PROBES = {
  {
    name = "processes",
    narrow = { processes = 30 },
    code = [[
import os, signal, time
children = []
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
    print("all")
finally:
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
]],
    fails = "^BlockingIOError: %[Errno 11%]",
  },
  {
    name = "processes that nobody waits for",
    narrow = { processes = 30 },
    code = [[
import os
children = []
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0)
        children.append(child)
    print("all")
finally:
    for child in children:
        os.waitpid(child, 0)
]],
    fails = "^BlockingIOError: %[Errno 11%]",
  },
  {
    name = "threads",
    narrow = { processes = 30 },
    code = [[
import threading
end = threading.Event()
try:
    for _ in range(60):
        threading.Thread(target=end.wait).start()
    print("all")
finally:
    end.set()
]],
    fails = "^RuntimeError: can't start new thread",
  },
  {
    name = "memory",
    narrow = { memory = 128 * MIB },
    code = "block = b'x' * (200 << 20); print('all'); del block",
    fails = "^MemoryError",
  },
  {
    name = "memory, piece by piece",
    narrow = { memory = 128 * MIB },
    code = "pieces = [b'x' * ((1 << 20) + i) for i in range(200)]; print('all'); del pieces",
    fails = "^MemoryError",
  },
  {
    name = "disk",
    narrow = { disk = 20 * MIB },
    code = [[
import os
try:
    with open("big", "wb") as file:
        for _ in range(40):
            file.write(bytes(1 << 20))
    print("all")
finally:
    os.remove("big")
]],
    fails = "^OSError: %[Errno 28%] No space left",
  },
  {
    name = "files without a byte in them",
    narrow = { disk = 12 * MIB },
    code = [[
import os, shutil
os.mkdir("many")
try:
    for i in range(5000):
        open(f"many/{i}", "w").close()
    print("all")
finally:
    shutil.rmtree("many")
]],
    fails = "^OSError: %[Errno 28%] No space left",
  },
  {
    name = "open files",
    narrow = { open_files = 100 },
    code = [[
import os
files = []
try:
    for _ in range(200):
        files.append(os.open("/dev/null", os.O_RDONLY))
    print("all")
finally:
    for file in files:
        os.close(file)
]],
    fails = "^OSError: %[Errno 24%] Too many open files",
  },
}

describe("a limit on", function()
  for _, probe in ipairs(PROBES) do
    it(probe.name .. " ends in an error that code can handle, and the sandbox goes on", function()
      local wide = create()
      assert.equal("all\n", outcome(wide, probe.code))
      wide:kill()
      local narrow = create(probe.narrow)
      assert(narrow:step "kept = 42")
      assert.matches(probe.fails, outcome(narrow, probe.code))
      -- Once more: nothing was used up.
      assert.matches(probe.fails, outcome(narrow, probe.code))
      assert.equal("42", assert(narrow:step "kept").text)
      narrow:kill()
    end)
  end
end)

local function held_by(box) return assert(box:info()).details.limits.by end

--- Whether control groups hold the limits; else the test is left out, saying so.
local function with_groups(box)
  if held_by(box) ~= "rlimit" then return true end
  box:kill()
  pending "this user has no control groups here: rlimits bound each process alone"
end

describe("where control groups hold the limits,", function()
  local HOG = "exec head -c 300M /dev/zero | tail >/dev/null"

  it("a command that takes too much is killed, which the log of the sandbox says", function()
    local box = create { memory = 128 * MIB }
    if not with_groups(box) then return end
    local wide = create()
    assert.is_true(assert(wide.commands:run(HOG)).ok)
    wide:kill()
    local result = assert(box.commands:run("set -o pipefail; " .. HOG))
    assert.is_false(result.ok)
    assert.equal("2", assert(box:step "1 + 1").text)
    local told
    for _, entry in ipairs(assert(box:logs())) do told = told or entry.message:find "^out of memory" end
    assert.truthy(told)
    box:kill()
  end)

  it("code that takes too much in spite of the soft limit ends as context_lost, out of memory", function()
    local box = create { memory = 128 * MIB }
    if not with_groups(box) then return end
    local value, message, code = box:step [[
import resource
resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
block = b"x" * (300 << 20)
]]
    assert.is_nil(value)
    assert.equal("context_lost", code)
    assert.matches("out of memory", message)
    local after = assert(box:step "1 + 1")
    assert.equal("2", after.text)
    assert.is_true(after.restarted)
    box:kill()
  end)

  it("many processes that take too much together leave the agent alive", function()
    local box = create { memory = 128 * MIB }
    if not with_groups(box) then return end
    local done, message, code = box:step [[
import os
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        block = b"x" * (40 << 20)
        os._exit(0)
    children.append(child)
ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
]]
    -- Forked, the runner is as large as they are: the kernel may choose it, too.
    assert(done or code == "context_lost", message)
    local again = assert(box:step "1 + 1")
    assert.equal("2", again.text)
    box:kill()
  end)

  it("files leave programs room in the memory that they are kept in", function()
    local box = create { memory = 200 * MIB, disk = 150 * MIB }
    if not with_groups(box) then return end
    local result = assert(box.commands:run "head -c 200M /dev/zero >big; stat -c %s big")
    assert.matches("No space left", result.stderr)
    assert.truthy(tonumber(result.stdout) > 140 * MIB)
    assert.equal("2", assert(box:step "1 + 1").text)
    box:kill()
    assert.matches("three quarters", select(2, stepbox.create { memory = 100 * MIB, disk = 90 * MIB }))
  end)

  it("JavaScript collects its garbage within the sandbox's memory, not the host's", function()
    local there, why = languages.has "javascript"
    if not there then return pending(why) end
    local function heap_mib(memory)
      local box <close> = create { memory = memory }
      local code = "require('v8').getHeapStatistics().heap_size_limit / 1048576"
      return tonumber(assert(box:step(code, { language = "js" })).text)
    end
    assert.is_true(heap_mib(256 * MIB) < 256)
    assert.is_true(heap_mib(1024 * MIB) > 512)
  end)

  it("a part of a processor is no more than that", function()
    local SHARE = [[
import time
wall, own = time.monotonic(), time.process_time()
while time.monotonic() < wall + 1.5:
    pass
print((time.process_time() - own) / (time.monotonic() - wall))
]]
    local box = create { cpus = 0.1 }
    if not with_groups(box) then return end
    local share = tonumber((outcome(box, SHARE)))
    box:kill()
    local wide = create()
    local free = tonumber((outcome(wide, SHARE)))
    wide:kill()
    assert.truthy(share < 0.16, share)
    assert.truthy(free > share * 1.5, free)
  end)

  it("nothing is left of a group when its sandbox is gone", function()
    local box = create()
    if not with_groups(box) then return end
    local find = "find /sys/fs/cgroup -type d -name " .. box.id
    assert.truthy((host.sh(find)):find(box.id, 1, true))
    box:kill()
    assert(host.eventually(2, function() return host.sh(find) == "" end))
  end)
end)

describe("while a bomb burns", function()
  local BOMBS = {
    processors = "import os\nfor _ in range(8):\n    if os.fork() == 0: break\nwhile True: pass",
    processes = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    memory = [[
import os
os.fork(), os.fork()
while True:
    pieces = []
    try:
        while True: pieces.append(b"x" * (8 << 20))
    except MemoryError:
        pass
]],
    output = "while True: print('x' * 10000)",
    sleep = [[
import time
while True:
    try: time.sleep(1000)
    except KeyboardInterrupt: pass
]],
  }

  local function seconds_of(call)
    local begin = host.now()
    assert(call())
    return host.now() - begin
  end

  for name, code in pairs(BOMBS) do
    it("of " .. name .. ", neighbours and the engine answer within a second, and it can be killed", function()
      local bomb, neighbour = create { memory = 200 * MIB, processes = 60 }, create()
      assert(neighbour:step "1")
      local id = bomb.id
      local slowest = {}
      stepbox.run(function()
        local burning = stepbox.spawn(function() return bomb:step(code, { timeout = 60 }) end)
        stepbox.sleep(1)
        for i = 1, 5 do
          slowest[i] = math.max(seconds_of(function() return neighbour:step "1 + 1" end),
            seconds_of(function() return bomb:info() end))
          stepbox.sleep(0.1)
        end
        assert(seconds_of(function() return stepbox.kill(id) end) < 3)
        burning:wait()
      end)
      table.sort(slowest)
      assert.truthy(slowest[3] < 1, "the median of " .. table.concat(slowest, ", "))
      assert.equal("2", assert(neighbour:step "1 + 1").text)
      neighbour:kill()
      assert.is_false(bomb:is_running())
    end)
  end
end)
