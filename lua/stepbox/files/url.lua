--- URLs for files of a sandbox.

local check = require "stepbox.options"
local class = require "stepbox.files.class"

local Files, box_of = class.Files, class.box_of

local URL_OPTIONS = { user = check.text, expires_in = check.seconds }

-- The local engine's socket has no URL: a port of this machine leads there, as long as the box is used. What
-- is kept is not what box:forward gives, which keeps the box: in Lua 5.1 none would ever be collected.
local forwards = setmetatable({}, { __mode = "k" })

local function local_url(box, ...)
  local below, message, code = box:file_url_path(...)
  if not below then return nil, message, code end
  if not forwards[box] then
    forwards[box], message, code = box:open_forward(49983)
    if not forwards[box] then return nil, message, code end
  end
  return "http://127.0.0.1:" .. forwards[box].port .. below
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
