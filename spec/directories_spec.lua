local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

describe("a directory", function()
  local box, files, folder
  setup(function()
    box = assert(stepbox.create { timeout = 300 })
    files = box.files
    folder = sandbox.temporary()
  end)
  teardown(function()
    assert(box:kill())
    os.execute("chmod -R u+rwx " .. folder .. "; rm -r " .. folder)
  end)

  local function sh(command) assert.equal(0, select(2, sandbox.sh("cd " .. folder .. " && " .. command))) end
  local function inside(command) return assert(box.commands:run(command)) end

  --- What is in a tree, as text that tells two trees apart: kinds, modes, targets, sums.
  local FINGERPRINT = [[find . -printf '%P|%y|%m|%l\n' | LC_ALL=C sort
    find . -type f -exec sha256sum {} + | LC_ALL=C sort]]

  it("goes there and comes back as it was", function()
    sh [[mkdir -p tree/empty tree/deep/er; cd tree
printf 'a\0b' > bytes; : > nothing; echo x > 'with space'; echo y > "$(printf 'new\nline')"; echo z > 'grün'
printf '#!/bin/sh\necho ran\n' > run; chmod 755 run; ln -s bytes link; ln -s /nowhere dangling; chmod 700 deep
head -c 3000000 /dev/urandom > deep/er/random; chmod 600 deep/er/random]]
    assert(files:upload_dir(folder .. "/tree", "there"))
    local here = sandbox.sh("cd " .. folder .. "/tree && " .. FINGERPRINT)
    assert.equal(here, inside("cd there && " .. FINGERPRINT).stdout)
    assert.equal("ran\n", inside("there/run").stdout)
    assert(files:download_dir("there", folder .. "/back"))
    assert.equal(here, (sandbox.sh("cd " .. folder .. "/back && " .. FINGERPRINT)))
  end)

  it("keeps the modes of what is in it, whatever the sandbox's own default is", function()
    sh "mkdir -p modes/all; echo x > modes/file; chmod 777 modes/all; chmod 666 modes/file"
    assert(files:upload_dir(folder .. "/modes", "modes"))
    assert.equal("777 666\n", inside("echo $(stat -c %a modes/all modes/file)").stdout)
  end)

  it("is put over what is there", function()
    sh "mkdir -p over; echo new > over/file"
    inside "mkdir -p over; echo old > over/file; echo kept > over/other"
    assert(files:upload_dir(folder .. "/over", "over"))
    assert.equal("new\n", assert(files:read "over/file"))
    assert.equal("kept\n", assert(files:read "over/other"))
  end)

  it("that is not there, or none, is a failure on either side", function()
    assert.is_nil((files:upload_dir(folder .. "/none", "x")))
    sh "echo > file"
    assert.is_nil((files:upload_dir(folder .. "/file", "x")))
    assert.equal("not_found", select(3, files:download_dir("none", folder .. "/y")))
    assert(files:write("plain", "x"))
    assert.equal("not_directory", select(3, files:download_dir("plain", folder .. "/y")))
    sh "mkdir -p big; head -c 200000000 /dev/zero > big/zeros"
    inside "fallocate -l $(( $(df --output=avail -B1 /tmp | tail -1) - 64000000 )) /tmp/filling"
    assert.equal("no_space", select(3, files:upload_dir(folder .. "/big", "x")))
    assert(files:remove "/tmp/filling")
    assert.equal("permission", select(3, files:upload_dir(folder .. "/tree", "/usr/x")))
  end)

  it("from a sandbox that lies cannot write outside of its place", function()
    local script = [[
#!/usr/bin/python3
import io, sys, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|')
def file(name, data=b'evil'):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    out.addfile(info, io.BytesIO(data))
def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    out.addfile(info)
]]
    local victim = folder .. "/victim"
    sh "mkdir -p victim; echo safe > victim/file"
    inside "mkdir -p lie"
    for _, lie in ipairs {
      "file('../victim/file')",
      ("file('%s/file')"):format(victim),
      ("link('l', '%s'); file('l/file')"):format(victim),
      "link('l', '../victim/file'); file('l')",
      ("link('h', '%s/file', tarfile.LNKTYPE); file('h')"):format(victim),
      "link('h', '../victim/file', tarfile.LNKTYPE); file('h')",
      "file('a/../../victim/file')",
    } do
      -- A tar of the sandbox's own, which is found before the real one.
      assert(files:write(".local/bin/tar", script .. lie .. "\nout.close()\n"))
      inside "chmod +x .local/bin/tar"
      assert.matches("evil", inside({ "tar" }).stdout, 1, true)
      files:download_dir("lie", folder .. "/lied")
      assert.equal("safe\n", sandbox.read(victim .. "/file"), lie)
      sh "rm -rf lied"
    end
    inside "rm .local/bin/tar"
  end)
end)
