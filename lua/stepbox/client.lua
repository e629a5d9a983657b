--- Clients: an account or an engine, and the calls that make, find and kill sandboxes.

local core = require "stepbox.core"
local call = require "stepbox.call"
local check = require "stepbox.options"
local json = require "stepbox.json"
local network = require "stepbox.network"
local recording = require "stepbox.recording"
local task = require "stepbox.task"
require "stepbox.box"

---@class stepbox.ClientOptions
---@field api_key? string default E2B_API_KEY of the environment
---@field domain? string default E2B_DOMAIN, else E2B's own
---@field api_url? string default E2B_API_URL
---@field sandbox_url? string one address for all sandboxes; default E2B_SANDBOX_URL
---@field headers? table<string, string> added to each request
---@field proxy? string as curl takes it
---@field ca_file? string PEM file to trust instead of the system's
---@field socket? string unix socket of the local engine; default STEPBOX_SOCKET
---@field engine? string program that is started as the local engine; default STEPBOX_ENGINE
---@field request_timeout? number seconds for one exchange with the server, default 60

---@class stepbox.Client
---@field local_engine boolean whether this client uses the local engine
local Client = {}
Client.__index = Client

local CREATE_OPTIONS = {
  template = check.text,
  snapshot = check.text,
  timeout = check.seconds,
  envs = check.envs,
  metadata = check.map,
  setup = check.strings,
  name = check.text,
  allow_internet = check.boolean,
  network = network.check,
  egress_proxy = network.check_proxy,
  on_timeout = function(value)
    if value == "kill" or value == "pause" then return nil end
    return '"kill" or "pause" expected, got ' .. tostring(value)
  end,
  auto_resume = check.boolean,
  idempotency_key = check.text,
  memory = check.bytes,
  cpus = check.cpus,
  disk = check.bytes,
  processes = check.count,
  open_files = check.count,
  output = check.bytes,
  record = check.record,
  request_timeout = check.seconds,
  on_stdout = check.callable,
  on_stderr = check.callable,
}

local CONNECT_OPTIONS = {
  timeout = check.seconds,
  request_timeout = check.seconds,
  own = check.boolean,
  resume = check.boolean,
  record = check.record,
}

local LIST_OPTIONS = {
  metadata = check.map,
  state = function(value)
    if type(value) == "string" then return check.text(value) end
    local wrong = check.strings(value)
    if wrong then return wrong end
    -- No state at all would be no filter, and answered with everything.
    if value[1] == nil then return "at least one state expected" end
  end,
  limit = check.count,
}

local NO_OPTIONS = {}

--- `name` is metadata under that key: E2B has no names of its own.
local function with_name(metadata, name)
  if not name then return metadata end
  local copy = {}
  for key, value in pairs(metadata or {}) do copy[key] = value end
  copy.name = name
  return copy
end

--- Sees to it that a new box records what it shall.
local function recorded(record, box, ...)
  if box and record ~= nil then recording.set(box, record) end
  return box, ...
end

---@class stepbox.CreateOptions: stepbox.ClientOptions
---@field template? string default "code-interpreter-v1"
---@field snapshot? string id of a snapshot, whose files it begins with; not together with template
---@field timeout? number seconds the sandbox lives, default 300
---@field envs? table<string, string> variables for everything that runs in it
---@field metadata? table<string, string> to find it by
---@field setup? string[] shell commands, run in order in the foreground
---@field name? string kept as metadata `name`
---@field allow_internet? boolean whether it reaches the internet; on the local engine not unless it is said
---@field network? {allow_out?: string[], deny_out?: string[]} what it may reach: addresses, ranges and, with
---  "0.0.0.0/0" denied, names like "*.example.com" for HTTP and TLS. What is allowed wins; private addresses
---  are closed unless they are allowed
---@field egress_proxy? string|table "HOST:PORT" of a SOCKS5 proxy that all its connections go through, or
---  {address, username, password}
---@field on_timeout? "kill"|"pause" what happens when its life is over; default "kill"
---@field idempotency_key? string the same request under the same key makes no second sandbox: it gives that
---  one, also when it has ended meanwhile
---@field auto_resume? boolean a paused sandbox goes on when something connects to one of its ports
---@field memory? number bytes; files of the sandbox are in its memory. Limits are for the local engine
---@field cpus? number 0.5 is half of one
---@field disk? number bytes of files
---@field processes? integer processes and threads of the sandbox's user
---@field open_files? integer of each process
---@field output? number bytes that each step and each command may put out, rounded up to whole MiB; what
---  comes after is dropped
---@field record? boolean|integer what `box:notebook` writes later is kept unless this is false: 32 MiB for
---  each box or so many bytes, and 64 MiB for all boxes together, the oldest outputs going first
---@field on_stdout? fun(text: string, time: number) gets the setup's output as it comes
---@field on_stderr? fun(text: string, time: number)

--- Makes a sandbox and returns an owning box. When a setup command fails the sandbox is killed; the message
--- names the command, and the fourth value is `{command, exit_code, stdout, stderr}`.
---@param options? stepbox.CreateOptions
---@return stepbox.Box|nil box
---@return string? message
---@return string? code
---@return table? failed_command
function Client:create(options)
  options = check.options("create", options, CREATE_OPTIONS)
  if options.snapshot and options.template then
    error("bad options of 'create' (only one of 'snapshot' and 'template' can be given)", 2)
  end
  local events = (options.on_stdout or options.on_stderr) ~= nil
  local wire = {
    template = options.snapshot or options.template,
    timeout = options.timeout,
    envs = options.envs,
    metadata = with_name(options.metadata, options.name),
    setup = options.setup,
    allow_internet = options.allow_internet,
    auto_pause = options.on_timeout == "pause",
    auto_resume = options.auto_resume,
    idempotency_key = options.idempotency_key,
    memory = options.memory,
    cpus = options.cpus,
    disk = options.disk,
    processes = options.processes,
    open_files = options.open_files,
    output = options.output,
    request_timeout = options.request_timeout,
    events = events,
  }
  network.add(wire, options.network, options.egress_proxy)
  if events then return recorded(options.record, call.finish_with(options, self.core:start_create(wire))) end
  return recorded(options.record, call.finish(self.core:start_create(wire)))
end

---@class stepbox.ConnectOptions: stepbox.ClientOptions
---@field timeout? number seconds it shall live at least from now; without it its life is left alone, and one
---  that was paused lives 300 s
---@field own? boolean take ownership
---@field resume? boolean false: a paused one stays so; not together with timeout. The token that may guard
---  its ports is not known then
---@field record? boolean|integer as for `create`

--- A box for a sandbox that exists, by its id; a paused one goes on, unless `resume` is false. It does not
--- own the sandbox unless `own` is given.
---@param id string
---@param options? stepbox.ConnectOptions
---@return stepbox.Box|nil box
---@return string? message
---@return string? code "not_found" when there is none
function Client:connect(id, options)
  check.argument("connect", 1, check.string, id)
  options = check.options("connect", options, CONNECT_OPTIONS)
  if options.timeout and options.resume == false then
    error("bad options of 'connect' (a 'timeout' is for one that goes on: not with 'resume = false')", 2)
  end
  return recorded(options.record, call.finish(self.core:start_connect(id, options)))
end

--- Kills a sandbox by its id.
---@param id string
---@param options? table for symmetry with the module's function; none are known here
---@return true|nil
---@return string? message
---@return string? code "not_found" when there is none
function Client:kill(id, options)
  check.argument("kill", 1, check.string, id)
  check.options("kill", options, NO_OPTIONS)
  return call.finish(self.core:start_kill(id))
end

---@class stepbox.ListOptions: stepbox.ClientOptions
---@field metadata? table<string, string> only sandboxes that have all of these
---@field state? string|string[] "running", "paused"
---@field limit? integer how many the server sends at once, 1 to 100

--- Iterates over the sandboxes, page after page. The first page is fetched at once, so that a failure comes
--- back as nil, message, code; one on a later page raises.
---@param options? stepbox.ListOptions
---@return (fun(): stepbox.Info|nil)|nil iterator
---@return string? message
---@return string? code
function Client:list(options)
  options = check.options("list", options, LIST_OPTIONS)
  local wire = {
    metadata = options.metadata,
    states = type(options.state) == "string" and { options.state } or options.state,
    limit = options.limit,
  }
  local page, token, code = call.finish(self.core:start_list(wire))
  if not page then return nil, token, code end
  local index = 0
  return function()
    index = index + 1
    while not page[index] and token do
      wire.next_token = token
      page, token = call.finish(self.core:start_list(wire))
      if not page then error("stepbox: listing sandboxes: " .. token, 2) end
      index = 1
    end
    return page[index]
  end
end

--- The files of a sandbox as they once were.
---@class stepbox.Snapshot
---@field id string for `create { snapshot = id }`
---@field names string[]

---@class stepbox.SnapshotsOptions: stepbox.ClientOptions
---@field box? string id of a sandbox: only snapshots of that one

local SNAPSHOTS_OPTIONS = { box = check.text }

--- The snapshots, the newest first. The local engine keeps them as long as it runs.
---@param options? stepbox.SnapshotsOptions
---@return stepbox.Snapshot[]|nil
---@return string? message
---@return string? code
function Client:snapshots(options)
  options = check.options("snapshots", options, SNAPSHOTS_OPTIONS)
  local text, message, code = call.finish(self.core:start_snapshots(options.box))
  if not text then return nil, message, code end
  local list = {}
  for i, raw in ipairs(json.decode(text)) do list[i] = { id = raw.snapshotID, names = raw.names or {} } end
  return list
end

--- Deletes a snapshot. Sandboxes that were made of it stay.
---@param id string
---@param options? table for symmetry with the module's function; none are known here
---@return true|nil
---@return string? message
---@return string? code "not_found" when there is none
function Client:delete_snapshot(id, options)
  check.argument("delete_snapshot", 1, check.text, id)
  check.options("delete_snapshot", options, NO_OPTIONS)
  return call.finish(self.core:start_delete_snapshot(id))
end

--- Makes a client. Nothing is sent yet.
---@param options? stepbox.ClientOptions
---@return stepbox.Client|nil client
---@return string? message
---@return string? code
local function client(options)
  options = check.options("client", options, check.connection)
  local inner, message, code = core.client(task.loop(), options)
  if not inner then return nil, message, code end
  return setmetatable({ core = inner, local_engine = inner:is_local() }, Client)
end

return client
