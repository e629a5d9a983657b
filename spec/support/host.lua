--- The machine that the specs run on: files, shell commands, time.

local M = {}

--- The content of a file; "" when it cannot be read.
function M.read(path)
  local file = io.open(path, "rb")
  local content = file and file:read "a" or ""
  if file then file:close() end
  return content
end

function M.write(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

--- Runs a shell command; returns its output (both streams) and exit status. The sanitizer that the specs'
--- own interpreter may have been started with is not for others.
function M.sh(command)
  local pipe = assert(io.popen("( unset LD_PRELOAD\n" .. command .. "\n) 2>&1", "r"))
  local output = pipe:read "a"
  local _, kind, status = pipe:close()
  return output, kind == "exit" and status or 128 + status
end

--- Seconds on a clock that only counts forward.
function M.now() return tonumber(M.read("/proc/uptime"):match "^[%d.]+") end

function M.sleep(seconds) os.execute("sleep " .. seconds) end

--- Waits until fn() is true, at most `seconds`; returns its last value.
function M.eventually(seconds, fn)
  local deadline = M.now() + seconds
  while true do
    local value = fn()
    if value or M.now() > deadline then return value end
    M.sleep(0.02)
  end
end

--- When a process was started, in ticks of the kernel's clock; nil when it is gone. Together with its number
--- that names it: numbers come again soon where others start thousands of processes.
function M.birth(pid)
  local rest = M.read("/proc/" .. pid .. "/stat"):match "%) (.*)" -- the name before may be anything
  return rest and tonumber(rest:match(("%S+ "):rep(19) .. "(%d+)"))
end

--- Sends a signal to the process, if it is still the one that was born then.
function M.kill(pid, birth, signal)
  if birth and M.birth(pid) == birth then os.execute(("kill -%s %d 2>/dev/null"):format(signal, pid)) end
end

function M.temporary() return (M.sh "mktemp -d /tmp/stepbox-spec.XXXXXX"):gsub("%s+$", "") end

return M
