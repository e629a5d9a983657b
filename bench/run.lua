--- Measures the local engine and prints a table. Compared figures come from one run, interleaved.
---   make bench                     all topics
---   make bench TOPICS="files"      some: steps, sandboxes, commands, files, program
local root = arg[0]:match "^(.*)/bench/[^/]*$" or "."
package.path = root .. "/?.lua;" .. package.path

for _, topic in ipairs(#arg > 0 and arg or { "steps", "sandboxes", "commands", "files", "program" }) do
  require("bench." .. topic)()
end
