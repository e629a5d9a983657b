local base64 = require("stepbox.base64").encode
local repository = require "spec.support.repository"
local sandbox = require "spec.support.sandbox"

local fails = repository.fails

local USER, PASSWORD = "ann", "Hush: p@ss/w%rd+ä'\"$(id) \\"
local ENCODED = "Hush%3A%20p%40ss%2Fw%25rd%2B%C3%A4%27%22%24%28id%29%20%5C"
local ENCODED_LOW = ENCODED:gsub("%%..", string.lower)
local RIGHT = { username = USER, password = PASSWORD }

-- Looks for texts (standard input, each ended by NUL) in files, and in what the processes show.
local SEARCH = [[
import os, sys
wanted = sys.stdin.buffer.read().split(b'\0')[:-1]
def look(path):
    try: content = open(path, 'rb').read()
    except OSError: return
    if any(text in content for text in wanted): print(path)
for top in '/home/user', '/tmp', '/dev/shm', '/var/tmp':
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path): look(path)
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in 'cmdline', 'environ': look(f'/proc/{pid}/{name}')
]]

describe("git with a password", function()
  local at, git, server, address, moved, origin
  -- All that the calls have returned.
  local returned = {}

  setup(function()
    at = repository.open()
    git = at.git
    at.path = "repositories"
    assert(git:init("repositories/team/a.git", { bare = true, initial_branch = "main" }))
    assert(git:set_config("http.receivepack", "true", { path = "repositories/team/a.git" }))
    at:write("server.py", sandbox.read(sandbox.root .. "/spec/support/git_server.py"))
    local hash = at:run({ "sha256sum" }, USER .. ":" .. PASSWORD):match "^%x+"
    server = assert(at.box.commands:run({ "python3", "server.py", ".", hash },
      { cwd = "/home/user/repositories", background = true }))
    assert(sandbox.eventually(10, function() return server.stdout:find "\n" end), server.stderr)
    local port = server.stdout:match "%d+"
    origin = "http://127.0.0.1:" .. port
    address, moved = origin .. "/team/a.git", origin .. "/moved/team/a.git"
  end)
  teardown(function()
    server:kill()
    assert(at.box:kill())
  end)

  local function keep(...)
    for i = 1, select("#", ...) do
      local value = select(i, ...)
      if type(value) == "table" then
        for _, inner in pairs(value) do keep(inner) end
      else
        returned[#returned + 1] = tostring(value)
      end
    end
    return ...
  end

  --- Expects the password nowhere in the sandbox's files and processes, nor in what was returned.
  local function assert_hidden()
    local both = base64(USER .. ":" .. PASSWORD)
    local texts = { PASSWORD, ENCODED, ENCODED_LOW, both }
    assert.equal("", at:run({ "python3", "-c", SEARCH }, table.concat(texts, "\0") .. "\0"))
    local all = table.concat(returned, "\n")
    for _, text in ipairs(texts) do assert.is_nil(all:find(text, 1, true)) end
  end

  local function with_password(text)
    return (address:gsub("//", function() return "//" .. USER .. ":" .. text .. "@" end))
  end

  local function log() return at.box.commands:run({ "cat", "log" }, { cwd = "repositories" }).stdout end

  before_each(function()
    at:renew()
    at:write("file", "content " .. at.made)
    at:commit("commit " .. at.made)
    assert(git:add_remote(at.path, "origin", address))
  end)

  it("pushes, clones, fetches and pulls, and leaves it nowhere", function()
    assert(keep(git:push(at.path, RIGHT)))
    local clone = assert(keep(git:clone(address, { path = "clone", username = USER, password = PASSWORD })))
    assert.equal(address, assert(git:get_remote(clone, "origin")))
    at:write("file", "more")
    at:commit "more"
    assert(keep(git:push(at.path, RIGHT)))
    assert(keep(git:fetch(clone, RIGHT)))
    assert.equal(1, keep(assert(git:status(clone))).behind)
    assert(keep(git:pull(clone, RIGHT)))
    assert.equal("more", assert(git:log(clone))[1].message)
    local options = { fetch = true, username = USER, password = PASSWORD }
    assert(keep(git:add_remote(clone, "again", address, options)))
    assert_hidden()
  end)

  it("takes it out of an address", function()
    local with = with_password(ENCODED)
    assert.equal("a", assert(keep(git:clone(with))))
    assert.equal(address, assert(keep(git:get_remote("a", "origin"))))
    assert.equal(address .. "\n", at:run { "git", "-C", "../a", "config", "remote.origin.url" })
    assert_hidden()
    with = with_password("wrong" .. ENCODED)
    local message = fails("unauthorized", "failed", keep(git:clone(with, { path = "b" })))
    assert.is_nil(message:find(ENCODED, 1, true))
    assert.is_nil(message:find("wrong", 1, true))
    assert_hidden()
  end)

  it("that is wrong or absent is refused, and repeated to nobody", function()
    local wrong = { username = USER, password = PASSWORD .. "x" }
    fails("unauthorized", "Authentication failed", keep(git:push(at.path, wrong)))
    fails("unauthorized", "Authentication failed", keep(git:fetch(at.path, wrong)))
    fails("unauthorized", "Authentication failed",
      keep(git:clone(address, { path = "x", username = USER, password = wrong.password })))
    fails("unauthorized", "give 'username' and 'password'", keep(git:push(at.path)))
    fails("unauthorized", "give 'username' and 'password'", keep(git:pull(at.path, { branch = "main" })))
    fails("unauthorized", "give 'username' and 'password'", keep(git:clone(address, { path = "x" })))
    fails("not_found", "not found", keep(git:clone(origin .. "/no.git", { path = "x", username = USER,
      password = PASSWORD })))
    assert_hidden()
  end)

  it("is not given to the helpers that the sandbox has set up, nor to its questions", function()
    assert(git:set_config("credential.helper", "store"))
    assert(git:set_config("credential." .. origin .. ".helper", "store --file=/tmp/kept"))
    assert(git:set_config("core.askPass", "/bin/false"))
    assert(keep(git:fetch(at.path, RIGHT)))
    assert_hidden()
    -- The same helpers keep what git itself is told.
    local with = with_password(ENCODED)
    at:run { "git", "ls-remote", with }
    assert.is_true(at.box.commands:run({ "test", "-e", "/tmp/kept" }).ok)
    at:run { "rm", "-f", "/tmp/kept", "/home/user/.git-credentials" }
    at:run { "git", "config", "--global", "--unset", "credential.helper" }
    at:run { "git", "config", "--global", "--remove-section", "credential." .. origin }
    at:run { "git", "config", "--global", "--unset", "core.askPass" }
  end)

  it("does not follow to another server", function()
    local before = log()
    local options = { path = "x", username = USER, password = PASSWORD }
    fails("unauthorized", "Authentication failed", keep(git:clone(moved, options)))
    local seen = log():sub(#before + 1)
    assert.matches("0 with\n", seen)
    assert.matches("1 without\n", seen)
    assert.is_nil(seen:find("1 with\n", 1, true))
    -- Nor where the configuration leads git elsewhere.
    assert(git:set_config("url." .. origin .. "/.insteadOf", "https://host.invalid/"))
    local rewritten = "https://host.invalid/team/a.git"
    fails("unauthorized", "could not read Username", keep(git:clone(rewritten, options)))
    assert.is_nil(log():sub(#before + #seen + 1):find("with\n", 1, true))
    at:run { "git", "config", "--global", "--remove-section", "url." .. origin .. "/" }
    assert_hidden()
  end)

  it("is in no argument while git runs, and in no output of what it starts", function()
    at:write(".git/hooks/pre-push", "#!/bin/sh\ncat /proc/[0-9]*/cmdline > ../cmdlines\nenv >&2\nexit 1\n")
    at:run { "chmod", "+x", ".git/hooks/pre-push" }
    local _, _, _, partial = keep(git:push(at.path, RIGHT))
    assert.matches("STEPBOX_GIT_PASSWORD=%*%*%*\n", partial.stderr)
    assert.matches("credential.helper=", at:read "../cmdlines")
    assert_hidden()
  end)

  it("is also kept out of git's traces", function()
    local envs = { GIT_TRACE = "1", GIT_TRACE_CURL = "1", GIT_TRACE_REDACT = "0", GIT_TRACE_SETUP = "1" }
    local wrong = { username = USER, password = PASSWORD, envs = envs, remote = "origin", branch = "nowhere" }
    local _, _, _, partial = keep(git:pull(at.path, wrong))
    assert.matches("Authorization: Basic %*%*%*", partial.stderr)
    assert_hidden()
  end)

  it("is whole, and for a server that takes one", function()
    assert.has_error(function() git:push(at.path, { password = "x" }) end,
      "bad option 'password' of 'push' ('username' is missing)")
    assert.has_error(function() git:clone(address, { username = "x" }) end,
      "bad option 'username' of 'clone' ('password' is missing)")
    for _, bad in ipairs { "a\nb", "a\rb", "a\0b" } do
      assert.has_error(function() git:fetch(at.path, { username = "x", password = bad }) end)
    end
    assert.has_error(function() git:clone("/a", { username = "x", password = "y" }) end,
      "bad option 'username' of 'clone' (only http and https take a username and a password)")
    assert(git:add_remote(at.path, "origin", "git@host:a", { overwrite = true }))
    fails("invalid", "takes no password", git:push(at.path, RIGHT))
  end)

  it("is found by the search of this spec where it is", function()
    at:write("../planted", "x" .. PASSWORD .. "y")
    local planted = at:run({ "python3", "-c", SEARCH }, PASSWORD .. "\0")
    assert.equal("/home/user/planted\n", planted)
    at:run { "rm", "../planted" }
  end)
end)
