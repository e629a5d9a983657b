local stepbox = require "stepbox"
local repository = require "spec.support.repository"
local sandbox = require "spec.support.sandbox"

local fails = repository.fails

describe("git in a sandbox", function()
  local at, git
  setup(function()
    at = repository.open()
    git = at.git
  end)
  teardown(function() assert(at.box:kill()) end)
  before_each(function() at:renew() end)

  describe("status", function()
    it("of a repository without a commit has a branch and nothing else", function()
      local status = assert(git:status(at.path))
      assert.equal("main", status.branch)
      assert.is_nil(status.commit)
      assert.is_nil(status.upstream)
      assert.is_true(status.clean)
      assert.is_false(status.detached)
      assert.same({}, status.files)
      assert.same({ list = {} }, assert(git:branches(at.path)))
      assert.same({}, assert(git:log(at.path)))
    end)

    it("has the branch of HEAD, or that it is detached", function()
      local first = assert(git:commit(at.path, "first", { allow_empty = true }))
      assert(git:commit(at.path, "second", { allow_empty = true }))
      assert(git:checkout(at.path, first))
      local status = assert(git:status(at.path))
      assert.is_true(status.detached)
      assert.is_nil(status.branch)
      assert.equal(first, status.commit)
      assert.same({ list = { "main" } }, assert(git:branches(at.path)))
      fails("not_found", "no branch is checked out", git:push(at.path))
    end)

    it("tells staged from unstaged, renamed, removed and untracked", function()
      for _, name in ipairs { "kept", "changed", "both", "removed", "moved" } do
        at:write(name, ("line of " .. name .. "\n"):rep(9))
      end
      at:commit "files"
      at:write("changed", "new")
      at:write("both", "staged")
      assert(git:add(at.path, { "both" }))
      at:write("both", "not staged")
      at:run { "rm", "removed" }
      at:run { "git", "mv", "moved", "at another place" }
      at:run { "mkdir", "folder" }
      at:write("folder/untracked", "")
      assert.same({
        changed = ".M modified", both = "MM modified", removed = ".D deleted",
        ["at another place"] = "R. renamed", ["folder/"] = "?? untracked",
      }, at:files())
      assert.equal("?? untracked", at:files { untracked = "all" }["folder/untracked"])
      assert.is_nil(at:files { untracked = "no" }["folder/"])
      for _, file in ipairs(assert(git:status(at.path)).files) do
        assert.equal(file.status == "renamed" and "moved" or nil, file.renamed_from)
      end
    end)

    it("does not depend on how the user has set git up", function()
      for key, value in pairs { ["status.short"] = "true", ["status.showUntrackedFiles"] = "no",
        ["color.ui"] = "always", ["core.quotePath"] = "true", ["status.relativePaths"] = "true",
        ["status.showStash"] = "true", ["log.showSignature"] = "true", ["column.ui"] = "always" } do
        assert(git:set_config(key, value, { path = at.path }))
      end
      at:write("ä", "")
      assert.same({ ["ä"] = "?? untracked" }, at:files())
      assert(git:add(at.path, { "ä" }))
      local hash = assert(git:commit(at.path, "one"))
      assert.equal(hash, assert(git:log(at.path))[1].hash)
      assert.same({ current = "main", list = { "main" } }, assert(git:branches(at.path)))
    end)

    it("outside of a repository fails", function()
      fails("not_found", "not a git repository", git:status "/tmp")
      fails("not_found", "No such file", git:status "nowhere")
      fails("not_found", "not a git repository", git:remotes "/tmp")
    end)

    it("finds the home directory", function()
      assert.equal("main", assert(git:status("~/" .. at.path)).branch)
      assert.equal("main", assert(git:status("/home/user/" .. at.path)).branch)
      fails("not_found", "not a git repository", git:status "~")
    end)
  end)

  describe("a commit", function()
    it("has its message as it was given, and its author", function()
      local messages = { "it's \"quoted\" `id` $(id) $HOME \\ %s", "-m", "--amend", "# no comment", "Grüße 💣",
        "see http://me:word@host.example/",
        "first line\n\nthen more\n# kept\n\n  indented", ("long "):rep(40000) .. "end" }
      for i, message in ipairs(messages) do
        at:write("file", tostring(i))
        assert(git:add(at.path))
        local hash = assert(git:commit(at.path, message))
        local log = assert(git:log(at.path, { max_count = 2 }))
        assert.equal(hash, log[1].hash)
        assert.equal(message, log[1].message)
        assert.equal("Ann O'Nym", log[1].author_name)
        assert.equal("ann@example.org", log[1].author_email)
        assert.is_true(math.abs(log[1].authored_at - os.time()) < 60)
        assert.equal(log[2] and log[2].hash, log[1].parents[1])
      end
      assert.equal(#messages, #assert(git:log(at.path)))
    end)

    it("may have an author of its own", function()
      local options = { allow_empty = true, author_name = "Bé \"B\" C", author_email = "-b@example.org" }
      assert(git:commit(at.path, "x", options))
      assert.equal("Bé \"B\" C -b@example.org Bé \"B\" C -b@example.org\n",
        at:run { "git", "log", "--format=%an %ae %cn %ce" })
    end)

    it("of nothing is refused, with a code of its own", function()
      fails("unchanged", "nothing to commit", git:commit(at.path, "x"))
      at:write("untracked", "")
      fails("unchanged", "nothing added to commit", git:commit(at.path, "x"))
      at:commit "x"
      at:write("untracked", "changed")
      fails("unchanged", "no changes added to commit", git:commit(at.path, "x"))
      assert.equal(40, #assert(git:commit(at.path, "x", { allow_empty = true })))
      fails("invalid", "empty commit message", git:commit(at.path, " \n ", { allow_empty = true }))
      assert.has_error(function() git:commit(at.path, "") end,
        "bad argument #2 to 'commit' (the string is empty)")
    end)

    it("without an author is refused, and it is said what to do", function()
      fails("invalid", "configure_user",
        git:commit(at.path, "x", { allow_empty = true, envs = { GIT_CONFIG_GLOBAL = "/dev/null" } }))
    end)
  end)

  describe("a setting", function()
    it("is kept as it was given, in its scope", function()
      local here = { path = at.path }
      local values = { "plain", "", "-1", "--unset", "new\nline", "it's \"q\" \\ ; # 💣", " space " }
      for i, value in ipairs(values) do
        local key = "test.key" .. i
        assert(git:set_config(key, value, here))
        assert.equal(value, assert(git:get_config(key, here)))
        fails("not_found", "is not set", git:get_config(key))
      end
      assert(git:set_config("test.both", "global"))
      assert.equal("global", assert(git:get_config("test.both", here)))
      fails("not_found", "is not set", git:get_config("test.both", { scope = "local", path = at.path }))
      assert(git:set_config("test.both", "here", here))
      assert.equal("here", assert(git:get_config("test.both", here)))
      assert.equal("global", assert(git:get_config("test.both", { scope = "global", path = at.path })))
      assert.equal("Ann O'Nym", assert(git:get_config "user.name"))
    end)

    it("of the repository needs one, and a key is a key", function()
      assert.has_error(function() git:set_config("a.b", "c", { scope = "local" }) end,
        "bad options of 'set_config' (the scope 'local' needs 'path')")
      assert.has_error(function() git:get_config "--list" end,
        "bad argument #1 to 'get_config' (a key like 'user.name' expected, got '--list')")
      assert.has_error(function() git:set_config("a.b", "c\0d") end)
      fails("invalid", "invalid key", git:set_config("a.b_c", "x"))
    end)

    it("names the author of what comes", function()
      assert(git:configure_user("Local", "local@example.org", { path = at.path }))
      assert(git:commit(at.path, "x", { allow_empty = true }))
      assert.equal("Local", assert(git:log(at.path))[1].author_name)
    end)
  end)

  it("that takes too long is killed at its deadline", function()
    local hook = ".git/hooks/pre-commit"
    at:write(hook, "#!/bin/sh\nsleep 60\n")
    at:run { "chmod", "+x", hook }
    local start = sandbox.now()
    fails("timeout", "git commit", git:commit(at.path, "x", { allow_empty = true, timeout = 0.5 }))
    assert.is_true(sandbox.now() - start < 10)
  end)

  it("that is not installed is said to be missing", function()
    fails("unsupported", "install the package 'git'", git:status(at.path, { envs = { PATH = "/nowhere" } }))
  end)

  it("works inside tasks, several at once", function()
    local left = 0
    stepbox.run(function()
      for i = 1, 4 do
        left = left + 1
        stepbox.spawn(function()
          assert(git:init("at once " .. i))
          assert(git:commit("at once " .. i, "x", { allow_empty = true }))
          assert.equal(1, #assert(git:log("at once " .. i)))
          left = left - 1
        end)
      end
    end)
    assert.equal(0, left)
  end)

  it("is called with a colon", function()
    assert.has_error(function() git.status(at.path) end,
      "'status' is called with a colon: box.git:status(...)")
    assert.has_error(function() git:status(at.path, { colour = true }) end,
      "unknown option 'colour' of 'status'")
  end)
end)
