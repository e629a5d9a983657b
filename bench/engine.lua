--- An engine that serves both a unix socket and loopback TCP, and the clients that are compared on it: ours
--- over each, and the official SDKs, all in one sandbox.

local stepbox = require "stepbox"
local measure = require "bench.measure"
local peer = require "bench.peer"

local M = {}

local KEY = "e2b_0123456789abcdef"

local Engine = {}
Engine.__index = Engine

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

function M.start()
  local folder = os.tmpname()
  assert(os.remove(folder))
  assert(os.execute(("mkdir -m 700 %s && mkfifo %s/ready"):format(folder, folder)))
  local arguments = ("--socket %s/engine.sock --listen 127.0.0.1:0 --ready-fd 3"):format(folder)
  local command = ("STEPBOX_API_KEY=%s '%s' %s"):format(KEY, os.getenv "STEPBOX_ENGINE", arguments)
  local pipe <close> = assert(io.popen(
    ("%s >%s/log 2>&1 3>%s/ready & echo $!"):format(command, folder, folder)))
  local self = setmetatable({ folder = folder, socket = folder .. "/engine.sock" }, Engine)
  self.pid = pipe:read "l"
  local ready = read(folder .. "/ready")
  local port = read(folder .. "/log"):match "127%.0%.0%.1:(%d+)"
  if ready ~= "ready\n" or not port then
    error("the engine did not start: " .. ready .. read(folder .. "/log"))
  end
  self.url = "http://127.0.0.1:" .. port
  return self
end

function Engine:__close()
  os.execute(("kill %s; rm -rf %s"):format(self.pid, self.folder))
end

--- The contenders on one sandbox: {name, box = ours} or {name, peer = an SDK's}. Says which are missing, and
--- why. The first one's box owns the sandbox.
function Engine:contenders()
  local owner = assert(stepbox.client({ socket = self.socket }):create { timeout = 3600 })
  local tcp = stepbox.client { api_key = KEY, api_url = self.url, sandbox_url = self.url }
  local list = {
    { "Lua, unix socket", box = owner },
    { "Lua, TCP", box = assert(tcp:connect(owner.id)) },
  }
  for _, sdk in ipairs { "js", "python" } do
    local found, reason = peer.start(sdk, { key = KEY, url = self.url, id = owner.id, folder = self.folder })
    if found then
      list[#list + 1] = { found.name, peer = found }
    else
      measure.row(peer.names[sdk], "skipped", reason)
    end
  end
  return setmetatable(list, {
    __close = function()
      for _, contender in ipairs(list) do
        if contender.peer then contender.peer:close() end
      end
      owner:kill()
    end,
  })
end

--- Compares what all of them do: ours(box) does it once, of the SDKs `request` asks for it; before() is not
--- timed. Prints a row each; ratios are to our client over TCP, which is what the SDKs use too. bytes: moved
--- each time, if any.
function M.compare(what, contenders, options)
  local timed = {}
  for _, contender in ipairs(contenders) do
    timed[#timed + 1] = {
      contender[1],
      function()
        if options.before then options.before() end
        if contender.peer then return contender.peer:ask(options.request, options.count) end
        return measure.took(function()
          for _ = 1, options.count do options.ours(contender.box) end
        end) / options.count
      end,
    }
  end
  local medians = measure.interleaved(options.rounds, timed)
  local anchor = medians["Lua, TCP"]
  for _, contender in ipairs(contenders) do
    local name = contender[1]
    local seconds = medians[name]
    local large = options.bytes and options.bytes >= 1e5
    measure.row(what .. ", " .. name,
      large and ("%.0f MB/s"):format(options.bytes / seconds / 1e6) or measure.ms(seconds),
      name == "Lua, TCP" and "" or ("%.2f times the time of Lua over TCP"):format(seconds / anchor))
  end
end

return M
