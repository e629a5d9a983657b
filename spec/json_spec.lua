local json = require "stepbox.json"
local stepbox = require "stepbox"

describe("JSON on the Lua side", function()
  -- Debian's lua-cjson decodes every number to a float, LuaRocks' does not.
  it("has integers as integers, whichever lua-cjson there is", function()
    local value = json.decode '{"n": 3, "list": [1, -2, 2.5], "deep": {"big": 9007199254740992}}'
    assert.equal("integer", math.type(value.n))
    assert.equal("integer", math.type(value.list[1]))
    assert.equal(-2, value.list[2])
    assert.equal(2.5, value.list[3])
    assert.equal("integer", math.type(value.deep.big))
    assert.equal("integer", math.type(json.decode "7"))
  end)

  it("has one null, the same as lua-cjson's", function()
    assert.equal(stepbox.null, json.decode "[null]"[1])
    assert.equal(require("cjson").null, stepbox.null)
  end)

  it("raises on what is no JSON", function()
    assert.has_error(function() json.decode "{]" end)
  end)
end)
