-- Runs test programs side by side, in lanes. Each lane has a runtime folder of its own, and so an engine of
-- its own; what runs in it runs one after the other.

local M = {}

-- Runs one job in a lane: it gets the run's folder, the job's number and its command. Says how it ended and
-- after how many milliseconds. Of one that does not end nothing stays that would disturb the next.
local LANE = [[
export XDG_RUNTIME_DIR="$1/$LANE"
unset LANE
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
begun=$(date +%s%N)
timeout --foreground -k 10 1800 sh -c "$3" >"$1/$2.out" 2>&1
status=$?
in_lane() { grep -l -s -e "$XDG_RUNTIME_DIR" /proc/[0-9]*/environ | cut -d / -f 3; }
[ $status != 124 ] || kill -9 $(in_lane) 2>/dev/null
echo "$2 $status $(( ($(date +%s%N) - begun) / 1000000 ))"
]]

--- Runs jobs, { name = , command = }, in so many lanes, as shell commands. When one has ended `done` gets the
--- job, its output, its exit status and the seconds that it took.
function M.run(folder, jobs, lanes, done)
  local list = assert(io.open(folder .. "/jobs", "wb"))
  for i, job in ipairs(jobs) do list:write(i, "\0", job.command, "\0") end
  list:close()
  local script = assert(io.open(folder .. "/lane", "wb"))
  script:write(LANE)
  script:close()
  local command = "xargs -0 -r -n 2 -P %d --process-slot-var=LANE sh %s/lane %s <%s/jobs"
  local pipe = assert(io.popen(command:format(lanes, folder, folder, folder)))
  local waiting = {}
  for i in ipairs(jobs) do waiting[i] = true end
  for line in pipe:lines() do
    local number, status, milliseconds = line:match "^(%d+) (%d+) (%d+)$"
    number = tonumber(number)
    local file = assert(io.open(("%s/%d.out"):format(folder, number), "rb"))
    local output = file:read "a"
    file:close()
    waiting[number] = nil
    done(jobs[number], output, tonumber(status), tonumber(milliseconds) / 1000)
  end
  pipe:close()
  for number in pairs(waiting) do done(jobs[number], "it was not run\n", 1, 0) end
end

return M
