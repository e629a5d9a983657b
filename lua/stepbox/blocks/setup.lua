--- What happens in a new sandbox before the code: files are written, shell commands run.

local message = require "stepbox.blocks.message"

local KEPT = 64 * 1024 -- bytes kept of a command's output

--- Writes the files; false when that failed.
local function write_files(run)
  local list = run.input.files
  if not list or not list[1] then return true end
  local entries, why, code = run.box.files:write(list)
  if entries then return true end
  return run:fail_in_sandbox("files: they could not be written", why, code)
end

--- Runs one setup command. What it writes to stderr is kept by its end: that is where errors are told.
local function run_command(run, command, place)
  local stderr = ""
  local seconds = run:life_left()
  local result, why, code, partial = run.box.commands:run(command, {
    timeout = seconds,
    max_output = KEPT,
    on_stderr = function(text) stderr = (stderr .. text):sub(-message.LONGEST_STDERR) end,
  })
  if result and result.ok then return true end
  local output, stream = stderr, "stderr"
  if not output:find "%S" then output, stream = (result or partial or { stdout = "" }).stdout, "stdout" end
  if not output:find "%S" then output = "" end
  local how
  if result and result.exit_code then
    how = "exited with code " .. result.exit_code
  elseif result and not run:is_gone() then
    how = "ended by " .. tostring(result.how)
  elseif code == "timeout" and not run:is_gone(code) then
    how = ("did not end within the %g s that were left of the sandbox's 'timeout'"):format(seconds)
  elseif result then
    return run:lost "in"
  else
    return run:fail_in_sandbox("Setup command " .. place, why, code)
  end
  return run:fail(message.setup(command, place, how, output, stream, run:fate()))
end

--- Runs the commands in order, up to one that fails; false then.
local function run_commands(run)
  local commands = run.input.setup_commands or {}
  for i, command in ipairs(commands) do
    if not run_command(run, command, i .. " of " .. #commands) then return false end
  end
  return true
end

return { write_files = write_files, run_commands = run_commands }
