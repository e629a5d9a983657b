--- Access that is another's: tokens, signatures, the engine's socket.

local api = require "spec.support.api_attack"
local assert = require "luassert"
local host = require "spec.support.host"

local JSON, FRAMES = "application/json", "application/connect+json"
local PROCESS, FILES = "POST /process.Process/", "POST /filesystem.Filesystem/"

-- What the agent does for who has the token: what to ask, on which port, with which body.
local ROUTES = {
  { "GET /envs" }, { "GET /files?path=/etc/hostname" }, { "POST /files?path=/tmp/probe", JSON, "x" },
  { "POST /files/compose", JSON, "{}" },
  { PROCESS .. "List", JSON, "{}" }, { PROCESS .. "Update", JSON, "{}" },
  { PROCESS .. "SendInput", JSON, "{}" },
  { PROCESS .. "CloseStdin", JSON, "{}" }, { PROCESS .. "SendSignal", JSON, "{}" },
  { PROCESS .. "Start", FRAMES, "\0\0\0\0\2{}" }, { PROCESS .. "Connect", FRAMES, "\0\0\0\0\2{}" },
  { PROCESS .. "StreamInput", FRAMES, "\0\0\0\0\2{}" },
  { FILES .. "Stat", JSON, "{}" }, { FILES .. "MakeDir", JSON, "{}" }, { FILES .. "Move", JSON, "{}" },
  { FILES .. "ListDir", JSON, "{}" }, { FILES .. "Remove", JSON, "{}" },
  { FILES .. "WatchDir", FRAMES, "\0\0\0\0\2{}" }, { FILES .. "CreateWatcher", JSON, "{}" },
  { FILES .. "GetWatcherEvents", JSON, "{}" }, { FILES .. "RemoveWatcher", JSON, "{}" },
  { "POST /execute", JSON, '{"code": "1"}', 49999 },
  { "POST /contexts/default/interrupt", JSON, "{}", 49999 },
}

--- A request for a route with some more headers.
local function request(route, headers, query)
  local what, kind, body, port = table.unpack(route)
  if query then what = what .. (what:find("?", 1, true) and "&" or "?") .. query end
  return ("%s HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: @A@\r\nE2b-Sandbox-Port: %d\r\nContent-Type: %s\r\n"
    .. "Content-Length: %d\r\n%s\r\n%s"):format(what, port or 49983, kind or JSON, #(body or ""), headers,
    body or "")
end

local function is_refused(reply)
  return reply:find "^HTTP/1.1 401" ~= nil or reply:find('"unauthenticated"', 1, true) ~= nil
end

--- Asks for all routes; calls check(route, reply) for each.
local function ask_all(target, headers, query, check)
  local texts = {}
  for i, route in ipairs(ROUTES) do texts[i] = request(route, headers, query) end
  for i, got in ipairs(target:send(texts, "tcp", 3)) do check(ROUTES[i][1], got.reply) end
end

local function expect_all(headers, query)
  return function(frame)
    ask_all(api.ours(frame), headers, query, function(route, reply)
      assert(is_refused(reply), route .. " is not refused: " .. reply)
    end)
  end
end

local function own_token_works(frame)
  ask_all(api.ours(frame), "X-Access-Token: @TA@\r\n", nil, function(route, reply)
    assert(reply:find "^HTTP/1.1 %d" and not is_refused(reply), route .. " with its own token: " .. reply)
  end)
end

--- The signature of an operation on a file, as E2B's clients make it.
local function sign(path, operation, user, token, expiration)
  local text = table.concat({ path, operation, user, token, expiration }, ":")
  local digest = host.sh(("printf %%s '%s' | openssl dgst -sha256 -binary | base64 -w0"):format(text))
  return "v1_" .. digest:gsub("=", ""):gsub("%+", "%%2B"):gsub("/", "%%2F")
end

--- Status of a read of a file in sandbox A that is signed with a token.
local function read_signed(frame, path, operation, user, name, expiration)
  local ours = api.ours(frame)
  local query = ("GET /files?path=%s&username=user&signature=%s%s"):format(path,
    sign(path:gsub("#.*", ""), operation, user, ours[name].token, expiration),
    expiration and "&signature_expiration=" .. expiration or "")
  return ours:send({ request({ query }, "") })[1].reply:match "^HTTP/1.1 (%d+)"
end

local OPEN_SERVER = [[
import os, socketserver, sys
os.umask(0)
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"HTTP/1.1 204 X\r\n\r\n")
socketserver.UnixStreamServer(sys.argv[1], Handler).serve_forever()
]]

return {
  title = "The interface: access",

  {
    attack = "another sandbox's access token, on each route of the agent and of the code interpreter",
    naive = "a token is good when it is somebody's",
    ours = "401, or Connect's `unauthenticated`",
    control = function(frame)
      own_token_works(frame)
      local text = "GET /envs HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: @A@\r\nX-Access-Token: @TB@\r\n\r\n"
      assert(api.naive(frame):send({ text }, "tcp", 5, "SECRET")[1].reply:find "SECRET")
    end,
    attempt = expect_all "X-Access-Token: @TB@\r\n",
  },
  {
    attack = "no token, an empty one, one that is nearly right, the engine's key in its place",
    naive = "asks for no token behind the gateway",
    ours = "401, or Connect's `unauthenticated`",
    control = own_token_works,
    attempt = function(frame)
      local token = api.ours(frame).A.token
      for _, value in ipairs { "", token:sub(1, -2), token .. "0", token:upper() .. " " .. token, "@KEY@" } do
        expect_all("X-Access-Token: " .. value .. "\r\n")(frame)
      end
      expect_all("")(frame)
    end,
  },
  {
    attack = "the right token in other places: query, bearer, basic, cookie",
    naive = "looks everywhere, so that tokens end up in logs and in links",
    ours = "401: X-Access-Token alone counts",
    control = own_token_works,
    attempt = function(frame)
      expect_all("", "X-Access-Token=@TA@&access_token=@TA@")(frame)
      expect_all("Authorization: Bearer @TA@\r\n")(frame)
      expect_all("Cookie: X-Access-Token=@TA@\r\n")(frame)
    end,
  },
  {
    attack = "signed addresses of files: another sandbox's, another path's, for another operation, run out",
    naive = "signs the path alone",
    ours = "401",
    control = function(frame)
      assert(host.sh("command -v openssl"):find "openssl", "openssl is missing")
      assert.equal("200", read_signed(frame, "/etc/passwd", "read", "user", "A"))
      assert.equal("200", read_signed(frame, "/etc/passwd", "read", "user", "A", tostring(os.time() + 60)))
    end,
    attempt = function(frame)
      assert.equal("401", read_signed(frame, "/etc/passwd", "read", "user", "B"))
      assert.equal("401", read_signed(frame, "/etc/passwd", "write", "user", "A"))
      assert.equal("401", read_signed(frame, "/etc/passwd", "read", "root", "A"))
      assert.equal("401", read_signed(frame, "/etc/passwd#/../group", "read", "user", "A"))
      assert.equal("401", read_signed(frame, "/etc/passwd", "read", "user", "A", tostring(os.time() - 1)))
    end,
  },
  {
    attack = "another user of the host connects to the engine's unix socket, also when that is open to all",
    naive = "answers whoever reaches it",
    ours = "closes the connection: it asks the kernel who is there",
    needs = function(frame)
      return not frame:is_root() and "to become another user, the tests must run as root" or nil
    end,
    control = function(frame)
      local folder = frame:folder()
      host.sh("chmod 711 " .. folder)
      host.write(folder .. "/open.py", OPEN_SERVER)
      frame:start(("python3 %s/open.py %s/open"):format(folder, folder))
      frame.ask_as = function(user, path)
        return host.sh(("setpriv --reuid %d --regid %d --clear-groups curl -sS -m 3 -o /dev/null "
          .. "-w '%%{http_code}' --unix-socket %s http://x/health"):format(user, user, path))
      end
      assert(host.eventually(5, function() return frame.ask_as(65534, folder .. "/open") == "204" end))
      assert.equal("204", frame.ask_as(0, api.ours(frame).socket))
    end,
    attempt = function(frame)
      local daemon = api.ours(frame).daemon
      assert(frame.ask_as(65534, daemon.socket):find "000")
      host.sh(("chmod 755 %s %s/run && chmod 777 %s"):format(daemon.folder, daemon.folder, daemon.socket))
      assert(frame.ask_as(65534, daemon.socket):find "000")
      assert(host.read(daemon.log):find "refused a connection of user 65534")
      host.sh(("chmod 700 %s %s/run && chmod 600 %s"):format(daemon.folder, daemon.folder, daemon.socket))
    end,
  },
  {
    attack = "code in a sandbox connects to the engine: its TCP port, its unix socket",
    naive = "shares the host's network and file system",
    ours = "ECONNREFUSED: the sandbox has a network of its own; ENOENT: the path leads nowhere",
    prepare = function(frame)
      local ours = api.ours(frame)
      return { port = ours.port, socket = ours.socket }
    end,
    python = [[
def ask(connection):
    connection.settimeout(5)
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    return "ok" if connection.recv(12) == b"HTTP/1.1 204" else "no answer"


def unix():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("@socket@")
    return ask(connection)


attempts({"tcp": lambda: ask(socket.create_connection(("127.0.0.1", @port@), 5)), "unix": unix})]],
    answer = "ECONNREFUSED for tcp, ENOENT for unix",
  },
}
