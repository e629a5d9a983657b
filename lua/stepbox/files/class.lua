--- The class of box.files, to which the files beside this one add their methods.

local namespace = require "stepbox.namespace"

--- The files of a box. A path is absolute, or relative to the home directory.
---@class stepbox.Files
local Files, box_of = namespace "box.files"

return { Files = Files, box_of = box_of }
