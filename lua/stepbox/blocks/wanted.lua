--- The files that `outputs` asks for: paths and patterns are resolved in the sandbox, and what they name is
--- read.

local utf8_text = require "stepbox.utf8_text"

local MOST_FILES = 100
local MOST_BYTES = 64 * 1024 * 1024 -- of all files of a run together
local SECONDS = 60 -- to resolve patterns

-- The patterns come on standard input, each ended by a NUL byte, so that they may have any bytes and are
-- never source text. For each file found: its kind, its path.
local RESOLVE = [=[
shopt -s nullglob globstar
export LC_ALL=C.UTF-8
most=$1 count=0
found() {
  printf '%s\0%s\0' "$1" "$2"
  count=$((count + 1))
  [ "$count" -le "$most" ] || exit 0
}
look() {
  if [ -f "$1" ]; then found file "$1"
  elif [ -d "$1" ]; then found directory "$1"
  elif [ -e "$1" ]; then found other "$1"
  else found missing "$1"; fi
}
while IFS= read -r -d '' pattern; do
  case $pattern in '~/'*) pattern=${pattern#'~/'} ;; esac
  if [ -e "$pattern" ]; then look "$pattern"; continue; fi
  IFS=
  matches=($pattern)
  if [ "${#matches[@]}" = 1 ] && [ "${matches[0]}" = "$pattern" ]; then look "$pattern"; continue; fi
  for match in "${matches[@]}"; do
    if [ -f "$match" ]; then found file "$match"; fi
  done
done
]=]

local WHY = {
  directory = "it is a directory: name the files in it, as in '%s/*'",
  other = "it is no regular file",
  missing = "it is not there: the code has not written it",
}

local function shown(path) return "'" .. utf8_text.head(utf8_text.clean(path), 200) .. "'" end

--- The paths, or nil and why not.
local function resolve(box, patterns)
  local result, message = box.commands:run({ "bash", "-c", RESOLVE, "bash", tostring(MOST_FILES) }, {
    stdin = table.concat(patterns, "\0") .. "\0",
    timeout = SECONDS,
    max_output = (MOST_FILES + 1) * 8192,
  })
  if not result then return nil, "they could not be looked up: " .. message end
  if not result.ok then
    return nil, "they could not be looked up: " .. utf8_text.tail(utf8_text.clean(result.stderr), 500)
  end
  local paths, seen, problems = {}, {}, {}
  for kind, path in result.stdout:gmatch "(%Z+)%z(%Z+)%z" do
    if not seen[path] then
      seen[path] = true
      if kind == "file" then
        paths[#paths + 1] = path
      else
        problems[#problems + 1] = { kind = kind, path = path }
      end
    end
  end
  return paths, problems
end

--- What stands for the home directory in a path is not meant for a name that begins so.
local function as_path(name) return name:sub(1, 1) == "~" and "./" .. name or name end

--- Reads the files.
---@param box stepbox.Box
---@param patterns string[]
---@param may_be_missing boolean whether the code failed, so that a file which is not there is no wonder
---@return table[] files {path, bytes}
---@return string|nil problem what is wrong with the others
local function read(box, patterns, may_be_missing)
  local paths, problems = resolve(box, patterns)
  if not paths then return {}, "outputs: " .. problems end
  local files, room, words = {}, MOST_BYTES, {}
  for _, problem in ipairs(problems) do
    if problem.kind ~= "missing" or not may_be_missing then
      local why = WHY[problem.kind] or "it cannot be read"
      if problem.kind == "directory" then
        why = why:format((utf8_text.clean(problem.path):gsub("/+$", "")))
      end
      words[#words + 1] = shown(problem.path) .. ": " .. why
    end
  end
  for i, path in ipairs(paths) do
    if i > MOST_FILES then
      words[#words + 1] = "there are more than " .. MOST_FILES .. " files: " .. shown(path)
        .. " and what follows was left out; pack them into one file, or name fewer"
      break
    end
    local content, message, code = box.files:read(as_path(path), { max_bytes = room > 0 and room or 1 })
    if content and #content <= room then
      files[#files + 1] = { path = path, bytes = content }
      room = room - #content
    elseif content or code == "too_large" then
      words[#words + 1] = shown(path) .. ": all files together are larger than " .. MOST_BYTES
        .. " bytes; read it in parts with box.files, or make it smaller"
    else
      words[#words + 1] = shown(path) .. ": " .. message
    end
  end
  return files, words[1] and "outputs: " .. table.concat(words, "; ") or nil
end

return { MOST_FILES = MOST_FILES, MOST_BYTES = MOST_BYTES, read = read }
