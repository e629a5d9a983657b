--- Contexts of a sandbox of a spec's own engine, by the code interpreter's requests.

local cjson = require "cjson"
local assert = require "luassert"
local curl = require "spec.support.curl"

local M = {}

local Box = {}
Box.__index = Box

function Box:request(method, path, body)
  local answer = curl.request {
    socket = self.daemon.socket,
    url = "http://49999-" .. self.id .. ".stepbox" .. path,
    method = method,
    body = body and cjson.encode(body),
    headers = { ["Content-Type"] = "application/json", ["X-Access-Token"] = self.token },
  }
  return answer
end

function Box:context()
  return cjson.decode(self:request("POST", "/contexts", { language = "python" }).body).id
end

--- Runs code; returns what it printed. Fails when it raised.
function Box:run(code, context)
  local printed = {}
  local body = self:request("POST", "/execute", { code = code, context_id = context }).body
  for line in body:gmatch "[^\n]+" do
    local event = cjson.decode(line)
    assert(event.type ~= "error", event.traceback or event.value)
    if event.type == "stdout" then printed[#printed + 1] = event.text end
  end
  assert(body:find "end_of_execution", body)
  return table.concat(printed)
end

function Box:runners() return self.daemon:call("GET", "/sandboxes/" .. self.id).json["local"].runners end

--- A sandbox of the engine.
function M.box(daemon, fields)
  local made = daemon:create(fields)
  return setmetatable({ daemon = daemon, id = made.sandboxID, token = made.envdAccessToken }, Box)
end

return M
