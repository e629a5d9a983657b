local blocks = require "stepbox.blocks"
local sandbox = require "spec.support.sandbox"
local support = require "spec.support.blocks"

local function run(input) return blocks.CodeExecutionBlock:collect(input) end

--- The paths and the bytes of files, as one table.
local function by_path(files)
  local found = {}
  for _, file in ipairs(files or {}) do found[file.path] = file.bytes end
  return found
end

describe("the files of a block", function()
  it("are written before anything runs, with any bytes and any names", function()
    local all = {}
    for i = 0, 255 do all[#all + 1] = string.char(i) end
    local bytes = table.concat(all)
    local out = run {
      files = {
        ["deep/er/all"] = bytes, ["new\nline"] = "", ["it's \"$(x)\" \u{e9}"] = "1", ["/tmp/absolute"] = "2",
      },
      setup_commands = { "test -f deep/er/all && cat /tmp/absolute > copied" },
      code = "open('deep/er/all', 'rb').read() == bytes(range(256))",
      outputs = { "deep/er/all", "new\nline", "it's \"$(x)\" \u{e9}", "copied" },
    }
    assert.is_nil(out.error)
    assert.equal("True", out.response)
    assert.same({ ["deep/er/all"] = bytes, ["new\nline"] = "", ["it's \"$(x)\" \u{e9}"] = "1", copied = "2" },
      by_path(out.files))
  end)

  it("come back by path and by pattern, each once", function()
    local out = run {
      code = [[
import os
os.makedirs("out/sub/deep"); os.makedirs("out/[odd]")
for name in "out/a.csv", "out/b c.csv", "out/sub/d.csv", "out/sub/deep/e.csv", "out/x.txt", "out/[odd]/f*":
    open(name, "w").write(name)
open(b"out/\xff\xfe.bin", "w").write("odd name")
os.symlink("a.csv", "out/link.csv")]],
      outputs = {
        "out/*.csv", "out/a.csv", "~/out/?.txt", "out/**/e.csv", "out/[odd]/f*", "out/*.bin", "none*",
      },
    }
    assert.is_nil(out.error)
    assert.same({
      ["out/a.csv"] = "out/a.csv", ["out/b c.csv"] = "out/b c.csv", ["out/link.csv"] = "out/a.csv",
      ["out/x.txt"] = "out/x.txt", ["out/sub/deep/e.csv"] = "out/sub/deep/e.csv",
      ["out/[odd]/f*"] = "out/[odd]/f*", ["out/\255\254.bin"] = "odd name",
    }, by_path(out.files))
    assert.equal(7, #out.files)
  end)

  it("are patterns, never source text", function()
    local out = run {
      code = "1", outputs = { "$(touch made)", "`touch made`", "'; touch made; '", "{a,b}", "-n", "made*" },
    }
    assert.is_nil(out.files)
    support.assert_says(out, "$(touch made)", "'-n': it is not there")
  end)

  it("that are missing, or no files, are told; the others come", function()
    local out = run {
      code = "import os; os.mkdir('d'); open('there', 'w'); open('secret', 'w'); os.chmod('secret', 0)",
      outputs = { "missing", "d", "/dev/zero", "there", "secret" },
    }
    assert.same({ there = "" }, by_path(out.files))
    support.assert_says(out, "'missing': it is not there", "'d': it is a directory", "'d/*'",
      "'/dev/zero': it is no regular file", "'secret'")
  end)

  it("come back also from code that raised or did not end, whose missing ones are no wonder", function()
    local out = run { code = "open('log', 'w').write('x'); 1 / 0", outputs = { "log", "never" } }
    assert.same({ log = "x" }, by_path(out.files))
    support.assert_says(out, "ZeroDivisionError")
    assert.is_nil(out.error:find "never")
    out = run {
      code = "open('log', 'w').write('x'); import time; time.sleep(9)",
      step_timeout = 2,
      outputs = { "log" },
    }
    assert.same({ log = "x" }, by_path(out.files))
  end)

  it("are bounded in number and in bytes, which is told", function()
    local out = run { code = "for i in range(150): open(f'{i:03}', 'w').close()", outputs = { "*" } }
    assert.equal(100, #out.files)
    support.assert_says(out, "more than 100 files", "'100'")
    out = run {
      code = "open('big', 'wb').truncate(65 << 20); open('small', 'w').write('s')",
      outputs = { "big", "small" },
    }
    assert.same({ small = "s" }, by_path(out.files))
    support.assert_says(out, "'big'", "larger than 67108864 bytes")
  end)

  it("work in every block", function()
    local made = blocks.InstantiationBlock:collect {
      files = { a = "1" }, setup_code = "open('b', 'w').write('2')", outputs = { "?" }, timeout = 60,
    }
    assert.same({ a = "1", b = "2" }, by_path(made.files))
    local step = blocks.StepExecutionBlock:collect {
      sandbox_id = made.sandbox_id, files = { c = "3" }, outputs = { "?" }, dispose_sandbox = true,
    }
    assert.same({ a = "1", b = "2", c = "3" }, by_path(step.files))
    assert.is_false(sandbox.listed(made.sandbox_id))
  end)
end)
