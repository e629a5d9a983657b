-- What the failed programs of a run printed, kept to be shown again at its end: a whole run prints thousands
-- of lines, and who reads it from its end should see first what failed.

local M = {}

-- Of a longer output the beginning and the end are shown, in bytes.
local HEAD, TAIL = 4000, 8000

local Failed = {}
Failed.__index = Failed

function M.new() return setmetatable({}, Failed) end

function Failed:add(name, output)
  if #output > HEAD + TAIL then
    output = output:sub(1, HEAD) .. "\n[...]\n" .. output:sub(-TAIL)
  end
  table.insert(self, { name = name, output = output })
end

function Failed:show()
  for _, program in ipairs(self) do
    print("== failed: " .. program.name)
    io.stdout:write(program.output, program.output:find "[^\n]$" and "\n" or "")
  end
end

return M
