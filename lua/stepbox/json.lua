--- JSON for the Lua side: lua-cjson, with integers as integers.
---
--- Debian's lua-cjson (2.1.0) decodes every number to a float; LuaRocks' (2.1.0.x) to integers where they
--- fit. Both give the same here.

local cjson = require "cjson"
local tointeger = require("stepbox.compat").tointeger

local function integers(value)
  if type(value) == "number" then
    return tointeger(value) or value
  elseif type(value) == "table" then
    for key, inner in pairs(value) do
      value[key] = integers(inner)
    end
  end
  return value
end

--- Decodes JSON text; raises when it is none.
---@param text string
---@return any value null is `stepbox.null`
local function decode(text) return integers(cjson.decode(text)) end

return { decode = decode, encode = cjson.encode }
