--- The official SDKs as programs that do what they are asked and say how long it took: bench/peer.mjs and
--- bench/peer.py.

local measure = require "bench.measure"

local M = { names = { js = "JavaScript SDK", python = "Python SDK" } }

local programs = {
  -- Node.js looks for packages beside the program.
  js = { mark = "node_modules", command = "cp '%s/bench/peer.mjs' . && exec node peer.mjs" },
  python = { mark = "requirements.txt", command = "exec venv/bin/python '%s/bench/peer.py'" },
}

local Peer = {}
Peer.__index = Peer

local function content(path)
  local file <close> = io.open(path)
  return file and file:read "a"
end

--- Starts one on a sandbox that is there; or nil and the reason why there is none.
--- engine: {key, url, id = of the sandbox, folder = for its files}
function M.start(sdk, engine)
  local folder = (os.getenv "STEPBOX_BUILD" or measure.root .. "/build") .. "/peers/" .. sdk
  local program = programs[sdk]
  local mark = folder .. "/" .. program.mark
  if not os.rename(mark, mark) then
    local reason = content(folder .. "/reason") or "tools/peers was not run"
    return nil, "not installed: " .. reason:gsub("%s+$", "")
  end
  local answers = ("%s/%s"):format(engine.folder, sdk)
  assert(os.execute("mkfifo " .. answers))
  local self = setmetatable({ name = M.names[sdk] }, Peer)
  local environment = ("E2B_API_KEY=%s E2B_API_URL=%s E2B_SANDBOX_URL=%s SANDBOX_ID=%s"):format(
    engine.key, engine.url, engine.url, engine.id)
  self.requests = assert(io.popen(("{ cd '%s' && export %s && %s; } >%s"):format(
    folder, environment, program.command:format(measure.root), answers), "w"))
  self.answers = assert(io.open(answers))
  self.name = self.name .. " " .. assert(self.answers:read "l", sdk .. " did not start")
  return self
end

--- The seconds that one of `count` took. request: "command", or "upload" or "download" and a number of bytes.
function Peer:ask(request, count)
  self.requests:write(count, " ", request, "\n")
  self.requests:flush()
  local answer = self.answers:read "l"
  return tonumber(answer) or error(("%s: %s: %s"):format(self.name, request, answer))
end

function Peer:close()
  self.requests:close()
  self.answers:close()
end

return M
