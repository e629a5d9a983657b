local sandbox = require "spec.support.sandbox"

describe("the page of error codes", function()
  local page = sandbox.read(sandbox.root .. "/docs/errors.md")

  it("has every code that the core gives, and no other but git's", function()
    local documented, given = {}, { conflict = true, unchanged = true }
    for code in page:gmatch "\n| `([%a_]+)` |" do documented[code] = true end
    local source = sandbox.read(sandbox.root .. "/src/core/error.c")
    for code in source:gmatch 'return "([%a_]+)";' do
      if code ~= "ok" and code ~= "unknown" then given[code] = true end
    end
    assert.same(given, documented)
  end)
end)
