--- Snapshots whose files lead elsewhere, or bring what their sandbox had no right to.

local engine = require "spec.support.engine"
local host = require "spec.support.host"

local function needs_root(frame) return not frame:has_root() and "sandboxes have no root here" or nil end

--- A snapshot of a sandbox in which root has run a command, and what the engine answers who begins with it.
local function remake(daemon, command)
  local sandbox = daemon:create()
  local ended = daemon:as_root(sandbox, command)
  assert(ended == "0", "the snapshot is not prepared: " .. tostring(ended))
  local answer = daemon:call("POST", "/sandboxes/" .. sandbox.sandboxID .. "/snapshots", "")
  daemon:call("DELETE", "/sandboxes/" .. sandbox.sandboxID)
  if answer.status ~= 201 then return answer end
  local made = daemon:call("POST", "/v2/sandboxes", { templateID = answer.json.snapshotID })
  daemon:call("DELETE", "/templates/" .. answer.json.snapshotID:gsub(":", "%%3A"))
  return made
end

--- What a folder outside has, all of it.
local function listing(folder)
  return (host.sh("cd " .. folder .. " && find . -printf '%p %s %m\\n' | sort"))
end

-- What the engine writes to when it builds a sandbox, or what is mounted over.
local PLACES = "/etc /etc/passwd /etc/resolv.conf /home/user /home /tmp /run /root /opt/stepbox /opt "
  .. "/var/lib/dpkg /var/lib /var /usr/local /dev /proc /mnt /media /srv"

-- A program that shows where it ran: the path that it writes to is one of the host's.
local PROGRAM = "#!%s\necho ran >>%s/ran\n"

--- Calls a function with an engine, and with a folder outside that everybody may write to.
local function with_engine(fn)
  local daemon, out = engine.start(), host.temporary()
  host.sh("chmod 777 " .. out)
  local ok, message = xpcall(fn, debug.traceback, daemon, out)
  daemon:stop()
  host.sh("rm -rf " .. out)
  if not ok then error(message, 0) end
end

return {
  title = "Snapshots",

  {
    attack = "have a snapshot unpacked elsewhere: links in the place of everything that the engine makes or "
      .. "mounts",
    naive = "unpacks through the link, and writes outside",
    ours = "nothing outside changes; the sandbox has the link as its own, or `create` fails",
    needs = needs_root,
    control = function(frame)
      local out = frame:folder() .. "/out"
      host.sh("mkdir -p " .. out)
      local said = frame:outside { python = ([[
import io, tarfile
with tarfile.open("links.tar", "w") as archive:
    link = tarfile.TarInfo("etc")
    link.type, link.linkname = tarfile.SYMTYPE, %q
    archive.addfile(link)
    file = tarfile.TarInfo("etc/passwd")
    file.size = 4
    archive.addfile(file, io.BytesIO(b"root"))
os.makedirs("tree", exist_ok=True)
with tarfile.open("links.tar") as archive:
    archive.extraction_filter = lambda member, path: member
    archive.extractall("tree")
print("written" if os.path.exists(%q) else "not written")]]):format(out, out .. "/passwd") }
      frame:expect(said, "written", "a naive unpacking")
    end,
    attempt = function()
      with_engine(function(daemon, out)
        host.sh(("cd %s; echo kept >kept; chmod 666 kept; mkdir -m 777 below"):format(out))
        local before, outcomes, which = listing(out), {}, 0
        for place in PLACES:gmatch "%S+" do
          which = which % 3 + 1
          local target = ({ out, out .. "/kept", out .. "/new" })[which]
          local made = remake(daemon, ("mv %s /old 2>/dev/null || rm -rf %s 2>/dev/null; ln -sfn %s %s; true")
            :format(place, place, target, place))
          outcomes[made.status] = (outcomes[made.status] or 0) + 1
          assert(made.status == 201 or made.status >= 400, made.status)
          if made.status == 201 then daemon:call("DELETE", "/sandboxes/" .. made.json.sandboxID) end
          assert(listing(out) == before, ("%s -> %s: %s"):format(place, target, listing(out)))
        end
        assert(outcomes[201], "no sandbox begins with such a snapshot")
        assert(daemon:create())
      end)
    end,
  },
  {
    attack = "have a snapshot run something outside: programs, libraries and settings that the engine, tar, "
      .. "bwrap and the dynamic linker look for",
    naive = "makes the files its root first, and runs what it finds there",
    ours = "nothing of it runs outside",
    needs = needs_root,
    control = function(frame)
      local folder = frame:folder() .. "/tree/bin"
      host.sh("mkdir -p " .. folder)
      host.write(folder .. "/tar", "#!/bin/sh\necho ran\n")
      host.sh("chmod 755 " .. folder .. "/tar")
      frame:expect(frame:outside { shell = "PATH=./tree/bin:$PATH; tar" }, "ran", "a naive start")
    end,
    attempt = function()
      with_engine(function(daemon, out)
        local program = PROGRAM:format("/bin/sh", out):gsub("\n", "\\n")
        local made = remake(daemon, ([[
printf '%s' >/tmp/program; chmod 755 /tmp/program
for name in tar bwrap stepbox-agent nft ip pasta newuidmap python3 true; do
  for folder in /usr/local/bin /usr/local/sbin /usr/bin /usr/sbin /root /home/user /run /tmp; do
    cp /tmp/program $folder/$name 2>/dev/null
  done
done
echo %s/library.so >/etc/ld.so.preload; echo %s >/etc/ld.so.conf
mkdir -p /etc/stepbox; echo '{}' >/etc/stepbox/engine.json; true]]):format(program, out, out))
        assert(made.status == 201 or made.status >= 400, made.status)
        if made.status == 201 then daemon:call("DELETE", "/sandboxes/" .. made.json.sandboxID) end
        assert(host.read(out .. "/ran") == "", "it ran outside")
        assert(daemon:create())
      end)
    end,
  },
  {
    attack = "keep rights over a snapshot: a setuid shell of root's, capabilities in files, devices",
    naive = "has them in the next sandbox, or outside",
    ours = "the bits are there, and give nobody anything",
    needs = needs_root,
    control = function(frame)
      if not frame:is_root() then frame:skip "outside, root alone can make such files" end
      local said = frame:outside { shell = "cp /bin/sh shell; chmod 4755 shell; chmod 755 .; "
        .. "setpriv --reuid 65534 --regid 65534 --clear-groups ./shell -p -c 'id -u'" }
      frame:expect(said, "0", "outside")
    end,
    attempt = function()
      with_engine(function(daemon)
        local made = remake(daemon, "cp /bin/dash /home/user/shell && chmod 4755 /home/user/shell && "
          .. "{ setcap cap_setuid,cap_sys_admin+ep /home/user/shell 2>/dev/null; true; }")
        assert(made.status == 201, made.body)
        local told = daemon:inside(made.json, [[
import os, subprocess
shown = subprocess.run(["/home/user/shell", "-p", "-c", "id -u; grep CapEff /proc/self/status"],
                       capture_output=True, text=True).stdout
print(oct(os.stat("/home/user/shell").st_mode), shown)]])
        assert(told:find "^0o104755 1000\nCapEff:%s+0+\n", told)
      end)
    end,
  },
}
