--- What a block says when something went wrong: what it was, what became of the sandbox, and what to do next.

local utf8_text = require "stepbox.utf8_text"

local LONGEST_NAME, LONGEST_VALUE, LONGEST_TRACEBACK, LONGEST_STDERR = 200, 2000, 6000, 4000

-- What to do, by the code of the failure.
local ADVICE = {
  cancelled = "The task that ran the block was cancelled.",
  invalid = "Correct the input that it names.",
  no_space = "Write less, or delete files in the sandbox.",
  permission = "Use paths below the home directory or /tmp.",
  rate_limited = "Wait and run the block again, or kill sandboxes that nobody needs.",
  timeout = "Run the block again.",
  too_large = "Show or write less.",
  unauthorized = "Check the API key: 'credentials', or E2B_API_KEY in the environment.",
  unavailable = "Check that the service can be reached at its address, and run the block again.",
}

local message = {}

local function sentence(text) return (text:gsub("[%s.]+$", "")) .. "." end

--- Joins sentences; nil ones are left out.
local function say(...)
  local out = {}
  for i = 1, select("#", ...) do
    local text = select(i, ...)
    if text and text ~= "" then out[#out + 1] = sentence(text) end
  end
  return table.concat(out, " ")
end
message.say = say

--- A failure of the service or the sandbox in something that the block did.
function message.failure(what, why, code, fate)
  return say(what .. ": " .. tostring(why), fate, ADVICE[code] or "Run the block again")
end

--- A sandbox that could not be made.
function message.create(why, code)
  local advice
  if code == "not_found" then
    advice = "Correct 'template_id', or leave it out"
  elseif why:find("internet access", 1, true) or why:find("allow_internet", 1, true) then
    advice = "Leave 'allow_internet' out, or have the host given what is missing"
  end
  return say("No sandbox was made: " .. why, advice or ADVICE[code] or "Run the block again")
end

--- A sandbox that is not there any more. `moment`: "before", "in", "after".
function message.gone(id, moment, why)
  local head = "The sandbox " .. id
  if moment == "before" then
    head = head .. " is not there (any more): it has expired, was killed, or never was. The code did not run"
  elseif moment == "in" then
    head = head .. " ended while the block worked in it: it " .. (why or "expired or was killed")
  else
    head = head .. " ended with the code: it " .. (why or "expired or was killed")
  end
  return head
end

message.ANOTHER = "Make another one with InstantiationBlock, with a longer 'timeout' if it expired, run the "
  .. "earlier steps in it again, and go on with its sandbox_id"

--- Escape sequences for a terminal's colours are noise in a message.
local function plain(text) return (text:gsub("\27%[[%d;]*m", "")) end

--- Code that raised.
function message.raised(raised, fate, was_restarted)
  local value = utf8_text.head(utf8_text.clean(raised.value), LONGEST_VALUE)
  local head = "The code raised " .. utf8_text.head(utf8_text.clean(raised.name), LONGEST_NAME)
  if value ~= "" then head = head .. ": " .. value end
  local restarted = was_restarted
    and "The interpreter had been started afresh for this step: variables of earlier steps were gone"
  local text = say(head, restarted or nil, fate, "Correct the code and run it again")
  local traceback = utf8_text.tail(plain(utf8_text.clean(raised.traceback)), LONGEST_TRACEBACK)
  return traceback == "" and text or text .. "\n\n" .. traceback
end

--- A setup command that failed.
---@param command string
---@param place string "2 of 3"
---@param how string "exited with code 1"
---@param output string the end of what it wrote
---@param stream string|nil which stream that is
function message.setup(command, place, how, output, stream, fate)
  local begin = utf8_text.head(utf8_text.clean(command), 300)
  local head = ("Setup command %s, `%s`, %s"):format(place, begin, how)
  local text = say(head, fate, "Correct the command and run the block again")
  if output == "" then return text end
  local last = utf8_text.tail(utf8_text.clean(output), LONGEST_STDERR)
  return text .. "\n\nThe end of its " .. stream .. ":\n" .. last
end

message.LONGEST_STDERR = LONGEST_STDERR

return message
