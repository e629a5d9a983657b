--- The blocks in JSON Schema. No table in it is empty: to one JSON library those are lists, to another
--- objects.

local DIALECT = "https://json-schema.org/draft/2020-12/schema"

local function copy(value)
  if type(value) ~= "table" then return value end
  local out = {}
  for key, inner in pairs(value) do out[key] = copy(inner) end
  return out
end

local function text(description) return { type = "string", description = description } end

local function base64(what)
  return { type = "string", contentEncoding = "base64", description = what .. ", in base64." }
end

local function formats()
  return {
    text = text "Plain text.",
    html = text "HTML.",
    markdown = text "Markdown.",
    svg = text "An SVG image.",
    png = base64 "A PNG image",
    jpeg = base64 "A JPEG image",
    pdf = base64 "A PDF document",
    latex = text "LaTeX.",
    json = { description = "A JSON value." },
    javascript = text "JavaScript.",
    data = { type = "object", description = "The columns of a data frame." },
    chart = { type = "object", description = "A description of a chart." },
    extra = { type = "object", description = "Other formats, by MIME type." },
  }
end

local function outputs()
  local one = formats()
  one.is_main_result = { type = "boolean", description = "Whether it is the value of the last expression." }
  return {
    sandbox_id = text "The sandbox's id, when it lives on.",
    results = {
      type = "array",
      minItems = 1,
      items = {
        type = "object", properties = one, required = { "is_main_result" }, additionalProperties = false,
      },
      description = "What the code showed, in order.",
    },
    main_result = {
      type = "object", properties = formats(), additionalProperties = false,
      description = "The value of the last expression.",
    },
    response = text "The main result's text, or what was printed when there is none.",
    stdout_logs = text "What the code wrote to standard output.",
    stderr_logs = text "What the code wrote to standard error.",
    files = {
      type = "array",
      minItems = 1,
      items = {
        type = "object",
        properties = {
          path = text "The file's path.",
          content = text "Its content.",
          encoding = { enum = { "utf-8", "base64" }, description = "How content holds the file's bytes." },
        },
        required = { "path", "content", "encoding" },
        additionalProperties = false,
      },
      description = "The files that outputs asked for.",
    },
    error = text "What went wrong, what became of the sandbox, and what to do next.",
  }
end

--- The inputs, all or only those that a model may set.
local function inputs_of(block, for_model)
  local properties, required = {}, {}
  for name, field in pairs(block.inputs) do
    if not (for_model and field.host) then
      properties[name] = copy(field.schema)
      if field.required then required[#required + 1] = name end
    end
  end
  table.sort(required)
  return {
    type = "object",
    properties = properties,
    required = required[1] and required or nil,
    additionalProperties = false,
  }
end

local function outputs_of()
  return { type = "object", properties = outputs(), additionalProperties = false }
end

local function of_block(block)
  local input, output = inputs_of(block, false), outputs_of()
  input["$schema"], output["$schema"] = DIALECT, DIALECT
  input.title, output.title = block.name .. " input", block.name .. " output"
  return { input = input, output = output }
end

return { of_block = of_block, inputs_of = inputs_of, outputs_of = outputs_of }
