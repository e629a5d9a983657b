--- The attack suite: each entry of spec/attacks/ as a test. The probe succeeds outside first, and fails
--- inside. `make attack` runs these alone, and has the verdicts printed (STEPBOX_VERDICTS names a file).
--- STEPBOX_ATTACKS names one family, for that to be run by itself.

local attack = require "spec.support.attack"

local verdicts = os.getenv "STEPBOX_VERDICTS"
local only = os.getenv "STEPBOX_ATTACKS"

local function note(family, entry, verdict, why)
  if not verdicts then return end
  local file = assert(io.open(verdicts, "a"))
  file:write(family.name, "\t", entry.attack, "\t", verdict, "\t", ((why or ""):gsub("%s*\n.*", "")), "\n")
  file:close()
end

local function single_line(text) return (text:gsub("%s+", " ")) end

local function tests(family)
  local frame

  setup(function() frame = attack.frame(family) end)
  teardown(function() frame:close() end)

  for _, entry in ipairs(family) do
    it(single_line(entry.attack), function()
      local verdict, why = attack.run(frame, entry)
      note(family, entry, verdict, why)
      if verdict == "skipped" then return pending(why) end
      if verdict ~= "holds" then error(why, 0) end
    end)
  end
end

for _, family in ipairs(attack.families()) do
  if not only or family.name == only then
    describe("attack: " .. family.name .. ":", function() tests(family) end)
  end
end
