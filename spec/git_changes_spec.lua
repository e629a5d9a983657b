local repository = require "spec.support.repository"

local fails = repository.fails

describe("git's working tree", function()
  local at, git
  setup(function()
    at = repository.open()
    git = at.git
  end)
  teardown(function() assert(at.box:kill()) end)
  before_each(function() at:renew() end)

  describe("a file's name", function()
    local NAMES = { "new\nline", "it's \"quoted\"", "-dash", "--force", ":(glob)**", "*", "[a]", " space ",
      "tab\t", "back\\slash", "$(touch injected)", "Grüße 💣", "a -> b", "#", "!x", "%s", "~", ".hidden" }

    it("is a name, whatever is in it", function()
      for _, name in ipairs(NAMES) do at:write(name, name) end
      at:write("other", "")
      assert(git:add(at.path, NAMES))
      local expected = { other = "?? untracked" }
      for _, name in ipairs(NAMES) do expected[name] = "A. added" end
      assert.same(expected, at:files())
      assert(git:reset(at.path, { paths = { "*" } }))
      expected["*"] = "?? untracked"
      assert.same(expected, at:files())
      assert(git:commit(at.path, "names"))
      for _, name in ipairs(NAMES) do at:write(name, "changed") end
      assert(git:restore(at.path, { "--force", "[a]", "new\nline" }))
      assert.equal("--force", at:read "--force")
      assert.equal("[a]", at:read "[a]")
      assert.equal("new\nline", at:read "new\nline")
      assert.equal("changed", at:read ":(glob)**")
    end)

    it("may be one of thousands", function()
      local names = {}
      for i = 1, 3000 do names[i] = ("a file with quite a long name, number %d"):format(i) end
      local make = "import sys\nfor name in sys.stdin.read().split('\\0'): open(name, 'w')"
      at:run({ "python3", "-c", make }, table.concat(names, "\0"))
      assert(git:add(at.path, names))
      assert.equal(3000, assert(git:status(at.path)).staged)
      assert(git:reset(at.path, { paths = names }))
      assert.equal(3000, assert(git:status(at.path)).untracked)
    end)

    it("that is random survives", function()
      math.randomseed(42)
      local pieces = {
        "-", "'", '"', "\n", " ", "*", "\\", "$", "`", "é", "語", "💣", "a", ":", "?", "\t", "\127", ";",
      }
      local names, expected = {}, {}
      for i = 1, 40 do
        local name = {}
        for j = 1, math.random(12) do name[j] = pieces[math.random(#pieces)] end
        names[i] = table.concat(name) .. i
        at:write(names[i], names[i])
        expected[names[i]] = "?? untracked"
      end
      assert.same(expected, at:files())
      assert(git:add(at.path, names))
      for name in pairs(expected) do expected[name] = "A. added" end
      assert.same(expected, at:files())
    end)

    it("may be no UTF-8 at all, nor need a message be", function()
      at.box:step("open(b'/home/user/" .. at.path .. "/\\xff\\xfe', 'w').close()")
      local name = assert(git:status(at.path)).files[1].path
      assert.equal("\255\254", name)
      assert(git:add(at.path, { name }))
      assert.same({ [name] = "A. added" }, at:files())
      assert(git:commit(at.path, "Latin-1: \228"))
      assert.matches("^Latin%-1: ", assert(git:log(at.path))[1].message)
    end)

    it("that does not exist is said to be missing", function()
      fails("not_found", "git add: pathspec 'nothing' did not match", git:add(at.path, { "nothing" }))
      fails("not_found", "nothing", git:restore(at.path, { "nothing" }))
      assert.has_error(function() git:add(at.path, { "" }) end,
        "bad argument #2 to 'add' (entry 1: the string is empty)")
      assert.has_error(function() git:add(at.path, { "a\0b" }) end,
        "bad argument #2 to 'add' (strings without NUL bytes expected, entry 1 is none)")
      assert.has_error(function() git:restore(at.path, {}) end,
        "bad argument #2 to 'restore' (the list is empty)")
    end)
  end)

  describe("a branch", function()
    before_each(function() assert(git:commit(at.path, "first", { allow_empty = true })) end)

    it("is made, changed to, listed and deleted", function()
      assert(git:create_branch(at.path, "feature/ä-💣"))
      assert.same({ current = "feature/ä-💣", list = { "feature/ä-💣", "main" } },
        assert(git:branches(at.path)))
      assert.equal("feature/ä-💣", assert(git:status(at.path)).branch)
      fails("exists", "already exists", git:create_branch(at.path, "main"))
      fails("conflict", "delete branch", git:delete_branch(at.path, "feature/ä-💣"))
      assert(git:checkout(at.path, "main"))
      assert(git:delete_branch(at.path, "feature/ä-💣"))
      fails("not_found", "not found", git:delete_branch(at.path, "feature/ä-💣"))
      assert.same({ "main" }, assert(git:branches(at.path)).list)
    end)

    it("starts where it is told to", function()
      local first = assert(git:log(at.path))[1].hash
      assert(git:commit(at.path, "second", { allow_empty = true }))
      assert(git:create_branch(at.path, "old", { target = "HEAD~1" }))
      assert.equal(first, assert(git:status(at.path)).commit)
      fails("not_found", "nowhere", git:create_branch(at.path, "x", { target = "nowhere" }))
    end)

    it("that has commits of its own is deleted by force alone", function()
      assert(git:create_branch(at.path, "own"))
      assert(git:commit(at.path, "own", { allow_empty = true }))
      assert(git:checkout(at.path, "main"))
      fails("conflict", "not fully merged", git:delete_branch(at.path, "own"))
      assert(git:delete_branch(at.path, "own", { force = true }))
    end)

    it("is not left when changes would be lost", function()
      at:write("file", "one")
      at:commit "one"
      assert(git:create_branch(at.path, "other"))
      at:write("file", "other")
      at:commit "other"
      at:write("file", "changed")
      fails("conflict", "would be overwritten", git:checkout(at.path, "main"))
      assert.equal("changed", at:read "file")
      fails("not_found", "nowhere", git:checkout(at.path, "nowhere"))
    end)

    it("is not taken for a file, and no file for it", function()
      at:write("name", "changed")
      at:commit "name"
      at:write("name", "not committed")
      fails("not_found", "name", git:checkout(at.path, "name"))
      assert.equal("not committed", at:read "name")
      assert(git:create_branch(at.path, "name"))
      assert(git:checkout(at.path, "main"))
      assert(git:checkout(at.path, "name"))
      assert.equal("not committed", at:read "name")
    end)

    it("has a name that git takes; others raise", function()
      for _, name in ipairs { "-x", "--orphan", "a b", "a..b", "@{-1}", "a:b", "HEAD", "a\0b" } do
        assert.has_error(function() git:create_branch(at.path, name) end)
        assert.has_error(function() git:delete_branch(at.path, name) end)
      end
      for _, name in ipairs { "-", "--orphan=x", "", "a\0b" } do
        assert.has_error(function() git:checkout(at.path, name) end)
      end
      for _, name in ipairs { "+x", "v1'\"$(id)`;", "x@y", "#1" } do
        assert(git:create_branch(at.path, name))
        assert.equal(name, assert(git:branches(at.path)).current)
      end
    end)
  end)

  describe("what was changed", function()
    before_each(function()
      at:write("file", "one")
      at:commit "one"
      at:write("file", "two")
      at:commit "two"
    end)

    it("is reset, by mode", function()
      assert(git:reset(at.path, { mode = "soft", target = "HEAD~1" }))
      assert.same({ file = "M. modified" }, at:files())
      assert(git:reset(at.path))
      assert.same({ file = ".M modified" }, at:files())
      assert(git:reset(at.path, { mode = "hard" }))
      assert.same({}, at:files())
      assert.equal("one", at:read "file")
      fails("not_found", "nowhere", git:reset(at.path, { target = "nowhere" }))
      assert.has_error(function() git:reset(at.path, { target = "--hard" }) end)
      assert.has_error(function() git:reset(at.path, { mode = "wild" }) end, "bad option 'mode' of 'reset' "
        .. "(one of 'soft', 'mixed', 'hard', 'merge', 'keep' expected, got wild)")
      assert.has_error(function() git:reset(at.path, { mode = "hard", paths = { "file" } }) end,
        "bad options of 'reset' (only one of 'mode' and 'paths' can be given)")
    end)

    it("is restored: the file, what is staged, or both, from any commit", function()
      at:write("file", "changed")
      assert(git:restore(at.path, { "file" }))
      assert.equal("two", at:read "file")
      at:write("file", "changed")
      assert(git:add(at.path))
      assert(git:restore(at.path, { "." }, { staged = true }))
      assert.same({ file = ".M modified" }, at:files())
      assert(git:add(at.path))
      assert(git:restore(at.path, { "file" }, { staged = true, worktree = true, source = "HEAD~1" }))
      assert.equal("one", at:read "file")
      assert.same({ file = "M. modified" }, at:files())
      assert.has_error(function() git:restore(at.path, { "file" }, { worktree = false }) end,
        "bad options of 'restore' (neither 'staged' nor 'worktree' is true)")
    end)
  end)
end)
