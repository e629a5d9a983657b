-- Properties: what was written is what is read, whatever it is and however it is cut into pieces. The seed is
-- printed when one fails; STEPBOX_SEED runs it again.
local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"

local seed = tonumber(os.getenv "STEPBOX_SEED") or os.time()
math.randomseed(seed)

local function random_bytes(size)
  local words = {}
  for i = 1, size // 8 + 1 do words[i] = string.pack("<i8", math.random(0)) end
  return table.concat(words):sub(1, size)
end

--- Sizes at and around the borders that buffers have, and others.
local function random_size()
  local border = ({ 0, 1, 4096, 16384, 65536, 262144, 1048576 })[math.random(7)]
  return math.max(0, border + math.random(-2, 2)) + (math.random(3) == 1 and math.random(0, 5000) or 0)
end

local ALPHABET = {
  "a", "B", "7", " ", "\n", "'", '"', "\\", "%", "&", "=", "?", "#", "+", "~", "-", ".", ";", "$", "`", "*",
  "\t", "\127", "ü", "日", "💣", "e\u{301}", "\u{200b}",
}

local function random_name()
  local name = {}
  for i = 1, math.random(12) do name[i] = ALPHABET[math.random(#ALPHABET)] end
  name = table.concat(name)
  if name == "." or name == ".." or name:sub(1, 1) == "~" then name = "_" .. name end
  return name
end

--- A tree: path -> content, or false for a directory.
local function random_tree(count)
  local tree, directories = {}, { "" }
  for _ = 1, count do
    local path = directories[math.random(#directories)] .. random_name()
    if tree[path] == nil then
      if math.random(4) == 1 and #directories < 12 then
        tree[path] = false
        directories[#directories + 1] = path .. "/"
      else
        tree[path] = random_bytes(random_size() % 70000)
      end
    end
  end
  return tree
end

describe("whatever is written", function()
  local box, files
  setup(function()
    box = assert(stepbox.create { timeout = 600 })
    files = box.files
  end)
  teardown(function() assert(box:kill()) end)

  local function holds(what, fn)
    local ok, message = xpcall(fn, debug.traceback)
    if not ok then error(("%s does not hold with STEPBOX_SEED=%d: %s"):format(what, seed, message), 0) end
  end

  it("is read the same, whole, in parts and in pieces", function()
    holds("reading what was written", function()
      for _ = 1, 40 do
        local content, pieces = random_bytes(random_size()), {}
        local first = 1
        while first <= #content do
          local length = math.random(1, math.max(1, #content // math.random(1, 9)))
          pieces[#pieces + 1] = content:sub(first, first + length - 1)
          first = first + length
        end
        local n, whole = 0, math.random(2) == 1
        assert(files:write("random", whole and content or function()
          n = n + 1
          return pieces[n]
        end))
        assert(content == assert(files:read "random"), "whole")
        local got = {}
        assert(files:read("random", { on_data = function(bytes) got[#got + 1] = bytes end }))
        assert(content == table.concat(got), "in pieces")
        local offset, length = math.random(0, #content + 3), math.random(1, #content + 3)
        assert(content:sub(offset + 1, offset + length)
          == assert(files:read("random", { offset = offset, length = length })), "a part")
      end
    end)
  end)

  it("as a tree is listed and read the same", function()
    holds("reading a tree", function()
      local tree, list = random_tree(60), {}
      for path, content in pairs(tree) do
        if content then
          list[#list + 1] = { path = "tree/" .. path, data = content }
        else
          assert(files:make_dir("tree/" .. path) ~= nil)
        end
      end
      assert(files:write(list))
      local seen = 0
      for _, entry in ipairs(assert(files:list("tree", { depth = 50 }))) do
        local path = entry.path:sub(#"/home/user/tree/" + 1)
        local content = tree[path]
        assert(content ~= nil, "not written: " .. path)
        assert(entry.type == (content and "file" or "directory"), path)
        if content then
          assert(entry.size == #content, path)
          assert(assert(files:read(entry.path)) == content, path)
        end
        seen = seen + 1
      end
      for _ in pairs(tree) do seen = seen - 1 end
      assert(seen == 0, "entries are missing: " .. -seen)
      local folder = sandbox.temporary()
      assert(files:download_dir("tree", folder .. "/tree"))
      assert(files:upload_dir(folder .. "/tree", "again"))
      os.execute("rm -r " .. folder)
      for path, content in pairs(tree) do
        if content then assert(assert(files:read("again/" .. path)) == content, path) end
      end
    end)
  end)

  it("to a command comes out of it the same", function()
    holds("output of what was input", function()
      for _ = 1, 20 do
        local content = random_bytes(random_size())
        local result = assert(box.commands:run({ "cat" }, { stdin = content }))
        assert(result.stdout == content)
      end
    end)
  end)

  it("in arguments and variables arrives the same", function()
    holds("arguments are data", function()
      for _ = 1, 20 do
        local args, expected = { "printf", "%s\\0" }, {}
        for i = 1, math.random(5) do
          args[i + 2] = random_name()
          expected[i] = args[i + 2] .. "\0"
        end
        local value = random_name()
        local result = assert(box.commands:run(args, { envs = { VALUE = value } }))
        assert(result.stdout == table.concat(expected))
        result = assert(box.commands:run({ "printenv", "VALUE" }, { envs = { VALUE = value } }))
        assert(result.stdout == value .. "\n")
      end
    end)
  end)
end)
