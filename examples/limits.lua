-- A sandbox with limits: what it takes, a pause, a program that root installs, and its files as a snapshot.
local stepbox = require "stepbox"
local MIB = 1024 * 1024

local box <close> = assert(stepbox.create {
  timeout = 120, memory = 256 * MIB, disk = 64 * MIB, cpus = 0.5, processes = 50, open_files = 256,
})
local info = assert(box:info())
local limits = info.details.limits
print(("limits, held by %s: %d MB of memory, %d MB of files, %g processors, %d processes"):format(
  limits.by, limits.memoryMB, limits.diskMB, limits.cpuCount, limits.processes))

-- Code that asks for too much gets an error, and keeps its variables.
assert(box:step "kept = 42")
local greedy = assert(box:step "b = bytearray(1 << 30)")
print("a gigabyte: " .. (greedy.error and greedy.error.name or "taken"))
local _, message, code = box.files:write("big", ("x"):rep(65 * MIB))
print("a file of 65 MB: " .. tostring(code or message))
print("kept: " .. assert(box:step "kept").text)

local metrics = assert(box:metrics())
local now = metrics[#metrics]
print(("it takes %.0f of %.0f MB of memory, %.0f of %.0f MB of files"):format(now.memory_used / MIB,
  now.memory_total / MIB, now.disk_used / MIB, now.disk_total / MIB))

-- Paused, nothing in it runs, and its life does not go on.
assert(box:pause())
print("state: " .. assert(box:info()).state .. "; a step now: " .. select(3, box:step "1"))
assert(box:resume { timeout = 120 })
print("and on: " .. assert(box:step "kept + 1").text)

-- Its root may change the system tree, which is the sandbox's own. Some hosts have no ids for a root.
local where = "/usr/local/bin"
if info.details.isolation.ids ~= "range" or info.details.isolation.systemTree ~= "writable" then
  where = "/home/user/bin"
end
assert(box.files:write("greet", "#!/bin/sh\necho hello from $0\n"))
local installed = assert(box.commands:run("install -D -m 755 greet " .. where .. "/greet", {
  cwd = "/home/user", user = where == "/usr/local/bin" and "root" or nil,
}))
assert(installed.exit_code == 0, installed.stderr)

-- Another sandbox begins with the files.
local snapshot = assert(box:snapshot())
local other <close> = assert(stepbox.create { snapshot = snapshot, timeout = 60 })
io.write("in another sandbox: ", assert(other.commands:run(where .. "/greet")).stdout)
assert(stepbox.delete_snapshot(snapshot))
