local cjson = require "cjson"
local csv = require "stepbox.csv"
local make = require("stepbox.result").result
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"

--- A result as the core gives it.
local function result(formats, encoded)
  formats.encoded, formats.is_main, formats.logs_before = encoded or {}, true, 0
  return make(formats)
end

describe("a result", function()
  local folder
  before_each(function() folder = sandbox.temporary() end)
  after_each(function() os.execute("rm -r " .. folder) end)

  --- Saves it and returns the format and what the file has.
  local function saved(of, name)
    local format, path = assert(of:save(folder .. "/" .. name))
    return format, sandbox.read(path), path:sub(#folder + 2)
  end

  local all = {
    text = "t", html = "<b>", markdown = "*m*", svg = "<svg/>", png = "\137PNG\0", jpeg = "\255\216\0",
    pdf = "%PDF\0", latex = "$l$", javascript = "j()",
  }

  local function whole()
    local formats = {}
    for name, value in pairs(all) do formats[name] = value end
    return result(formats, { json = '{"a":[],"b":{},"c":1.5}', data = '{"b":[1],"a":["x"]}',
      chart = '{"type":"line"}' })
  end

  it("is saved in the format that an ending asks for", function()
    for ending, format in pairs {
      txt = "text", htm = "html", html = "html", md = "markdown", markdown = "markdown", svg = "svg",
      png = "png", PNG = "png", jpg = "jpeg", jpeg = "jpeg", pdf = "pdf", tex = "latex", latex = "latex",
      js = "javascript",
    } do
      local got, bytes, name = saved(whole(), "x." .. ending)
      assert.same({ format, all[format], "x." .. ending }, { got, bytes, name })
    end
    assert.equal('{"a":[],"b":{},"c":1.5}', (select(2, saved(whole(), "x.json"))))
    assert.equal("b,a\n1,x\n", (select(2, saved(whole(), "dir.png.csv"))))
  end)

  it("is saved as JSON when it has only data or a chart", function()
    assert.same({ "data", '{"b":[],"a":[1.0]}', "x.json" },
      { saved(result({}, { data = '{"b":[],"a":[1.0]}' }), "x.json") })
    assert.same({ "chart", '{"type":"line"}', "x.json" },
      { saved(result({}, { chart = '{"type":"line"}' }), "x.json") })
    local changed = result({}, { json = "[1]" })
    changed.json = { 2 }
    assert.same({ "json", "[2]", "x.json" }, { saved(changed, "x.json") })
  end)

  it("without an ending is given that of its best format, which is told", function()
    for _, case in ipairs {
      { whole(), "png" }, { result { jpeg = "j", svg = "s" }, "jpg" },
      { result { svg = "s", html = "h" }, "svg" },
      { result({ text = "t", html = "h" }, { data = '{"a":[1]}' }), "csv" },
      { result({ text = "t" }, { json = "[1]" }), "json" }, { result { text = "t", html = "h" }, "html" },
      { result { text = "t", latex = "l" }, "tex" }, { result { text = "t" }, "txt" },
    } do
      assert.equal("a.d/x." .. case[2], (function()
        os.execute("mkdir -p " .. folder .. "/a.d")
        return (select(3, saved(case[1], "a.d/x")))
      end)())
    end
    assert.equal(".hidden.txt", (select(3, saved(result { text = "t" }, ".hidden"))))
  end)

  it("that lacks what an ending asks for is not saved, and says what there is", function()
    local only = result({ png = "p" }, { data = '{"a":[1]}' })
    for _, name in ipairs { "x.svg", "x.gif", "x.ipynb", "x.", "x.txt" } do
      local format, message, code = only:save(folder .. "/" .. name)
      assert.is_nil(format)
      assert.equal("invalid", code)
      assert.equal("cannot save to '" .. folder .. "/" .. name
        .. "': this result has png, data, which can be saved as .csv, .json, .png", message)
    end
    assert.equal("", (sandbox.sh("ls " .. folder)))
    assert.matches("this result has nothing to save$", (select(2, result({}):save(folder .. "/x"))))
    local other = result({}, { extra = '{"a/b":"c"}' })
    assert.matches("this result has a/b, which no ending is for$", (select(2, other:save(folder .. "/x.b"))))
    assert.equal("invalid", (select(3, result({}, { data = "[1" }):save(folder .. "/x.csv"))))
    assert.equal("system", (select(3, only:save "/no/such/folder/x.png")))
    assert.equal("invalid", (select(3, only:save(folder .. "/"))))
    if sandbox.sh "test -c /dev/full && echo yes" == "yes\n" then
      os.execute("ln -s /dev/full " .. folder .. "/full.png")
      assert.equal("system", (select(3, only:save(folder .. "/full.png"))))
    end
    assert.error_matches(function() only:save(5) end, "bad argument #1 to 'save'")
    assert.error_matches(function() only:save "a\0.png" end, "NUL")
  end)

  it("keeps the columns of a data frame in their order, as a file that other programs read", function()
    local box = assert(stepbox.create { timeout = 60 })
    finally(function() box:kill() end)
    local frame = assert(box:step [[
import pandas
pandas.DataFrame({"z": [1, 2], "a,b": ["it's \"quoted\"", "two\nlines"], "m": [0.1, None],
  "\u00fc\\": [True, False]})
]]).results[1]
    local _, text = saved(frame, "frame.csv")
    assert.equal("z,\"a,b\",m,\u{fc}\\\n1,\"it's \"\"quoted\"\"\",0.1,true\n2,\"two\nlines\",,false\n",
      (text:gsub(",nan,", ",,")))
    assert(box.files:write("frame.csv", text))
    local back = assert(box:step [[
b = pandas.read_csv('frame.csv')
(list(b.columns), list(b['a,b']), float(b.m[0]))]])
    assert.equal([[(['z', 'a,b', 'm', 'ü\\'], ['it\'s "quoted"', 'two\nlines'], 0.1)]], back.text)
  end)

  --- What a program of its own writes that shows a result; `terminal`: settings of a terminal that it has.
  local function shown(lua, terminal)
    local path = folder .. "/show.lua"
    sandbox.write(path, 'local make = require("stepbox.result").result\n'
      .. "local result = make { is_main = true, " .. lua .. " }\n"
      .. 'io.write("before ")\nlocal a, b, c = result:show()\n'
      .. 'io.stderr:write(tostring(a), "|", tostring(b), "|", tostring(c))')
    local run = "lua5.4 " .. path
    if terminal then
      run = ("env -u TMUX -u TERM_PROGRAM -u LC_TERMINAL -u KITTY_WINDOW_ID TERM=xterm %s "
        .. "/usr/bin/python3 spec/support/answering_terminal.py none %s"):format(terminal, run)
    end
    local out = sandbox.sh(run .. " 2>" .. folder .. "/err")
    return out, sandbox.read(folder .. "/err")
  end

  it("is shown as its text where there is no terminal", function()
    for lua, wanted in pairs {
      ['encoded = {}, text = "t", png = "p"'] = { "before t\n", "text|nil|nil" },
      ['encoded = {}, markdown = "*m*\\n", html = "h"'] = { "before *m*\n", "markdown|nil|nil" },
      ['encoded = {json = "[1, []]"}'] = { "before [1, []]\n", "json|nil|nil" },
      ['encoded = {chart = "{}"}'] = { "before {}\n", "chart|nil|nil" },
      ['encoded = {}, png = "p"'] = { "before ", "nil|show: no terminal shows png|unsupported" },
    } do
      assert.same(wanted, { shown(lua) })
    end
  end)

  it("is shown as an image in a terminal that can, behind what was written before", function()
    local image = [[encoded = {}, text = "t", png = "\137PNG"]]
    local out = shown(image, "KITTY_WINDOW_ID=1")
    assert.is_truthy(out:find("before \27_Ga=T,f=100,m=0;iVBORw==\27\\", 1, true), out)
    out = shown(image, "TERM_PROGRAM=iTerm.app")
    assert.is_truthy(out:find("before \27]1337;File=inline=1;size=4:iVBORw==\7", 1, true), out)
    for _, environment in ipairs { "A=1", "KITTY_WINDOW_ID=1 STEPBOX_IMAGES=none", "TERM=dumb" } do
      assert.matches("before t\r?\n", (shown(image, environment)))
    end
    -- Kitty shows no JPEG.
    assert.matches("before t\r?\n", (shown([[encoded = {}, text = "t", jpeg = "j"]], "KITTY_WINDOW_ID=1")))
  end)
end)

describe("a result of a server that knows other formats", function()
  it("keeps its own methods and marks, and the rest", function()
    local one = require("stepbox.result").result {
      is_main = true,
      text = "t",
      encoded = { formats = "5", save = "[]", is_main = "7", encoded = "1", __index = "2", json = "[3]",
        text = "8", pixels = "[9]" },
    }
    assert.same({ "text", "json" }, one:formats())
    assert.equal("t", tostring(one))
    assert.is_true(one.is_main)
    assert.is_function(one.save)
    assert.same({ 9 }, one.pixels)
  end)
end)

describe("comma-separated values", function()
  it("say what they are given, whatever that is", function()
    for _, case in ipairs {
      { {}, "\n" },
      { { a = {} }, "a\n" },
      { { exit_status = 3 }, "exit_status\n3\n" },
      { { b = { 1, 2, 3 }, a = { "x" } }, "a,b\nx,1\n,2\n,3\n" },
      { { a = { cjson.null, true, "", " x", "a\rb" } }, "a\n\ntrue\n\n\" x\"\n\"a\rb\"\n" },
      { { a = { 0.1, 1e300, 2 ^ 53, -0.5, 1 / 3 } }, "a\n0.1\n1e+300\n9007199254740992\n-0.5\n"
        .. "0.3333333333333333\n" },
      { { a = { { x = 1 }, { 1, 2 } } }, 'a\n"{""x"":1}"\n"[1,2]"\n' },
      { { 7, 8 }, "1,2\n7,8\n" },
    } do
      assert.equal(case[2], csv.encode(case[1]))
    end
  end)

  it("have their columns in the order of the JSON, whatever stands in that", function()
    local text = [[ {"b\"}" : [1, "a\": {", {"x": [2]}], "a": {"b": 1}, "\u00e4": "\\", "b\"}": [3] } ]]
    local columns = cjson.decode(text)
    columns["b\"}"] = { 3 }
    assert.equal('"b""}",a,ä', csv.encode(columns, text):match "^[^\n]*")
    for _, broken in ipairs { "", "{", '{"a', '{"a\\', "[[[", '{"a":1}}}' } do
      assert.matches("^a\n", csv.encode({ a = { 1 } }, broken))
    end
  end)
end)
