--- The differences between the Lua versions that the library files meet (5.1 with LuaJIT to 5.5).
-- luacheck: std max

local function pcall_yields()
  local co = coroutine.create(function() pcall(coroutine.yield) end)
  coroutine.resume(co)
  return coroutine.status(co) == "suspended"
end

return {
  pack = table.pack or function(...) return { n = select("#", ...), ... } end,
  unpack = table.unpack or unpack,
  -- Lua 5.1 and 5.2 have one kind of number only.
  tointeger = math.tointeger or function(n) return n end,
  -- Plain Lua 5.1 cannot yield through a pcall.
  pcall_yields = pcall_yields(),
}
