--- Bombs that make processes and threads, or turn on those of their own sandbox.

local bomb = require "spec.support.bomb"

local CHILDREN = [[
import time
def children(count):
    made = []
    try:
        for _ in range(count):
            child = os.fork()
            if child == 0:
                time.sleep(30)
                os._exit(0)
            made.append(child)
        return "ok"
    finally:
        for child in made:
            os.kill(child, 9)
            os.waitpid(child, 0)
]]

return {
  title = "Bombs: processes",
  alone = "its bombs take all processors",
  about = [[
The sandboxes of all bombs have 256 MB, one processor, 64 processes, 32 MB of disk and 512 open files.
While a bomb goes off, a step in a neighbour sandbox and an answer of the engine take less than a second
each (the middle of several), the sandbox can still be killed, and none of its processes is left.]],

  bomb.entry {
    attack = "fork bomb: a process makes children until it cannot",
    naive = "fills the host's table of processes",
    ours = "BlockingIOError (EAGAIN) at the sandbox's limit",
    mark = CHILDREN .. "probe(children, 90)",
    answer = "EAGAIN",
    burn = "import os, time\nwhile True:\n  if os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)",
    ends = "error BlockingIOError.*",
    peak = { processes = 30 },
  },
  bomb.entry {
    attack = "fork bomb: each process makes two, for ever",
    naive = "the machine answers nobody any more",
    ours = "the command's time is over; nobody else notices",
    mark = CHILDREN .. "probe(children, 90)",
    answer = "EAGAIN",
    run = ":(){ :|:& };:; sleep 60",
    ends = "code timeout.*",
    peak = { processes = 30 },
  },
  bomb.entry {
    attack = "thread bomb",
    naive = "takes the host's memory for stacks and the table of processes",
    ours = "RuntimeError: can't start new thread",
    mark = [[
import threading
def threads():
    done = threading.Event()
    made = []
    try:
        for _ in range(90):
            made.append(threading.Thread(target=done.wait))
            made[-1].start()
        return "ok"
    except RuntimeError:
        made.pop()
        return "no new thread"
    finally:
        done.set()
        for thread in made:
            thread.join()
probe(threads)]],
    answer = "no new thread",
    burn = [[
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()]],
    ends = "error RuntimeError: can't start new thread",
  },
  bomb.entry {
    attack = "zombies: children that end and are never waited for; orphans that end by the thousand",
    naive = "the table of processes fills up with dead ones",
    ours = "EAGAIN for children; orphans are reaped by the agent, and the code ends by its time",
    mark = [[
import time
def zombies():
    for _ in range(90):
        if os.fork() == 0:
            os._exit(0)
    return "ok"
probe(zombies)]],
    answer = "EAGAIN",
    burn = [[
import os
def note():
    with open("/tmp/ended", "w") as file:
        file.write(str(ended))
for _ in range(30):
    if os.fork() == 0:
        os._exit(0)
ended = 0
while True:
    child = os.fork()
    if child == 0:
        os.fork()
        os._exit(0)
    os.waitpid(child, 0)
    ended += 1
    if ended % 100 == 0:
        note()]],
    ends = "code timeout.*",
    peak = { zombies = 30 },
    after = function(box)
      local ended = assert(box.files:read "/tmp/ended")
      assert(tonumber(ended) >= 100, "only " .. ended .. " children have ended and left an orphan")
    end,
  },
  bomb.entry {
    attack = "sleepers: background programs that wait for ever, out of every group",
    naive = "they stay when the command is gone",
    ours = "the limit holds for all of them, and they end with the sandbox",
    mark = CHILDREN .. "probe(children, 90)",
    answer = "EAGAIN",
    run = "for i in $(seq 40); do setsid sleep 10000 >/dev/null 2>&1 </dev/null & done; wait -n; sleep 0.2",
    ends = "exit 0|code timeout.*",
    peak = { processes = 40 },
  },
  bomb.entry {
    attack = "all processors: more spinning processes than there are",
    naive = "takes every processor",
    ours = "the code's time is over; with a control group it had one processor",
    small = "sum(range(1000)) and 'ok'",
    burn = "import os\nfor _ in range(8):\n  if os.fork() == 0:\n    while True: pass\nwhile True: pass",
    ends = "code timeout.*",
    peak = { running = 8 },
  },
  bomb.entry {
    attack = "code that does not hear: SIGINT ignored, stopped by itself, in an endless call of C",
    naive = "hangs as long as it likes",
    ours = "the step ends by its time, and the next step has an answer",
    small = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler) and 'ok'",
    burn = [[
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGSTOP)
while True:
    pass]],
    after = function(box) assert(assert(box:step "6 * 7").text == "42") end,
    ends = "code timeout.*",
    peak = { stopped = 1 },
  },
  bomb.entry {
    attack = "kill everybody one may: kill -9 -1",
    naive = "kills all of the user's processes on the host",
    ours = "`context_lost`: the runner was among them; the next step has a new one",
    small = "import os; os.kill(os.getpid(), 0) or 'ok'",
    burn = "import subprocess; subprocess.run(['sh', '-c', 'kill -9 -1'])",
    ends = "code context_lost.*",
    after = function(box) assert(assert(box:step "6 * 7").text == "42") end,
  },
  bomb.entry {
    attack = "as root, kill everybody: kill -9 -1",
    naive = "kills the supervisor",
    ours = "process 1 is immune; the sandbox goes on",
    small = "'ok'",
    needs = function(frame) return not frame:has_root() and "sandboxes have no root here" or nil end,
    act = function(box)
      local victims = {}
      for i, user in ipairs { "user", "root" } do
        victims[i] = assert(box.commands:run("exec sleep 100", { background = true, user = user }))
      end
      box.commands:run("kill -9 -1; sleep 1", { user = "root", timeout = 5 })
      local ends = {}
      for i, victim in ipairs(victims) do
        local done, _, code = victim:wait { timeout = 5 }
        ends[i] = done and (done.how or "exit " .. done.exit_code) or code
      end
      return table.concat(ends, ", ")
    end,
    ends = "signal: killed, signal: killed",
    after = function(box) assert(assert(box:step "6 * 7").text == "42") end,
  },
  bomb.entry {
    attack = "end the runner: os._exit, a fault in C, the stack used up, its descriptors closed",
    naive = "the step hangs, or looks as if it had ended well",
    ours = "`context_lost`",
    small = "'ok'",
    act = function(box)
      local endings = {}
      for _, code in ipairs {
        "import os; os._exit(0)", "import ctypes; ctypes.string_at(8)", "import os; os.closerange(0, 4096)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "import os; os.abort()",
      } do
        local done, _, lost = box:step(code, { timeout = 5 })
        endings[#endings + 1] = done and "done" or lost
      end
      return table.concat(endings, " ")
    end,
    ends = "context_lost context_lost context_lost context_lost context_lost",
  },
  bomb.entry {
    attack = "a storm of signals among one's own processes",
    naive = "keeps the kernel and the supervisor busy",
    ours = "the code's time is over",
    small = "import os, signal; signal.signal(10, signal.SIG_IGN) or os.kill(os.getpid(), 10) or 'ok'",
    burn = [[
import os, signal
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
for _ in range(3):
    os.fork()
note = os.open("/tmp/sent-%d" % os.getpid(), os.O_CREAT | os.O_WRONLY)
sent = 0
while True:
    os.kill(-1, signal.SIGUSR1)
    sent += 1
    os.pwrite(note, b"%10d" % sent, 0)]],
    ends = "code timeout.*",
    peak = { processes = 8, running = 2 },
    after = function(box)
      local sent = 0
      for _, entry in ipairs(assert(box.files:list "/tmp")) do
        if entry.name:find "^sent%-" then sent = sent + tonumber(assert(box.files:read(entry.path))) end
      end
      assert(sent >= 1000, "only " .. sent .. " signals were sent to all")
    end,
  },
  bomb.entry {
    attack = "a flood of system calls that are refused and counted",
    naive = "each wakes the supervisor",
    ours = "the engine answers so many a second, and the callers wait for the rest",
    small = "'ok'",
    burn = [[
import ctypes, os
libc = ctypes.CDLL(None)
for _ in range(5):
    os.fork()
while True:
    libc.mount(None, None, None, 0, None)]],
    ends = "code timeout.*",
    after = function(box)
      local details = assert(box:info()).details
      if not details.isolation.refusedCallsCounted then return end
      local count = details.refusedCalls.mount or 0
      assert(count > 300, "only " .. count .. " calls were refused")
    end,
  },
}
