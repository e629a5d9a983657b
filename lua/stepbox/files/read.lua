--- Reading files of a sandbox.

local call = require "stepbox.call"
local check = require "stepbox.options"
local class = require "stepbox.files.class"

local Files, box_of = class.Files, class.box_of

local function is_file(value) return io.type(value) == "file" end

local function destination(value)
  if type(value) == "string" then return check.text(value) end
  if not is_file(value) then
    return "path or open file expected, got " .. (io.type(value) or type(value))
  end
end

local function offset(value)
  if type(value) ~= "number" or value % 1 ~= 0 or value < 0 then
    return "a whole number of at least 0 expected, got " .. tostring(value)
  end
end

local READ_OPTIONS = {
  user = check.text,
  offset = offset,
  length = check.count,
  to = destination,
  on_data = check.callable,
  max_bytes = check.count,
  idle_timeout = check.seconds,
}

---@class stepbox.ReadOptions
---@field user? string
---@field offset? integer the first byte, default 0
---@field length? integer how many bytes, default to the end
---@field to? string|file* a local file to write to: its path, or open
---@field on_data? fun(bytes: string) gets the bytes piece by piece
---@field max_bytes? integer more in memory is a failure ("too_large"); default 1 GiB
---@field idle_timeout? number seconds without a byte, default 60; there is no other deadline

-- What C calls ENOENT.
local NO_SUCH_FILE = 2

local function read_to_path(box, path, wire, local_path)
  -- What is there is kept until the first byte comes: there may be no such file in the sandbox.
  local file, message, number = io.open(local_path, "r+b")
  local is_new = number == NO_SUCH_FILE
  if not file then file, message = io.open(local_path, "wb") end
  if not file then return nil, message, "system" end
  wire.file, wire.cut = file, true
  local count, why, code = call.finish(box:start_file_read(path, wire))
  local is_empty = is_new and file:seek "end" == 0
  local closed, late = file:close()
  if not count and is_empty then os.remove(local_path) end
  if not count then return nil, why, code end
  if not closed then return nil, local_path .. ": " .. tostring(late), "system" end
  return count
end

--- Reads a file: its bytes, or with `to` or `on_data` how many there were, none of them held in memory.
---@param path string
---@param options? stepbox.ReadOptions
---@return string|integer|nil bytes
---@return string? message
---@return string? code "not_found", "is_directory", "permission", "too_large"
function Files:read(path, options)
  local box = box_of(self, "read")
  check.argument("read", 1, check.string, path)
  options = check.options("read", options, READ_OPTIONS)
  if options.to and options.on_data then
    error("bad options of 'read' (only one of 'to' and 'on_data' can be given)", 2)
  end
  local wire = {
    user = options.user,
    offset = options.offset,
    length = options.length,
    max_bytes = options.max_bytes,
    idle_timeout = options.idle_timeout,
    events = options.on_data ~= nil,
  }
  if options.on_data then return call.finish_with(options, box:start_file_read(path, wire)) end
  if type(options.to) == "string" then return read_to_path(box, path, wire, options.to) end
  wire.file = options.to
  return call.finish(box:start_file_read(path, wire))
end
