--- For the attack suite: links that a process of the sandbox's user swaps all the time, under the file calls.
---
--- A folder `race` has a file `name` and a directory `dir`, which change places with links to a file and a
--- directory that are another's (`keep`, with the file `secret` in it), and a `tree` with the same in it. A
--- file `hard` changes places with `linked`, a hard link to that file: where the kernel forbids users to link
--- what is not theirs, root has put some into `pool`.

local host = require "spec.support.host"

local M = {}

local ROOT = { user = "root" }
-- Where the other's files are inside: of root, for user to stay out of.
local KEEP = "/root/keep"
local ROUNDS = 25

local SWAP = [[
import ctypes, os, time
libc = ctypes.CDLL(None)
keep = "@keep@"
os.makedirs("@race@", exist_ok=True)
os.chdir("@race@")
os.makedirs("dir", exist_ok=True)
for name in ("name", "dir/x"):
    with open(name, "w") as file:
        file.write("mine")
os.symlink(keep, "link")
os.symlink(keep + "/secret", "other")
def exchange(one, two):
    libc.renameat2(-100, one.encode(), -100, two.encode(), 2)
def is_theirs(name):
    try:
        return os.path.samefile(name, keep + "/secret")
    except PermissionError:
        return os.stat(name).st_uid != os.getuid()
def hard():
    try:
        if not os.path.lexists("hard"):
            with open("hard", "w") as file:
                file.write("mine")
        if not any(is_theirs(name) for name in ("hard", "linked")):
            os.remove("linked")
    except OSError:
        pass
    if not os.path.lexists("linked"):
        for make in (lambda: os.link(keep + "/secret", "linked"),
                     lambda: os.rename("pool/" + os.listdir("pool")[0], "linked")):
            try:
                make()
                break
            except (OSError, IndexError):
                pass
def tree():
    try:
        os.makedirs("tree/sub", exist_ok=True)
        for i in range(20):
            open(f"tree/{i}", "w").close()
        os.symlink(keep, "tree/link")
        exchange("tree/sub", "tree/link")
    except OSError:
        pass
print("ready", flush=True)
end = time.monotonic() + 600
while time.monotonic() < end:
    for _ in range(50):
        exchange("dir", "link")
        exchange("name", "other")
        exchange("tree/sub", "tree/link")
        exchange("hard", "linked")
    tree()
    hard()
]]

-- A server that looks before it does what it was asked for, as naive ones do.
local NAIVE = [[
os.chdir("@race@")
keep = "@keep@"
def attempt():
%s
end = time.monotonic() + 15
while time.monotonic() < end:
    try:
        if %s:
            continue
        if attempt():
            print("reached")
            break
    except OSError:
        pass
else:
    print("not reached")]]

local function fill(text, values) return (text:gsub("@(%w+)@", values)) end

--- Another's files again as they were, outside.
local function reset(folder)
  host.sh(("rm -rf %s/keep; mkdir -p %s/keep; printf secret >%s/keep/secret"):format(folder, folder, folder))
end

-- What a naive server looks for.
local LINKS = 'os.path.islink("name") or os.path.islink("dir") or not os.path.isdir("dir")'
local HARD_LINKS = 'os.stat("hard").st_nlink > 1'

--- Shows that a naive server is led astray by the swaps. python: the body of a function that tells whether
--- it was. is_hard: it looks for hard links, and not for symbolic ones.
function M.control(frame, python, is_hard)
  local folder = frame:folder()
  local values = { keep = folder .. "/keep", race = folder .. "/race" }
  reset(folder)
  if not frame.races_outside then
    host.write(folder .. "/swap", fill(SWAP, values))
    frame.races_outside = frame:start(
      ("sh -c 'exec /usr/bin/python3 -I %s/swap >%s/swap.out'"):format(folder, folder))
    assert(host.eventually(5, function() return host.read(folder .. "/swap.out") ~= "" end))
  end
  os.execute("kill -CONT " .. frame.races_outside)
  local body = "    " .. python:gsub("\n", "\n    ")
  local said = frame:outside { python = fill(NAIVE:format(body, is_hard and HARD_LINKS or LINKS), values) }
  os.execute("kill -STOP " .. frame.races_outside) -- it takes a processor
  frame:expect(said, "reached", "a naive server")
end

local function run(frame, command, options)
  local result = assert(frame:box().commands:run(command, options))
  assert(result.exit_code == 0, command .. ": " .. result.stdout .. result.stderr)
  return result.stdout
end

local STATE = "cd " .. KEEP .. " && find . -printf '%p %m %u %s\\n' | sort && cat secret"

--- Starts the swaps in the sandbox, once.
local function start(frame)
  if frame.race_state then return end
  run(frame, ("mkdir -p %s && cd %s && printf secret >secret && chmod 600 secret"):format(KEEP, KEEP), ROOT)
  assert(frame:box().files:write("/tmp/swap", fill(SWAP, { keep = KEEP, race = "/home/user/race" })))
  run(frame, "python3 -I /tmp/swap >/tmp/swap.out 2>&1 & "
    .. "for i in $(seq 200); do [ -s /tmp/swap.out ] && break; sleep 0.02; done; grep ready /tmp/swap.out")
  frame.race_state = run(frame, STATE, ROOT)
end

--- Sees to it that a hard link to the other's file is among what is swapped.
local function link_hard(frame)
  run(frame, ("cd /home/user/race && mkdir -p pool && for i in $(seq 50); do ln -f %s/secret pool/$i; done; "
    .. "chown user:user pool"):format(KEEP), ROOT)
  assert(host.eventually(5, function()
    return run(frame, "cd race; stat -c %U hard linked 2>/dev/null; true"):find "root"
  end), "no link to the other's file is swapped")
end

--- Makes a call again and again under the swaps. Nothing that it returns may be the other's, and the other's
--- files must be as before.
function M.attempt(frame, call, is_hard)
  start(frame)
  run(frame, "pkill -CONT -f /tmp/swap")
  if is_hard then link_hard(frame) end
  local files = frame:box().files
  for i = 1, ROUNDS do
    local result = call(files, i, frame)
    if type(result) == "table" then
      for _, entry in ipairs(result) do result = entry.name == "secret" and "secret" or result end
      if result.name == "secret" and result.size == 6 then result = "secret" end
    end
    assert(result ~= "secret", "the call gave what is another's")
  end
  local state = run(frame, STATE, ROOT)
  assert(state == frame.race_state, "another's files have changed: " .. state)
  run(frame, "pkill -STOP -f /tmp/swap") -- which fails when it is no more
end

return M
