local repository = require "spec.support.repository"

local fails = repository.fails

describe("git and a remote in the same sandbox", function()
  local at, git, remote
  setup(function()
    at = repository.open()
    git = at.git
  end)
  teardown(function() assert(at.box:kill()) end)
  before_each(function()
    at:renew()
    remote = "/home/user/remote " .. at.made .. ".git"
    assert(git:init(remote, { bare = true, initial_branch = "main" }))
    at:write("file", "one\n")
    at:commit "one"
    assert(git:add_remote(at.path, "origin", remote))
  end)

  --- Another clone of the remote, in which somebody commits to a branch and pushes.
  local function somebody_pushes(content, branch)
    local mine = at.path
    at.path = assert(git:clone(remote, { path = "other " .. at.made .. " " .. content:sub(1, 3) }))
    if branch then assert(git:create_branch(at.path, branch)) end
    at:write("file", content)
    at:commit("somebody's " .. content)
    assert(git:push(at.path))
    at.path = mine
  end

  it("pushes a branch, which then has its upstream, and clones it", function()
    assert(git:push(at.path))
    local status = assert(git:status(at.path))
    assert.equal("origin/main", status.upstream)
    local clone = assert(git:clone(remote, { path = "-clone of " .. at.made }))
    assert.equal("-clone of " .. at.made, clone)
    assert.equal("one", assert(git:log("./" .. clone))[1].message)
    assert.equal("one", assert(git:log(clone))[1].message)
    assert.equal("remote " .. at.made, assert(git:clone("remote " .. at.made .. ".git")))
    assert.equal("~/deep/er " .. at.made, assert(git:clone("~/remote " .. at.made .. ".git",
      { path = "~/deep/er " .. at.made })))
    fails("exists", "already exists", git:clone(remote, { path = clone }))
    fails("not_found", "does not exist", git:clone "/nowhere.git")
  end)

  it("clones a branch, and as much history as wanted", function()
    assert(git:create_branch(at.path, "side/ä"))
    at:write("file", "two\n")
    at:commit "two"
    assert(git:push(at.path))
    local options = { path = "c" .. at.made, branch = "side/ä", depth = 1 }
    local clone = assert(git:clone("file://" .. remote, options))
    assert.equal("side/ä", assert(git:status(clone)).branch)
    assert.equal(1, #assert(git:log(clone)))
    fails("not_found", "nowhere", git:clone(remote, { path = "x", branch = "nowhere" }))
  end)

  it("tells how far the branch is from its upstream, once fetched", function()
    assert(git:push(at.path))
    somebody_pushes "two\n"
    at:write("mine", "")
    at:commit "mine"
    assert(git:fetch(at.path))
    local status = assert(git:status(at.path))
    assert.same({ 1, 1 }, { status.ahead, status.behind })
  end)

  it("pulls what is new", function()
    assert(git:push(at.path))
    somebody_pushes "two\n"
    assert(git:pull(at.path))
    assert.equal("two\n", at:read "file")
    somebody_pushes("three\n", "side")
    assert(git:pull(at.path, { branch = "side", remote = "origin", mode = "ff-only" }))
    assert.equal("three\n", at:read "file")
    assert(git:checkout(at.path, "side"))
    assert.equal("origin/side", assert(git:status(at.path)).upstream)
    fails("not_found", "nowhere", git:pull(at.path, { branch = "nowhere" }))
    fails("not_found", "nowhere", git:pull(at.path, { remote = "nowhere", branch = "main" }))
  end)

  it("without an upstream does not know what to pull", function()
    fails("not_found", "no tracking information", git:pull(at.path))
  end)

  it("joins both sides as told, and asks when not told", function()
    assert(git:push(at.path))
    somebody_pushes "two\n"
    at:write("mine", "")
    at:commit "mine"
    fails("conflict", "give 'mode'", git:pull(at.path))
    fails("conflict", "fast%-forward", git:pull(at.path, { mode = "ff-only" }))
    assert(git:pull(at.path, { mode = "merge" }))
    local log = assert(git:log(at.path))
    assert.equal(2, #log[1].parents)
    assert.matches("^Merge branch 'main' of ", log[1].message)
    assert(git:push(at.path))
    somebody_pushes "four\n"
    at:write("mine", "more")
    at:commit "more of mine"
    assert(git:pull(at.path, { mode = "rebase" }))
    log = assert(git:log(at.path))
    assert.equal("more of mine", log[1].message)
    assert.equal("somebody's four\n", log[2].message .. "\n")
  end)

  it("shows a conflict, which can be resolved", function()
    assert(git:push(at.path))
    somebody_pushes "theirs\n"
    at:write("file", "mine\n")
    at:commit "mine"
    fails("conflict", "CONFLICT.*file", git:pull(at.path, { mode = "merge" }))
    local status = assert(git:status(at.path))
    assert.equal(1, status.conflicts)
    assert.same({ file = "UU conflict" }, at:files())
    fails("conflict", "unmerged", git:commit(at.path, "too early"))
    fails("conflict", "nmerged", git:pull(at.path, { mode = "merge" }))
    at:write("file", "both\n")
    at:commit "resolved"
    assert(git:push(at.path))
    assert.is_true(assert(git:status(at.path)).clean)
  end)

  it("does not overwrite what others have pushed, unless it has seen that", function()
    assert(git:push(at.path))
    somebody_pushes "two\n"
    at:write("file", "mine\n")
    at:commit "mine"
    fails("conflict", "rejected", git:push(at.path))
    fails("conflict", "stale info", git:push(at.path, { force_with_lease = true }))
    assert(git:fetch(at.path))
    assert(git:push(at.path, { force_with_lease = true }))
  end)

  it("takes names of branches for nothing else", function()
    assert(git:create_branch(at.path, "+main"))
    at:write("file", "two\n")
    at:commit "two"
    assert(git:push(at.path, { branch = "+main", set_upstream = false }))
    assert.is_nil(assert(git:status(at.path)).upstream)
    assert.same({ "+main" }, assert(git:branches(remote)).list)
    assert(git:push(at.path, { branch = "main" }))
    assert.is_nil(assert(git:status(at.path)).upstream)
    assert(git:push(at.path, { branch = "main", set_upstream = true }))
    fails("not_found", "does not match any", git:push(at.path, { branch = "nowhere" }))
    for _, name in ipairs { ":main", "a:b", "--delete", "-f", "*" } do
      assert.has_error(function() git:push(at.path, { branch = name }) end)
      assert.has_error(function() git:push(at.path, { remote = name }) end)
      assert.has_error(function() git:pull(at.path, { branch = name }) end)
    end
  end)

  it("keeps remotes", function()
    assert.same({ { name = "origin", url = remote } }, assert(git:remotes(at.path)))
    fails("exists", "already exists", git:add_remote(at.path, "origin", "/elsewhere"))
    assert(git:add_remote(at.path, "origin", "https://user:hush@host.example/a.git", { overwrite = true }))
    assert.equal("https://host.example/a.git", assert(git:get_remote(at.path, "origin")))
    assert(git:set_config("remote.origin.pushurl", "https://u:hush@h.example/b", { path = at.path }))
    assert(git:add_remote(at.path, "ä.url", "git@host.example:x y.git"))
    assert.same({
      { name = "origin", url = "https://host.example/a.git", push_url = "https://h.example/b" },
      { name = "ä.url", url = "git@host.example:x y.git" },
    }, assert(git:remotes(at.path)))
    assert(git:remove_remote(at.path, "origin"))
    fails("not_found", "origin", git:get_remote(at.path, "origin"))
    fails("not_found", "origin", git:remove_remote(at.path, "origin"))
    assert(git:remove_remote(at.path, "ä.url"))
    assert.same({}, assert(git:remotes(at.path)))
    fails("not_found", "no remote", git:push(at.path))
    fails("not_found", "no remote", git:fetch(at.path))
    fails("not_found", "origin", git:push(at.path, { remote = "origin" }))
  end)

  it("fetches a remote as it is added, and says when there are several to choose from", function()
    assert(git:push(at.path))
    assert(git:remove_remote(at.path, "origin"))
    assert(git:add_remote(at.path, "first", remote, { fetch = true }))
    assert.matches("first/main", at:run { "git", "branch", "--remotes" })
    assert(git:add_remote(at.path, "second", remote))
    fails("not_found", "several remotes", git:push(at.path))
    fails("not_found", "not appear to be", git:add_remote(at.path, "third", "/nowhere", { fetch = true }))
    assert(git:push(at.path, { remote = "second" }))
    assert.equal("second/main", assert(git:status(at.path)).upstream)
  end)

  it("uses no transport that runs commands, also when the repository asks for one", function()
    local run = "ext::sh -c touch% /tmp/run"
    for _, address in ipairs { run, "fd::0", "hg::x", "-u", "--upload-pack=touch /tmp/run" } do
      assert.has_error(function() git:clone(address, { path = "x" }) end)
      assert.has_error(function() git:add_remote(at.path, "bad", address) end)
    end
    local here = { path = at.path }
    assert(git:set_config("remote.evil.url", run, here))
    assert(git:set_config("protocol.ext.allow", "always", here))
    fails("invalid", "transport 'ext' not allowed", git:fetch(at.path, { remote = "evil" }))
    fails("invalid", "transport 'ext' not allowed", git:push(at.path, { remote = "evil" }))
    assert.is_false(assert(at.box.commands:run { "test", "-e", "/tmp/run" }).ok)
    -- The same where nothing forbids it.
    assert(at.box.commands:run({ "git", "fetch", "evil" }, { cwd = at.path }))
    assert.is_true(assert(at.box.commands:run { "test", "-e", "/tmp/run" }).ok)
  end)

  it("says when a server cannot be reached", function()
    fails("unavailable", "host.invalid", git:clone "https://host.invalid/a.git")
    fails("unavailable", "127.0.0.1", git:clone "http://127.0.0.1:1/a.git")
  end)
end)
