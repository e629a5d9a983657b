--- The files of a sandbox: box.files.

local call = require "stepbox.call"
local check = require "stepbox.options"
local class = require "stepbox.files.class"
local directories = require "stepbox.directories"
local watch = require "stepbox.watch"
require "stepbox.files.read"
require "stepbox.files.write"
require "stepbox.files.url"

local Files, box_of = class.Files, class.box_of

local USER_OPTIONS = { user = check.text }
local LIST_OPTIONS = { user = check.text, depth = check.count }

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
  check.argument("upload_dir", 1, check.text, directory)
  check.argument("upload_dir", 2, check.string, path)
  options = check.options("upload_dir", options, directories.OPTIONS)
  local made, message, code = call.finish(box:start_file_make_dir(path, options.user))
  if made == nil then return nil, message, code end
  return directories.upload(box, directory, path, options)
end

--- Copies what is in a directory of the sandbox into a local one, which is made when it is not there. The
--- sandbox cannot make it write outside of that directory: names that would are refused, and nothing is
--- written through a link. The symbolic links themselves come as they are and may point anywhere: look before
--- you open what came. Modes are kept but for set-id bits and everybody's leave to write.
---@param path string in the sandbox
---@param directory string here
---@param options? stepbox.DirectoryOptions
---@return true|nil
---@return string? message
---@return string? code "not_found", "not_directory", "protocol" for what was refused, "system"
function Files:download_dir(path, directory, options)
  local box = box_of(self, "download_dir")
  check.argument("download_dir", 1, check.string, path)
  check.argument("download_dir", 2, check.text, directory)
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

return Files
