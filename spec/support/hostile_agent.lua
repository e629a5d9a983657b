--- Programs in the place of the agent that are out to harm the engine (spec/support/hostile_agent.c).

local cjson = require "cjson"
local engine = require "spec.support.engine"
local host = require "spec.support.host"

local ROOT = os.getenv "STEPBOX_ROOT" or "."
local M = {}

--- The program that acts in this way, built for the family.
local function program(frame, mode)
  local path = ("%s/hostile-%d"):format(frame:folder(), mode)
  if select(2, host.sh("test -x " .. path)) ~= 0 then
    local command = "cc -O1 -static -DMODE=%d -o %s %s/spec/support/hostile_agent.c"
    local output, status = host.sh(command:format(mode, path, ROOT))
    assert(status == 0, "the agent cannot be built: " .. output)
    host.sh(("chmod 711 %s && chmod 755 %s"):format(frame:folder(), path))
  end
  return path
end

--- What a naive engine gets from it within a second.
function M.tried(frame, mode)
  local output = host.sh(("python3 %s/spec/support/hostile_control.py %s"):format(ROOT, program(frame, mode)))
  return cjson.decode(output)
end

--- Starts an engine with it, and a create; calls fn(daemon, pending) and stops the engine, which fails when
--- anything is left.
function M.with(frame, mode, fn)
  local daemon = engine.start { arguments = "--agent " .. program(frame, mode) }
  local ok, message = xpcall(fn, debug.traceback, daemon, engine.start_create(daemon))
  daemon:stop()
  if not ok then error(message, 0) end
end

return M
