--- What a step gives back: executions and their results.

local check = require "stepbox.options"
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

-- What is decoded of a result's JSON, as the text that it came as: the order of its names, and which tables
-- were lists, are in that alone.
local texts = setmetatable({}, { __mode = "k" })

local function json_of(result, name)
  local known = texts[result] and texts[result][name]
  if known and known.value == result[name] then return known.text end
  return json.encode(result[name])
end

local function plain(result, name)
  local value = result[name]
  return type(value) == "string" and value or json_of(result, name)
end

local function csv(result)
  local data = result.data
  if type(data) ~= "table" then return nil end
  return require("stepbox.csv").encode(data, json_of(result, "data"))
end

--- Which formats a file name's ending asks for, the first that is there counting.
local ENDINGS = {
  txt = { "text" }, htm = { "html" }, html = { "html" }, md = { "markdown" }, markdown = { "markdown" },
  svg = { "svg" }, png = { "png" }, jpg = { "jpeg" }, jpeg = { "jpeg" }, pdf = { "pdf" }, tex = { "latex" },
  latex = { "latex" }, js = { "javascript" }, csv = { "data" }, json = { "json", "data", "chart" },
}

--- What a name without an ending is given, by the first of these formats that is there.
local BEST = {
  { "png", "png" }, { "jpeg", "jpg" }, { "svg", "svg" }, { "pdf", "pdf" }, { "data", "csv" },
  { "json", "json" }, { "chart", "json" }, { "html", "html" }, { "markdown", "md" }, { "latex", "tex" },
  { "javascript", "js" }, { "text", "txt" },
}

local function best_ending(result)
  for _, pair in ipairs(BEST) do
    if result[pair[1]] ~= nil then return pair[2] end
  end
end

--- The format for an ending, and its bytes; nil when the result has none such.
local function for_ending(result, ending)
  for _, name in ipairs(ENDINGS[ending] or {}) do
    local bytes
    if ending == "csv" then
      bytes = csv(result)
    elseif result[name] ~= nil then
      bytes = plain(result, name)
    end
    if bytes then return name, bytes end
  end
end

--- What a result has, and the endings under which it could be saved, for a message.
local function what_there_is(result)
  local list, formats = {}, table.concat(result:formats(), ", ")
  for ending in pairs(ENDINGS) do
    if for_ending(result, ending) then list[#list + 1] = "." .. ending end
  end
  table.sort(list)
  if not list[1] then return formats ~= "" and formats .. ", which no ending is for" or "nothing to save" end
  return formats .. ", which can be saved as " .. table.concat(list, ", ")
end

--- Writes the result to a file, in the format that the file name's ending asks for: txt, html, md, svg, png,
--- jpg, pdf, tex, js, json (of a chart or a table's data too), csv (of a table's data). A name without an
--- ending gets that of the best format.
---@param path string
---@return string|nil format the format written
---@return string path the file, or the message
---@return string? code "invalid" when the result has no such format, "system" when writing fails
function Result:save(path)
  check.argument("save", 1, check.text, path)
  local base = path:match "[^/]*$"
  local ending = base:match "^.+%.([^.]*)$"
  if not ending and base ~= "" then
    ending = best_ending(self)
    if ending then path = path .. "." .. ending end
  end
  local format, bytes = for_ending(self, (ending or ""):lower())
  if not format then
    return nil, ("cannot save to '%s': this result has %s"):format(path, what_there_is(self)), "invalid"
  end
  local file, message = io.open(path, "wb")
  if not file then return nil, message, "system" end
  local written, why = file:write(bytes)
  local closed, late = file:close()
  if not written or not closed then return nil, path .. ": " .. (why or late), "system" end
  return format, path
end

--- What can be read of a result, and its format; nil when there is nothing such.
local function text_of(result)
  for _, name in ipairs { "text", "markdown", "html", "latex", "javascript" } do
    if type(result[name]) == "string" then return result[name], name end
  end
  for _, name in ipairs { "json", "data", "chart" } do
    if result[name] ~= nil then return json_of(result, name), name end
  end
end

--- Shows the result on standard output: an image in a terminal that can (by the protocols of kitty, iTerm2
--- and sixel; STEPBOX_IMAGES says which), else its text.
---@return string|nil format what was shown
---@return string? message
---@return string? code "unsupported" when there is nothing that can be shown
function Result:show()
  local images = require "stepbox.images"
  local shown, format
  for _, name in ipairs { "png", "jpeg" } do
    local bytes = self[name]
    if not shown and type(bytes) == "string" then shown, format = images.encode(bytes, name), name end
  end
  if not shown then
    shown, format = text_of(self)
    shown = shown and shown:gsub("\n?$", "\n", 1)
  end
  if not shown then
    return nil, "show: no terminal shows " .. table.concat(self:formats(), ", "), "unsupported"
  end
  local written, message = io.stdout:write(shown)
  if written then written, message = io.stdout:flush() end
  if not written then return nil, "show: " .. tostring(message), "system" end
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

--- Makes a result of what the core gives: decodes its JSON formats. A server may send any name: one that
--- stands for something here already does not become a format.
local function result(raw)
  local known = {}
  for name, text in pairs(raw.encoded) do
    if raw[name] == nil and Result[name] == nil then
      local ok, value = pcall(json.decode, text)
      raw[name] = ok and value or text
      known[name] = { text = text, value = raw[name] }
    end
  end
  if next(known) then texts[raw] = known end
  raw.encoded, raw.logs_before = nil, nil
  return setmetatable(raw, Result)
end

local function execution(raw)
  for _, inner in ipairs(raw.results) do result(inner) end
  return setmetatable(raw, Execution)
end

return { result = result, execution = execution, text_of = text_of }
