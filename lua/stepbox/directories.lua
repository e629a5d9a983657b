--- Whole directories to a sandbox and back: a tar stream here, and `tar` there.

local call = require "stepbox.call"
local check = require "stepbox.options"

local OPTIONS = { user = check.text, timeout = check.seconds }

-- Bytes of a piece. Larger ones are not faster, and hold up the loop for longer.
local PIECE = 512 * 1024
-- Of tar's complaints so much is kept.
local MAX_STDERR = 64 * 1024

-- Loaded when first needed: few programs move directories, and libarchive takes its time to load.
local function archive() return require "stepbox.archive" end

--- What an end of tar that is no success means.
local function explain(what, result)
  local said = result.stderr:gsub("[^\n]*unknown extended header keyword[^\n]*\n", "")
  said = said:match "^%s*(.-)%s*$"
  local code = "system"
  if said:find("No space left", 1, true) or said:find("Disk quota exceeded", 1, true)
    or said:find("Wrote only", 1, true) then
    code = "no_space"
  elseif said:find("Permission denied", 1, true) or said:find("Read-only file system", 1, true) then
    code = "permission"
  elseif said:find("Not a directory", 1, true) then
    code = "not_directory"
  elseif result.exit_code == 127 then
    code = "unsupported"
  end
  if said == "" then said = result.how or ("tar exited with " .. tostring(result.exit_code)) end
  return nil, what .. ": " .. said, code
end

local function upload(box, directory, path, options)
  local pack, message, code = archive().pack(directory)
  if not pack then return nil, message, code end
  local failure, result
  result, message, code = box.commands:run({ "tar", "-x", "-p", "-f", "-", "--no-same-owner" }, {
    cwd = path,
    user = options.user,
    timeout = options.timeout or math.huge,
    envs = { LC_ALL = "C.UTF-8" },
    stdin = function()
      local bytes, why, kind = pack:read(PIECE)
      if not bytes then failure = { why, kind } end
      return bytes ~= "" and bytes or nil
    end,
  })
  pack:close()
  if failure then return nil, "upload_dir: " .. failure[1], failure[2] end
  if not result then return nil, message, code end
  if not result.ok then return explain("upload_dir", result) end
  return true
end

local function download(box, path, directory, options)
  local unpack, message, code = archive().unpack(directory)
  if not unpack then return nil, message, code end
  local failure, op, result
  op, message, code = box:start_command("tar", {
    args = { "-c", "-f", "-", "." },
    cwd = path,
    user = options.user,
    timeout = options.timeout or math.huge,
    envs = { LC_ALL = "C.UTF-8" },
    max_output = MAX_STDERR,
    events = true,
  })
  result, message, code = call.finish_with({
    on_stdout = function(bytes)
      if failure then return end
      local ok, why, kind = unpack:write(bytes)
      if not ok then
        failure = { why, kind }
        op:cancel()
      end
    end,
  }, op, message, code)
  if result and result.dropped and not failure then
    failure = { "the tar stream has more bytes than the sandbox's limit of output lets through: "
      .. "create the sandbox with a larger `output`, or bring the directory in parts", "too_large" }
  end
  if result and result.ok and not failure then
    local ok, why, kind = unpack:finish()
    if not ok then failure = { why, kind } end
  end
  unpack:close()
  if op then op:close() end
  if failure then return nil, "download_dir: " .. failure[1], failure[2] end
  if not result then return nil, message, code end
  if result.exit_code ~= 0 then return explain("download_dir", result) end
  return true
end

return { OPTIONS = OPTIONS, upload = upload, download = download }
