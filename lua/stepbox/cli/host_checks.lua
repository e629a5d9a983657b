--- What `stepbox doctor` looks at on this host, without the engine.
---
--- A check returns a state ("ok", "missing" or "note"), what was found, and how to mend it. What is missing
--- keeps sandboxes from running; a note is worth knowing.

local checks = {}

local function read_line(path)
  local file = io.open(path, "rb")
  local line = file and file:read "*l"
  if file then file:close() end
  return line
end

local function run(command)
  local pipe = io.popen("LC_ALL=C " .. command .. " 2>&1 </dev/null", "r")
  local text = pipe and pipe:read "*a" or ""
  if pipe then pipe:close() end
  return (text:gsub("%s+$", ""))
end

local function find(program)
  local path = run("command -v " .. program)
  return path ~= "" and path or nil
end

--- Whether a version, "0.8.0", is at least that.
local function is_at_least(version, major, minor)
  local first, second = version:match "^(%d+)%.(%d+)"
  if not first then return false end
  first, second = tonumber(first), tonumber(second)
  return first > major or (first == major and second >= minor)
end

function checks.kernel()
  local release = read_line "/proc/sys/kernel/osrelease" or run "uname -r"
  if is_at_least(release, 5, 3) then return "ok", "Linux " .. release end
  return "missing", "Linux " .. release, "The engine needs Linux 5.3 or newer."
end

-- The settings that forbid user namespaces, the value that does, and the one that allows them.
local SETTINGS = {
  { "kernel.apparmor_restrict_unprivileged_userns", "1", "0" },
  { "kernel.unprivileged_userns_clone", "0", "1" },
  { "user.max_user_namespaces", "0", "15000" },
}

checks["user namespaces"] = function()
  local found = {}
  for _, setting in ipairs(SETTINGS) do
    local name, forbidden, allowed = setting[1], setting[2], setting[3]
    local value = read_line("/proc/sys/" .. name:gsub("%.", "/"))
    if value == forbidden then
      return "missing", name .. " is " .. value,
        ("sudo sysctl -w %s=%s (and a file in /etc/sysctl.d to keep it)"):format(name, allowed)
    end
    if value then found[#found + 1] = name .. "=" .. value end
  end
  return "ok", "no setting forbids them" .. (found[1] and " (" .. table.concat(found, ", ") .. ")" or "")
end

function checks.bubblewrap()
  local said = find "bwrap" and run "bwrap --version" or ""
  local version = said:match "(%d+%.%d+[%d.]*)"
  if not version then return "missing", "bwrap is not on PATH", "Install the package bubblewrap." end
  if is_at_least(version, 0, 8) then return "ok", version end
  return "missing", version, "Install bubblewrap 0.8 or newer."
end

function checks.python()
  local said = run "/usr/bin/python3 -c 'import sys; print(sys.version.split()[0])'"
  if said:find "^3%.%d" then return "ok", "/usr/bin/python3 " .. said end
  return "missing", "there is no /usr/bin/python3",
    "Install the package python3: sandboxes see the host's /usr, and no other Python."
end

function checks.ipython()
  local said = run "/usr/bin/python3 -c 'import IPython; print(IPython.__version__)'"
  if said:find "^%d+%.%d" then return "ok", said end
  return "missing", "Debian's Python does not find it", "Install the package python3-ipython."
end

function checks.git()
  if run "/usr/bin/git --version":find "^git version" then return "ok", run "/usr/bin/git --version" end
  return "note", "there is no /usr/bin/git", "For box.git install the package git."
end

-- Programs of administrators are not on everybody's PATH; the engine finds them all the same.
checks["network helper"] = function()
  local helper = find "pasta" or find "slirp4netns"
  local nft = run "PATH=$PATH:/usr/sbin:/sbin; command -v nft"
  local packages = {}
  if not helper then packages[#packages + 1] = "passt" end
  if nft == "" then packages[#packages + 1] = "nftables" end
  if packages[1] then
    return "note", "sandboxes can have no internet access",
      "For allow_internet install " .. table.concat(packages, " and ") .. "."
  end
  if run "test -r /dev/net/tun && test -w /dev/net/tun && echo yes" ~= "yes" then
    return "note", "sandboxes can have no internet access: /dev/net/tun is not there, or not for you",
      "sudo modprobe tun; sudo chmod 0666 /dev/net/tun (in a container: start it with --device /dev/net/tun)"
  end
  return "ok", helper .. ", " .. nft
end

function checks.images()
  return "note", find "img2sixel" and "kitty, iTerm2 and sixel"
    or "kitty and iTerm2; for sixel install the package libsixel-bin"
end

--- The languages that a sandbox tells of, and what those need that it cannot run.
local function check_languages(languages)
  local found, missing, remedies = {}, {}, {}
  for _, language in ipairs(languages) do
    if language.available then
      found[#found + 1] = language.name
    else
      missing[#missing + 1] = language.name
      remedies[#remedies + 1] = language.message
    end
  end
  local detail = table.concat(found, ", ")
  if not missing[1] then return "ok", detail end
  return "note", detail .. "; not " .. table.concat(missing, ", "), table.concat(remedies, "\n")
end

local BY = { cgroup2 = "control groups (version 2)", cgroup1 = "control groups (version 1)" }

--- By what the engine holds the limits of sandboxes, as it tells itself.
local function check_limits(told)
  local limits, caps = told.limits or {}, told.caps or {}
  local most = ("; at most %d sandboxes"):format(caps.maxSandboxes or 0)
  local open = table.concat(limits.notEnforced or {}, ", ")
  if BY[limits.by] and open == "" then return "ok", BY[limits.by] .. most end
  local detail = (BY[limits.by] or "rlimits alone") .. most
  if open ~= "" then detail = detail .. "; not held for a sandbox as a whole: " .. open end
  return "note", detail, limits.reason
end

local TREES = {
  writable = "may change all of the system tree",
  ["local"] = "may change /usr/local",
  readonly = "may change no programs",
}

--- What users sandboxes have, and what their root may change, as the engine tells.
local function check_isolation(told)
  local isolation = told.isolation or {}
  if isolation.ids ~= "range" then
    return "note", "sandboxes have no root: " .. (isolation.why or "they have one id"),
      "Install the package uidmap, and have the administrator give you ids in /etc/subuid and /etc/subgid."
  end
  local detail = "sandboxes have a root of their own, which "
    .. (TREES[isolation.systemTree] or "is confined")
  if isolation.systemTree == "writable" then return "ok", detail end
  return "note", detail, "An engine of root's on a newer Linux can let it change all of the system tree."
end

--- Whether Python contexts are forked, as the engine tells after one was made.
local function check_contexts(told)
  local zygotes = told.zygotes or {}
  if not zygotes.why then return "ok", "forked from a process that has IPython loaded" end
  return "note", "each starts Python: " .. zygotes.why, "It takes 0.3 s and 25 MB, instead of a part of that."
end

return {
  run = checks,
  check_contexts = check_contexts,
  check_isolation = check_isolation,
  check_limits = check_limits,
  check_languages = check_languages,
  before = { "kernel", "user namespaces", "bubblewrap", "python", "ipython" },
  after = { "git", "network helper", "images" },
}
