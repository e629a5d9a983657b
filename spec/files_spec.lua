local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

local EVERY_BYTE = {}
for i = 0, 255 do EVERY_BYTE[#EVERY_BYTE + 1] = string.char(i) end
EVERY_BYTE = table.concat(EVERY_BYTE)

describe("the files of a sandbox", function()
  local box, files
  setup(function()
    box = assert(stepbox.create { timeout = 300 })
    files = box.files
  end)
  teardown(function() assert(box:kill()) end)

  local function code_of(...) return (select(3, ...)) end
  local function sh(command) return assert(box.commands:run(command)).stdout end

  it("come back as they were written, byte by byte", function()
    for _, content in ipairs { "", "x", EVERY_BYTE, string.rep(EVERY_BYTE, 5000), "line\r\n\r\n", "\0" } do
      local entry = assert(files:write("bytes", content))
      assert.equal("/home/user/bytes", entry.path)
      assert.equal("bytes", entry.name)
      assert.is_true(content == assert(files:read "bytes"))
    end
    assert(files:write("bytes", "short"))
    assert.equal("short", assert(files:read "bytes"))
  end)

  it("may have any name that UTF-8 can spell", function()
    for _, name in ipairs {
      "with space", "new\nline", "quote'\"", "back\\slash", "%41%2F", "a&b=c?d#e;f", "grün", "日本", "💣", "-rf",
      " lead", "trail ", "~tilde", ".hidden", "+plus", "tab\there", string.rep("ä", 127), "\1\2\127",
    } do
      local path = "names/" .. name
      assert.equal("/home/user/" .. path, assert(files:write(path, name)).path)
      assert.equal(name, assert(files:read(path)))
      assert.equal(name, assert(files:info(path)).name)
    end
    local seen = {}
    for _, entry in ipairs(assert(files:list "names")) do seen[entry.name] = entry end
    assert.equal(3, seen["日本"] and seen["日本"].size / 2)
    assert.is_not_nil(seen["new\nline"])
    assert(files:remove "names")
  end)

  it("are relative to the home directory, and '~' is that", function()
    assert(files:write("here", "1"))
    assert.equal("1", assert(files:read "/home/user/here"))
    assert.equal("1", assert(files:read "~/here"))
    assert.equal("1", assert(files:read "../user/./here"))
    assert.equal("user", assert(files:info "here").owner)
  end)

  it("get their parents made, also by many at once", function()
    stepbox.run(function()
      for i = 1, 30 do
        stepbox.spawn(function() assert(files:write(("new/parents/deep/%d/file"):format(i % 3), "x")) end)
      end
    end)
    assert.equal(3, #assert(files:list "new/parents/deep"))
    assert.equal("user", assert(files:info "new/parents").owner)
    assert(files:remove "new")
  end)

  it("tell about themselves in natural values", function()
    assert(files:write("facts", "12345"))
    sh "chmod 640 facts; ln -sf facts link; mkdir -p dir; mkfifo -m 600 fifo"
    local entry = assert(files:info "facts")
    assert.equal("file", entry.type)
    assert.equal(5, entry.size)
    assert.equal("integer", math.type(entry.size))
    assert.equal(tonumber("640", 8), entry.mode)
    assert.equal("integer", math.type(entry.mode))
    assert.equal("-rw-r-----", entry.permissions)
    assert.equal("integer", math.type(entry.modified_at))
    assert.is_true(math.abs(entry.modified_at - os.time()) < 60)
    assert.same({}, entry.metadata)
    assert.is_nil(entry.symlink_target)
    local link = assert(files:info "link")
    assert.equal("file", link.type)
    assert.equal("/home/user/facts", link.symlink_target)
    assert.equal("directory", assert(files:info "dir").type)
    assert.equal("other", assert(files:info "fifo").type)
    sh "ln -sf nowhere link"
    assert.equal("symlink", assert(files:info "link").type)
    assert.equal("integer", math.type(assert(files:info "link").modified_ns))
    assert.same({}, assert(files:list "dir"))
    sh "rm -r facts link dir fifo"
  end)

  it("are listed in order, as deep as is asked", function()
    sh "mkdir -p tree/a/b/c tree/d; touch tree/a/1 tree/a/b/2 tree/z; ln -s . tree/loop"
    local function names(depth)
      local list = {}
      for _, entry in ipairs(assert(files:list("tree", { depth = depth }))) do
        list[#list + 1] = entry.path:sub(#"/home/user/tree/" + 1)
      end
      return table.concat(list, " ")
    end
    assert.equal("a d loop z", names(nil))
    assert.equal("a a/1 a/b d loop z", names(2))
    assert.equal("a a/1 a/b a/b/2 a/b/c d loop z", names(9))
    sh "rm -r tree"
  end)

  it("are made, moved and removed", function()
    assert.is_true(files:make_dir "m/n/o")
    assert.is_false(files:make_dir "m/n/o")
    assert(files:write("m/file", "1"))
    assert.equal("/home/user/moved/deep/file", assert(files:rename("m/file", "moved/deep/file")).path)
    assert.is_false(files:exists "m/file")
    assert.is_true(files:exists "moved/deep/file")
    assert(files:write("other", "2"))
    assert(files:rename("other", "moved/deep/file"))
    assert.equal("2", assert(files:read "moved/deep/file"))
    assert.is_true(files:remove "moved")
    assert.is_true(files:remove "m")
    assert.is_false(files:exists "m/n")
    sh "mkdir outside; echo keep > outside/kept; mkdir victim; ln -s ../outside victim/link"
    assert(files:remove "victim")
    assert.equal("keep\n", assert(files:read "outside/kept"))
    assert(files:remove "outside")
  end)

  it("are joined", function()
    for name, data in pairs { p1 = "one", p2 = "", p3 = "two" } do assert(files:write(name, data)) end
    assert.equal("/home/user/joined", assert(files:compose({ "p1", "p2", "p3" }, "joined")).path)
    assert.equal("onetwo", assert(files:read "joined"))
    assert.is_false(files:exists "p1")
    assert.equal("not_found", code_of(files:compose({ "joined", "missing" }, "x")))
    assert.equal("onetwo", assert(files:read "joined"))
  end)

  it("fail each in its own kind, and say which path", function()
    sh "mkdir -p kinds/dir; cd kinds; echo x > file; ln -s loop loop; touch secret; chmod 000 secret"
    local cases = {
      { "not_found", files.read, "kinds/none" }, { "not_found", files.info, "kinds/none" },
      { "not_found", files.list, "kinds/none" }, { "not_found", files.rename, "kinds/none", "kinds/x" },
      { "is_directory", files.read, "kinds/dir" }, { "is_directory", files.write, "kinds/dir", "x" },
      { "not_directory", files.list, "kinds/file" }, { "not_directory", files.watch, "kinds/file" },
      { "permission", files.read, "kinds/secret" }, { "permission", files.write, "/usr/x", "x" },
      { "permission", files.make_dir, "/usr/x" }, { "permission", files.remove, "/usr/bin/env" },
      { "bad_path", files.info, "" }, { "bad_path", files.read, string.rep("a", 5000) },
      { "bad_path", files.write, "kinds/" .. string.rep("a", 300), "x" },
      { "bad_path", files.read, "nul\0byte" },
      { "bad_path", files.read, "kinds/loop" }, { "not_found", files.watch, "kinds/none" },
      { "bad_path", files.read, "~other/x" },
    }
    for _, case in ipairs(cases) do
      local value, message, code = case[2](files, case[3], case[4])
      local what = ("%s, %q"):format(case[1], tostring(case[3]):sub(1, 40))
      assert.is_nil(value, what)
      assert.equal(case[1], code, what .. ": " .. tostring(message))
      if #case[3] < 100 and case[3]:find "^%w" and not case[3]:find "%z" then
        assert.matches(case[3], message, 1, true)
      end
    end
    local _, message, code = files:make_dir "kinds/file"
    assert.is_true(code == "exists" or code == "not_directory", message)
    assert.equal("not_directory", code_of(files:write("kinds/file/below", "x")))
    assert(files:remove "kinds")
  end)

  it("say when there is no room, and leave no ruin", function()
    sh "fallocate -l $(( $(df --output=avail -B1 /tmp | tail -1) - 16000000 )) /tmp/filling"
    local free = tonumber(sh "df --output=avail -B1 /tmp | tail -1")
    assert.equal("no_space", code_of(files:write("big", string.rep("x", free + 4096))))
    assert.is_false(files:exists "big")
    local sent = 0
    local value, _, code = files:write("big", function()
      sent = sent + 65536
      return sent < free * 2 + 1000000 and string.rep("x", 65536) or nil
    end)
    assert.is_nil(value)
    assert.equal("no_space", code)
    assert.is_false(files:exists "big")
    assert(files:remove "/tmp/filling")
  end)

  it("keep what the user notes with them", function()
    local entry = assert(files:write("noted", "x", { metadata = { author = "me", ["purpose-1"] = "a b=c" } }))
    assert.same({ author = "me", ["purpose-1"] = "a b=c" }, entry.metadata)
    assert.same(entry.metadata, assert(files:info "noted").metadata)
    assert(files:rename("noted", "renamed"))
    assert.equal("me", assert(files:info "renamed").metadata.author)
    assert(files:write("renamed", "y", { metadata = { other = "1" } }))
    assert.same({ other = "1" }, assert(files:info "renamed").metadata)
    assert(files:write("renamed", "y"))
    assert.same({}, assert(files:info "renamed").metadata)
    assert.is_nil((files:write("bad", "x", { metadata = { k = "new\nline" } })))
    assert.is_nil((files:write("bad", "x", { metadata = { k = string.rep("v", 5000) } })))
    assert.is_false(files:exists "bad")
  end)

  it("are reached by URLs that are good for one file, one direction and a time", function()
    assert(files:write("public file", "for you"))
    local function curl(arguments) return sandbox.sh("curl -s -o - -w '%{http_code}' " .. arguments) end
    local url = assert(files:download_url "public file")
    assert.equal("for you200", curl("'" .. url .. "'"))
    assert.equal("401", curl("'" .. url:gsub("public%%20file", "bytes") .. "'"):sub(-3))
    assert.equal("401", curl("-d x -H 'Content-Type: application/octet-stream' '" .. url .. "'"):sub(-3))
    local short = assert(files:download_url("public file", { expires_in = 1 }))
    assert.equal("200", curl("'" .. short .. "'"):sub(-3))
    sandbox.sleep(2.2)
    assert.equal("401", curl("'" .. short .. "'"):sub(-3))
    local up = assert(files:upload_url("sent in", { expires_in = 60 }))
    local post = "--data-binary 'a=b' -H 'Content-Type: application/octet-stream' "
    assert.equal("200", curl(post .. "'" .. up .. "'"):sub(-3))
    assert.equal("a=b", assert(files:read "sent in"))
  end)

  it("raise on misuse, naming it", function()
    assert.has_error(function() files:read(5) end)
    assert.has_error(function() files:read("x", { to = 5 }) end)
    assert.has_error(function() files:read("x", { offset = -1 }) end)
    assert.has_error(function() files:write("x") end)
    assert.has_error(function() files:write("x", {}) end)
    assert.has_error(function() files:write { { path = "x" } } end)
    assert.has_error(function() files:list("x", { depth = 0 }) end)
    assert.has_error(function() files.read "x" end)
    assert.has_error(function() files:read("x", { colour = 1 }) end)
    local closed = io.tmpfile()
    closed:close()
    assert.has_error(function() files:write("x", closed) end)
  end)
end)
