--- The users of a sandbox: `user`, and a `root` that rules over nothing but the sandbox.

local engine = require "spec.support.engine"
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"
local local_engine = require "stepbox.engine"

local ROOT = { user = "root" }

local function is_root() return sandbox.sh "id -u" == "0\n" end

describe("the users of a sandbox", function()
  local box, local_part

  local function run(command, options) return assert(box.commands:run(command, options)) end
  --- What a command prints that must succeed.
  local function out(command, options)
    local result = run(command, options)
    assert.equal(0, result.exit_code, command .. ": " .. result.stderr .. result.stdout)
    return (result.stdout:gsub("\n$", ""))
  end
  --- Calls the test, if this engine gives its sandboxes a range of ids.
  local function with_root(name, test)
    it(name, function()
      if local_part.ids == "range" then return test() end
      pending "this host gives sandboxes no range of ids"
    end)
  end
  --- The same for a writable /usr.
  local function with_packages(name, test)
    it(name, function()
      if local_part.systemTree == "writable" then return test() end
      pending "/usr is read-only here: mounts with other owners need root"
    end)
  end

  setup(function()
    local daemon = engine.start()
    local made = daemon:create()
    local_part = daemon:call("GET", "/sandboxes/" .. made.sandboxID).json["local"].isolation
    daemon:stop()
    box = assert(stepbox.create { timeout = 300 })
  end)
  teardown(function() assert(box:kill()) end)

  it("are told by the engine", function()
    assert(local_part.ids == "range" or (local_part.ids == "single" and #local_part.why > 0))
    if is_root() then assert.equal("range", local_part.ids) end
    assert(({ writable = true, ["local"] = true, readonly = true })[local_part.systemTree])
  end)

  with_root("are user, with no capability, and root", function()
    assert.equal("1000 user /home/user /home/user", out "echo $(id -u) $(whoami) $HOME $PWD")
    assert.equal("0 root /root /root", out("echo $(id -u) $(whoami) $HOME $PWD", ROOT))
    local status = "cat /proc/self/status"
    for _, set in ipairs { "Inh", "Prm", "Eff", "Bnd", "Amb" } do
      assert(out(status):find("Cap" .. set .. ":%s+0+\n"), set)
    end
    assert(out(status):find "NoNewPrivs:%s+1\n")
    assert(out(status, ROOT):find "NoNewPrivs:%s+1\n")
  end)

  with_root("are nobody on the host, root neither", function()
    local engine_pid = assert(local_engine.status()).pid
    run("sleep 60 & sleep 60 & echo", ROOT)
    local seen = 0
    for _, pid in ipairs(engine.descendants(engine_pid)) do
      local uids = engine.read("/proc/" .. pid .. "/status"):match "\nUid:%s+([^\n]+)"
      if uids then
        seen = seen + 1
        for uid in uids:gmatch "%d+" do
          assert(tonumber(uid) > 60000 or not is_root(), "process " .. pid .. " has the uids " .. uids)
        end
      end
    end
    assert(seen >= 3)
    out("pkill sleep", ROOT)
  end)

  with_root("cannot become each other", function()
    assert.equal("1", out "su root -c 'id -u' </dev/null >/dev/null 2>&1; echo $?")
    -- Programs that change the user are without effect for user; root gives its rights up for good.
    out("cp /usr/bin/id /var/tmp/id && chmod 4755 /var/tmp/id", ROOT)
    assert.equal("1000", out "/var/tmp/id -u")
    local shown = "sh -c 'echo $(id -u) $(grep CapEff /proc/self/status | cut -f2)'"
    assert.equal("1000 0000000000000000", out("setpriv --reuid 1000 --clear-groups " .. shown, ROOT))
  end)

  with_root("are kept apart by the rights of files", function()
    out("umask 077; echo secret > /root/note; echo mine > /etc/mine; chmod 600 /etc/mine", ROOT)
    assert.equal("permission", select(3, box.files:read "/root/note"))
    assert.equal("secret\n", assert(box.files:read("/root/note", ROOT)))
    assert.equal("permission", select(3, box.files:write("/etc/new", "x")))
    assert.equal("/etc/new", assert(box.files:write("/etc/new", "x", ROOT)).path)
    assert.equal("root", assert(box.files:info "/etc/new").owner)
    assert(box.files:write("own", "x"))
    assert.equal("user", assert(box.files:info "own").owner)
    assert.equal("permission", select(3, box.files:rename("/etc/new", "/etc/newer")))
    assert(box.files:rename("/etc/new", "/etc/newer", ROOT))
    assert.equal("permission", select(3, box.files:remove "/etc/newer"))
    assert(box.files:remove("/etc/newer", ROOT))
    assert.equal("permission", select(3, box.files:list "/root"))
    assert.equal("note", assert(box.files:list("/root", ROOT))[1].name)
    assert(box.files:make_dir("relative", ROOT))
    assert.equal("root", out("stat -c %U /root/relative", ROOT))
  end)

  with_root("see the changes that they may see", function()
    local watch = assert(box.files:watch("/root", ROOT))
    out("touch /root/changed", ROOT)
    local event = watch:events()()
    assert.equal("changed", event.name)
    watch:stop()
    assert.equal("permission", select(3, box.files:watch "/root"))
  end)

  with_root("are not mixed up by calls at the same time", function()
    -- A long list as root, between whose turns user's calls are answered.
    out("mkdir /root/many && cd /root/many && seq 20000 | xargs touch", ROOT)
    stepbox.run(function()
      local list = stepbox.spawn(function() return box.files:list("/root/many", ROOT) end)
      local reads = {}
      for i = 1, 30 do
        reads[i] = stepbox.spawn(function() return select(3, box.files:read "/root/note") end)
      end
      for i = 1, 30 do assert.equal("permission", reads[i]:wait()) end
      assert.equal(20000, #assert(list:wait()))
    end)
  end)

  with_root("do not reach the kernel as root", function()
    local probes = {
      { "mount", "mount -t tmpfs none /mnt" },
      { "namespace", "unshare -U true" },
      { "namespace of mounts", "unshare -m true" },
      { "hostname", "hostname other" },
      { "device", "mknod /tmp/sda b 8 0" },
      { "interface", "ip link set lo down" },
      { "kernel setting", "echo 1 > /proc/sys/kernel/hostname" },
      { "priority", "renice -n $(($(nice) - 5)) $$" },
      { "clock", "date -s @0" },
    }
    for _, probe in ipairs(probes) do
      assert.is_not.equal(0, run(probe[2], ROOT).exit_code, probe[1])
    end
  end)

  it("are refused by name when there is no such one", function()
    local _, message = box.commands:run("true", { user = "nobody-such" })
    assert(message:find("no such user", 1, true), message)
    assert.equal("unauthorized", select(3, box.files:read("x", { user = "nobody-such" })))
  end)

  it("say what to do where there is no root", function()
    if not is_root() then return pending "needs root, to become somebody without subordinate ids" end
    local folder = engine.temporary()
    engine.sh("chown nobody " .. folder)
    local as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups "
    if select(2, engine.sh(as_nobody .. "test -x " .. engine.program)) ~= 0 then
      return pending "needs a checkout that everybody may read"
    end
    local script = ([[
      local stepbox = require "stepbox"
      local box = assert(stepbox.create { timeout = 60 })
      print(assert(box.commands:run "id -u").stdout)
      print(select(2, box.commands:run("id -u", { user = "root" })))
      print(assert(box.commands:run "touch /tmp/a ~/b /dev/shm/c; touch /d || echo ok").stdout)
      box:kill()
      assert(require "stepbox.engine".stop())
    ]])
    sandbox.write(folder .. "/script.lua", script)
    engine.sh("chmod a+r " .. folder .. "/script.lua")
    local environment = ("env -u XDG_CONFIG_HOME HOME=%s XDG_RUNTIME_DIR=%s "):format(folder, folder)
    local printed = engine.sh(environment .. as_nobody .. "lua5.4 " .. folder .. "/script.lua 2>&1")
    assert(printed:find("1000\n", 1, true), printed)
    assert(printed:find("/etc/subuid", 1, true), printed)
    assert(printed:find("ok", 1, true), printed)
    engine.sh("rm -rf " .. folder)
  end)

  with_packages("can install a package, which vanishes with the sandbox", function()
    local other = assert(stepbox.create { timeout = 60 })
    out [[
      mkdir -p p/DEBIAN p/usr/bin
      cat > p/DEBIAN/control <<'END'
Package: stepbox-probe
Version: 1
Architecture: all
Maintainer: nobody <nobody@example.com>
Description: probe
END
      cat > p/DEBIAN/postinst <<'END'
#!/bin/sh
set -e
update-alternatives --install /usr/bin/sp sp /usr/bin/stepbox-probe 10
ldconfig
END
      printf '#!/bin/sh\necho installed\n' > p/usr/bin/stepbox-probe
      chmod 755 p/usr/bin/stepbox-probe p/DEBIAN/postinst
      dpkg-deb -b --root-owner-group p probe.deb
    ]]
    out("apt-get install -y /home/user/probe.deb", ROOT)
    assert.equal("installed installed", out "echo $(stepbox-probe) $(sp)")
    assert.equal(127, assert(other.commands:run "stepbox-probe").exit_code)
    assert.is_false(engine.exists "/usr/bin/stepbox-probe")
    out("apt-get remove -y stepbox-probe", ROOT)
    assert.equal(127, run("stepbox-probe").exit_code)
    assert(other:kill())
  end)

  with_packages("can change and remove what the host has under /usr, for themselves", function()
    out("rm /usr/bin/env && chmod 700 /usr/bin/du", ROOT)
    out("rm -rf /usr/share/doc/bash && mkdir /usr/share/doc/bash", ROOT)
    assert.equal(127, run("env").exit_code)
    assert.equal("", out "ls -A /usr/share/doc/bash")
    assert(engine.exists "/usr/bin/env")
    assert.equal(0, select(2, engine.sh "setpriv --reuid 65534 --clear-groups du --version"))
  end)

  with_packages("can put files into /usr/local, where those of the host stay closed to them", function()
    if not is_root() then return pending "needs root, to put a secret into the host's /usr/local" end
    local name = "stepbox-spec-" .. sandbox.now()
    local file = "/usr/local/etc/" .. name
    local lines = "umask 077; echo secret > %s; echo open > %s-open; chmod 644 %s-open"
    engine.sh(lines:format(file, file, file))
    finally(function() engine.sh("rm -f /usr/local/etc/" .. name .. "*") end)
    local fresh <close> = assert(stepbox.create { timeout = 60 })
    local function root(command) return assert(fresh.commands:run(command, ROOT)) end
    assert.equal("open\n", root("cat " .. file .. "-open").stdout)
    assert(root("cat " .. file).stderr:find "Permission denied")
    assert.equal(0, root("echo x > /usr/local/bin/new && rm /usr/local/bin/new").exit_code)
    assert.is_not.equal(0, assert(fresh.commands:run "echo x > /usr/local/bin/new").exit_code)
  end)
end)
