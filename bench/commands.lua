--- Commands: how long `true` takes, by our client and by the official SDKs, on one engine and in one sandbox.

local engine = require "bench.engine"

return function()
  local daemon <close> = engine.start()
  local contenders <close> = daemon:contenders()
  engine.compare("command `true`", contenders, {
    rounds = 5, count = 150, request = "command", ours = function(box) assert(box.commands:run "true") end,
  })
end
