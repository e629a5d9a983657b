--- Text that could be taken for more than text: ids, names, values, JSON.

local api = require "spec.support.api_attack"
local assert = require "luassert"
local cjson = require "cjson"
local host = require "spec.support.host"

--- How far texts are from even: the statistic of chi squared over their characters, per symbol.
local function unevenness(texts, symbols)
  local counts, total = {}, 0
  for _, text in ipairs(texts) do
    for character in text:gmatch "." do
      counts[character] = (counts[character] or 0) + 1
      total = total + 1
    end
  end
  local expected, sum = total / symbols, 0
  local seen = 0
  for _, count in pairs(counts) do
    sum = sum + (count - expected) ^ 2 / expected
    seen = seen + 1
  end
  return (sum + (symbols - seen) * expected) / symbols
end

--- The most places in a row at which two of the texts agree.
local function likeness(texts)
  local most = 0
  for i, text in ipairs(texts) do
    for j = 1, i - 1 do
      local run = 0
      for at = 1, #text do
        run = text:byte(at) == texts[j]:byte(at) and run + 1 or 0
        if run > most then most = run end
      end
    end
  end
  return most
end

local ODD = "a'b\"c\\ $(id) `id`; | & \t\127 ü € 🙂 %s %n \27[31m <b>"

return {
  title = "The interface: texts",

  {
    attack = "an id that is a path, an address, a part of another request, cut by NUL, or very long",
    naive = "puts it into the address of the request: `../engine` stops the engine, `ID\\0x` is ID",
    ours = "the client sends nothing: `invalid`; the engine knows no such sandbox",
    control = function(frame)
      local ours = api.ours(frame)
      local answer = ours.daemon:call("GET", "/sandboxes/" .. ours.A.id .. "/../" .. ours.B.id)
      assert.equal(ours.B.id, answer.json.sandboxID) -- curl normalises the path, as such clients do
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local client = assert(require("stepbox").client { socket = ours.socket })
      for _, id in ipairs {
        "../engine", "..%2fengine", "x/../../engine", ours.A.id .. "/../" .. ours.B.id,
        ours.A.id .. "?", ours.A.id .. "#", ours.A.id .. "\0x", ours.A.id .. "\r\nX: y",
        " " .. ours.A.id, "", ".", ("a"):rep(5000),
      } do
        for _, name in ipairs { "kill", "connect" } do
          local done, _, code = client[name](client, id)
          assert.is_nil(done)
          assert.equal("invalid", code, ("%s %q"):format(name, id))
        end
      end
      local long = ("a"):rep(5000)
      for _, path in ipairs { "..%2fengine", "%2e%2e", ours.A.id .. "%00", ours.A.id .. "*", long, "%" } do
        local text = ("DELETE /sandboxes/%s HTTP/1.1\r\nHost: x\r\nX-API-Key: @KEY@\r\n\r\n"):format(path)
        assert.equal("404", ours:send({ text })[1].reply:match "^HTTP/1.1 (%d+)", path)
      end
      assert(ours.daemon:is_running(ours.A.id) and ours.daemon:is_running(ours.B.id))
    end,
  },
  {
    attack = "guess ids and tokens from those of one's own",
    naive = "counts, or takes the time",
    ours = "19 of 36 characters and 32 of 16 from the kernel's random numbers",
    control = function()
      local counted = {}
      for i = 1, 24 do counted[i] = ("%019x"):format(1732982400000000 + i * 1000) end
      assert(unevenness(counted, 36) > 3 and likeness(counted) > 8)
    end,
    attempt = function(frame)
      local daemon, ids, tokens = api.ours(frame).daemon, {}, {}
      for i = 1, 24 do
        local made = daemon:create()
        daemon:call("DELETE", "/sandboxes/" .. made.sandboxID)
        ids[i], tokens[i] = assert(made.sandboxID:match "^i(%w+)$"), made.envdAccessToken
        assert(#ids[i] == 19 and #tokens[i] == 32)
      end
      assert(unevenness(ids, 36) < 3 and unevenness(tokens, 16) < 4)
      assert(likeness(ids) <= 5 and likeness(tokens) <= 7)
    end,
  },
  {
    attack = "quotes, substitutions and controls in metadata, environments and arguments",
    naive = "pastes them into a command line, where they run",
    ours = "they arrive byte for byte",
    control = function()
      assert(host.sh(('echo "%s"'):format("$(echo pasted)")):find "pasted")
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local made = ours.daemon:create { metadata = { odd = ODD }, envVars = { ODD = ODD } }
      local detail = ours.daemon:call("GET", "/sandboxes/" .. made.sandboxID).json
      assert.equal(ODD, detail.metadata.odd)
      ours.daemon:call("DELETE", "/sandboxes/" .. made.sandboxID)
      local result = assert(frame:box().commands:run('printf "%s" "$ODD"', { envs = { ODD = ODD } }))
      assert.equal(ODD, result.stdout)
      result = assert(frame:box().commands:run { "printf", "%s", ODD })
      assert.equal(ODD, result.stdout)
    end,
  },
  {
    attack = "forge lines of the engine's log by line breaks in paths, headers, templates and metadata",
    naive = "writes what it was sent",
    ours = "every line of the log begins as the engine's lines do",
    control = function(frame)
      local path = frame:folder() .. "/naive.log"
      host.write(path, "2026-01-01T00:00:00.000Z stepboxd[1] info: no template a\nforged line\n")
      assert(frame.odd_line(path))
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      ours:send({
        "GET /x%0aforged%20line HTTP/1.1\r\nHost: x\r\nX-API-Key: @KEY@\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: x\r\nX-API-Key: a\nforged line\r\n\r\n",
        "DELETE /sandboxes/%0d%0aforged%20line HTTP/1.1\r\nHost: x\r\nX-API-Key: @KEY@\r\n\r\n",
      })
      ours.daemon:call("POST", "/v2/sandboxes", { templateID = "a\nforged line" })
      local metadata = { ["a\nforged line"] = "b\nforged line" }
      local made = ours.daemon:create { metadata = metadata }
      ours.daemon:call("DELETE", "/sandboxes/" .. made.sandboxID)
      assert.is_nil(frame.odd_line(ours.daemon.log))
    end,
    needs = function(frame)
      --- A line of a log that does not begin as those of the engine.
      function frame.odd_line(path)
        for line in host.read(path):gmatch "[^\n]+" do
          local proper = line:find "^%d+%-%d+%-%d+T[%d:.]+Z stepboxd%[%d+%] %a+: "
          if not proper and not line:find "^stepboxd: serving" then return line end
        end
      end
    end,
  },
  {
    attack = "JSON with the same field twice, numbers out of range, half characters, NUL, more after the end",
    naive = "takes the last field, rounds the number, cuts at NUL",
    ours = "400, and nothing is made",
    control = function()
      assert.equal("base", cjson.decode('{"templateID":"nope","templateID":"base"}').templateID)
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local before = ours.daemon:call("GET", "/engine").json.sandboxes
      for _, body in ipairs {
        '{"templateID":"nope","templateID":"base"}', '{"templateID":"base","timeout":1e999}',
        '{"templateID":"base","timeout":99999999999999999999}', '{"templateID":"base","timeout":-1}',
        '{"templateID":"base","metadata":{"a":"\\ud800"}}', '{"templateID":"base","metadata":{"a":"\255"}}',
        '{"templateID":"base\\u0000x"}', '{"templateID":"base"}\0', '{"templateID":"base"}{}', "[]",
        "null", "",
        '\239\187\191{"templateID":"base"}', '{"templateID":"base","limits":{"memoryMB":9e18}}',
      } do
        local text = "POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: @KEY@\r\nContent-Length: " .. #body
          .. "\r\n\r\n" .. body
        assert.equal("400", ours:send({ text })[1].reply:match "^HTTP/1.1 (%d+)", body)
      end
      assert.equal(before, ours.daemon:call("GET", "/engine").json.sandboxes)
    end,
  },
  {
    attack = "`Idempotency-Key`s of others, used again for something else, or no keys; made-up page tokens",
    naive = "answers who has the key with the first one's sandbox and its token",
    ours = "400 or 409; a key over TCP is another than the same over the unix socket",
    control = function(frame)
      local daemon = api.ours(frame).daemon
      local first = daemon:create({}, { ["Idempotency-Key"] = "probe" })
      local again = daemon:create({}, { ["Idempotency-Key"] = "probe" })
      assert.equal(first.sandboxID, again.sandboxID)
      frame.keyed = first
    end,
    attempt = function(frame)
      local ours = api.ours(frame)
      local other = ours.daemon:call("POST", "/v2/sandboxes", { templateID = "base", timeout = 7 },
        { ["Idempotency-Key"] = "probe" })
      assert.equal(409, other.status)
      assert.is_nil(other.body:find(frame.keyed.sandboxID, 1, true))
      local body = '{"templateID":"base"}'
      local head = "POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: @KEY@\r\nContent-Length: " .. #body
        .. "\r\nIdempotency-Key: "
      local got = ours:send({ head .. "probe\r\n\r\n" .. body }, "tcp", 5, "}")[1].reply
      local id = got:match '"sandboxID":"(%w+)"'
      assert(id and id ~= frame.keyed.sandboxID, got)
      ours.daemon:call("DELETE", "/sandboxes/" .. id)
      ours.daemon:call("DELETE", "/sandboxes/" .. frame.keyed.sandboxID)
      for _, key in ipairs { "", " ", "a b", "\255", ("k"):rep(256), "a\tb" } do
        got = ours:send({ head .. key .. "\r\n\r\n" .. body })[1].reply
        assert.equal("400", got:match "^HTTP/1.1 (%d+)", ("%q: %s"):format(key, got))
      end
      for _, token in ipairs {
        "x", "-1-" .. ours.A.id, "1-../engine", "1-" .. ours.A.id .. "x", ("9"):rep(40) .. "-" .. ours.A.id,
        "1%00-" .. ours.A.id, "1-" .. ours.A.id:upper(), ("x"):rep(5000),
      } do
        got = ours.daemon:call("GET", "/v2/sandboxes?nextToken=" .. token)
        assert.equal(400, got.status, token)
      end
    end,
  },
}
