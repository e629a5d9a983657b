--- Links swapped under each call of the file interface, by a process inside.

local host = require "spec.support.host"
local races = require "spec.support.races"

local function needs_both(frame)
  return not frame:has_root() and "the sandbox has no second user here, whose files could be reached" or nil
end

--- naive: what a naive server does, as the body of a Python function that tells whether it reached the
--- other's file.
local function race(what, naive, call)
  return {
    attack = what,
    naive = "looks, and then opens what has become a link meanwhile",
    ours = "the call has the rights of its user in the kernel: no link leads to more",
    needs = needs_both,
    control = function(frame) races.control(frame, naive) end,
    attempt = function(frame) races.attempt(frame, call) end,
  }
end

local ROOT = { user = "root" }

return {
  title = "Links swapped under calls",
  about = [[
The calls of the file interface run inside the sandbox, with the user's own rights in the kernel. Calls as
`root` follow links like any program that root runs, and lead to what root of the sandbox has; removing a tree
follows none.]],

  race("swap links under a read", 'return open("name").read() == "secret"',
    function(files) return files:read "race/name" end),
  race("swap directories under a read", 'return open("dir/secret").read() == "secret"',
    function(files) return files:read "race/dir/secret" end),
  race("swap links under a write", [[
open("name", "w").write("changed")
return open(keep + "/secret").read() == "changed"]],
    function(files) return files:write("race/name", "changed") end),
  race("swap directories under a write", [[
open("dir/new", "w").close()
return os.path.exists(keep + "/new")]],
    function(files) return files:write("race/dir/new", "x") end),
  race("swap directories under a list", 'return "secret" in os.listdir("dir")',
    function(files) return files:list("race/dir", { depth = 3 }) end),
  race("swap directories under info", 'return os.stat("dir/secret").st_size == 6',
    function(files) return files:info "race/dir/secret" end),
  race("swap directories under a rename out of them", [[
os.rename("dir/secret", "stolen")
return True]],
    function(files) return files:rename("race/dir/secret", "race/stolen") end),
  race("swap directories under a rename into them", [[
open("mine", "w").close()
os.rename("mine", "dir/secret")
return open(keep + "/secret").read() == ""]],
    function(files, i)
      assert(files:write("race/mine" .. i, "x"))
      return files:rename("race/mine" .. i, "race/dir/secret" .. i)
    end),
  race("swap directories under a removal", [[
os.remove("dir/secret")
return not os.path.exists(keep + "/secret")]],
    function(files) return files:remove "race/dir/secret" end),
  race("swap directories under a removal of a whole tree, also as root", [[
for name in os.listdir("tree"):
    if not os.path.islink("tree/" + name) and os.path.isdir("tree/" + name):
        for inner in os.listdir("tree/" + name):
            os.remove("tree/" + name + "/" + inner)
return not os.path.exists(keep + "/secret")]],
    function(files) return files:remove("race/tree", ROOT) and files:remove "race/tree" end),
  race("swap directories under make_dir", [[
os.mkdir("dir/sub")
return os.path.exists(keep + "/sub")]],
    function(files) return files:make_dir "race/dir/sub" end),
  race("swap directories under a watch", [[
descriptor = libc.inotify_init()
libc.inotify_add_watch(descriptor, b"dir", 0x100)
open(keep + "/seen", "w").close()
os.set_blocking(descriptor, False)
try:
    return bool(os.read(descriptor, 1000))
finally:
    os.close(descriptor)
    os.remove(keep + "/seen")]],
    function(files)
      local watch = files:watch "race/dir"
      if watch then watch:stop() end
      return watch and "watched"
    end),
  race("swap links under compose", [[
open("joined", "w").write(open("name").read())
return open("joined").read() == "secret"]],
    function(files)
      return files:compose({ "race/name", "race/name" }, "race/joined")
        and files:read "race/joined" == "secretsecret" and "secret" or "joined"
    end),
  race("swap directories under the destination of compose", [[
open("dir/joined", "w").write(open("name").read())
return os.path.exists(keep + "/joined")]],
    function(files) return files:compose({ "race/joined" }, "race/dir/joined") end),
  {
    attack = "lead root's calls out by links to paths of the host, also through /proc/1/root and /..",
    naive = "reads the host's file, as a server outside that joins paths does",
    ours = "not_found or permission: nothing of the host has a path inside",
    needs = needs_both,
    control = function(frame)
      host.write(frame:folder() .. "/marker", "the host's")
      local probe = { shell = ("ln -sfn /proc/self/root%s/marker out; cat out"):format(frame:folder()) }
      frame:expect(frame:outside(probe), "the host's", "outside")
    end,
    attempt = function(frame)
      local files, folder = frame:box().files, frame:folder()
      local prefixes = { "", "/proc/1/root", "/proc/self/root", "/proc/self/cwd/../../..", "/../../.." }
      for i, prefix in ipairs(prefixes) do
        local name = "out" .. i
        assert(frame:box().commands:run { "ln", "-sfn", prefix .. folder .. "/marker", name })
        for _, options in ipairs { {}, ROOT } do
          assert(not files:read("/home/user/" .. name, options), name)
          assert(not files:read(prefix .. folder .. "/marker", options), name)
          assert(not files:list(prefix .. folder, options), name)
        end
      end
    end,
  },
  {
    attack = "lead root's calls to the agent itself: links to /proc/self/mem, environ, fd",
    naive = "reads the server's secrets, writes its memory",
    ours = "an error, or nothing of use; the agent goes on",
    needs = needs_both,
    control = function(frame)
      local probe = { shell = "ln -sfn /proc/self/environ self; grep -c XDG_RUNTIME_DIR self" }
      frame:expect(frame:outside(probe), "1", "outside")
    end,
    attempt = function(frame)
      local box = frame:box()
      local files = box.files
      for _, target in ipairs { "mem", "environ", "fd/3", "fd/4", "fd/5", "fd/6", "fd/7", "fd/8", "fd/9" } do
        assert(box.commands:run { "ln", "-sfn", "/proc/self/" .. target, "/home/user/self" })
        for _, options in ipairs { {}, ROOT } do
          local content = files:read("/home/user/self", options)
          assert(not content or not content:find "STEPBOX" and not content:find "XDG_RUNTIME", target)
          files:write("/home/user/self", ("A"):rep(4096), options)
        end
      end
      assert(assert(box.commands:run "echo alive").stdout == "alive\n")
      assert(assert(box:step "6 * 7").text == "42")
    end,
  },
  {
    attack = "hold up the file calls: pipes, sockets, devices and terminals where files are expected",
    naive = "waits for the other end of a pipe for ever, or reads /dev/zero to no end",
    ours = "an error at once",
    control = function(frame)
      local said = frame:outside { shell = [[
mkfifo pipe 2>/dev/null
timeout 1 cat pipe; echo $?
timeout 1 sh -c 'cat /dev/zero >/dev/null'; echo $?]] }
      frame:expect(said, "124\n124", "outside")
    end,
    attempt = function(frame)
      local box = frame:box()
      local files = box.files
      local names = { "pipe", "zero", "ptmx", "tty", "full", "loop", "socket" }
      local made = assert(box.commands:run [[
        mkfifo pipe; ln -s loop loop; for name in zero ptmx tty full; do ln -s /dev/$name $name; done
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")']])
      assert(made.exit_code == 0, made.stderr)
      local begun = host.now()
      for _, name in ipairs(names) do
        assert(not files:read(name), name)
        assert(not files:write(name, "x"), name)
        assert(not files:list(name), name)
        assert(not files:compose({ name }, "joined"), name)
        files:info(name)
      end
      for _, name in ipairs(names) do assert(files:remove(name)) end
      assert(host.now() - begun < 10, "the calls took " .. host.now() - begun .. " s")
    end,
  },
}
