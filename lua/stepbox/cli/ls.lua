--- stepbox ls: lists the sandboxes.

local stepbox = require "stepbox"
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

local function take(arguments)
  local filter = next(arguments.metadata) and arguments.metadata or nil
  local infos = {}
  local found = status.check(stepbox.list { metadata = filter, state = arguments.state })
  for info in found do infos[#infos + 1] = info end
  table.sort(infos, function(a, b)
    if a.started_at ~= b.started_at then return a.started_at < b.started_at end
    return a.id < b.id
  end)
  return infos
end

local function pairs_of(metadata)
  local parts = {}
  for name, value in pairs(metadata) do parts[#parts + 1] = output.plain(name .. "=" .. value) end
  table.sort(parts)
  return table.concat(parts, " ")
end

local function print_table(infos)
  if not infos[1] then return output.err "no sandboxes\n" end
  local now, rows = os.time(), {}
  for i, info in ipairs(infos) do
    rows[i] = {
      info.id, info.state, output.plain(info.template), output.duration(now - info.started_at),
      info.state == "paused" and "-" or output.duration(info.end_at - now), pairs_of(info.metadata),
    }
  end
  output.table({ "ID", "STATE", "TEMPLATE", "AGE", "LEFT", "METADATA" }, rows)
end

--- One line each: id, state, template, Unix seconds of start and end, metadata as JSON, with tabs between.
local function print_lines(infos)
  for _, info in ipairs(infos) do
    output.line(table.concat({
      info.id, info.state, output.plain(info.template), ("%d"):format(math.floor(info.started_at)),
      ("%d"):format(math.floor(info.end_at)), json.encode(info.metadata),
    }, "\t"))
  end
end

return function(arguments)
  local infos = wait.call("asking for the sandboxes", function() return take(arguments) end)
  if arguments.json then return output.json(json.list(infos)) end
  if output.is_terminal() then print_table(infos) else print_lines(infos) end
end
