--- Bombs of output and input: more than anybody can read, and things that cannot be shown.

local assert = require "luassert"
local bomb = require "spec.support.bomb"
local curl = require "spec.support.curl"
local engine = require "spec.support.engine"

-- Bytes that the engine may have more than before: it passes on, and keeps nothing.
local SPARE = 64 << 20

local function memory(place)
  local status = require("spec.support.host").read("/proc/" .. place.daemon.engine_pid .. "/status")
  return tonumber(status:match "VmRSS:%s*(%d+)") * 1024
end

--- An entry with a check of the engine's memory.
local function entry(fields)
  local after, before = fields.after, nil
  function fields.after(box, place)
    local more = memory(place) - before
    assert(more < SPARE, "the engine has " .. more .. " bytes more than before")
    if after then after(box, place) end
    assert(assert(box:step("6 * 7", { timeout = 20 })).text == "42")
  end
  local made = bomb.entry(fields)
  local attempt = made.attempt
  function made.attempt(frame)
    before = memory(bomb.place(frame))
    attempt(frame)
  end
  return made
end

local function outcome(done, message, code)
  if not done then return ("code %s: %s"):format(code, message) end
  return done.exit_code and "exit " .. done.exit_code or "text " .. (done.text or "")
end

local function headers(box)
  return {
    ["E2b-Sandbox-Id"] = box.id, ["E2b-Sandbox-Port"] = "49999", ["Content-Type"] = "application/json",
  }
end

--- Requests for so many contexts.
local function orders(place, box, count)
  local list = {}
  for i = 1, count do
    list[i] = { socket = place.daemon.socket, url = "http://localhost/contexts", method = "POST", body = "{}",
      headers = headers(box) }
  end
  return list
end

return {
  title = "Bombs: output and input",
  alone = "its bombs take all processors",

  entry {
    attack = "print without end",
    naive = "whoever collects the output runs out of memory",
    ours = "the client keeps as much as it was told to and drops the rest; the step ends by its time",
    small = "print('x' * 1000) or 'ok'",
    burn = "while True: print('x' * 1000)",
    ends = "code timeout.*",
    after = function(box)
      local options = { timeout = 1, max_output = 5000 }
      local done, _, code, partial = box:step("while True: print('x' * 1000)", options)
      assert(not done and code == "timeout" and #partial.stdout <= 5000, "output beyond what was asked for")
      assert(partial.stdout_truncated, "it does not say that some is missing")
    end,
  },
  entry {
    attack = "print without end to a client that keeps all it is sent",
    naive = "sends it until the client is out of memory",
    ours = "the sandbox's limit of output: what comes after is read and dropped, the code goes on and keeps "
      .. "its state, and the client is told how much it was",
    outside = {
      shell = "/usr/bin/python3 -c 'while True: print(\"x\" * 1000)' 2>/dev/null | head -c 20000000 | wc -c",
    },
    works = "20000000",
    act = function(_, place)
      local bounded = assert(place.client:create { timeout = 60, output = 1 << 20 })
      local came = 0
      local done = assert(bounded:step("sent = 0\nwhile sent < 20 << 20:\n  sent += len('x' * 999) + 1\n"
        .. "  print('x' * 999)", { timeout = 30, on_stdout = function(text) came = came + #text end }))
      local command = assert(bounded.commands:run("yes | head -c 20000000; echo done >/tmp/done"))
      assert(bounded.files:read "/tmp/done" == "done\n")
      local state = assert(bounded:step "sent").text
      assert(tonumber(state) >= 20 << 20, state)
      -- What E2B's clients get, which know of no limit.
      local raw = place.daemon:create { limits = { outputMB = 1 } }
      local answer = curl.request(place.daemon:execution(raw, "print('x' * (20 << 20))"))
      place.daemon:call("DELETE", "/sandboxes/" .. raw.sandboxID)
      assert(#answer.body < 1200000, #answer.body .. " bytes came")
      local line = '"type": "stderr", "text": "[stepbox: dropped beyond the sandbox\'s limit of output, '
        .. '1048576 bytes for each step: 19922945 bytes of output]\\n"'
      assert(answer.body:find(line, 1, true), answer.body:sub(-400))
      bounded:kill()
      return ("%d of %d, %d of %d"):format(came, came + done.dropped, #command.stdout,
        #command.stdout + command.dropped)
    end,
    seconds = 30,
    ends = "1048576 of 20972000, 1048576 of 20000000",
  },
  entry {
    attack = "one line that never ends, on stdout and on stderr",
    naive = "waits for the end of the line",
    ours = "comes in pieces, as lines do",
    small = "import sys; sys.stdout.write('x' * 1000) and 'ok'",
    burn = [[
import sys
while True:
    sys.stdout.write("x" * 65536)
    sys.stderr.write("y" * 65536)]],
    ends = "code timeout.*",
    after = function(box)
      local code = "import sys\nwhile True:\n  sys.stdout.write('x' * 65536)\n  sys.stderr.write('y' * 65536)"
      local _, _, why, partial = box:step(code, { timeout = 1, max_output = 500000 })
      assert(why == "timeout" and #partial.stdout == 500000 and #partial.stderr == 500000,
        ("%s: %d and %d bytes came"):format(why, #partial.stdout, #partial.stderr))
    end,
  },
  entry {
    attack = "a result of a gigabyte",
    naive = "builds it, quotes it and sends it",
    ours = "MemoryError in the runner, `context_lost`, or an error that says that it is too large",
    small = "'ok'",
    burn = "class X:\n  def __repr__(self): return 'x' * (1 << 30)\nX()",
    seconds = 15,
    ends = "error MemoryError.*|code context_lost.*",
    after = function(box)
      -- Smaller than the memory, and larger than a line of the protocol may be.
      local done, message, code = box:step("'x' * (70 << 20)", { timeout = 15 })
      assert(done and done.error or code == "context_lost", message or "the result came")
    end,
  },
  entry {
    attack = "results by the hundred thousand, and of every kind",
    naive = "keeps all until the end",
    ours = "they come as they are made; the step ends by its time",
    small = "display('x'); 'ok'",
    burn = [[
class Many:
    def _repr_mimebundle_(self, **_):
        return {f"text/x{i}": "y" * 100 for i in range(1000)}
while True:
    display("x", Many())]],
    ends = "code timeout.*",
    after = function(box)
      local _, _, why, partial = box:step("while True: display('x')", { timeout = 1 })
      local count = #partial.results
      assert(why == "timeout" and count > 500, ("%s: %d results came"):format(why, count))
    end,
  },
  entry {
    attack = "things that cannot be shown: __repr__ that raises, exits, recurses, prints, or never ends",
    naive = "the runner falls with them",
    ours = "an error of the step, or the end of its time",
    small = "'ok'",
    act = function(box)
      for body, expected in pairs {
        ["raise ValueError('no')"] = "ValueError", ["raise SystemExit"] = "SystemExit",
        ["return repr(self)"] = "RecursionError", ["raise KeyboardInterrupt"] = "KeyboardInterrupt",
        ["return None"] = "TypeError", ["return '\\ud800'"] = "text \u{FFFD}",
        ["import os; os._exit(1)"] = "context_lost", ["print('x' * 100000); return 'y'"] = "text y",
      } do
        local code = "class X:\n  def __repr__(self):\n    " .. body .. "\nX()"
        local done, _, lost = box:step(code, { timeout = 10 })
        local came = done and (done.error and done.error.name or "text " .. tostring(done.text)) or lost
        assert(came == expected, ("%s: %s, and not %s"):format(body, came, expected))
      end
      return outcome(box:step("class X:\n  def __repr__(self):\n    while True: pass\nX()", { timeout = 1 }))
    end,
    ends = "code timeout.*",
  },
  entry {
    attack = "errors that cannot be shown: megabytes of name and text, endless tracebacks",
    naive = "the error of the error is nobody's",
    ours = "an error of the step",
    small = "'ok'",
    act = function(box)
      for _, code in ipairs {
        "def f(): f()\nf()", "raise type('E' * (1 << 20), (Exception,), {})('x' * (1 << 20))",
        "class E(Exception):\n  def __str__(self): raise self\nraise E", "raise SystemExit('x' * (1 << 20))",
        "a = Exception('a'); b = Exception('b'); a.__cause__ = b; b.__cause__ = a\nraise a",
        "raise ExceptionGroup('g', [ValueError(i) for i in range(100000)])",
      } do
        local done, message, lost = box:step(code, { timeout = 15 })
        assert(done and done.error or lost == "context_lost", code .. ": " .. tostring(message or done.text))
      end
      return "all"
    end,
    ends = "all",
  },
  entry {
    attack = "a terminal that says something without end",
    naive = "the supervisor buffers it",
    ours = "is held back to the rate at which it is read",
    small = "'ok'",
    seconds = 2,
    act = function(box)
      local terminal = assert(box.pty:create { command = { "yes" }, timeout = 1.5, max_output = 100000 })
      local _, _, code, partial = terminal:wait()
      return ("%s, %d bytes kept"):format(code, #partial.stdout)
    end,
    ends = "timeout, 100000 bytes kept",
  },
  entry {
    attack = "input for a program that reads none",
    naive = "the supervisor buffers it, or waits with everything else",
    ours = "the writer waits, or gets an error; others do not",
    small = "'ok'",
    act = function(box)
      local input = ("x"):rep(64 << 20)
      local options = { background = true, stdin = true, timeout = 2 }
      local sleeper = assert(box.commands:run({ "sleep", "100" }, options))
      require("stepbox").spawn(function() sleeper:send_stdin(input) end)
      require("stepbox").sleep(1)
      local waiting = assert(box:step(("import array, fcntl, os, termios\nsize = array.array('i', [0])\n"
        .. "fcntl.ioctl(os.open('/proc/%d/fd/0', os.O_RDONLY), termios.FIONREAD, size)\nsize[0]")
        :format(sleeper.pid))).text
      local _, _, code = sleeper:wait()
      if tonumber(waiting) >= 4096 then waiting = "all its" end
      return ("%s, %s bytes wait in the pipe"):format(code, waiting)
    end,
    ends = "timeout, all its bytes wait in the pipe",
  },
  entry {
    attack = "commands by the hundred",
    naive = "starts them all",
    ours = "starts as many as the limit allows, and says so for the others",
    small = "'ok'",
    seconds = 5,
    act = function(box)
      local started, refused = {}, 0
      for _ = 1, 100 do
        local command = box.commands:run({ "sleep", "100" }, { background = true })
        if command then started[#started + 1] = command else refused = refused + 1 end
      end
      for _, command in ipairs(started) do command:kill() end
      local many = #started > 20 and "many" or #started
      return ("%s, %s"):format(many, refused > 10 and "others refused" or refused)
    end,
    ends = "many, others refused",
  },
  entry {
    attack = "contexts by the hundred, each with a runner",
    naive = "starts them all",
    ours = "starts as many as the limits allow; the others end with an error, and the sandbox goes on",
    small = "'ok'",
    bounded_by = "cgroup",
    act = function(box, place)
      -- Refused a runner, or given a new one since the kernel had ended that for want of memory.
      local bounded = 0
      local pending = curl.start(table.unpack(orders(place, box, 100)))
      repeat place.stepbox.sleep(0.2) until not engine.is_alive(pending.pid)
      pending.finish()
      local list = place.daemon:call("GET", "/contexts", nil, headers(box)).json
      for _, context in ipairs(list) do
        local done, message, code = box:step("'x'", { context = context.id, timeout = 20 })
        assert(done or message and code)
        if not done or done.restarted then bounded = bounded + 1 end
        if bounded == 3 then break end
      end
      return #list < 100 and #list .. " made" or bounded > 0 and "not all at once" or "all at once"
    end,
    after = function(box, place)
      for _, context in ipairs(place.daemon:call("GET", "/contexts", nil, headers(box)).json) do
        place.daemon:call("DELETE", "/contexts/" .. context.id, nil, headers(box))
      end
    end,
    ends = "not all at once",
  },
}
