--- The files of a sandbox: box.files.

local call = require "stepbox.call"
local check = require "stepbox.options"
local directories = require "stepbox.directories"
local task = require "stepbox.task"
local watch = require "stepbox.watch"

--- The files of a box. A path is absolute, or relative to the home directory.
---@class stepbox.Files
local Files = {}
Files.__index = Files

-- Uploads that `write` of a list has under way at once.
local PARALLEL = 8

local function is_file(value) return io.type(value) == "file" end

local function destination(value)
  if type(value) ~= "string" and not is_file(value) then
    return "path or open file expected, got " .. (io.type(value) or type(value))
  end
end

local function source(value)
  if type(value) ~= "string" and not is_file(value) and check.callable(value) then
    return "string, open file or function expected, got " .. (io.type(value) or type(value))
  end
end

local function offset(value)
  if type(value) ~= "number" or value % 1 ~= 0 or value < 0 then
    return "a whole number of at least 0 expected, got " .. tostring(value)
  end
end

local USER_OPTIONS = { user = check.string }
local LIST_OPTIONS = { user = check.string, depth = check.count }
local READ_OPTIONS = {
  user = check.string,
  offset = offset,
  length = check.count,
  to = destination,
  on_data = check.callable,
  max_bytes = check.count,
  idle_timeout = check.seconds,
}
local WRITE_OPTIONS = { user = check.string, metadata = check.map, idle_timeout = check.seconds }
local URL_OPTIONS = { user = check.string, expires_in = check.seconds }

local function box_of(self, name)
  if getmetatable(self) ~= Files then
    error("'" .. name .. "' is called with a colon: box.files:" .. name .. "(...)", 3)
  end
  return self.box
end

--- What is known of a file or directory.
---@class stepbox.Entry
---@field name string
---@field path string
---@field type "file"|"directory"|"symlink"|"other" of a symbolic link its target's, if that is there
---@field size integer bytes
---@field mode integer permission bits
---@field permissions string "-rw-r--r--"
---@field owner string
---@field group string
---@field symlink_target? string only of symbolic links
---@field modified_at integer Unix seconds
---@field modified_ns integer nanoseconds beyond
---@field metadata table<string, string> the user's own

---@class stepbox.ReadOptions
---@field user? string
---@field offset? integer the first byte, default 0
---@field length? integer how many bytes, default to the end
---@field to? string|file* a local file to write to: its path, or open
---@field on_data? fun(bytes: string) gets the bytes piece by piece
---@field max_bytes? integer more in memory is a failure ("too_large"); default 1 GiB
---@field idle_timeout? number seconds without a byte, default 60; there is no other deadline

local function read_to_path(box, path, wire, local_path)
  local file, message = io.open(local_path, "wb")
  if not file then return nil, message, "system" end
  wire.file = file
  local count, why, code = call.finish(box:start_file_read(path, wire))
  local closed, late = file:close()
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

--- Gives an upload what a function makes, and waits whenever enough is on its way.
local function feed(op, pieces)
  for piece in pieces do
    if type(piece) ~= "string" then error("the function gave a " .. type(piece), 0) end
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
    local ok, raised = pcall(feed, op, data)
    if not ok then
      op:close()
      error(raised, 0)
    end
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
---@field metadata? table<string, string> kept with the file, in place of what it had; printable ASCII
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

---@class stepbox.ListFilesOptions
---@field depth? integer 1, the default: what is in it; 2: also what is in its directories; and so on
---@field user? string

--- Lists a directory, in the order of the paths.
---@param path string
---@param options? stepbox.ListFilesOptions
---@return stepbox.Entry[]|nil
---@return string? message
---@return string? code "not_found", "not_directory"
function Files:list(path, options)
  local box = box_of(self, "list")
  check.argument("list", 1, check.string, path)
  options = check.options("list", options, LIST_OPTIONS)
  return call.finish(box:start_file_list(path, options.depth or 1, options.user))
end

--- Calls `start` of the box with a path and the user of the options.
local function simple(self, name, start, path, options)
  local box = box_of(self, name)
  check.argument(name, 1, check.string, path)
  options = check.options(name, options, USER_OPTIONS, 3)
  return call.finish(box[start](box, path, options.user))
end

---@class stepbox.FileOptions
---@field user? string

--- What is known of a file or directory; of a symbolic link itself.
---@param path string
---@param options? stepbox.FileOptions
---@return stepbox.Entry|nil
---@return string? message
---@return string? code "not_found"
function Files:info(path, options) return simple(self, "info", "start_file_info", path, options) end

--- Whether there is something by that path.
---@param path string
---@param options? stepbox.FileOptions
---@return boolean|nil
---@return string? message
---@return string? code
function Files:exists(path, options)
  local entry, message, code = simple(self, "exists", "start_file_info", path, options)
  if entry then return true end
  -- A path whose directory is a file names nothing either.
  if code == "not_found" or code == "not_directory" then return false end
  return nil, message, code
end

--- Makes a directory and its parents. False when it was there already.
---@param path string
---@param options? stepbox.FileOptions
---@return boolean|nil made
---@return string? message
---@return string? code "not_directory" or "exists" when something else is there
function Files:make_dir(path, options)
  return simple(self, "make_dir", "start_file_make_dir", path, options)
end

--- Removes a file, or a directory with all that is in it.
---@param path string
---@param options? stepbox.FileOptions
---@return true|nil
---@return string? message
---@return string? code
function Files:remove(path, options) return simple(self, "remove", "start_file_remove", path, options) end

--- Gives a file or directory another name or place; makes the parents, and replaces a file that is there.
---@param from string
---@param to string
---@param options? stepbox.FileOptions
---@return stepbox.Entry|nil
---@return string? message
---@return string? code
function Files:rename(from, to, options)
  local box = box_of(self, "rename")
  check.argument("rename", 1, check.string, from)
  check.argument("rename", 2, check.string, to)
  options = check.options("rename", options, USER_OPTIONS)
  return call.finish(box:start_file_rename(from, to, options.user))
end

--- Joins files to one, in this order, and removes them.
---@param sources string[]
---@param to string
---@param options? stepbox.FileOptions
---@return stepbox.Entry|nil
---@return string? message
---@return string? code
function Files:compose(sources, to, options)
  local box = box_of(self, "compose")
  check.argument("compose", 1, check.strings, sources)
  if not sources[1] then error("bad argument #1 to 'compose' (the list is empty)", 2) end
  check.argument("compose", 2, check.string, to)
  options = check.options("compose", options, USER_OPTIONS)
  return call.finish(box:start_file_compose(sources, to, options.user))
end

---@class stepbox.DirectoryOptions
---@field user? string
---@field timeout? number seconds for the whole; default none

--- Copies what is in a local directory into one of the sandbox, which is made when it is not there. What is
--- there by the same names is replaced; modes, times and symbolic links are kept.
---@param directory string here
---@param path string in the sandbox
---@param options? stepbox.DirectoryOptions
---@return true|nil
---@return string? message
---@return string? code "no_space", "permission", "system" when the local directory cannot be read
function Files:upload_dir(directory, path, options)
  local box = box_of(self, "upload_dir")
  check.argument("upload_dir", 1, check.string, directory)
  check.argument("upload_dir", 2, check.string, path)
  options = check.options("upload_dir", options, directories.OPTIONS)
  local made, message, code = call.finish(box:start_file_make_dir(path, options.user))
  if made == nil then return nil, message, code end
  return directories.upload(box, directory, path, options)
end

--- Copies what is in a directory of the sandbox into a local one, which is made when it is not there. The
--- sandbox cannot make it write outside of that directory: names and links that would are refused.
---@param path string in the sandbox
---@param directory string here
---@param options? stepbox.DirectoryOptions
---@return true|nil
---@return string? message
---@return string? code "not_found", "not_directory", "protocol" for what was refused, "system"
function Files:download_dir(path, directory, options)
  local box = box_of(self, "download_dir")
  check.argument("download_dir", 1, check.string, path)
  check.argument("download_dir", 2, check.string, directory)
  options = check.options("download_dir", options, directories.OPTIONS)
  local entries, message, code = call.finish(box:start_file_list(path, 1, options.user))
  if not entries then return nil, message, code end
  return directories.download(box, path, directory, options)
end

--- Watches a directory. What changes from now on comes out of `watch:events()`.
---@param path string
---@param options? stepbox.WatchOptions
---@return stepbox.Watch|nil
---@return string? message
---@return string? code "not_found", "not_directory"
function Files:watch(path, options)
  local box = box_of(self, "watch")
  check.argument("watch", 1, check.string, path)
  return watch.start(box, path, check.options("watch", options, watch.OPTIONS))
end

-- The local engine's socket has no URL: a port of this machine leads there, as long as the box is used.
local forwards = setmetatable({}, { __mode = "k" })

local function local_url(box, ...)
  local below, message, code = box:file_url_path(...)
  if not below then return nil, message, code end
  if not forwards[box] then
    forwards[box], message, code = box:forward(49983)
    if not forwards[box] then return nil, message, code end
  end
  return forwards[box].url .. below
end

local function url(self, name, path, write, options)
  local box = box_of(self, name)
  check.argument(name, 1, check.string, path)
  options = check.options(name, options, URL_OPTIONS, 3)
  local expires = options.expires_in and os.time() + math.ceil(options.expires_in)
  local made, message, code = box:file_url(path, write, options.user, expires)
  if not made and code == "unsupported" then return local_url(box, path, write, options.user, expires) end
  return made, message, code
end

---@class stepbox.UrlOptions
---@field expires_in? number seconds from now; default never
---@field user? string

--- A URL that reads the file, for anyone who has it. With the local engine it leads through a port of this
--- machine, and works while this program runs and has the box.
---@param path string
---@param options? stepbox.UrlOptions
---@return string|nil url
---@return string? message
---@return string? code
function Files:download_url(path, options) return url(self, "download_url", path, false, options) end

--- A URL that writes the file: POST the bytes as `application/octet-stream`, or a form with the field `file`.
---@param path string
---@param options? stepbox.UrlOptions
---@return string|nil url
---@return string? message
---@return string? code
function Files:upload_url(path, options) return url(self, "upload_url", path, true, options) end

return Files
