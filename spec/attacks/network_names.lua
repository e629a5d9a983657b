--- Sandboxes that may reach some names alone: what a connection says it is for, and where it goes.

local net = require "spec.support.network_attack"

local SSH = "say('allowed.example', 'SSH-2.0-x\\r\\n\\r\\n', 443)"
local GET = "GET / HTTP/1.1\\r\\n"

--- A call that sends a request with these lines to the address of another site.
local function lines(text, target)
  return ("say('198.51.100.8', '%s')"):format((target or GET) .. text .. "\\r\\n")
end

--- The entry of calls that are from sandboxes with names in `allow_out`.
local function from_names(fields)
  fields.from = fields.from or "names"
  return net.entry(fields)
end

return {
  title = "Network: names",
  about = [[
`allow_out = { "allowed.example", "*.allowed.example" }`, and all else denied. Each row is also shown to let
what is allowed through: the first one does.]],

  {
    attack = "reach a site by another's name: TLS and HTTP for an allowed name at any address",
    naive = "looks at the name alone, and passes on to the address that was asked for",
    ours = "leads to the servers of the name, wherever the packets were for",
    control = function(frame)
      local list = { "hello('198.51.100.8', 'allowed.example')",
        lines "Host: allowed.example\\r\\n" }
      for _, line in ipairs(net.outside(frame, list)) do assert(line:find("198.51.100.8", 1, true), line) end
    end,
    attempt = function(frame)
      local list = { "hello('198.51.100.8', 'allowed.example')",
        lines "Host: allowed.example\\r\\n", "hello('allowed.example', 'sub.allowed.example')",
        "http('allowed.example')", "http('mixed.allowed.example')" }
      net.each_user(frame, function(user)
        for i, line in ipairs(net.inside(frame, "names", user, list)) do
          assert(line:find("world 198.51.100.7", 1, true), list[i] .. ": " .. line)
        end
      end)
    end,
  },
  from_names {
    attack = "connections for names that are not allowed, at the address of one that is",
    naive = "looks at the address alone: many sites have one",
    ours = "refused",
    calls = { "hello('198.51.100.7', 'public.example')",
      "hello('198.51.100.7', 'allowed.example.evil.example')", "hello('198.51.100.7', 'notallowed.example')",
      "http('198.51.100.7', 'public.example')",
      "http('198.51.100.7', 'allowed.example.evil.example')", "http('198.51.100.7', 'xallowed.example')" },
    inside = { "hello('allowed.example', 'public.example')",
      "hello('allowed.example', 'allowed.example.evil.example')",
      "hello('allowed.example', 'notallowed.example')", "http('allowed.example', 'public.example')",
      "http('allowed.example', 'allowed.example.evil.example')",
      "http('198.51.100.7', 'xallowed.example')" },
  },
  from_names {
    attack = "connections that name nothing: TLS with no server name, an address as the name, HTTP with no "
      .. "Host",
    naive = "lets them through",
    ours = "refused",
    calls = { "hello('198.51.100.7', None)", "hello('198.51.100.7', '198.51.100.7')",
      "http('198.51.100.7', '198.51.100.7')", lines "", "say('198.51.100.7', 'GET / HTTP/1.0\\r\\n\\r\\n')" },
  },
  from_names {
    attack = "requests with two answers to who is meant: Host twice, folded, with blanks before the colon, a "
      .. "whole URL as the target, a line that ends in CR or LF alone",
    naive = "takes one, and the server the other",
    ours = "refused",
    calls = { lines "Host: allowed.example\\r\\nHost: public.example\\r\\n",
      lines "Host: public.example\\r\\nHost: allowed.example\\r\\n",
      lines "X: y\\r\\n Host: public.example\\r\\nHost: allowed.example\\r\\n",
      lines "Host : public.example\\r\\nHost: allowed.example\\r\\n",
      lines("Host: allowed.example\\r\\n", "GET http://public.example/ HTTP/1.1\\r\\n"),
      lines "Host: allowed.example\\nHost: public.example\\r\\n",
      lines "X: y\\rHost: public.example\\r\\nHost: allowed.example\\r\\n",
      lines "Host: allowed.example@public.example\\r\\n", lines "Host: allowed.example, public.example\\r\\n",
      lines "Host: allowed.example:80:90\\r\\n" },
  },
  from_names {
    attack = "another port of an allowed name; another protocol at ports 80 and 443",
    naive = "a name is allowed with all its ports",
    ours = "refused: only there does a connection say what it is for",
    calls = { "tcp('allowed.example', 8080)", "say('allowed.example', 'SSH-2.0-x\\r\\n\\r\\n', 443)",
      "say('198.51.100.7', 'CONNECT public.example:443 HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n')",
      "send('198.51.100.7', 'x')" },
    inside = { "tcp('allowed.example', 8080)", SSH,
      "say('allowed.example', 'CONNECT x.example:443 HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n')" },
  },
  from_names {
    attack = "allowed names that lead to private, metadata and the host's addresses, directly and by an "
      .. "alias",
    naive = "a name that is allowed is allowed wherever it leads",
    ours = "refused",
    calls = { "http('private.allowed.example')", "http('metadata.allowed.example')",
      "http('host.allowed.example')", "http('loopback.allowed.example')", "http('alias.allowed.example')",
      "hello('private.allowed.example', 'private.allowed.example')" },
  },
  {
    attack = "carry words out in the names that are asked for (DNS tunnel): of all kinds, over TCP, at the "
      .. "host's resolver, below an allowed name",
    naive = "its resolver asks the world about each",
    ours = "no query leaves the host",
    control = function(frame)
      local world = net.world(frame)
      world:noted "dns"
      net.outside(frame, { "name('secret.public.example')",
        "query('198.51.100.53', 'secret.other.example', 16)",
        "query('198.51.100.53', 'secret.allowed.example', 1, True)" })
      local seen = world:noted "dns"
      for _, name in ipairs { "secret.public.example", "secret.other.example", "secret.allowed.example" } do
        assert(seen:find(name, 1, true), seen)
      end
    end,
    attempt = function(frame)
      local world = net.world(frame)
      local list = { "name('secret.public.example')", "name('secret.allowed.example')",
        "name('allowed.example.secret.example')", "query('198.51.100.53', 'secret.other.example', 16)",
        "query('198.51.100.53', 'secret.allowed.example', 1, True)" }
      net.box(frame, "one_name")
      world:noted "dns"
      net.each_user(frame, function(user)
        net.all_refused(list, net.inside(frame, "one_name", user, list), "as " .. user)
        -- The sandbox's own resolver, asked by hand.
        local text = table.concat(net.inside(frame, "one_name", user, {
          "print([open('/etc/resolv.conf').read()])" }))
        local resolver = assert(text:match "nameserver ([%x.:]+)", text)
        local by_hand = {}
        for _, kind in ipairs { 1, 5, 10, 15, 16, 28, 33, 255 } do
          by_hand[#by_hand + 1] = ("query('%s', 'secret.allowed.example', %d)"):format(resolver, kind)
          by_hand[#by_hand + 1] = ("query('%s', 'secret.public.example', %d, True)"):format(resolver, kind)
        end
        net.all_refused(by_hand, net.inside(frame, "one_name", user, by_hand), "as " .. user)
      end)
      -- Those that are allowed have an address at once, and nobody is asked before there is a connection.
      local allowed = { "name('allowed.example')" }
      net.all_answered(allowed, net.inside(frame, "one_name", "user", allowed), "inside")
      local seen = world:noted "dns"
      assert(seen == "", "these were asked for: " .. seen)
    end,
  },
}
