--- The names of languages: what else they are called, and how their files end.

local languages = {}

local ALIASES = {
  [""] = "python", py = "python", python3 = "python",
  js = "javascript", ts = "typescript", sh = "bash",
}

local ENDINGS = {
  py = "python", js = "javascript", mjs = "javascript", cjs = "javascript", ts = "typescript", sh = "bash",
  bash = "bash", r = "r", java = "java", lua = "lua",
}

--- The name as contexts carry it. One that is not known stays as it is.
---@param name? string default python
---@return string
function languages.normalize(name)
  name = (name or ""):match("^%s*(.-)%s*$"):lower()
  return ALIASES[name] or name
end

--- The language of a file, by its name's ending, or nil.
---@param path string
---@return string|nil
function languages.of_file(path) return ENDINGS[(path:match "%.(%w+)$" or ""):lower()] end

return languages
