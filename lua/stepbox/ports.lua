--- Reaching servers that run inside a sandbox: adds `host` and `forward` to boxes.

local core = require "stepbox.core"
local check = require "stepbox.options"

---@class stepbox.Box
local Box = core.box_methods

--- A port of this machine that leads to one of a sandbox, until it is closed: by `close`, by a `<close>`
--- variable that ends, or by the collector. It keeps the box, and with it a sandbox that the box owns.
---@class stepbox.Forward
---@field port integer the local port
---@field host string "127.0.0.1"
---@field url string "http://127.0.0.1:PORT"
---@field box stepbox.Box
local Forward = {}
Forward.__index = Forward

--- Ends the forward and its connections, and frees the port. May be called again.
function Forward:close() self.core:close() end

Forward.__close = Forward.close

function Forward:__tostring()
  local state = self.core.port and "" or " (closed)"
  return "stepbox.Forward " .. self.host .. ":" .. self.port .. state
end

--- The host name of a port inside the sandbox, "PORT-ID.DOMAIN". On E2B's servers it is a public name:
---
---     local url = "https://" .. assert(box:host(8000)) .. "/"
---
--- The local engine has no public name; it looks at the `Host` header of what comes in on its socket (or at
--- its address, if it was started with one), so that curl reaches the port by
---
---     curl --unix-socket $XDG_RUNTIME_DIR/stepbox/engine.sock http://HOST/
---
--- Programs that cannot do that use `forward`.
---@param port integer
---@return string|nil host
---@return string? message
---@return string? code "closed"
function Box:host(port)
  check.argument("host", 1, check.port, port)
  return self:port_host(port)
end

---@class stepbox.ForwardOptions
---@field local_port? integer the port to listen on; default any that is free

local FORWARD_OPTIONS = { local_port = check.port }

--- Listens on 127.0.0.1, where every program of this machine can connect, and passes each connection on to a
--- port inside the sandbox. A thread serves the connections, so that the program need not. With the local
--- engine any protocol over TCP goes, and a connection to a port that nobody serves is closed; on other
--- servers HTTP and WebSockets alone, one request per connection, and the server answers for a port that
--- nobody serves.
---@param port integer
---@param options? stepbox.ForwardOptions
---@return stepbox.Forward|nil forward
---@return string? message
---@return string? code "closed", or "system" when the local port is taken
function Box:forward(port, options)
  check.argument("forward", 1, check.port, port)
  options = check.options("forward", options, FORWARD_OPTIONS)
  local inner, message, code = self:open_forward(port, options.local_port)
  if not inner then return nil, message, code end
  local host = "127.0.0.1"
  local made = { core = inner, box = self, port = inner.port, host = host }
  made.url = "http://" .. host .. ":" .. inner.port
  return setmetatable(made, Forward)
end

return Forward
