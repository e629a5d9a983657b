--- What the specs of the blocks share.

local assert = require "luassert"
local sandbox = require "spec.support.sandbox"
local stepbox = require "stepbox"

local M = {}

--- How many sandboxes carry this mark in their metadata.
function M.count(mark)
  local count = 0
  for _ in assert(stepbox.list { metadata = { mark = mark } }) do count = count + 1 end
  return count
end

--- Ids of all sandboxes, as a set.
function M.ids()
  local ids = {}
  for info in assert(stepbox.list()) do ids[info.id] = true end
  return ids
end

--- Kills what is there now and was not before; returns how many those were.
function M.kill_new(before)
  local count = 0
  for id in pairs(M.ids()) do
    if not before[id] and stepbox.kill(id) then count = count + 1 end
  end
  return count
end

--- The names of an iterator's outputs in their order, and the values by name.
function M.names(...)
  local names, values = {}, {}
  for name, value in ... do
    names[#names + 1] = name
    values[name] = value
  end
  return table.concat(names, " "), values
end

function M.assert_gone(id) sandbox.assert_gone(id) end

--- The default client with some methods of a spec's own.
function M.client_with(methods) return setmetatable(methods, { __index = assert(stepbox.client()) }) end

--- A box with some methods of a spec's own.
function M.box_with(box, methods)
  return setmetatable(methods, {
    __index = function(_, name)
      local value = box[name]
      if type(value) ~= "function" then return value end
      return function(_, ...) return value(box, ...) end
    end,
    __close = function() getmetatable(box).__close(box) end,
  })
end

--- Fails unless `out` has an error with each of the texts.
function M.assert_says(out, ...)
  assert.is_string(out.error)
  for _, text in ipairs { ... } do assert.matches(text, out.error, 1, true) end
end

return M
