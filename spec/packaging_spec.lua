local sandbox = require "spec.support.sandbox"

describe("what is installed", function()
  local folder
  -- A copy of the sources, so that the build which is being tested stays as it is.
  setup(function()
    folder = sandbox.temporary()
    local output, status =
      sandbox.sh("cp -r Makefile tools bin share src lua rockspec examples spec " .. folder)
    assert.equal(0, status, output)
    sandbox.write(folder .. "/try.lua", [[
      local stepbox = require "stepbox"
      local box <close> = assert(stepbox.create { timeout = 60 })
      print(package.searchpath("stepbox.core", package.cpath))
      print(box:step("6 * 7").text)
    ]])
    sandbox.write(folder .. "/try.py", "42 + 1")
  end)
  teardown(function() os.execute("rm -rf " .. folder) end)

  --- What `try` prints when all is well.
  local function working(prefix, engine)
    return prefix .. "/lib/lua/5.4/stepbox/core.so\n42\n43\n" .. engine .. "/bin/stepboxd\n"
  end

  --- Runs a script with the module below `prefix`, whose engine it must find by itself.
  local function try(prefix)
    return (sandbox.sh(([[
      cd / && PATH=/usr/local/bin:/usr/bin:/bin && prefix=%s
      unset STEPBOX_ENGINE && export XDG_RUNTIME_DIR=%s
      LUA_PATH="$prefix/share/lua/5.4/?.lua;$prefix/share/lua/5.4/?/init.lua;;" \
      LUA_CPATH="$prefix/lib/lua/5.4/?.so;;" lua5.4 %s/try.lua
      env -u LUA_PATH -u LUA_CPATH "$prefix/bin/stepbox" run %s/try.py
      readlink -f "$(pgrep -a -f -- "^$prefix/.*stepboxd" | head -n 1 | cut -d ' ' -f 2)"
      pkill -f -- $prefix/; sleep 0.5
    ]]):format(prefix, folder, folder, folder)))
  end

  it("by the rockspec, offline with the system's lua-cjson, runs", function()
    local output, status = sandbox.sh(([[
      cd %s && unset MAKEFLAGS VARIANT && PATH=/usr/local/bin:/usr/bin:/bin
      luarocks --lua-version 5.4 --tree tree make --deps-mode none rockspec/stepbox-scm-1.rockspec
    ]]):format(folder))
    assert.equal(0, status, output)
    local prefix = folder .. "/tree"
    assert.equal(working(prefix, prefix .. "/lib/luarocks/rocks-5.4/stepbox/scm-1/engine"), try(prefix))
  end)

  it("by make install runs, and respects PREFIX and DESTDIR", function()
    local make = "unset MAKEFLAGS VARIANT; cd " .. folder .. "; make -s install BUILD=build-luarocks "
    local install = make .. "PREFIX="
    local output, status = sandbox.sh(install .. folder .. "/prefix")
    assert.equal(0, status, output)
    local prefix = folder .. "/prefix"
    assert.equal(working(prefix, prefix), try(prefix))

    output, status = sandbox.sh(install .. "/usr DESTDIR=" .. folder .. "/root")
    assert.equal(0, status, output)
    for _, file in ipairs { "bin/stepboxd", "bin/stepbox-agent", "bin/stepbox-egress", "lib/libstepbox.so",
      "include/stepbox.h",
      "share/lua/5.4/stepbox/init.lua", "share/stepbox/runners/python/main.py", "bin/stepbox",
      "share/man/man1/stepbox.1", "share/bash-completion/completions/stepbox",
      "share/zsh/site-functions/_stepbox", "share/fish/vendor_completions.d/stepbox.fish" } do
      assert.is_truthy(os.rename(folder .. "/root/usr/" .. file, folder .. "/root/usr/" .. file), file)
    end
  end)
end)

describe("the bootstrap", function()
  it("installs nothing and says nothing when nothing is missing", function()
    local output, status = sandbox.sh "tools/bootstrap test"
    assert.equal("", output)
    assert.equal(0, status)
  end)

  it("names the packages and stops where there is no apt", function()
    local folder = sandbox.temporary()
    finally(function() os.execute("rm -rf " .. folder) end)
    -- A system with everything but bubblewrap and apt.
    local output, status = sandbox.sh(([[
      for program in cc make pkg-config lua5.4 id sh; do ln -s "$(command -v $program)" %s/; done
      PATH=%s tools/bootstrap
    ]]):format(folder, folder))
    assert.equal(1, status, output)
    assert.matches("needs these packages:[^\n]* bubblewrap[ \n]", output)
    assert.matches("There is no apt here", output, 1, true)
  end)
end)
