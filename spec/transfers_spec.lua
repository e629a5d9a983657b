local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a transfer", function()
  local box, files, folder
  setup(function()
    box = assert(stepbox.create { timeout = 600 })
    files = box.files
    folder = sandbox.temporary()
  end)
  teardown(function()
    assert(box:kill())
    os.execute("rm -r " .. folder)
  end)

  local function memory(field, pid)
    return tonumber(sandbox.read("/proc/" .. (pid or "self") .. "/status"):match(field .. ":%s+(%d+)"))
  end

  it("reads a part", function()
    assert(files:write("digits", "0123456789"))
    assert.equal("345", assert(files:read("digits", { offset = 3, length = 3 })))
    assert.equal("789", assert(files:read("digits", { offset = 7 })))
    assert.equal("01", assert(files:read("digits", { length = 2 })))
    assert.equal("9", assert(files:read("digits", { offset = 9, length = 100 })))
    assert.equal("", assert(files:read("digits", { offset = 10 })))
    assert.equal("", assert(files:read("digits", { offset = 1000, length = 5 })))
    assert(files:write("nothing", ""))
    assert.equal("", assert(files:read("nothing", { offset = 0, length = 5 })))
  end)

  it("reads into a file, by path or open, and to a function", function()
    local content = string.rep("some bytes\0", 100000)
    assert(files:write("source", content))
    assert.equal(#content, assert(files:read("source", { to = folder .. "/copy" })))
    assert.is_true(sandbox.read(folder .. "/copy") == content)
    local file = assert(io.open(folder .. "/open", "w+b"))
    file:write "head:"
    assert.equal(#content, assert(files:read("source", { to = file })))
    file:write ":tail"
    file:close()
    assert.is_true(sandbox.read(folder .. "/open") == "head:" .. content .. ":tail")
    local pieces = {}
    local function keep(bytes) pieces[#pieces + 1] = bytes end
    assert.equal(#content, assert(files:read("source", { on_data = keep })))
    assert.is_true(table.concat(pieces) == content)
  end)

  it("does not take a directory that is not there for a file of the sandbox", function()
    assert(files:write("source", "x"))
    assert.equal("system", select(3, files:read("source", { to = folder .. "/no/such/place" })))
    assert.equal("system", select(3, files:read("source", { to = "/dev/full" })))
  end)

  it("into a file replaces what that had, once a byte has come", function()
    local function to(name, path) return files:read(path, { to = folder .. "/" .. name }) end
    sandbox.sh("printf precious > " .. folder .. "/old")
    assert.equal("not_found", select(3, to("old", "none")))
    assert.equal("precious", sandbox.read(folder .. "/old"))
    assert.equal("not_found", select(3, to("new", "none")))
    assert.is_nil((io.open(folder .. "/new")))
    assert(files:write("short", "new"))
    assert.equal(3, assert(to("old", "short")))
    assert.equal("new", sandbox.read(folder .. "/old"))
    assert(files:write("nothing", ""))
    assert.equal(0, assert(to("old", "nothing")))
    assert.equal("", sandbox.read(folder .. "/old"))
    assert.equal(3, assert(files:read("short", { to = "/dev/null" })))
  end)

  it("into a pipe that nobody reads is a failure, and no signal", function()
    assert(files:write("large", string.rep("x", 1000000)))
    local pipe = assert(io.popen("exec true", "w"))
    sandbox.sh "sleep 0.2"
    local count, message, code = files:read("large", { to = pipe })
    assert.is_nil(count)
    assert.equal("system", code)
    assert.matches("Broken pipe", message)
    pipe:close()
  end)

  it("gives up more than fits the memory that it may use", function()
    assert(files:write("large", string.rep("x", 100000)))
    assert.equal("too_large", select(3, files:read("large", { max_bytes = 99999 })))
    assert.equal(100000, #assert(files:read("large", { max_bytes = 100000 })))
  end)

  it("writes from an open file, from where it stands", function()
    local file = assert(io.open(folder .. "/local", "w+b"))
    file:write "skipped:content"
    file:seek("set", 8)
    assert(files:write("from file", file))
    assert.equal("content", assert(files:read "from file"))
    file:seek("set", 0)
    assert.equal("skipped:", file:read(8))
    assert(files:write("from file", file))
    assert.equal("content", assert(files:read "from file"))
    file:close()
    local pipe = assert(io.popen "printf 'through a pipe'")
    assert(files:write("from pipe", pipe))
    pipe:close()
    assert.equal("through a pipe", assert(files:read "from pipe"))
  end)

  it("writes what a function gives, in whatever pieces", function()
    local expected, count = {}, 0
    assert(files:write("pieces", function()
      count = count + 1
      if count > 300 then return nil end
      local piece = string.rep(string.char(count % 256), (count * 7919) % 20000)
      expected[#expected + 1] = piece
      return piece
    end))
    assert.is_true(table.concat(expected) == assert(files:read "pieces"))
    assert(files:write("pieces", function() return nil end))
    assert.equal("", assert(files:read "pieces"))
  end)

  it("whose function raises is given up, and the error goes on", function()
    local ok, raised = pcall(files.write, files, "raised", function() error("mine", 0) end)
    assert.is_false(ok)
    assert.equal("mine", raised)
    assert.equal("2", assert(box:step "1 + 1").text)
  end)

  it("of many files does some at once, and says which it could not", function()
    local list = {}
    for i = 1, 50 do list[i] = { path = "many/" .. i, data = string.rep(tostring(i), i) } end
    local entries = assert(files:write(list))
    assert.equal(50, #entries)
    for i = 1, 50 do
      assert.equal("/home/user/many/" .. i, entries[i].path)
      assert.equal(list[i].data, assert(files:read("many/" .. i)))
    end
    local value, message, code, written = files:write {
      { path = "good", data = "1" }, { path = "many", data = "2" },
    }
    assert.is_nil(value)
    assert.matches("many", message, 1, true)
    assert.equal("is_directory", code)
    assert.equal("/home/user/good", written[1].path)
    assert.same({}, assert(files:write {}))
  end)

  it("of a gigabyte holds little of it in memory, here, in the engine and in the sandbox", function()
    local size, piece = 1024 * 1024 * 1024, string.rep("0123456789abcdef", 65536)
    local free = tonumber(assert(box.commands:run "df --output=avail -B1 /home/user | tail -1").stdout)
    if free < size then size = math.floor(free * 0.9) // #piece * #piece end
    local sent, before = 0, memory "VmRSS"
    assert(files:write("gigabyte", function()
      if sent == size then return nil end
      sent = sent + #piece
      return piece
    end))
    local got = 0
    assert.equal(size, assert(files:read("gigabyte", { on_data = function(bytes) got = got + #bytes end })))
    assert.equal(size, got)
    assert.equal(size, assert(files:read("gigabyte", { to = "/dev/null" })))
    -- AddressSanitizer keeps 256 MiB of what was freed.
    local most = sandbox.build:find "asan" and 400 * 1024 or 100 * 1024
    assert(memory "VmRSS" - before < most, "the client grew by " .. memory "VmRSS" - before .. " KiB")
    local agent = tonumber(assert(box.commands:run "grep -s VmHWM /proc/1/status | tr -dc 0-9").stdout)
    assert(agent and agent < 100 * 1024, "the agent had " .. tostring(agent) .. " KiB")
    assert(files:remove "gigabyte")
  end)

  it("that is cut is a failure, never a short file", function()
    local other = assert(stepbox.create { timeout = 60 })
    assert(other.files:write("large", string.rep("x", 30000000)))
    local killed
    local value, _, code = other.files:read("large", { on_data = function()
      killed = killed or stepbox.kill(other.id)
    end })
    other:kill()
    assert.is_nil(value)
    assert.is_true(code == "sandbox_lost" or code == "not_found", code)
  end)
end)
