--- stepbox snapshots: lists the snapshots, or deletes some.

local stepbox = require "stepbox"
local json = require "stepbox.json_text"
local output = require "stepbox.cli.output"
local status = require "stepbox.cli.status"
local wait = require "stepbox.cli.wait"

--- One that is not there ends it, after those before it are gone.
local function delete(ids)
  for _, id in ipairs(ids) do status.check(stepbox.delete_snapshot(id)) end
  return ids
end

local function plain_names(snapshot)
  local names = {}
  for i, name in ipairs(snapshot.names) do names[i] = output.plain(name) end
  return table.concat(names, " ")
end

local function print_table(snapshots)
  if not snapshots[1] then return output.err "no snapshots\n" end
  local rows = {}
  for i, snapshot in ipairs(snapshots) do rows[i] = { output.plain(snapshot.id), plain_names(snapshot) } end
  output.table({ "ID", "NAMES" }, rows)
end

--- One line each: id and names, with a tab between them.
local function print_lines(snapshots)
  for _, snapshot in ipairs(snapshots) do
    output.line(output.plain(snapshot.id) .. "\t" .. plain_names(snapshot))
  end
end

local function show(snapshots, arguments)
  if arguments.json then
    for _, snapshot in ipairs(snapshots) do snapshot.names = json.list(snapshot.names) end
    return output.json(json.list(snapshots))
  end
  if output.is_terminal() then print_table(snapshots) else print_lines(snapshots) end
end

return function(arguments)
  if not arguments.delete[1] then
    return show(wait.call("asking for the snapshots", function()
      return status.check(stepbox.snapshots { box = arguments.box })
    end), arguments)
  end
  if arguments.box then arguments.fail "--box and --delete do not go together" end
  local deleted = wait.call("deleting", function() return delete(arguments.delete) end)
  if arguments.json then output.json { deleted = json.list(deleted) } end
end
