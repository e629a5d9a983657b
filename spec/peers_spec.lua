local engine = require "spec.support.engine"
local sandbox = require "spec.support.sandbox"

local key = "e2b_0123456789abcdef"

-- Each session is a program that says "TOPIC: the official SDK is content". Node.js looks for packages beside
-- the program, so that the JavaScript ones are copied there.
local sdks = {
  {
    name = "JavaScript",
    folder = sandbox.build .. "/peers/js",
    mark = "node_modules",
    command = "cp %s/spec/peers/js/*.mjs . && exec node %s.mjs",
    topics = { "steps", "commands", "terminals", "files", "watching", "git", "ports", "metrics", "life" },
  },
  {
    name = "Python",
    folder = sandbox.build .. "/peers/python",
    mark = "requirements.txt",
    command = "PYTHONDONTWRITEBYTECODE=1 exec venv/bin/python %s/spec/peers/python/%s.py",
    topics = {
      "steps", "commands", "terminals", "files", "watching", "git", "async_session", "metrics", "life",
    },
  },
}

for _, sdk in ipairs(sdks) do
  describe("the official " .. sdk.name .. " SDK, unchanged, with stepboxd --listen,", function()
    local daemon

    setup(function()
      daemon = engine.start {
        socket = false, arguments = "--listen 127.0.0.1:0", environment = "STEPBOX_API_KEY=" .. key,
      }
    end)

    teardown(function() daemon:stop() end)

    for _, topic in ipairs(sdk.topics) do
      it("is content: " .. topic, function()
        local mark = sdk.folder .. "/" .. sdk.mark
        if not os.rename(mark, mark) then
          pending("the SDK is not installed: " .. sandbox.read(sdk.folder .. "/reason"))
          return
        end
        local url = "http://127.0.0.1:" .. daemon.port
        local program = sdk.command:format(sandbox.root, topic)
        local output, status = sandbox.sh(
          ("export E2B_API_KEY=%s E2B_API_URL=%s E2B_SANDBOX_URL=%s; cd %s && timeout -k 5 60 sh -c '%s'")
            :format(key, url, url, sdk.folder, program))
        assert.equal(0, status, output)
        assert.matches(topic .. ": the official SDK is content", output, 1, true)
      end)
    end
  end)
end
