--- Bombs set off by root of the sandbox, who may more inside, and must not take more.

local bomb = require "spec.support.bomb"

--- A command as root, as one line: how it ended and its last word.
local function as_root(command, seconds)
  return function(box)
    local options = { user = "root", timeout = seconds or 10 }
    local done, message, code = box.commands:run({ "bash", "-c", command }, options)
    if not done then return ("code %s: %s"):format(code, message) end
    return ("exit %d: %s"):format(done.exit_code, done.stdout:match "([^\n]*)\n*$")
  end
end

local function needs_root(frame) return not frame:has_root() and "sandboxes have no root here" or nil end

return {
  title = "Bombs: root",
  alone = "its bombs take all processors",

  bomb.entry {
    attack = "as root, raise one's limits and make processes without end",
    naive = "root has no limit of processes",
    ours = "the limit cannot be raised, and the control group has one for root too; the command's time is "
      .. "over",
    needs = needs_root,
    small = "'ok'",
    act = as_root("ulimit -u unlimited; ulimit -n 1000000; :(){ :|:& };:; sleep 60", 2),
    ends = "code timeout.*",
    peak = { processes = 30 },
    bounded_by = "cgroup",
  },
  bomb.entry {
    attack = "as root, take memory until the kernel must choose, exempt from its choice",
    naive = "oom_score_adj of -1000 leaves everybody else to be chosen",
    ours = "the score cannot be lowered; the program is killed, and the sandbox goes on",
    needs = needs_root,
    small = "'ok'",
    act = as_root("echo -1000 >/proc/self/oom_score_adj; tail /dev/zero; echo ended $?", 20),
    ends = "exit 0: ended 137",
    bounded_by = "cgroup",
    after = function(box) assert(assert(box:step "6 * 7").text == "42") end,
  },
  bomb.entry {
    attack = "as root, fill the disk, remount it larger, fill it through /usr",
    naive = "root has a reserve, and the overlay another space",
    ours = "ENOSPC in one space for all",
    needs = needs_root,
    small = "'ok'",
    act = as_root("mount -o remount,size=1g / 2>/dev/null; head -c 200M /dev/zero >/usr/local/x 2>/dev/null; "
      .. "head -c 200M /dev/zero >/root/y 2>/dev/null; "
      .. "du -cm /usr/local/x /root/y | tail -n 1 | cut -f 1", 20),
    ends = "exit 0: [123]%d",
  },
  bomb.entry {
    attack = "as root, leave the control group, thaw or change it",
    naive = "writes to the group's files, where cgroupfs is mounted",
    ours = "there is no file of a control group to be found or mounted",
    needs = needs_root,
    outside = { shell = "find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | head -n 1 | grep -c ." },
    works = "1",
    act = as_root("mkdir -p /tmp/g; mount -t cgroup2 none /tmp/g; mount -t cgroup -o pids none /tmp/g; "
      .. "find / -name cgroup.procs -not -path '/proc/*' 2>/dev/null | wc -l", 30),
    ends = "exit 0: 0",
  },
}
