--- Small programs in each language, with their exact events: the tables are in spec/languages/.
--- STEPBOX_LANGUAGES names one of them, for that to be run by itself.

local host = require "spec.support.host"
local programs = require "spec.support.programs"

local busted = { describe = describe, it = it, setup = setup, teardown = teardown, pending = pending }
local root, only = assert(os.getenv "STEPBOX_ROOT"), os.getenv "STEPBOX_LANGUAGES"
for name in host.sh("ls '" .. root .. "/spec/languages'"):gmatch "([%w_]+)%.lua" do
  if not only or name == only then programs.declare(busted, require("spec.languages." .. name)) end
end
