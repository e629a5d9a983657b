--- Writing files of a sandbox.

local call = require "stepbox.call"
local check = require "stepbox.options"
local class = require "stepbox.files.class"
local task = require "stepbox.task"

local Files, box_of = class.Files, class.box_of

-- Uploads that `write` of a list has under way at once.
local PARALLEL = 8

local WRITE_OPTIONS = { user = check.text, metadata = check.map, idle_timeout = check.seconds }

local function is_file(value) return io.type(value) == "file" end

local function source(value)
  if type(value) ~= "string" and not is_file(value) and check.callable(value) then
    return "string, open file or function expected, got " .. (io.type(value) or type(value))
  end
end

--- The next piece that a function makes. What raises there ends the upload.
local function next_piece(op, pieces)
  local ok, piece = pcall(pieces)
  if ok and (piece == nil or type(piece) == "string") then return piece end
  op:close()
  error(ok and "the function gave a " .. type(piece) or piece, 0)
end

--- Gives an upload what a function makes, and waits whenever enough is on its way.
local function feed(op, pieces)
  for piece in function() return next_piece(op, pieces) end do
    while op:feed_room() == 0 and not op:done() do task.await(op) end
    if op:done() or not op:feed(piece) then return end
  end
  op:feed_end()
end

--- Starts the upload of one file; the operation, or nil, message, code.
local function start_write(box, path, data, options)
  local wire = { user = options.user, metadata = options.metadata, idle_timeout = options.idle_timeout }
  if type(data) == "string" then
    wire.bytes = data
  elseif is_file(data) then
    wire.file = data
  else
    wire.feed = true
  end
  return box:start_file_write(path, wire)
end

--- Finishes the upload that start_write has started.
local function finish_write(data, op, ...)
  if op and type(data) ~= "string" and not is_file(data) then
    feed(op, data)
  end
  return call.finish(op, ...)
end

local function check_list(list)
  for i, item in ipairs(list) do
    local wrong = type(item) ~= "table" and "a table expected, got " .. type(item)
      or check.string(item.path) and "'path' must be a string"
      or source(item.data) and "'data': " .. source(item.data)
    if wrong then error("bad entry " .. i .. " of 'write' (" .. wrong .. ")", 3) end
  end
end

--- Uploads a list of files, some at once. Returns the first failure, when all under way have ended.
local function write_list(box, list, options)
  local entries, failure, started, finished = {}, nil, 0, 0
  local ops = {}
  while finished < started or (started < #list and not failure) do
    if started < #list and started - finished < PARALLEL and not failure then
      started = started + 1
      ops[started] = { start_write(box, list[started].path, list[started].data, options) }
    else
      finished = finished + 1
      local op = ops[finished]
      local entry, message, code = finish_write(list[finished].data, op[1], op[2], op[3])
      entries[#entries + 1] = entry
      if not entry then failure = failure or { message, code } end
    end
  end
  if failure then return nil, failure[1], failure[2], entries end
  return entries
end

---@class stepbox.WriteOptions
---@field user? string
---@field metadata? table<string, string> kept in place of what it had; printable ASCII, names in lower case
---@field idle_timeout? number seconds without a byte, default 60; there is no other deadline

--- Writes a file over what was there, and makes its parents. `data` is a string, an open file (read from its
--- position on), or a function that gives one piece a call and then nil. Several at once: a list of
--- `{path =, data =}` in place of path and data; the result is a list then, and the fourth value of a failure
--- what was written all the same.
---@param path string|table[]
---@param data? string|file*|fun(): string|nil
---@param options? stepbox.WriteOptions
---@return stepbox.Entry|stepbox.Entry[]|nil entry
---@return string? message
---@return string? code "is_directory", "no_space", "permission", "bad_path"
---@return stepbox.Entry[]? written
function Files:write(path, data, options)
  local box = box_of(self, "write")
  if type(path) == "table" then
    check_list(path)
    return write_list(box, path, check.options("write", options or data, WRITE_OPTIONS))
  end
  check.argument("write", 1, check.string, path)
  check.argument("write", 2, source, data)
  options = check.options("write", options, WRITE_OPTIONS)
  return finish_write(data, start_write(box, path, data, options))
end
