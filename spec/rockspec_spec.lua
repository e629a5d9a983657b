local sandbox = require "spec.support.sandbox"

describe("the rockspec", function()
  it("builds offline with Debian's lua-cjson, and what it installs runs", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -rf " .. folder) end)
    -- No server to fetch from; lua-cjson comes from the system.
    sandbox.write(folder .. "/config.lua",
      'rocks_servers = {}\nrocks_provided = { ["lua-cjson"] = "2.1.0-1" }\n')
    local output, status = sandbox.sh(([[
      cp -r Makefile tools src lua rockspec examples spec %s/ && cd %s &&
      export LUAROCKS_CONFIG=%s/config.lua &&
      luarocks --lua-version 5.4 --tree %s/tree make rockspec/stepbox-scm-1.rockspec
    ]]):format(folder, folder, folder, folder))
    assert.equal(0, status, output)
    local script = folder .. "/try.lua"
    sandbox.write(script, [[
      local stepbox = require "stepbox"
      local box <close> = assert(stepbox.create { timeout = 60 })
      print(package.searchpath("stepbox.core", package.cpath))
      print(box:step("6 * 7").text)
    ]])
    output = sandbox.sh(([[
      cd / && folder=%s && unset STEPBOX_ENGINE && export XDG_RUNTIME_DIR=$folder
      LUA_PATH="$folder/tree/share/lua/5.4/?.lua;$folder/tree/share/lua/5.4/?/init.lua;;" \
      LUA_CPATH="$folder/tree/lib/lua/5.4/?.so;;" lua5.4 %s
      pkill -f -- $folder/tree/; sleep 0.3
    ]]):format(folder, script))
    assert.matches(folder .. "/tree/lib/lua/5.4/stepbox/core.so\n42\n", output, 1, true)
  end)
end)
