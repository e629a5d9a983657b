-- What the failed programs of a run printed, kept to be shown again at its end: a whole run prints thousands
-- of lines, and who reads it from its end should see first what failed.

local M = {}

-- Of a longer output the beginning and the end are shown, in bytes.
local HEAD, TAIL = 4000, 8000

local Failed = {}
Failed.__index = Failed

function M.new() return setmetatable({}, Failed) end

--- counts: of this program alone.
function Failed:add(job, output, counts)
  if #output > HEAD + TAIL then
    output = output:sub(1, HEAD) .. "\n[...]\n" .. output:sub(-TAIL)
  end
  table.insert(self, { job = job, output = output, counts = counts })
end

function Failed:show()
  for _, program in ipairs(self) do
    print(("== %s: %s"):format(program.passes_alone and "failed, and passes by itself" or "failed",
      program.job.name))
    io.stdout:write(program.output, program.output:find "[^\n]$" and "\n" or "")
  end
end

return M
