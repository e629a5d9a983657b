--- A git repository in a sandbox, for the specs of box.git.

local assert = require "luassert"
local stepbox = require "stepbox"

local Repository = {}
Repository.__index = Repository

--- A sandbox in which git knows who commits; `repository:renew()` makes the repository.
local function open()
  local box = assert(stepbox.create { timeout = 300 })
  assert(box.git:configure_user("Ann O'Nym", "ann@example.org"))
  return setmetatable({ box = box, git = box.git, path = "none", made = 0 }, Repository)
end

--- Goes on with another, empty one.
function Repository:renew()
  self.made = self.made + 1
  self.path = "repository " .. self.made
  assert(self.git:init(self.path, { initial_branch = "main" }))
end

--- Runs a command in the repository; returns what it wrote.
function Repository:run(line, stdin)
  local result = assert(self.box.commands:run(line, { cwd = "/home/user/" .. self.path, stdin = stdin }))
  assert.equal(0, result.exit_code, result.stderr)
  return result.stdout
end

function Repository:write(name, content)
  self:run({ "python3", "-c", "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())", name },
    content)
end

function Repository:read(name) return self:run { "cat", "./" .. name } end

--- Commits everything; returns the hash.
function Repository:commit(message)
  assert(self.git:add(self.path))
  return assert(self.git:commit(self.path, message))
end

--- What differs from the last commit: "XY word" by path.
function Repository:files(options)
  local found = {}
  for _, file in ipairs(assert(self.git:status(self.path, options)).files) do
    found[file.path] = file.index .. file.worktree .. " " .. file.status
  end
  return found
end

--- Expects a failure with this code and a message with this pattern.
local function fails(code, pattern, ...)
  local value, message, actual = ...
  assert.is_nil(value)
  assert.equal(code, actual, message)
  assert.matches(pattern, message)
  return message
end

return { open = open, fails = fails }
