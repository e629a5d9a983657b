local base64 = require "stepbox.base64"
local utf8_text = require "stepbox.utf8_text"
local json_text = require "stepbox.json_text"

describe("bytes as text", function()
  it("is UTF-8, with U+FFFD for each byte that is none", function()
    for _, good in ipairs { "", "a", "\0", "\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}" } do
      local text, was_clean = utf8_text.clean(good)
      assert.equal(good, text)
      assert.is_true(was_clean)
    end
    local R = "\u{fffd}"
    for bad, clean in pairs {
      ["\xff"] = R, ["a\x80b"] = "a" .. R .. "b", ["\xc3"] = R, ["\xc3("] = R .. "(", ["\xc0\x80"] = R .. R,
      ["\xe0\x80\x80"] = R .. R .. R, ["\xed\xa0\x80"] = R .. R .. R, ["\xf4\x90\x80\x80"] = R .. R .. R .. R,
      ["\xe2\x82"] = R .. R, ["\xe2\x82\xac\xff"] = "\u{20ac}" .. R, ["\xf0\x9f\x98"] = R .. R .. R,
    } do
      local text, was_clean = utf8_text.clean(bad)
      assert.equal(clean, text)
      assert.is_false(was_clean)
    end
  end)

  it("agrees with Lua about random bytes", function()
    for _ = 1, 2000 do
      local list = {}
      for i = 1, math.random(6) do list[i] = string.char(math.random(3) == 1 and math.random(0, 255)
        or ({ 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xC3, 0xA9, 0x41 })[math.random(10)]) end
      local text = table.concat(list)
      assert.equal(utf8.len(text) ~= nil, select(2, utf8_text.clean(text)), ("%q"):format(text))
      assert.is_truthy(utf8.len((utf8_text.clean(text))))
    end
  end)

  it("is cut between characters, at both ends", function()
    local text = "a\u{e9}\u{20ac}\u{1f600}z"
    assert.equal("", utf8_text.tail("\u{20ac}", 1))
    for most = 0, #text do
      local head, tail = utf8_text.head(text, most), utf8_text.tail(text, most)
      assert.is_truthy(utf8.len(head))
      assert.is_truthy(utf8.len(tail))
      assert.is_true(#head <= most and #head > most - 4)
      assert.is_true(#tail <= most and #tail > most - 4)
    end
    assert.equal("\x80\x80\x80", utf8_text.head(("\x80"):rep(9), 6):sub(1, 3))
  end)

  it("carries bytes in base64", function()
    for plain, coded in pairs {
      [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", ["\0\255\254"] = "AP/+",
    } do
      assert.equal(coded, base64.encode(plain))
      assert.equal(plain, base64.decode(coded))
    end
    for _, bad in ipairs { "Zg", "Zg=", "Z===", "====", "Zm 9v", "Zm9v\n", "Zm9-", "=Zm9" } do
      assert.is_nil(base64.decode(bad), bad)
    end
  end)

  it("is JSON with lists where lists are meant", function()
    local list = json_text.list
    assert.equal('{"a":[],"b":{},"c":[[],{"x":null}]}', json_text.encode {
      a = list {}, b = {}, c = list { list(), { x = json_text.raw "null" } },
    })
    assert.equal('{"a\\"b":"\\u0000","n":1,"t":true}', json_text.encode { ['a"b'] = "\0", n = 1, t = true })
  end)
end)
