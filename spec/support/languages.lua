--- Which languages the sandboxes of this host run, for specs that need one.

local stepbox = require "stepbox"

local M = {}

local known

local function find()
  local box = assert(stepbox.create { timeout = 60 })
  local found = {}
  for _, language in ipairs(assert(box:languages())) do found[language.name] = language end
  box:kill()
  return found
end

--- Whether there is such a language, and else why not.
function M.has(name)
  known = known or find()
  local language = known[name]
  if not language then return false, "the engine has no runner for " .. name end
  return language.available, language.message
end

return M
