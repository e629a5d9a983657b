--- What the code showed, as the blocks hand it out: plain tables that hold only the formats present.

local base64 = require "stepbox.base64"
local utf8_text = require "stepbox.utf8_text"
local json = require "stepbox.json"
local json_text = require "stepbox.json_text"

-- `text` comes first: it is what has to be kept when there is too much.
local FORMATS = {
  "text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex", "json", "javascript", "data", "chart",
  "extra",
}

local BINARY = { png = true, jpeg = true, pdf = true }

-- What a result costs beside its formats, so that empty ones have a bound too.
local OVERHEAD = 64

-- The JSON texts of results' formats, by result: decoded, an empty list would be as an empty object.
local texts = setmetatable({}, { __mode = "k" })

--- One result, as far as `room` goes.
---@return table result
---@return integer room what is left
---@return boolean is_whole
local function take_one(raw, room)
  local result, kept, is_whole = {}, {}, true
  room = room - OVERHEAD
  for _, name in ipairs(FORMATS) do
    local value = raw[name]
    local encoded = raw.encoded[name]
    local size = #(value or encoded or "")
    if size <= room then
      room = room - size
      result[name] = value
      if encoded then
        local ok, decoded = pcall(json.decode, encoded)
        if ok then result[name] = decoded else result[name] = encoded end
        kept[name] = encoded
      end
    else
      is_whole = false
      if name == "text" and room > 0 then result.text, room = utf8_text.head(value, room), 0 end
    end
  end
  texts[result] = kept
  return result, room, is_whole
end

--- Takes the results of an execution, as the core gives it.
---@param raw table the results, with formats that are still JSON under `encoded`
---@param most integer bytes of all together
---@return table[] results
---@return table|nil main the main one once more, without `is_main_result`
---@return boolean is_whole whether all was kept
local function take(raw, most)
  local list, main, all = {}, nil, true
  for _, inner in ipairs(raw) do
    local result, room, is_whole = take_one(inner, most)
    most, all = room, all and is_whole
    if is_whole or next(result) ~= nil then
      result.is_main_result = inner.is_main
      list[#list + 1] = result
      if inner.is_main and not main then
        main = {}
        for name, value in pairs(result) do main[name] = value end
        main.is_main_result = nil
        texts[main] = texts[result]
      end
    end
    if most <= 0 then break end
  end
  return list, main, all and #list == #raw
end

--- A result as JSON has it: images and documents in base64.
local function to_json(result)
  local encoded, out = texts[result] or {}, {}
  for name, value in pairs(result) do
    if encoded[name] then
      out[name] = json_text.raw(encoded[name])
    elseif BINARY[name] then
      out[name] = base64.encode(value)
    elseif type(value) == "string" then
      out[name] = utf8_text.clean(value)
    else
      out[name] = value
    end
  end
  return out
end

return { FORMATS = FORMATS, take = take, to_json = to_json }
