--- A session as a Jupyter notebook (nbformat 4.5).

local base64 = require "stepbox.base64"
local json = require "stepbox.json"
local json_text = require "stepbox.json_text"
local languages = require "stepbox.languages"
local traceback = require "stepbox.traceback"

-- Texts beyond this are one string instead of a list of lines.
local MOST_LINES_OF = 256 * 1024

local MIME_TYPES = {
  text = "text/plain", html = "text/html", markdown = "text/markdown", svg = "image/svg+xml",
  png = "image/png", jpeg = "image/jpeg", pdf = "application/pdf", latex = "text/latex",
  javascript = "application/javascript", json = "application/json",
}
local BINARY = { png = true, jpeg = true, pdf = true }

-- What Jupyter calls the kernels, and what it wants to know of the languages.
local KERNELS = {
  python = { "python3", "Python 3", "text/x-python", ".py", "ipython3" },
  javascript = { "javascript", "JavaScript (Node.js)", "application/javascript", ".js", "javascript" },
  typescript = { "typescript", "TypeScript", "text/typescript", ".ts", "typescript" },
  bash = { "bash", "Bash", "text/x-sh", ".sh", "bash" },
  r = { "ir", "R", "text/x-r-source", ".r", "r" },
  java = { "java", "Java", "text/x-java-source", ".jshell", "java" },
  lua = { "lua", "Lua", "text/x-lua", ".lua", "lua" },
}

--- A text as Jupyter writes it: its lines, which keep their ends.
local function lines(text)
  if #text > MOST_LINES_OF then return text end
  local list, at = json_text.list(), 1
  while at <= #text do
    local last = text:find("\n", at, true) or #text
    list[#list + 1] = text:sub(at, last)
    at = last + 1
  end
  return list
end

local function add_extra(bundle, text)
  local ok, extra = pcall(json.decode, text)
  if not ok or type(extra) ~= "table" then return end
  for mime, value in pairs(extra) do
    if type(mime) == "string" and not bundle[mime] then
      -- What is no text may stand under a type of JSON's alone.
      local is_json = mime == MIME_TYPES.json or mime:find "^application/[^\n]*%+json$"
      bundle[mime] = (type(value) == "string" or is_json) and value or json_text.encode(value)
    end
  end
end

--- What stands under each type. Of the formats that have none, E2B's among them, the vendor's is made.
local function bundle_of(output)
  local bundle = {}
  for name, text in pairs(output.formats) do
    local mime = MIME_TYPES[name]
    if mime then bundle[mime] = BINARY[name] and base64.encode(text) or lines(text) end
  end
  for name, text in pairs(output.encoded or {}) do
    if name ~= "extra" then
      local mime = "application/vnd.e2b." .. name:gsub("[^%w_.-]", "_") .. "+json"
      if name == "json" then mime = MIME_TYPES.json end
      bundle[mime] = json_text.raw(text)
    end
  end
  if output.encoded and output.encoded.extra then add_extra(bundle, output.encoded.extra) end
  return bundle
end

local function stream(name, text) return { output_type = "stream", name = name, text = lines(text) } end

local function mark(text) return stream("stderr", "[stepbox: " .. text .. "]\n") end

local function error_output(raised)
  local list = json_text.list()
  for line in (traceback.of(raised):gsub("\n$", "") .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return { output_type = "error", ename = raised.name, evalue = raised.value, traceback = list }
end

local function output_of(output, count)
  if output.stream then return stream(output.stream, output.text) end
  if output.error then return error_output(output.error) end
  local made = { output_type = "display_data", data = bundle_of(output), metadata = {} }
  if output.is_main then made.output_type, made.execution_count = "execute_result", count end
  return made
end

local function outputs_of(step, count)
  local outputs = json_text.list()
  if step.is_dropped then outputs[1] = mark "what this step gave is not kept: the recording is full" end
  for i, output in ipairs(step.outputs or {}) do outputs[i] = output_of(output, count) end
  if step.is_truncated then outputs[#outputs + 1] = mark "output beyond what may be kept was dropped" end
  return outputs
end

--- What is to be known of a cell that its notebook does not tell.
local function metadata_of(step, language, default)
  local is_running = not step.outputs and not step.is_dropped
  local own = {
    language = language ~= default and language or nil,
    context = step.context,
    failure = step.failure,
    running = is_running or nil,
    truncated = step.is_truncated or nil,
  }
  return {
    stepbox = next(own) and own,
    vscode = own.language and { languageId = own.language == "bash" and "shellscript" or own.language },
  }
end

--- The language of a step; one that was run by a context's id alone does not tell.
local function language_of(step)
  if step.language or not step.context then return languages.normalize(step.language) end
end

--- The one language that all steps are in, else Python.
local function language_of_all(session)
  local found
  for i = session.first, session.last do
    local language = language_of(session.steps[i])
    if found and language and language ~= found then return "python" end
    found = found or language
  end
  return found or "python"
end

local function code_cell(step, number, default)
  local count = step.count or json_text.null
  return {
    cell_type = "code",
    id = "step-" .. number,
    metadata = metadata_of(step, language_of(step), default),
    source = lines(step.code),
    outputs = outputs_of(step, count),
    execution_count = count,
  }
end

local function forgotten_cell(number)
  return {
    cell_type = "markdown",
    id = "forgotten",
    metadata = {},
    source = lines(("*%d earlier %s not kept: the recording is full.*"):format(number,
      number == 1 and "step is" or "steps are")),
  }
end

local function notebook_metadata(language)
  local kernel = KERNELS[language]
    or { language:match "^jupyter:(.+)$" or language, language, "text/plain", ".txt", language }
  return {
    kernelspec = { name = kernel[1], display_name = kernel[2], language = language },
    language_info = {
      name = language, mimetype = kernel[3], file_extension = kernel[4], pygments_lexer = kernel[5],
    },
  }
end

local notebook = {}

--- The session as the text of a notebook, and how many cells it has.
---@param session stepbox.Session
---@return string text
---@return integer cells
function notebook.encode(session)
  local cells, default = {}, language_of_all(session)
  if session.forgotten > 0 then cells[1] = json_text.encode(forgotten_cell(session.forgotten)) end
  for i = session.first, session.last do
    cells[#cells + 1] = json_text.encode(code_cell(session.steps[i], i, default))
  end
  return ('{"cells":[\n%s\n],\n"metadata":%s,"nbformat":4,"nbformat_minor":5}\n'):format(
    table.concat(cells, ",\n"), json_text.encode(notebook_metadata(default))), #cells
end

return notebook
