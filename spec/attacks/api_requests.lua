--- Requests that no proper client sends: to get past the key, or to another sandbox.

local api = require "spec.support.api_attack"

local function head(lines) return table.concat(lines, "\r\n") .. "\r\n\r\n" end

-- A request of the control plane, to be hidden in or behind another.
local HIDDEN = "GET /v2/sandboxes HTTP/1.1\r\nHost: x\r\n\r\n"

local function health(...) return head { "POST /health HTTP/1.1", "Host: x", ... } end

return {
  title = "The interface: requests",

  api.entry {
    attack = "traverse paths from what needs no key to what does: `/health/../engine`, encoded, doubled",
    naive = "decodes and normalises the path after it has looked whether the key is needed",
    ours = "401: an operation is exactly its path",
    texts = {
      head { "GET /health/../engine HTTP/1.1", "Host: x" },
      head { "GET /health/%2e%2e/engine HTTP/1.1", "Host: x" },
      head { "GET /health/..%2fengine HTTP/1.1", "Host: x" },
      head { "GET /health/x/%2e./../v2/sandboxes HTTP/1.1", "Host: x" },
      head { "GET /health%2f..%2fv2/sandboxes HTTP/1.1", "Host: x" },
    },
    answer = "401",
  },
  api.entry {
    attack = "hide a request in another by two lengths: both Content-Length and Transfer-Encoding, two that "
      .. "differ, signs, lists, hexadecimal, codings that are nearly `chunked`",
    naive = "believes one of them; who sits in front believes the other",
    ours = "400, and the connection ends",
    texts = {
      health("Content-Length: 5", "Transfer-Encoding: chunked") .. "0\r\n\r\n" .. HIDDEN,
      health("Content-Length: " .. #HIDDEN, "Content-Length: 0") .. HIDDEN,
      health("Content-Length: 0, " .. #HIDDEN) .. HIDDEN,
      health("Content-Length: +0") .. HIDDEN,
      health("Content-Length: -1") .. HIDDEN,
      health("Content-Length: 0x0") .. HIDDEN,
      health("Transfer-Encoding: xchunked") .. "0\r\n\r\n" .. HIDDEN,
      health("Transfer-Encoding: chunked, identity") .. "0\r\n\r\n" .. HIDDEN,
      health("Transfer-Encoding:\vchunked") .. "0\r\n\r\n" .. HIDDEN,
      health("Transfer-Encoding : chunked") .. "0\r\n\r\n" .. HIDDEN,
    },
    answer = "400",
    one = true,
  },
  api.entry {
    attack = "hide a header from one of two readers: lines that end with LF or CR alone, folded lines, NUL, "
      .. "a space before the colon",
    naive = "takes what its own reader makes of it",
    ours = "400, or no answer to what is no head; nobody reads on",
    texts = {
      "GET /health HTTP/1.1\r\nHost: x\nE2b-Sandbox-Id: @A@\r\n\r\n",
      "GET /health HTTP/1.1\r\nHost: x\rE2b-Sandbox-Id: @A@\r\n\r\n",
      "GET /health HTTP/1.1\r\nX: y\r\n E2b-Sandbox-Id: @A@\r\n\r\n",
      "GET /health HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: @A@\0\r\n\r\n",
      "GET /health HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id : @A@\r\n\r\n",
      "GET /health HTTP/1.1\nHost: x\nE2b-Sandbox-Id: @A@\n\n",
    },
    answer = "400|none",
  },
  api.entry {
    attack = "pipeline: behind a request that is allowed, one for another sandbox or for the control plane",
    naive = "who was let in once on a connection is in",
    ours = "one answer: a connection with a sandbox ends with it, and so does each over TCP",
    texts = {
      head { "GET /health HTTP/1.1", "Host: x" } .. HIDDEN,
      head { "GET /health HTTP/1.1", "Host: x", "E2b-Sandbox-Id: @A@", "X-Access-Token: @TA@" }
        .. head { "GET /envs HTTP/1.1", "Host: x", "E2b-Sandbox-Id: @B@" },
      head { "GET /health HTTP/1.1", "Host: x", "E2b-Sandbox-Id: @A@", "X-Access-Token: @TA@" }
        .. head { "GET /health HTTP/1.1", "Host: x" } .. HIDDEN,
    },
    answer = "204",
    one = true,
  },
  api.entry {
    attack = "name two sandboxes: `E2b-Sandbox-Id` twice, as a list, Host and header that disagree, "
      .. "an absolute target",
    naive = "checks the token for one and goes to the other",
    ours = "400 for what is there twice; the header counts, and that sandbox's token is asked for",
    texts = {
      head { "GET /envs HTTP/1.1", "Host: x", "E2b-Sandbox-Id: @A@", "E2b-Sandbox-Id: @B@",
        "X-Access-Token: @TA@" },
      head { "GET /envs HTTP/1.1", "Host: x", "E2b-Sandbox-Id: @A@,@B@", "X-Access-Token: @TA@" },
      head { "GET /envs HTTP/1.1", "Host: 49983-@A@.sandboxes.test", "E2b-Sandbox-Id: @B@",
        "X-Access-Token: @TA@" },
      head { "GET /envs HTTP/1.1", "Host: 49983-@A@.sandboxes.test", "Host: 49983-@B@.sandboxes.test",
        "X-Access-Token: @TA@" },
      head { "GET http://49983-@A@.sandboxes.test/envs HTTP/1.1", "Host: 49983-@B@.sandboxes.test",
        "X-Access-Token: @TA@" },
    },
    answer = "40[014]",
    one = true,
  },
  api.entry {
    attack = "turn a connection into a tunnel: CONNECT to the engine itself, to elsewhere, to a sandbox with "
      .. "no key; Upgrade",
    naive = "connects to whatever is named",
    ours = "400 or 401: with the key, and to a sandbox's port only",
    texts = {
      head { "CONNECT 127.0.0.1:80 HTTP/1.1", "Host: x" },
      head { "CONNECT localhost:22 HTTP/1.1", "Host: x", "X-API-Key: wrong" },
      head { "CONNECT 49983-@A@.sandboxes.test:80 HTTP/1.1", "Host: x" },
      head { "CONNECT 22-@A@.sandboxes.test:22 HTTP/1.1", "Host: x", "X-Access-Token: @TA@" },
      head { "GET /health HTTP/1.1", "Host: x", "Upgrade: h2c", "Connection: Upgrade" } .. HIDDEN,
    },
    answer = "400|401|204",
    one = true,
  },
  api.entry {
    attack = "the key in other places: none, almost right, in the query, as a bearer, twice",
    naive = "compares from the start as far as there is something, or looks everywhere",
    ours = "401, or 400 for two",
    texts = {
      head { "GET /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: " .. api.KEY:sub(1, -2) },
      head { "GET /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: " .. api.KEY:sub(1, 8) },
      head { "GET /v2/sandboxes?key=" .. api.KEY .. " HTTP/1.1", "Host: x" },
      head { "GET /v2/sandboxes HTTP/1.1", "Host: x", "Authorization: " .. api.KEY },
      head { "GET /v2/sandboxes HTTP/1.1", "Host: x", "X-API-Key: wrong", "X-API-Key: " .. api.KEY },
    },
    answer = "40[01]",
  },
}
