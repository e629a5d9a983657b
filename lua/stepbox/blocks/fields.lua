--- The inputs of the blocks: for each its rule, its JSON Schema, and whether the host alone may set it.

local base64 = require "stepbox.base64"
local check = require "stepbox.options"
local credentials = require "stepbox.blocks.credentials"

local LONGEST_LIFE = 86400 -- seconds
local DEFAULT_OUTPUT, MOST_OUTPUT = 4 * 1024 * 1024, 32 * 1024 * 1024
local MOST_OUTPUTS = 100

--- The languages by the names of AutoGPT's ProgrammingLanguage.
local ProgrammingLanguage = { PYTHON = "python", JAVASCRIPT = "js", BASH = "bash", R = "r", JAVA = "java" }
local LANGUAGES = { "python", "js", "bash", "r", "java" }

local function seconds(value)
  local wrong = check.seconds(value)
  if wrong then return wrong end
  if value > LONGEST_LIFE then
    return "at most " .. LONGEST_LIFE .. " seconds expected, got " .. tostring(value)
  end
end

local function language(value)
  for _, known in ipairs(LANGUAGES) do
    if value == known then return nil end
  end
  return "one of " .. table.concat(LANGUAGES, ", ") .. " expected, got "
    .. (type(value) == "string" and '"' .. value .. '"' or type(value))
end

--- A list of strings that are not empty and have no NUL byte.
local function words(value)
  local wrong = check.strings(value)
  if wrong then return wrong end
  for i, word in ipairs(value) do
    if word == "" then return "entry " .. i .. " is empty" end
    if word:find "%z" then return "entry " .. i .. " has a NUL byte" end
  end
end

local function outputs(value)
  local wrong = words(value)
  if wrong then return wrong end
  if #value > MOST_OUTPUTS then return "at most " .. MOST_OUTPUTS .. " entries expected, got " .. #value end
end

local function file_content(value)
  if type(value) == "string" then return nil end
  if type(value) ~= "table" then return "string expected, got " .. type(value) end
  if type(value.content) ~= "string" then
    return "field 'content': string expected, got " .. type(value.content)
  end
  for name in pairs(value) do
    if name ~= "content" and name ~= "encoding" then return "unknown field '" .. tostring(name) .. "'" end
  end
  if value.encoding == "base64" then
    if not base64.decode(value.content) then return "field 'content' is no base64" end
  elseif value.encoding ~= nil and value.encoding ~= "utf-8" then
    return "field 'encoding': utf-8 or base64 expected, got " .. tostring(value.encoding)
  end
end

local function files(value)
  if type(value) ~= "table" then return "table of path to bytes expected, got " .. type(value) end
  for path, content in pairs(value) do
    if type(path) ~= "string" then return "paths must be strings, got a " .. type(path) end
    if path == "" or path:find "%z" then return "a path is empty or has a NUL byte" end
    local wrong = file_content(content)
    if wrong then return "'" .. path .. "': " .. wrong end
  end
end

--- The files as box.files takes them, in the order of their paths.
local function file_list(value)
  local list = {}
  for path, content in pairs(value) do
    local data = content
    if type(content) == "table" then
      data = content.encoding == "base64" and base64.decode(content.content) or content.content
    end
    list[#list + 1] = { path = path, data = data }
  end
  table.sort(list, function(a, b) return a.path < b.path end)
  return list
end

local function max_output(value)
  local wrong = check.count(value)
  if wrong then return wrong end
  if value > MOST_OUTPUT then return "at most " .. MOST_OUTPUT .. " expected, got " .. tostring(value) end
end

local function code(description)
  return {
    rule = check.string,
    default = "",
    schema = { type = "string", default = "", description = description },
  }
end

local function flag(default, description)
  return {
    rule = check.boolean,
    default = default,
    schema = { type = "boolean", default = default, description = description },
  }
end

local function duration(default, description)
  return {
    rule = seconds,
    default = default,
    schema = {
      type = "number",
      exclusiveMinimum = 0,
      maximum = LONGEST_LIFE,
      default = default,
      description = description,
    },
  }
end

local function word_list(rule, description, most)
  return {
    rule = rule,
    schema = {
      type = "array", items = { type = "string", minLength = 1 }, maxItems = most, description = description,
    },
  }
end

local function string_map(rule, description, pattern)
  return {
    rule = rule,
    schema = {
      type = "object",
      propertyNames = pattern and { pattern = pattern } or { minLength = 1 },
      additionalProperties = { type = "string" },
      description = description,
    },
  }
end

local function for_host(field)
  field.host = true
  return field
end

local envs = string_map(check.envs, "Environment variables for the commands and the code.",
  "^[A-Za-z_][A-Za-z0-9_]*$")

local fields = {
  credentials = {
    rule = credentials.wrong,
    model_rule = credentials.wrong_from_model,
    host = true,
    schema = credentials.schema,
  },
  setup_commands = word_list(words, "Shell commands that set the sandbox up, run in order before the code. "
    .. "One that exits with another code than 0 ends the run."),
  code = code "The code to run.",
  setup_code = code "Code to run once, for its variables, imports and files.",
  step_code = code "The code of this step; variables, imports and files of earlier steps are there.",
  language = {
    rule = language,
    default = "python",
    schema = { enum = LANGUAGES, default = "python", description = "The code's language." },
  },
  timeout = duration(300, "Seconds that the sandbox lives, its set-up included."),
  extend = duration(nil, "Seconds that the sandbox shall live at least from now; without it its life is left "
    .. "alone."),
  template_id = {
    rule = check.string,
    schema = { type = "string", description = "The sandbox's template." },
  },
  sandbox_id = {
    rule = function(value)
      if type(value) ~= "string" then return "string expected, got " .. type(value) end
      if value == "" or value:find "%z" then return "the id of a sandbox expected" end
    end,
    required = true,
    schema = { type = "string", minLength = 1, description = "The id that InstantiationBlock gave." },
  },
  step_timeout = duration(nil, "Seconds that the code may take, then it is interrupted; its sandbox and its "
    .. "variables stay. Default: as long as a new sandbox lives, 300 in a sandbox that exists."),
  envs = envs,
  metadata = for_host(string_map(check.map, "Words to find the sandbox by.")),
  allow_internet = for_host(flag(false, "Whether the code may reach the internet.")),
  files = {
    rule = files,
    convert = file_list,
    schema = {
      type = "object",
      propertyNames = { minLength = 1 },
      additionalProperties = {
        anyOf = {
          { type = "string" },
          {
            type = "object",
            properties = { content = { type = "string" }, encoding = { enum = { "utf-8", "base64" } } },
            required = { "content" },
            additionalProperties = false,
          },
        },
      },
      description = "Files written before anything runs: content by path, relative to the home directory. "
        .. "Content is text, or an object with base64.",
    },
  },
  outputs = word_list(outputs, "Paths of files whose content is wanted afterwards, relative to the home "
    .. "directory; * ? [ ] and ** are patterns.", MOST_OUTPUTS),
  dispose_own = flag(true, "Whether the sandbox is killed afterwards; if not, its id is among the outputs "
    .. "and it lives until its timeout."),
  dispose_given = flag(false, "Whether the sandbox is killed afterwards, also when the code fails."),
  keep_on_error = for_host(flag(false, "Whether a sandbox whose set-up or code failed is kept, with its id "
    .. "among the outputs.")),
  max_output = for_host {
    rule = max_output,
    default = DEFAULT_OUTPUT,
    schema = {
      type = "integer", minimum = 1, maximum = MOST_OUTPUT, default = DEFAULT_OUTPUT,
      description = "Bytes kept of stdout, of stderr, and of all results together; the rest is dropped, and "
        .. "stderr_logs says so.",
    },
  },
}

return { fields = fields, ProgrammingLanguage = ProgrammingLanguage }
