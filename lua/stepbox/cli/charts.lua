--- Images among the results: shown, or saved and named.

local images = require "stepbox.images"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"

local charts = {}

-- The best first; of one result one is saved.
local FORMATS = { "png", "jpeg", "svg", "pdf" }

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- The next free name in a folder, which is made when it is not there.
local function name_in(folder, format, number)
  if not exists(folder) and not os.execute("mkdir -p -- " .. quoted(folder)) then
    status.leave(status.FAILED, folder .. ": cannot be made", "system")
  end
  local path
  repeat
    number = number + 1
    path = ("%s/chart-%d.%s"):format((folder:gsub("(.)/+$", "%1")), number, format)
  until not exists(path)
  return path, number
end

--- A file of our own in the folder for temporary files.
local function temporary(format)
  local made = os.tmpname()
  local path = made .. "." .. format
  local ok = os.rename(made, path)
  return ok and path or made
end

local function write(path, bytes)
  local file, message = io.open(path, "wb")
  local written = file and file:write(bytes)
  local closed = file and file:close()
  if not written or not closed then status.leave(status.FAILED, message or path .. ": cannot be written") end
end

--- What shows or saves the images of a step's results. `folder`: save them there in any case.
function charts.new(folder)
  local saved, number = {}, 0
  local function save(format, bytes)
    local path
    if folder then path, number = name_in(folder, format, number) else path = temporary(format) end
    write(path, bytes)
    saved[#saved + 1] = { path = path, format = format }
    return path
  end
  local function each(result, quiet)
    for _, format in ipairs(FORMATS) do
      local bytes = result[format]
      if type(bytes) == "string" and bytes ~= "" then
        local can_be = not quiet and (format == "png" or format == "jpeg")
        local shown = can_be and images.encode(bytes, format)
        if shown then output.out(shown) end
        if folder or not (shown or quiet) then
          local path = save(format, bytes)
          if not quiet then output.err("stepbox: chart saved as " .. path .. "\n") end
        end
        return true
      end
    end
    return false
  end
  return { each = each, saved = saved }
end

return charts
