local base64 = require("stepbox.base64").encode
local credentials = require "stepbox.git.credentials"
local failure = require "stepbox.git.failure"
local parse_status = require "stepbox.git.status"
local rules = require "stepbox.git.rules"
local url = require "stepbox.git.url"

local HASH = ("0"):rep(40)

describe("git's status", function()
  local function records(...) return table.concat({ ... }, "\0") .. "\0" end

  it("is understood with every kind of entry, and every kind of path", function()
    local path = "a \n\"b' \\ 💣 -> c"
    local status = assert(parse_status(records(
      "# branch.oid " .. HASH, "# branch.head feature/ä", "# branch.upstream origin/feature/ä",
      "# branch.ab +3 -12", "# stash 4", "# of a later git",
      "1 M. N... 100644 100644 100644 " .. HASH .. " " .. HASH .. " " .. path,
      "1 .T N... 100644 100644 120000 " .. HASH .. " " .. HASH .. "  space first",
      "2 R. N... 100644 100644 100644 " .. HASH .. " " .. HASH .. " R087 new", "1 old",
      "2 .C S.M. 100644 100644 100644 " .. HASH .. " " .. HASH .. " C100 copy", path,
      "u AA N... 100644 100644 100644 100644 " .. HASH .. " " .. HASH .. " " .. HASH .. " both",
      "? -x", "! ignored")))
    assert.equal("feature/ä", status.branch)
    assert.equal("origin/feature/ä", status.upstream)
    assert.equal(HASH, status.commit)
    assert.same({ 3, 12 }, { status.ahead, status.behind })
    assert.same({ 2, 1, 1 }, { status.staged, status.untracked, status.conflicts })
    assert.is_false(status.clean)
    assert.is_false(status.detached)
    assert.same({
      { path = path, index = "M", worktree = ".", status = "modified", staged = true },
      { path = " space first", index = ".", worktree = "T", status = "typechange", staged = false },
      { path = "new", index = "R", worktree = ".", status = "renamed", staged = true,
        renamed_from = "1 old" },
      { path = "copy", index = ".", worktree = "C", status = "copied", staged = false,
        renamed_from = path },
      { path = "both", index = "A", worktree = "A", status = "conflict", staged = false },
      { path = "-x", index = "?", worktree = "?", status = "untracked", staged = false },
    }, status.files)
  end)

  it("of rubbish is an error, never a crash", function()
    local right = records("# branch.head main", "1 M. N... 1 1 1 a b path",
      "2 R. N... 1 1 1 a b R1 new", "old")
    assert(parse_status(right))
    math.randomseed(7)
    for _ = 1, 3000 do
      local bytes = { right:byte(1, -1) }
      for _ = 1, math.random(4) do bytes[math.random(#bytes)] = math.random(0, 255) end
      local status, message, code = parse_status(string.char(table.unpack(bytes)))
      assert.is_true(status ~= nil or message ~= nil and code == "protocol")
    end
    for _, text in ipairs { "x\0", "1 M.\0", "2 R. N... 1 1 1 a b R1 new\0", "\0", "? \0", "u\0" } do
      assert.equal("protocol", select(3, parse_status(text)))
    end
  end)
end)

describe("the address of a repository", function()
  it("is taken apart, so that user and password are not in it", function()
    assert.same({ plain = "https://host.example/a.git", origin = "https://host.example" },
      url.split "https://host.example/a.git")
    assert.same({ plain = "http://Host:80/a?b@c", origin = "http://host:80", username = "me",
      password = "p@ss:/word" }, url.split "HTTP://me:p%40ss%3A%2fword@Host:80/a?b@c")
    assert.same({ plain = "https://h/a", origin = "https://h", username = "u", password = "a@b" },
      url.split "https://u:a@b@h/a")
    assert.same({ plain = "https://[::1]:8/a", origin = "https://[::1]:8", username = "token" },
      url.split "https://token@[::1]:8/a")
    for _, other in ipairs { "ssh://git@host/a", "git@host:a", "/srv/a.git", "../a", "file:///a" } do
      assert.same({ plain = other }, url.split(other))
    end
  end)

  it("is refused, and not repeated, when it would run something, or is an option, or none", function()
    for _, bad in ipairs { "ext::sh -c id", "EXT::x", "fd::3", "::x", "foo://secret", "-oProxy",
      "--upload-pack=x", "", "a\0b", "https://user:secret@", "ssh://git:secret@host/a",
      "https://a:secret%0aquit@h/a",
      "https://a%3Ab:secret@h/a", "https://a:secret@h ost/a" } do
      local wrong = url.rule(bad)
      assert.is_string(wrong, bad)
      assert.is_nil(wrong:find("secret", 1, true), wrong)
    end
    for _, good in ipairs { "https://h/a", "ssh://git@h:22/a", "git@h:a/b", "[::1]:a", "/a b", "./-x",
      "a/b::c",
      "file:///a", "git://h/a" } do
      assert.is_nil(url.rule(good), good)
    end
  end)

  it("names the folder that a clone gets", function()
    for address, name in pairs { ["https://h/a/b.git"] = "b", ["https://u:p@h/b/"] = "b",
      ["git@h:b.git"] = "b", ["/srv/x/.git/"] = "x", ["https://h/b.git?x=1/2"] = "b",
      [".."] = false, ["/"] = false } do
      assert.equal(name or nil, url.directory(address), address)
    end
  end)
end)

describe("names for git", function()
  it("are those that git takes", function()
    for _, good in ipairs { "main", "feature/ä-💣", "a.b", "+x", "a@b", "v1'\"$(id)" } do
      assert.is_nil(rules.branch(good), good)
    end
    for _, bad in ipairs { "", "-x", "--force", "a b", "a\nb", "a\0b", "a..b", "a@{1", "@{-1}", "@", "HEAD",
      "a:b", ":x", "a~1", "a^", "a?", "a*", "[a", "a\\b", "/a", "a/", "a//b", "a.", ".a", "a/.b", "a.lock",
      "a.lock/b",
      7 } do
      assert.is_string(rules.branch(bad), tostring(bad))
    end
    for _, bad in ipairs { "-x", "", "a\0" } do assert.is_string(rules.revision(bad)) end
    for _, bad in ipairs { "-x.y", "name", ".x", "a.", "a.b\nc", "--get" } do
      assert.is_string(rules.config_key(bad), bad)
    end
    assert.is_nil(rules.config_key "remote.a b.url")
  end)
end)

describe("credentials for git", function()
  it("are written in base64 as everybody does", function()
    for text, expected in pairs { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==",
      ["\255\254\253"] = "//79", ["user:pass"] = "dXNlcjpwYXNz" } do
      assert.equal(expected, base64(text))
    end
  end)

  it("are taken out of texts, however they are written", function()
    local secret = credentials.take("clone", { origin = "http://h" },
      { username = "me", password = "p%a.s+s/é" })
    local text = "p%a.s+s/é, p%25a.s%2Bs%2F%C3%A9, p%25a.s%2bs%2f%c3%a9, " .. base64 "me:p%a.s+s/é"
    assert.equal("***, ***, ***, ***", credentials.redact(text, secret))
    assert.equal("at 'https://***@h/a', ssh://git@h",
      credentials.redact("at 'https://x:y@h/a', ssh://git@h", nil))
    local token = credentials.take("clone", { origin = "http://h", username = "token42" }, {})
    assert.equal("no *** here", credentials.redact("no token42 here", token))
  end)

  it("are passed in variables, not in arguments", function()
    local given = { username = "me", password = "hush" }
    local secret = credentials.take("clone", { origin = "http://h" }, given)
    local arguments, envs = credentials.pass(secret)
    assert.is_nil(table.concat(arguments, " "):find("hush", 1, true))
    assert.same({ STEPBOX_GIT_USERNAME = "me", STEPBOX_GIT_PASSWORD = "hush" }, envs)
    assert.same({}, (credentials.pass(nil)))
  end)
end)

describe("a failure of git", function()
  local function code_of(stderr, exit_code, stdout)
    local value, message, code = failure.of_result("git x", { stderr = stderr, stdout = stdout or "",
      exit_code = exit_code or 128 })
    assert.is_nil(value)
    assert.matches("^git x: .", message)
    return code, message
  end

  it("has a code by what git says, not by the names that it quotes", function()
    for text, expected in pairs {
      ["fatal: unable to access 'http://h/': Could not resolve host: h"] = "unavailable",
      ["fatal: repository 'http://h/authentication failed/' not found"] = "not_found",
      ["fatal: pathspec 'Connection refused' did not match any files"] = "not_found",
      ["git@h: Permission denied (publickey).\nfatal: Could not read from remote."] = "unauthorized",
      ["fatal: could not create work tree dir 'x': Permission denied"] = "permission",
      ["error: unable to write file x: No space left on device"] = "no_space",
      ["fatal: Unable to create '/r/.git/index.lock': File exists."] = "conflict",
      ["remote: already exists\n ! [remote rejected] a -> a (pre-receive hook declined)"] = "permission",
      ["fatal: cannot change to 'x': Not a directory"] = "not_directory",
      ["fatal: cannot mkdir x: File exists"] = "exists",
      ["fatal: a branch named 'x' already exists"] = "exists",
      ["strange"] = "invalid",
      [""] = "invalid",
    } do
      assert.equal(expected, (code_of(text)), text)
    end
    assert.equal("unsupported", (code_of("error: unknown option `initial-branch=x'\nusage: git init", 129)))
    assert.equal("unsupported", (code_of("sh: git: not found", 127)))
  end)

  it("has a message of one line that is not endless", function()
    local _, message = code_of("hint: no\nfatal: one\27[31m\r\nerror: two\nsomething else")
    assert.equal("git x: one [31m; two", message)
    _, message = code_of(("long "):rep(10000))
    assert.is_true(#message < 1100)
  end)
end)
