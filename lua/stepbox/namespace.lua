--- What a box is asked for by a name of its own, box.commands and the like: a table of the box, with methods.

--- A class whose instances are made with `setmetatable({ box = box }, class)`, and the function that gives a
--- method its box, or raises in the method's caller when it was called with a dot.
---@param name string how a user writes it, "box.files"
---@return table class
---@return fun(self: table, method: string): userdata
local function namespace(name)
  local class = {}
  class.__index = class
  local function box_of(self, method)
    if getmetatable(self) ~= class then
      error(("'%s' is called with a colon: %s:%s(...)"):format(method, name, method), 3)
    end
    return self.box
  end
  return class, box_of
end

return namespace
