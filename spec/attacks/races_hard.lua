--- Hard links swapped under each call of the file interface, by a process inside.

local host = require "spec.support.host"
local races = require "spec.support.races"

local function needs_both(frame)
  return not frame:has_root() and "the sandbox has no second user here, whose files could be reached" or nil
end

--- A call under which a file changes places with a hard link to another's. naive: as in races.lua.
local function hard(what, naive, call)
  return {
    attack = "swap hard links to another's file " .. what,
    naive = "looks whether a file has other names, and then opens what has some meanwhile",
    ours = "the call has the rights of its user in the kernel, whatever the name; the other's file stays as "
      .. "it is",
    needs = needs_both,
    control = function(frame) races.control(frame, naive, true) end,
    attempt = function(frame) races.attempt(frame, call, true) end,
  }
end

local ROOT = { user = "root" }

return {
  title = "Hard links swapped under calls",

  hard("under a read", 'return open("hard").read() == "secret"',
    function(files) return files:read "race/hard" end),
  hard("under a write", [[
open("hard", "w").write("changed")
return open(keep + "/secret").read() == "changed"]],
    function(files) return files:write("race/hard", "changed") end),
  hard("under a removal, also of a tree that has them", [[
os.chmod("hard", 0o777)  # so that it can be removed
return os.stat(keep + "/secret").st_mode & 0o777 == 0o777]],
    function(files, i)
      if i % 5 == 0 then return files:remove "race/pool" and files:make_dir "race/pool" end
      return files:remove "race/hard"
    end),
  hard("under a list and info that show how files begin", 'return open("hard").read(6) == "secret"',
    function(files)
      for _, entry in ipairs { files:info "race/hard", table.unpack(files:list "race" or {}) } do
        for _, value in pairs(entry) do
          if value == "secret" then return "secret" end
        end
      end
    end),
  hard("under a rename, which copies where it cannot move", [[
open("moved", "w").write(open("hard").read())
return open("moved").read() == "secret"]],
    function(files, i)
      local moved = "race/moved" .. i
      return files:rename("race/hard", moved) and files:read(moved)
    end),
  hard("under compose", [[
open("joined", "w").write(open("hard").read())
return open("joined").read() == "secret"]],
    function(files)
      return files:compose({ "race/hard", "race/hard" }, "race/joined")
        and files:read "race/joined" == "secretsecret" and "secret" or "joined"
    end),
  hard("under a watch", [[
descriptor = libc.inotify_init()
libc.inotify_add_watch(descriptor, b"hard", 0x4)
os.chmod(keep + "/secret", 0o600)
os.set_blocking(descriptor, False)
try:
    return bool(os.read(descriptor, 1000))
finally:
    os.close(descriptor)]],
    function(files, _, frame)
      local watch = files:watch "race/hard"
      if not watch then return end
      assert(frame:box().commands:run("chmod 600 /root/keep/secret", ROOT))
      local events = watch:poll()
      watch:stop()
      return events and events[1] and "secret"
    end),
  {
    attack = "make a hard link to root's file, and have the calls change that",
    naive = "runs as root, and writes to what the user has named",
    ours = "EPERM for the link, where the kernel forbids it; permission for the calls; the agent's and the "
      .. "system's files are on other mounts, EXDEV",
    needs = needs_both,
    control = function(frame)
      local said = frame:outside { python = [[
open("of-root", "w").write("kept")
os.link("of-root", "mine")
open("mine", "w").write("changed")
print(open("of-root").read())]] }
      frame:expect(said, "changed", "outside")
    end,
    attempt = function(frame)
      local box = frame:box()
      local files = box.files
      assert(box.commands:run("printf kept >/tmp/of-root; chmod 644 /tmp/of-root; "
        .. "ln /tmp/of-root /home/user/linked; ln /tmp/of-root /tmp/linked", ROOT).exit_code == 0)
      local tried = assert(box.commands:run "ln /tmp/of-root mine; ls mine")
      if host.read "/proc/sys/fs/protected_hardlinks" ~= "0\n" then
        assert(tried.exit_code ~= 0 and tried.stderr:find "Operation not permitted", tried.stderr)
      end
      for _, name in ipairs { "mine", "linked", "/tmp/linked", "/tmp/of-root" } do
        assert(not files:write(name, "changed") or name == "mine", name)
        files:compose({ name }, name)
        files:remove(name)
      end
      local state = box.commands:run("cat /tmp/of-root; stat -c ' %a %U' /tmp/of-root", ROOT).stdout
      assert(state == "kept 644 root\n", state)
      for _, user in ipairs { "user", "root" } do
        for _, target in ipairs { "/opt/stepbox/stepbox-agent", "/usr/bin/env" } do
          local linked = assert(box.commands:run({ "ln", target, "/tmp/of-" .. user }, { user = user }))
          assert(linked.exit_code ~= 0, user .. " has linked " .. target)
        end
      end
    end,
  },
}
