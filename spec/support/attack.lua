--- The frame of the attack suite. A family is a list in spec/attacks/; `alone` in it is why it disturbs other
--- tests, and must run by itself. Each entry has the texts of its row
---
---     attack, naive, ours    what is tried, what a naive sandbox does, what ours answers
---
--- and a probe. Most probes are a program that prints one line:
---
---     python, shell or c     its text; @NAME@ in it stands for a value that `prepare` returns
---     works                  what it prints where it succeeds: a pattern for the whole; "ok" by default
---     answer                 what it prints in the sandbox; { user = , root = } when they differ
---     users                  { "user" } when it is for one of them alone
---     where                  where it must succeed first: "child", a plain child of the tests (the default),
---                            or "namespaces", a sandbox of `unshare` as many would make it, with no filter
---     needs                  a function(frame) that returns why the probe cannot succeed here, or nil
---     lacking                what it prints where this kernel does not have the thing: the row is skipped
---     prepare                a function(frame) that returns the values; what it puts under `outside` and
---                            `inside` is for one place alone
---     release                a function(frame) that is called last, however it went
---
--- A pattern may be several, "a|b".
---
--- Others are two functions of the frame, `control`, which must succeed outside, and `attempt`, which shows
--- that the same fails inside. Each fails by an error, and skips the row by frame:skip(reason).

local host = require "spec.support.host"

local M = {}

local Frame = {}
Frame.__index = Frame

local NAMESPACES = "unshare --user --map-root-user --mount --pid --net --ipc --uts --fork --mount-proc "

local function trim(text) return (text:gsub("%s+$", "")) end

--- What the members of a family share: the sandboxes, and a folder outside.
function M.frame(family)
  return setmetatable({ family = family, sandboxes = {}, written = {}, processes = {}, closers = {} }, Frame)
end

--- A sandbox of the family, made at its first use. Those with another name are another's.
function Frame:box(name)
  name = name or "own"
  if not self.sandboxes[name] then
    local stepbox = require "stepbox"
    self.sandboxes[name] = assert(stepbox.create { timeout = 300 })
  end
  return self.sandboxes[name]
end

--- A folder outside, for the family.
function Frame:folder()
  self.own_folder = self.own_folder or host.temporary()
  return self.own_folder
end

--- Starts a program outside that goes on until the family is done; returns its process id.
function Frame:start(command)
  local pipe = assert(io.popen("exec 3>&1; ( unset LD_PRELOAD; exec " .. command
    .. " ) </dev/null >/dev/null 2>&1 3>&- & echo $! >&3"))
  local pid = tonumber(pipe:read "l")
  pipe:close()
  self.processes[#self.processes + 1] = { pid = pid, birth = host.birth(pid) }
  return pid
end

--- Has a function called when the family is done.
function Frame:finally(fn) table.insert(self.closers, fn) end

function Frame:close()
  for _, fn in ipairs(self.closers) do fn() end
  for _, process in ipairs(self.processes) do host.kill(process.pid, process.birth, "KILL") end
  for _, box in pairs(self.sandboxes) do box:kill() end
  if self.own_folder then host.sh("rm -rf " .. self.own_folder) end
end

function Frame.skip(_, reason) error({ skip = reason }, 0) end

--- Whether the tests run as root.
function Frame:is_root()
  if self.root == nil then self.root = trim(host.sh "id -u") == "0" end
  return self.root
end

--- Whether sandboxes have a root here.
function Frame:has_root()
  if self.range == nil then
    self.range = self:box().commands:run("true", { user = "root" }) ~= nil
    assert(self.range or not self:is_root(), "the sandbox has no root")
  end
  return self.range
end

--- For `needs`: the probe can succeed outside for root alone.
function M.needs_root(frame)
  return not frame:is_root() and "outside, the probe can succeed for root alone" or nil
end

--- For `needs`: sandboxes have devices of their own.
function M.needs_own_devices(frame)
  local mounts = assert(frame:box().commands:run "grep ' /dev/null ' /proc/self/mountinfo").stdout
  return not mounts:find " %- tmpfs stepbox " and "the engine may make no devices: they are the host's files"
    or nil
end

--- Builds a C program; returns its path.
local function compile(frame, text)
  frame.built = frame.built or {}
  if not frame.built[text] then
    frame.count = (frame.count or 0) + 1
    local path = ("%s/built-%d"):format(frame:folder(), frame.count)
    host.write(path .. ".c", text)
    local output, status = host.sh(("${CC:-cc} -O1 -static -pthread -o %s %s.c"):format(path, path))
    assert(status == 0, "a probe cannot be built: " .. output)
    frame.built[text] = path
  end
  return frame.built[text]
end

local prelude

--- A program's text as a file's content, and the words that run it.
local function program_of(frame, probe)
  if probe.c then return host.read(compile(frame, probe.c)), "%s" end
  if probe.shell then return probe.shell, "sh %s" end
  prelude = prelude or host.read((os.getenv "STEPBOX_ROOT" or ".") .. "/spec/support/probe.py")
  return prelude .. "\n" .. probe.python, "/usr/bin/python3 -I %s"
end

local function put_values(text, values)
  return (text:gsub("@([%w_]+)@", function(name)
    return tostring(assert(values[name], "no value for @" .. name .. "@"))
  end))
end

local function fill(probe, values, place)
  local all = {}
  for name, value in pairs(values or {}) do all[name] = value end
  for name, value in pairs(all[place] or {}) do all[name] = value end
  return {
    python = probe.python and put_values(probe.python, all),
    shell = probe.shell and put_values(probe.shell, all),
    c = probe.c and put_values(probe.c, all),
  }
end

--- Runs a probe outside; returns what it printed.
function Frame:outside(probe, where)
  local content, command = program_of(self, probe)
  self.count = (self.count or 0) + 1
  local path = ("%s/probe-%d"):format(self:folder(), self.count)
  host.write(path, content)
  host.sh("chmod 755 " .. path)
  local output = host.sh(("cd %s; %s timeout -k 1 20 %s </dev/null"):format(self:folder(),
    where == "namespaces" and NAMESPACES or "", command:format(path)))
  return trim(output)
end

--- Runs a probe in a sandbox; returns what it printed.
function Frame:inside(probe, user, box)
  box = box or self:box()
  local content, command = program_of(self, probe)
  local path = self.written[content]
  if not path or box ~= self:box() then
    self.count = (self.count or 0) + 1
    path = ("/tmp/probe-%d"):format(self.count)
    assert(box.files:write(path, content))
    if probe.c then assert(box.commands:run("chmod 755 " .. path)) end
    if box == self:box() then self.written[content] = path end
  end
  local result = assert(box.commands:run(command:format(path), { user = user, timeout = 30 }))
  return trim(result.stdout .. result.stderr)
end

--- Whether a line is one of the patterns "a|b".
function M.matches(line, patterns)
  for pattern in patterns:gmatch "[^|]+" do
    if line:find("^" .. pattern .. "$") then return true end
  end
  return false
end

function Frame.expect(_, line, patterns, place)
  if not M.matches(line, patterns) then
    error(("%s, the probe must say \"%s\", and said \"%s\""):format(place, patterns, line), 0)
  end
end

--- Some hosts forbid user namespaces to all but some programs.
local function check_place(frame, where)
  if where ~= "namespaces" then return end
  local said, status = host.sh(NAMESPACES .. "true")
  if status ~= 0 then frame:skip("the tests may make no namespaces here: " .. trim(said)) end
end

local function run_program(frame, entry)
  check_place(frame, entry.where)
  local values = entry.prepare and entry.prepare(frame)
  local outside = frame:outside(fill(entry, values, "outside"), entry.where)
  if entry.lacking and M.matches(outside, entry.lacking) then
    frame:skip("this kernel lacks it: outside, the probe says \"" .. outside .. "\"")
  end
  frame:expect(outside, entry.works or "ok", "outside")
  for _, user in ipairs(entry.users or { "user", "root" }) do
    if user ~= "root" or frame:has_root() then
      local expected = type(entry.answer) == "table" and entry.answer[user] or entry.answer
      frame:expect(frame:inside(fill(entry, values, "inside"), user), expected, "as " .. user)
    end
  end
end

--- Runs one entry: "holds"; "skipped" and why; or "BROKEN" and how.
function M.run(frame, entry)
  local why = entry.needs and entry.needs(frame)
  if why then return "skipped", why end
  local ok, failure = xpcall(function()
    if not entry.attempt then return run_program(frame, entry) end
    entry.control(frame)
    entry.attempt(frame)
  end, function(failure)
    return type(failure) == "table" and failure or debug.traceback(tostring(failure), 2)
  end)
  if entry.release then entry.release(frame) end
  if ok then return "holds" end
  if type(failure) == "table" and failure.skip then return "skipped", failure.skip end
  return "BROKEN", type(failure) == "table" and tostring(failure.message or failure[1] or failure) or failure
end

--- All families, by name: { name, title, about, and the entries }.
function M.families()
  local pipe = assert(io.popen "ls spec/attacks")
  local families = {}
  for file in pipe:lines() do
    local name = file:match "^([%w_]+)%.lua$"
    if name then
      local family = require("spec.attacks." .. name)
      assert(family.title, "the family " .. name .. " has no title")
      family.name = name
      for i, entry in ipairs(family) do
        assert(entry.attack and entry.naive and entry.ours, name .. ": entry " .. i .. " lacks a text")
        assert(entry.attempt and entry.control or entry.answer and (entry.python or entry.shell or entry.c),
          name .. ": entry " .. i .. " has no probe")
      end
      families[#families + 1] = family
    end
  end
  pipe:close()
  return families
end

return M
