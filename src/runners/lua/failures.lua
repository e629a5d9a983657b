-- What was raised, as name, value and traceback.

local parts = ...
local name_of = parts.inspection.name_of
local getmetatable, rawget, type = debug.getmetatable, rawget, type

local function has_text(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__tostring") ~= nil
end

local function class_of(value)
  if type(value) == "string" then return "Error" end
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name or type(value)
end

-- As the interpreter has it, but for values that say something by themselves.
local function value_of(value)
  if type(value) == "string" then return value end
  if type(value) == "number" or type(value) == "boolean" or value == nil or has_text(value) then
    return name_of(value)
  end
  if type(value) == "table" then return parts.inspection.show(value) end
  return "(error object is a " .. type(value) .. " value)"
end

local function describe(value, traceback)
  local text = value_of(value)
  return class_of(value), text, type(traceback) == "string" and text .. "\n" .. traceback or text
end

return { describe = describe }
