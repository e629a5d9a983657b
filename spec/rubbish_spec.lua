--- The parsers in Lua of what others write, given bytes that nobody would: git, a server, a model, a user at
--- the prompt. Those in C have fuzz targets (fuzz/README.md).

local base64 = require "stepbox.base64"
local cjson = require "cjson"
local credentials = require "stepbox.git.credentials"
local csv = require "stepbox.csv"
local failure = require "stepbox.git.failure"
local is_open = require("stepbox.cli.lines").is_open
local json = require "stepbox.json"
local json_text = require "stepbox.json_text"
local notebook = require "stepbox.notebook"
local recording = require "stepbox.recording"
local timestamp = require "stepbox.timestamp"
local url = require "stepbox.git.url"
local utf8_text = require "stepbox.utf8_text"

local ROUNDS = 3000

local seed = tonumber(os.getenv "RUBBISH_SEED") or os.time()

--- Bytes made of the pieces, and of any.
local function rubbish(pieces, most)
  local list = {}
  for i = 1, math.random(0, most or 12) do
    list[i] = math.random(4) > 1 and pieces[math.random(#pieces)] or string.char(math.random(0, 255))
  end
  return table.concat(list)
end

--- Calls fn with many of them; what goes wrong is told with the input and the seed.
local function each(pieces, fn, most)
  math.randomseed(seed)
  for _ = 1, ROUNDS do
    local text = rubbish(pieces, most)
    local ok, message = pcall(fn, text)
    if not ok then error(("of %q (RUBBISH_SEED=%d): %s"):format(text, seed, tostring(message)), 0) end
  end
end

describe("rubbish", function()
  it("as a time is none, or a number of seconds", function()
    local pieces = { "2026", "-", "01", "31", "T", "12", ":", "00", ".5", "Z", "+01:30", "-23:59",
      "2026-01-31T12:00:00", " " }
    each(pieces, function(text)
      local seconds = timestamp.parse(text)
      assert(seconds == nil or seconds == seconds and math.abs(seconds) < 1e12)
      assert(seconds == nil or #text >= 20)
    end)
    for _, value in ipairs { false, {}, 7 } do assert.is_nil(timestamp.parse(value)) end
  end)

  it("as base64 is none, or what is encoded to the same", function()
    each({ "QUJD", "QQ==", "QUI=", "=", "/", "+", "-", "\n" }, function(text)
      local bytes = base64.decode(text)
      assert(bytes == nil or #bytes <= #text / 4 * 3)
      assert(bytes == nil or #base64.encode(bytes) == #text)
      assert(base64.decode(base64.encode(text)) == text)
    end)
  end)

  it("as text is cut to UTF-8, within the length", function()
    each({ "a", "\u{e9}", "\u{20ac}", "\u{1f600}", "\xe2\x82", "\xf0\x9f", "\xc0\x80", "\0" }, function(text)
      local clean = utf8_text.clean(text)
      assert(utf8.len(clean))
      for most = 0, #clean + 1 do
        local head, tail = utf8_text.head(clean, most), utf8_text.tail(clean, most)
        assert(utf8.len(head) and #head <= most and clean:sub(1, #head) == head)
        assert(utf8.len(tail) and #tail <= most and (tail == "" or clean:sub(-#tail) == tail))
      end
    end)
  end)

  it("in a value is JSON that says the same", function()
    each({ "a", '"', "\\", "\n", "\u{20ac}", "\xff", "\0", "\27" }, function(text)
      local value = { [text] = { text, 1.5, true, json_text.list() }, other = json_text.list { text } }
      local encoded, clean = json_text.encode(value), utf8_text.clean(text)
      assert(utf8.len(encoded) and not encoded:find "[%c]")
      local back = json.decode(encoded)
      assert(back.other[1] == clean and (back[clean] == nil or clean == "other" or back[clean][1] == clean))
    end)
  end)

  it("as JSON raises, or is what it says", function()
    local pieces = { "{", "}", "[", "]", '"a"', ":", ",", "1", "1e999", "-0", "null", "true", "[[[[", "NaN" }
    each(pieces, function(text)
      local ok, value = pcall(json.decode, text)
      assert(ok or type(value) == "string")
      assert(not ok or type(value) ~= "number" or value % 1 ~= 0 or math.abs(value) > 2 ^ 53
        or cjson.encode(value):find "^%-?%d+$" or value ~= value)
    end)
  end)

  it("as the address of a repository shows no password, and names no directory beside", function()
    local pieces = { "https://", "http://", "ssh://", "ext::", "user", ":", "pass%40", "@", "host", "/",
      ".git", "..", "-", "[::1]", ":80", "?", "#", "%2e" }
    each(pieces, function(text)
      local wrong = url.rule(text)
      assert(wrong == nil or type(wrong) == "string")
      local parts, name = url.split(text), url.directory(text)
      -- Unless the host is called as the password is.
      if parts.password and #parts.password > 3 and not text:find("pass%%40.*pass") then
        assert(not (parts.origin or ""):find(parts.password, 1, true))
      end
      assert(wrong ~= nil or not parts.username or parts.origin)
      assert(name == nil or name ~= "" and name ~= "." and name ~= ".." and not name:find "/")
    end)
  end)

  it("that git says is a message on one line, with a code", function()
    local known = { unauthorized = true, unavailable = true, no_space = true, permission = true,
      conflict = true, exists = true, not_directory = true, not_found = true, unchanged = true,
      invalid = true, unsupported = true, process_gone = true }
    local pieces = { "fatal: ", "error: ", "CONFLICT (", "remote: ", "\n", "\r", "\27[31m", "not found",
      "'a'", "hint: ", "permission denied", ("x"):rep(600) }
    each(pieces, function(text)
      local result = { exit_code = ({ 1, 127, 128, 129 })[math.random(5)], how = "signal: killed",
        stderr = text, stdout = rubbish(pieces, 3) }
      local nothing, message, code = failure.of_result("git push", result)
      assert(nothing == nil and known[code], code)
      assert(message:find "^git push: ." and not message:find "[%c]" and #message < 1200)
    end)
  end)

  it("around a password does not keep it from being hidden", function()
    each({ "%", ".", "-", "p", "w", "(", "[", "]", "^", "$", "+" }, function(secret)
      if secret:find "%*" or #secret < 2 then return end
      local taken = credentials.take("push", {}, { username = "u", password = secret })
      local hidden = credentials.redact("a " .. secret .. " b " .. secret .. "\n", taken)
      assert(not hidden:find(secret, 1, true))
    end)
  end)

  it("as columns is a table with a line for each row", function()
    local pieces = { '{"a":', '"b":', "[1,", "]", "}", '"\\"', ",", "{", "null", '"', "\\u00e4" }
    each(pieces, function(text)
      local columns = { a = { text, cjson.null }, b = { 1.5, { text } } }
      local encoded = csv.encode(columns, text)
      assert(encoded:find "^a,b\n" or encoded:find "^b,a\n" or encoded:find "^[ab]\n", encoded)
    end)
  end)

  it("as what steps gave is a notebook that is UTF-8 and JSON", function()
    local pieces = { "a", "\n", "\r", "\27[31m", "\u{20ac}", "\xff", "\0", '"', "\\", "{", "]",
      "application/x+json" }
    each(pieces, function(text)
      local function some() return rubbish(pieces, 3) end
      local key, results = {}, {}
      for i = 1, math.random(0, 2) do
        results[i] = { is_main = i == 1, logs_before = math.random(0, 2), text = some(), png = some(),
          encoded = { [some()] = "[]", extra = cjson.encode { x = 1 } } }
      end
      recording.finish(recording.begin(key, text, { of = some(), context = some() }), {
        logs = { { stream = "stdout", text = some() }, { stream = "stderr", text = some() } },
        results = results, stdout = some(), stderr = some(), execution_count = 1,
        error = math.random(2) == 1 and { name = some(), value = some(), traceback = text } or nil,
      }, some(), math.random(2) == 1 and some() or nil)
      local encoded = notebook.encode(recording.of(key))
      assert(utf8.len(encoded))
      local cell = cjson.decode(encoded).cells[1]
      assert(cell.id == "step-1" and cell.cell_type == "code")
    end)
  end)

  it("at the prompt is whole, or is not", function()
    local pieces = { "'", '"', "'''", '"""', "`", "(", ")", "{", "}", "\\", "\n", "#", "//", ":", "if x",
      "%%", "!", "  ", "\t", "def f():", "<<", "E\n", "case", "esac", "if", "then", "fi", "do", "${", "]]",
      "--[[", "[==[", "end", "/*", "*/", ";", "|", "&&", "((", "))", "$'", "/", "[", "]", "function ",
      "while ", "return ", "else", "=>" }
    each(pieces, function(text)
      for _, language in ipairs { "python", "javascript", "bash", "r", "java", "lua", "other" } do
        assert(type(is_open(text, language)) == "boolean")
      end
    end)
  end)
end)
