-- A second process: connects to a sandbox by its id and goes on with its variables.
--   lua continue.lua SANDBOX_ID
local stepbox = require "stepbox"

local id = arg[1] or error "usage: continue.lua SANDBOX_ID"
local box = assert(stepbox.connect(id))
print("second process, " .. tostring(box))
print("  total is " .. assert(box:step "total").text .. ", adding 1000")
assert(box:step "total += 1000")
-- This box does not own the sandbox: it lives on when this process ends.
