-- The counts of a test run, as each test program says its own.

local M = {}

-- A pattern may match several times.
local patterns = {
  function(line) -- cmocka
    return line:match "%[  PASSED  %] (%d+) test", line:match "%[  FAILED  %] (%d+) test", nil
  end,
  function(line) -- busted
    local passed, failed, errors, pending =
      line:match "(%d+) success%w* / (%d+) failures? / (%d+) errors? / (%d+) pending"
    if passed then return passed, failed + errors, pending end
  end,
  function(line) -- our own
    return line:match "^(%d+) passed, (%d+) failed"
  end,
}

-- unittest says "Ran 5 tests" and then "OK" or "FAILED (failures=1, errors=1, skipped=2)".
local function unittest(line, state)
  state.ran = tonumber(line:match "^Ran (%d+) test") or state.ran
  if not state.ran or not (line:match "^OK" or line:match "^FAILED %(") then return end
  local function number(word) return tonumber(line:match(word .. "=(%d+)")) or 0 end
  local failed, skipped = number "failures" + number "errors", number "skipped"
  local ran = state.ran
  state.ran = nil
  return ran - failed - skipped, failed, skipped
end

local Counts = {}
Counts.__index = Counts

function M.new() return setmetatable({ passed = 0, failed = 0, skipped = 0, unittest = {} }, Counts) end

--- Returns whether any of the three was said.
function Counts:add(passed, failed, skipped)
  if not (passed or failed or skipped) then return false end
  self.passed = self.passed + (tonumber(passed) or 0)
  self.failed = self.failed + (tonumber(failed) or 0)
  self.skipped = self.skipped + (tonumber(skipped) or 0)
  return true
end

--- Counts what one line of a program's output says; returns whether it says anything.
function Counts:line(line)
  local counted = self:add(unittest(line, self.unittest))
  for _, count in ipairs(patterns) do
    counted = self:add(count(line)) or counted
  end
  return counted
end

--- Takes those of another off.
function Counts:less(other)
  for _, name in ipairs { "passed", "failed", "skipped" } do self[name] = self[name] - other[name] end
end

function Counts:__tostring()
  return ("%d passed, %d failed, %d skipped"):format(self.passed, self.failed, self.skipped)
end

return M
