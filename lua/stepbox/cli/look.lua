--- A box to ask about a sandbox with: one that is paused stays so.

local stepbox = require "stepbox"
local status = require "stepbox.cli.status"

return function(id) return status.check(stepbox.connect(id, { resume = false })) end
