--- The text of a traceback, as people read it.

local traceback = {}

--- Servers put the head of a traceback in one line with what follows.
function traceback.mend(text)
  return (text:gsub("^(%-%-%-%-+)(%S+ +Traceback %(most recent call last%))([^\n])", "%1\n%2\n%3"))
end

--- What an error says of itself: its traceback, or where it has none its name and value.
---@param raised stepbox.StepError
---@return string
function traceback.of(raised)
  local text = raised.traceback
  if text and text ~= "" then return traceback.mend(text) end
  return raised.name .. (raised.value ~= "" and ": " .. raised.value or "")
end

return traceback
