local cjson = require "cjson"
local notebook = require "stepbox.notebook"
local recording = require "stepbox.recording"
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"

local PYTHON = "/usr/bin/python3 "

--- Whether Debian's Python has a module; else the test is skipped, and says what it misses.
local function has(module)
  local _, status = sandbox.sh(PYTHON .. "-c 'import " .. module .. "'")
  if status == 0 then return true end
  pending("Python has no " .. module .. " (package python3-" .. module .. ")")
  return false
end

--- What the reference implementation of the format says of a file: "" when it is valid.
local function invalid(path)
  local said = sandbox.sh(PYTHON .. [[-c '
import nbformat, sys
book = nbformat.read(sys.argv[1], as_version=nbformat.NO_CONVERT)
assert (book.nbformat, book.nbformat_minor) == (4, 5)
nbformat.validate(book)' ]] .. path .. " 2>&1")
  return said
end

describe("a notebook", function()
  local folder, box
  before_each(function()
    folder = sandbox.temporary()
    box = assert(stepbox.create { timeout = 120 })
  end)
  after_each(function()
    box:kill()
    os.execute("rm -r " .. folder)
  end)

  --- Writes the session so far and reads it back.
  local function written(of)
    local path = folder .. "/session.ipynb"
    local cells = assert((of or box):notebook(path))
    local book = cjson.decode(sandbox.read(path))
    assert.equal(cells, #book.cells)
    return book, path
  end

  local function joined(text) return type(text) == "table" and table.concat(text) or text end

  it("has a cell for each step, with its code, its outputs in order, and its number", function()
    box:step "x = 20 + 1"
    box:step "import sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay(x)\nprint('more')\nx * 2"
    local book = written()
    assert.same({ "code", "step-1", 1, {}, {} }, { book.cells[1].cell_type, book.cells[1].id,
      book.cells[1].execution_count, book.cells[1].outputs, book.cells[1].metadata })
    assert.equal("x = 20 + 1", joined(book.cells[1].source))
    local cell = book.cells[2]
    assert.same({ "import sys\n", "print('out')\n" }, { cell.source[1], cell.source[2] })
    assert.same({
      { output_type = "stream", name = "stdout", text = { "out\n" } },
      { output_type = "stream", name = "stderr", text = { "err\n" } },
      { output_type = "display_data", data = { ["text/plain"] = { "21" } }, metadata = {} },
      { output_type = "stream", name = "stdout", text = { "more\n" } },
      { output_type = "execute_result", data = { ["text/plain"] = { "42" } }, metadata = {},
        execution_count = 2 },
    }, cell.outputs)
    assert.same({ name = "python3", display_name = "Python 3", language = "python" },
      book.metadata.kernelspec)
    assert.equal("python", book.metadata.language_info.name)
    assert.same({ 4, 5 }, { book.nbformat, book.nbformat_minor })
  end)

  it("has errors with their lines, and what failed, with what had come", function()
    box:step "print('before')\n1 / 0"
    box:step("print('so far', flush=True)\nwhile True: pass", { timeout = 0.3 })
    box:step "\255 is no text"
    local cells = written().cells
    local raised = cells[1].outputs[2]
    assert.same({ "error", "ZeroDivisionError", "division by zero" },
      { raised.output_type, raised.ename, raised.evalue })
    assert.matches("^%-+$", raised.traceback[1])
    assert.equal("ZeroDivisionError: division by zero", raised.traceback[#raised.traceback])
    for _, line in ipairs(raised.traceback) do assert.is_nil(line:find "\n") end
    assert.equal("so far\n", joined(cells[2].outputs[1].text))
    assert.equal("timeout", cells[2].outputs[2].ename)
    assert.equal("timeout", cells[2].metadata.stepbox.failure)
    assert.same({ cjson.null, "invalid" }, { cells[3].execution_count, cells[3].outputs[1].ename })
    assert.equal("\u{FFFD} is no text", joined(cells[3].source))
  end)

  it("has each format of a result under its type", function()
    box:step [[
from IPython.display import display
display({"text/plain": "t", "text/html": "<b>h</b>", "text/markdown": "*m*", "image/svg+xml": "<svg/>",
  "text/latex": "$l$", "application/javascript": "j()", "application/x-own": "own",
  "application/vnd.own+json": {"a": [1]}}, raw=True)
{"empty": {}, "list": [1, 2.5, None]}]]
    box:step "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    box:step "import pandas\npandas.DataFrame({'b': [1, 2], 'a': ['x', 'y']})"
    local book, path = written()
    local data = book.cells[1].outputs[1].data
    for name, value in pairs(data) do data[name] = joined(value) end
    assert.same({ ["text/plain"] = "t", ["text/html"] = "<b>h</b>", ["text/markdown"] = "*m*",
      ["image/svg+xml"] = "<svg/>", ["text/latex"] = "$l$", ["application/javascript"] = "j()",
      ["application/x-own"] = "own", ["application/vnd.own+json"] = data["application/vnd.own+json"] }, data)
    assert.same({ empty = {}, list = { 1, 2.5, cjson.null } },
      book.cells[1].outputs[2].data["application/json"])
    assert.matches([["application\/json":{"empty":{},"list":[1,2.5,null]}]], sandbox.read(path), 1, true)
    local png = require("stepbox.base64").decode(book.cells[2].outputs[1].data["image/png"])
    assert.equal("\137PNG\r\n\26\n", png:sub(1, 8))
    data = book.cells[3].outputs[1].data
    assert.same({ b = { 1, 2 }, a = { "x", "y" } }, data["application/vnd.e2b.data+json"])
    assert.matches("<table", joined(data["text/html"]))
    if has "nbformat" then assert.equal("", invalid(path)) end
  end)

  it("tells which cells are of other contexts and languages, whose source stays", function()
    local context = assert(box:context())
    context:step "y = 1"
    box:step("ls", { language = "BASH " })
    box:step "1"
    box:step("2", { context = context.id })
    local book, path = written()
    assert.same({ context = context.id }, book.cells[4].metadata.stepbox)
    assert.same({ stepbox = { context = context.id } }, book.cells[1].metadata)
    assert.same({ stepbox = { language = "bash", failure = book.cells[2].metadata.stepbox.failure },
      vscode = { languageId = "shellscript" } }, book.cells[2].metadata)
    assert.equal("ls", joined(book.cells[2].source))
    assert.same({}, book.cells[3].metadata)
    assert.equal("python", book.metadata.kernelspec.language)
    if has "nbformat" then assert.equal("", invalid(path)) end
  end)

  it("of one other language alone is one of that language", function()
    box:step("console.log(1)", { language = "js" })
    local metadata = written().metadata
    assert.same({ "javascript", "javascript" }, { metadata.kernelspec.name, metadata.language_info.name })
  end)

  it("has steps that ran in parallel in the order in which they began, and those that run still", function()
    stepbox.run(function()
      local contexts, tasks = {}, {}
      for i = 1, 4 do contexts[i] = assert(box:context()) end
      local begun
      local slow = stepbox.spawn(function()
        return box:step("print('go', flush=True)\nimport time; time.sleep(0.5)",
          { on_stdout = function() begun = true end })
      end)
      while not begun do stepbox.sleep(0.02) end
      for i, context in ipairs(contexts) do
        tasks[i] = stepbox.spawn(function()
          return context:step(("import time; time.sleep(%g); print(%d)"):format((5 - i) * 0.05, i))
        end)
      end
      for _, one in ipairs(tasks) do one:wait() end
      local cells = written().cells
      assert.same({ running = true }, cells[1].metadata.stepbox)
      assert.same({}, cells[1].outputs)
      for i = 1, 4 do assert.equal(i .. "\n", joined(cells[i + 1].outputs[1].text)) end
      slow:wait()
    end)
    assert.equal("go\n", joined(written().cells[1].outputs[1].text))
  end)

  it("says what max_output dropped", function()
    box:step("print('x' * 100)", { max_output = 10 })
    local cell = written().cells[1]
    assert.is_true(cell.metadata.stepbox.truncated)
    assert.equal("xxxxxxxxxx", joined(cell.outputs[1].text))
    assert.matches("output beyond what may be kept was dropped", joined(cell.outputs[2].text), 1, true)
  end)

  it("has output that a handler was given too", function()
    local streamed = {}
    box:step("print('a')\ndisplay(1)\nprint('b')", {
      on_stdout = function(text) streamed[#streamed + 1] = text end,
    })
    assert.equal("a\nb\n", table.concat(streamed))
    local outputs = written().cells[1].outputs
    assert.same({ "stream", "display_data", "stream" },
      { outputs[1].output_type, outputs[2].output_type, outputs[3].output_type })
  end)

  it("says that a step was cancelled whose handler raised, or whose task was cancelled", function()
    assert.has_error(function()
      box:step("print('go', flush=True)\nimport time; time.sleep(30)",
        { on_stdout = function() error("mine", 0) end })
    end, "mine")
    stepbox.run(function()
      local begun
      local slow = stepbox.spawn(function()
        return box:step("print('on', flush=True)\nimport time; time.sleep(30)",
          { on_stdout = function() begun = true end })
      end)
      while not begun do stepbox.sleep(0.02) end
      slow:cancel()
      assert.equal("cancelled", (select(3, slow:wait())))
    end)
    for i, said in ipairs { "go\n", "on\n" } do
      local cell = written().cells[i]
      assert.same({ failure = "cancelled" }, cell.metadata.stepbox)
      assert.same({ said, "cancelled" }, { joined(cell.outputs[1].text), cell.outputs[2].ename })
    end
  end)

  it("is valid with bytes in it that nobody would write", function()
    if not has "nbformat" then return end
    box:step [[import os; os.write(1, bytes(range(256)) * 3 + b"\xed\xa0\x80\xf0\x9f")]]
    box:step [[raise ValueError("\x00\x1b[31m\u2028\u20ac\U0001f600")]]
    box:step [[from IPython.display import display
display({"text/plain": "\x00", "a/b\nc": "x", "application/a\nb+json": {"x": 1}, "": 5,
  "image/png": "AAAA"}, raw=True)]]
    box:step "'\u{2028}\u{1F600}'"
    box:step ""
    local _, path = written()
    assert.equal("", invalid(path))
  end)

  it("can be made a page by nbconvert", function()
    if not has "nbconvert" then return end
    box:step "import sys\nprint('printed here')\nprint('on stderr', file=sys.stderr)\n6 * 7"
    box:step "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    box:step "raise KeyError('gone')"
    box:step("echo 1", { language = "bash" })
    local _, path = written()
    local said, status = sandbox.sh("HOME=" .. folder .. " " .. PYTHON
      .. "-m nbconvert --to html --output page.html " .. path .. " 2>&1")
    assert.equal(0, status, said)
    local page = sandbox.read(folder .. "/page.html")
    for _, wanted in ipairs { "printed here", "on stderr", "image/png;base64,iVBOR", "KeyError", "42" } do
      assert.is_truthy(page:find(wanted, 1, true), wanted)
    end
  end)

  it("replaces a file whole or not at all, keeps its mode, and follows a link", function()
    box:step "1"
    local path = folder .. "/real.ipynb"
    sandbox.write(path, "old")
    os.execute(("chmod 640 %s; ln -s real.ipynb %s/link.ipynb"):format(path, folder))
    assert.equal(1, (box:notebook(folder .. "/link.ipynb")))
    assert.matches("nbformat", sandbox.read(path))
    assert.equal("640\nsymbolic link\n", (sandbox.sh(("stat -c %%a %s; stat -c %%F %s/link.ipynb"):format(
      path, folder))))
    assert.equal("link.ipynb\nreal.ipynb\n", (sandbox.sh("ls -A " .. folder)))
    for _, wrong in ipairs { "/no/such/folder/a.ipynb", folder, "/proc/a.ipynb" } do
      local cells, message, code = box:notebook(wrong)
      assert.is_nil(cells)
      assert.equal("system", code)
      assert.matches("notebook: " .. wrong, message, 1, true)
    end
    os.execute(("ln -s later.ipynb %s/early.ipynb; ln -s /proc/none %s/none.ipynb"):format(folder, folder))
    assert.equal(1, (box:notebook(folder .. "/early.ipynb")))
    assert.matches("nbformat", sandbox.read(folder .. "/later.ipynb"))
    assert.equal("symbolic link\n", (sandbox.sh("stat -c %F " .. folder .. "/early.ipynb")))
    assert.equal("system", (select(3, box:notebook(folder .. "/none.ipynb"))))
    assert.error_matches(function() box:notebook(5) end, "bad argument #1 to 'notebook'")
    assert.error_matches(function() box:notebook "a\0b" end, "NUL")
  end)

  it("leaves the old file when there is no room for the new one", function()
    local _, is_missing = sandbox.sh("command -v unshare && unshare -rm true 2>/dev/null")
    if is_missing ~= 0 then pending "this host forbids user namespaces here" return end
    local script = folder .. "/full.lua"
    sandbox.write(script, [[
      local replace = require("stepbox.console").replace_file
      assert(replace(arg[1] .. "/a", "old"))
      print(select(3, replace(arg[1] .. "/a", ("x"):rep(200000))))
      print(io.open(arg[1] .. "/a"):read "a")
      os.execute("ls -A " .. arg[1])]])
    os.execute("mkdir " .. folder .. "/small")
    local said = sandbox.sh(("unshare -rm sh -c 'mount -t tmpfs -o size=64k none %s/small && "
      .. "lua5.4 %s %s/small' 2>&1"):format(folder, script, folder))
    assert.equal("system\nold\na\n", said)
  end)

  it("can be written when the box is closed, and is valid when nothing ran", function()
    local _, path = written()
    if has "nbformat" then assert.equal("", invalid(path)) end
    box:step "'kept'"
    box:kill()
    assert.same({ "'kept'" }, written().cells[1].source)
  end)

  it("is not for boxes that shall record nothing, and begins where a handle does", function()
    box:step "x = 1"
    local other = assert(stepbox.connect(box.id, { record = false }))
    other:step "x"
    local cells, message, code = other:notebook(folder .. "/a.ipynb")
    assert.is_nil(cells)
    assert.equal("invalid", code)
    assert.matches("record = false", message, 1, true)
    assert.equal("", sandbox.read(folder .. "/a.ipynb"))
    other = assert(stepbox.connect(box.id))
    other:step "x + 1"
    assert.same({ "x + 1" }, written(other).cells[1].source)
    for _, wrong in ipairs { "yes", 0, -1, 1 / 0 } do
      assert.error_matches(function() stepbox.create { record = wrong } end, "bad option 'record'")
    end
  end)

  it("keeps what it may: the oldest outputs go first, with a mark, then the oldest steps", function()
    local own = assert(stepbox.create { timeout = 60, record = 20000 })
    finally(function() own:kill() end)
    for i = 1, 10 do own:step("print('x' * 4000) #" .. i) end
    local cells = written(own).cells
    assert.equal(10, #cells)
    assert.matches("not kept", joined(cells[1].outputs[1].text), 1, true)
    assert.equal(("x"):rep(4000) .. "\n", joined(cells[10].outputs[1].text))
    for i = 11, 60 do own:step("0 #" .. i) end
    local book, path = written(own)
    assert.equal("markdown", book.cells[1].cell_type)
    assert.matches("earlier steps are not kept", joined(book.cells[1].source), 1, true)
    assert.same({ "0 #60" }, book.cells[#book.cells].source)
    if has "nbformat" then assert.equal("", invalid(path)) end
  end)
end)

describe("what is recorded", function()
  local function execution(text)
    return { logs = { { stream = "stdout", text = text } }, results = {}, stdout = text, stderr = "",
      execution_count = 1 }
  end

  local function record(key, text)
    local step = recording.begin(key, "code", {})
    recording.finish(step, execution(text))
    return step
  end

  local function memory()
    collectgarbage()
    collectgarbage()
    return collectgarbage "count" * 1024
  end

  it("takes no more memory than is counted", function()
    for _, size in ipairs { 0, 100, 5000 } do
      local key, before = {}, memory()
      for i = 1, 2000 do record(key, ("x"):rep(size - 4) .. i) end
      local took = memory() - before
      assert.is_true(took <= recording.of(key).bytes, ("%d of %d"):format(took, recording.of(key).bytes))
    end
  end)

  it("of a thousand boxes together stays within its bound", function()
    local before, boxes = memory(), {}
    for i = 1, 1000 do
      boxes[i] = {}
      for k = 1, 4 do record(boxes[i], ("x"):rep(50000) .. i .. k) end
    end
    assert.is_true(memory() - before < 72 * 1024 * 1024)
    local first, last = recording.of(boxes[1]), recording.of(boxes[1000])
    assert.is_true(first.steps[1].is_dropped)
    assert.equal("stdout", last.steps[4].outputs[1].stream)
  end)

  it("goes with its box", function()
    local before = memory()
    do
      local key = {}
      record(key, ("y"):rep(8 * 1024 * 1024))
    end
    assert.is_true(memory() - before < 1024 * 1024)
  end)

  it("of a step that ends when it is forgotten already is nothing", function()
    local key = {}
    recording.set(key, 3000)
    local early = recording.begin(key, "early", {})
    for i = 1, 20 do record(key, "text" .. i) end
    recording.finish(early, execution "late")
    local session = recording.of(key)
    assert.is_true(session.bytes <= 3000)
    assert.is_nil(notebook.encode(session):find("late", 1, true))
  end)
end)
