--- Git in a sandbox: box.git. Its methods are in stepbox/git/.

require "stepbox.git.work"
require "stepbox.git.branches"
require "stepbox.git.config"
require "stepbox.git.remotes"
require "stepbox.git.transfer"

return require("stepbox.git.run").Git
