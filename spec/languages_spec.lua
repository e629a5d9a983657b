--- Small programs in each language, with their exact events: the tables are in spec/languages/.

local host = require "spec.support.host"
local programs = require "spec.support.programs"

local busted = { describe = describe, it = it, setup = setup, teardown = teardown, pending = pending }
local root = assert(os.getenv "STEPBOX_ROOT")
for name in host.sh("ls '" .. root .. "/spec/languages'"):gmatch "([%w_]+)%.lua" do
  programs.declare(busted, require("spec.languages." .. name))
end
