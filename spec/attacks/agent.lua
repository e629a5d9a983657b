--- The agent of the sandbox, process 1: what stands between code and the engine.

local host = require "spec.support.host"

local ROOT = { user = "root" }

local function needs_both(frame)
  return not frame:has_root() and "the sandbox has no root here" or nil
end

local function run(frame, command, options)
  local result = assert(frame:box().commands:run(command, options))
  return ((result.stdout .. result.stderr):gsub("%s+$", ""))
end

local LIBRARY = [[
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
    char path[64];
    snprintf(path, sizeof path, "%s/loaded-%d", access("/opt/stepbox", F_OK) ? "." : "/tmp", (int)getpid());
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
}
]]

--- A library that notes each process that loads it; its path outside.
local function library(frame)
  local path = frame:folder() .. "/library.so"
  host.write(frame:folder() .. "/library.c", LIBRARY)
  local said, status = host.sh(("cc -shared -fPIC -o %s %s/library.c"):format(path, frame:folder()))
  assert(status == 0, said)
  return path
end

return {
  title = "The agent",

  {
    attack = "replace the agent's program by its file or by /proc/1/exe (as CVE-2019-5736 did runc's)",
    naive = "the next start runs the attacker's program, outside",
    ours = "EROFS and EACCES, for the sandbox's root too",
    prepare = function(frame)
      host.sh(("cp /usr/bin/sleep %s/program"):format(frame:folder()))
      return {
        outside = { program = frame:folder() .. "/program", link = frame:folder() .. "/program" },
        inside = { program = "/opt/stepbox/stepbox-agent", link = "/proc/1/exe" },
      }
    end,
    python = [[
attempts({
    "its file": lambda: os.rename("@program@", "@program@"[:-1]) or os.rename("@program@"[:-1], "@program@"),
    "its link": lambda: os.close(os.open("@link@", os.O_WRONLY))})]],
    answer = "EACCES for its link, EROFS for its file",
  },
  {
    attack = "overwrite the host's program that a step's process has from outside (/proc/self/exe)",
    naive = "changes the interpreter of the host, if it is root's namespace",
    ours = "EACCES or ETXTBSY; what it maps of the host it may only read",
    control = function(frame)
      host.sh(("cp /usr/bin/true %s/own"):format(frame:folder()))
      local probe = { python = 'probe(lambda: os.close(os.open("own", os.O_RDWR)))' }
      frame:expect(frame:outside(probe), "ok", "outside")
    end,
    attempt = function(frame)
      local before = host.sh "sha256sum $(readlink -f /usr/bin/python3)"
      local result = assert(frame:box():step [[
import ctypes, errno, os
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may look into itself
answers = set()
def attempt(path, flags):
    try:
        os.close(os.open(path, flags))
        answers.add("opened " + path)
    except OSError as error:
        answers.add(errno.errorcode[error.errno])
attempt("/proc/self/exe", os.O_RDWR)
attempt("/proc/self/exe", os.O_WRONLY | os.O_TRUNC)
for name in os.listdir("/proc/self/map_files"):
    attempt("/proc/self/map_files/" + name, os.O_RDWR)
print(*sorted(answers))]])
      assert(result.stdout:find "^E" and not result.stdout:find "opened", result.stdout)
      assert(host.sh "sha256sum $(readlink -f /usr/bin/python3)" == before)
    end,
  },
  {
    attack = "have the agent load a library that the sandbox's /etc names (nsswitch.conf, ld.so.preload)",
    naive = "the supervisor looks users up as the sandbox's files say, and runs what they name",
    ours = "the agent loads nothing after its start; other programs do",
    needs = needs_both,
    control = function(frame)
      -- Any program of the sandbox that looks a user up loads it.
      local box = frame:box()
      assert(box.files:write("/opt/probe/libnss_probe.so.2", host.read(library(frame)), ROOT))
      run(frame, "echo /opt/probe >/etc/ld.so.conf.d/probe.conf; ldconfig; "
        .. "printf 'passwd: probe files\\ngroup: probe files\\nhosts: probe files\\n' >/etc/nsswitch.conf; "
        .. "echo /opt/probe/libnss_probe.so.2 >/etc/ld.so.preload; "
        .. "touch /tmp/foreign; chown 4242:4242 /tmp/foreign", ROOT)
      -- In one mode there are few ids.
      run(frame, "[ $(stat -c %u /tmp/foreign) = 4242 ] || chown 777:777 /tmp/foreign", ROOT)
      assert(run(frame, "ls -l /tmp/foreign; ls /tmp"):find "loaded%-", "no program loads it")
    end,
    attempt = function(frame)
      local files = frame:box().files
      local owner = assert(files:info "/tmp/foreign").owner
      assert(owner == "4242" or owner == "777", owner)
      assert(files:list "/tmp")
      assert(not files:read("x", { user = "nobody-such" }))
      assert(files:write("/tmp/new", "x", ROOT))
      assert(frame:box():step "1")
      assert(run(frame, "ls /tmp/loaded-1; true"):find "No such file", "the agent has loaded it")
      run(frame, "rm /etc/ld.so.preload /etc/nsswitch.conf", ROOT)
    end,
  },
  {
    attack = "pose as a client of the agent: its ports 49983 and 49999 on the sandbox's loopback",
    naive = "E2B's server listens there, and gives root to who asks",
    ours = "ECONNREFUSED: the agent listens nowhere, connections come from the engine",
    prepare = function(frame)
      local program = (os.getenv "STEPBOX_BUILD" or "build") .. "/bin/stepbox-agent"
      frame:start(program .. " --listen 127.0.0.1:39983,127.0.0.1:39999 --home " .. frame:folder())
      return { outside = { ports = "39983, 39999" }, inside = { ports = "49983, 49999" } }
    end,
    python = [[
for _ in range(50):
    try:
        socket.create_connection(("127.0.0.1", 39983), 1).close()
        break
    except OSError:
        if "49983" in "@ports@":
            break
        time.sleep(0.05)
attempts({str(p): (lambda p=p: socket.create_connection(("127.0.0.1", p), 3).close()) for p in (@ports@)})]],
    answer = "ECONNREFUSED",
  },
  {
    attack = "take over the agent's connection to the engine: its descriptors below /proc/1/fd",
    naive = "opens them",
    ours = "EACCES: nobody inside may see them",
    prepare = function(frame)
      return { outside = { pid = frame:start "sleep 300" }, inside = { pid = 1 } }
    end,
    python = [[
def see():
    for name in os.listdir("/proc/@pid@/fd"):
        os.readlink("/proc/@pid@/fd/" + name)
probe(see)]],
    answer = "EACCES|EPERM",
  },
  {
    attack = "fill the agent with descriptors sent over a step's connection to it (SCM_RIGHTS)",
    naive = "keeps what comes",
    ours = "closes it: what was sent is gone at once, and the sandbox goes on",
    control = function(frame)
      -- A receiver that keeps them.
      frame:expect(frame:outside { python = [[
import select
one, other = socket.socketpair()
read, write = os.pipe()
socket.send_fds(one, [b"x"], [write])
os.close(write)
kept = socket.recv_fds(other, 1, 10)
print("kept" if not select.select([read], [], [], 0.3)[0] else "closed")]] }, "kept", "to a keeper")
    end,
    attempt = function(frame)
      local box = frame:box()
      run(frame, "mkfifo /tmp/sent; "
        .. "(timeout 20 cat /tmp/sent; echo end >/tmp/sent-end) >/dev/null 2>&1 &")
      -- What it gets with them is no line of a runner, and ends the context.
      local result, _, code = box:step [[
import os, socket, stat, sys
write = os.open("/tmp/sent", os.O_WRONLY)
for name in os.listdir("/proc/self/fd"):
    try:
        if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
            connection = socket.socket(fileno=os.dup(int(name)))
            for _ in range(20):
                socket.send_fds(connection, [b"\n"], [write] * 20)
            open("/tmp/sent-some", "w").close()
    except OSError:
        pass
os._exit(0)]]
      assert(not result and code == "context_lost" or result and result.error, tostring(code))
      assert(run(frame, "for i in $(seq 100); do [ -s /tmp/sent-end ] && break; sleep 0.05; done; "
        .. "cat /tmp/sent-end; ls /tmp/sent-some") == "end\n/tmp/sent-some")
      assert(assert(box:step "1 + 1").text == "2")
    end,
  },
  {
    attack = "replace the programs and runners that the agent starts: /opt/stepbox, the shell, python",
    naive = "the supervisor runs them with its own rights",
    ours = "/opt/stepbox is read-only; what root replaces of the rest runs as who was asked for",
    needs = needs_both,
    control = function(frame)
      local probe = { shell = "mkdir -p opt; echo x >opt/agent && echo replaced" }
      frame:expect(frame:outside(probe), "replaced", "outside")
    end,
    attempt = function(frame)
      local said = run(frame, "rm -rf /opt/stepbox/runners; echo x >/opt/stepbox/stepbox-agent; "
        .. "mv /opt/stepbox /opt/other; mount --bind /tmp /opt/stepbox; ls /opt/stepbox", ROOT)
      assert(said:find "stepbox%-agent" and said:find "runners", said)
      run(frame, "rm -f /bin/bash && printf '#!/bin/sh\\nid -u\\n' >/bin/bash && chmod 755 /bin/bash", ROOT)
      -- Or it cannot be replaced, and is the host's.
      local result = assert(frame:box().commands:run "exit 3")
      assert(result.stdout == "1000\n" or result.exit_code == 3, result.stdout)
    end,
  },
}
