--- What a step gives back: executions and their results.

local json = require "stepbox.json"

--- One value that the code showed: that of its last expression, or of a `display()`. Only the formats that
--- the value has are there.
---@class stepbox.Result
---@field text? string
---@field html? string
---@field markdown? string
---@field svg? string
---@field png? string the image's bytes
---@field jpeg? string the image's bytes
---@field pdf? string the document's bytes
---@field latex? string
---@field json? any decoded
---@field javascript? string
---@field data? table columns of a data frame
---@field chart? table description of a chart
---@field extra? table formats that stepbox does not know, by MIME type
---@field is_main boolean whether it is the value of the last expression
local Result = {}
Result.__index = Result

local FORMATS = {
  "text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex", "json", "javascript", "data", "chart",
}

--- The formats that this result has, in a fixed order, those in `extra` last.
---@return string[]
function Result:formats()
  local names = {}
  for _, name in ipairs(FORMATS) do
    if self[name] ~= nil then names[#names + 1] = name end
  end
  local others = {}
  for name in pairs(self.extra or {}) do others[#others + 1] = name end
  table.sort(others)
  for _, name in ipairs(others) do names[#names + 1] = name end
  return names
end

--- Which format a file name's ending asks for.
local ENDINGS = {
  txt = "text", htm = "html", html = "html", md = "markdown", svg = "svg", png = "png", jpg = "jpeg",
  jpeg = "jpeg", pdf = "pdf", tex = "latex", json = "json", js = "javascript",
}

--- Writes the result to a file, in the format that the file name's ending asks for.
---@param path string
---@return string|nil format the format written
---@return string? message
---@return string? code "invalid" when the result has no such format, "system" when writing fails
function Result:save(path)
  if type(path) ~= "string" then
    error("bad argument #1 to 'save' (string expected, got " .. type(path) .. ")", 2)
  end
  local format = ENDINGS[(path:match "%.(%w+)$" or ""):lower()]
  local value = format and self[format]
  if value == nil then
    return nil, "cannot save to '" .. path .. "': this result has "
      .. table.concat(self:formats(), ", "), "invalid"
  end
  if type(value) ~= "string" then value = json.encode(value) end
  local file, message = io.open(path, "wb")
  if not file then return nil, message, "system" end
  local written, why = file:write(value)
  local closed, late = file:close()
  if not written or not closed then return nil, path .. ": " .. (why or late), "system" end
  return format
end

function Result:__tostring()
  return self.text or ("stepbox.Result (" .. table.concat(self:formats(), ", ") .. ")")
end

--- One piece of output, as it came.
---@class stepbox.Log
---@field stream "stdout"|"stderr"
---@field time number Unix seconds
---@field text string

--- What the code raised.
---@class stepbox.StepError
---@field name string
---@field value string
---@field traceback string

--- The outcome of a step.
---@class stepbox.Execution
---@field text? string the value of the last expression
---@field results stepbox.Result[] all that the code showed, in order
---@field stdout string
---@field stderr string
---@field logs stepbox.Log[] the pieces of both streams in order
---@field error? stepbox.StepError
---@field execution_count? integer
---@field duration number seconds
---@field truncated boolean whether output was dropped: beyond `max_output`, or the sandbox's limit of output
---@field stdout_truncated boolean
---@field stderr_truncated boolean
---@field dropped? integer bytes that the engine dropped beyond the sandbox's limit `output`
---@field restarted boolean whether the context had lost its state and started afresh for this step
local Execution = {}
Execution.__index = Execution

function Execution:__tostring()
  if self.error then return self.error.traceback ~= "" and self.error.traceback or self.error.name end
  return self.text or self.stdout
end

--- Makes a result of what the core gives: decodes its JSON formats.
local function result(raw)
  for name, text in pairs(raw.encoded) do
    local ok, value = pcall(json.decode, text)
    raw[name] = ok and value or text
  end
  raw.encoded, raw.logs_before = nil, nil
  return setmetatable(raw, Result)
end

local function execution(raw)
  for _, inner in ipairs(raw.results) do result(inner) end
  return setmetatable(raw, Execution)
end

return { result = result, execution = execution }
