--- HTTP for specs, through the curl command: over a unix socket or TCP, in the foreground or beside the spec.

local M = {}

--- Longer bodies do not go into an argument: a word of a command may have 128 KiB.
local LONGEST_WORD = 100000

--- Quotes a word for the shell.
function M.quote(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end

--- curl's arguments for one request: {socket, url, method, body, headers, seconds}.
local function arguments(request, body_path)
  local words = { "-sS", "-i", "--max-time", request.seconds or 60, "-X", request.method or "GET" }
  if request.socket then
    words[#words + 1] = "--unix-socket"
    words[#words + 1] = request.socket
  end
  for name, value in pairs(request.headers or {}) do
    words[#words + 1] = "-H"
    words[#words + 1] = name .. ": " .. value
  end
  if request.body then
    words[#words + 1] = body_path and "--data-binary" or "--data-raw"
    words[#words + 1] = body_path and "@" .. body_path or request.body
  end
  words[#words + 1] = request.url
  for i, word in ipairs(words) do words[i] = M.quote(word) end
  return table.concat(words, " ")
end

--- Splits what `curl -i` printed; interim answers (100 Continue) are dropped.
local function parse(text)
  local head, body = text:match "^(HTTP/.-\r\n)\r\n(.*)$"
  if not head then return nil, text end
  local status = tonumber(head:match "^HTTP/%S+ (%d+)")
  if status < 200 then return parse(body) end
  local headers = {}
  for name, value in head:gmatch "\n([^:\r\n]+):%s*([^\r\n]*)" do headers[name:lower()] = value end
  return { status = status, headers = headers, body = body }
end

--- Starts requests in one curl process. Returns a handle: handle.pid, and handle.finish() which waits and
--- gives the answer to the first request, or nil and what curl said.
function M.start(...)
  local words, bodies = {}, {}
  for i, request in ipairs { ... } do
    local path
    if request.body and #request.body > LONGEST_WORD then
      path = os.tmpname()
      local file = assert(io.open(path, "wb"))
      file:write(request.body)
      file:close()
      bodies[#bodies + 1] = path
    end
    words[i] = arguments(request, path)
  end
  local command = table.concat(words, " --next ")
  local pipe = assert(io.popen("unset LD_PRELOAD; echo $$; exec curl " .. command .. " 2>&1", "r"))
  local handle = { pid = tonumber(pipe:read "l") }
  function handle.finish()
    local text = pipe:read "a"
    pipe:close()
    for _, path in ipairs(bodies) do os.remove(path) end
    return parse(text)
  end
  return handle
end

--- One request, waited for.
function M.request(request)
  local answer, text = M.start(request).finish()
  return answer or error("curl: " .. text, 2)
end

return M
