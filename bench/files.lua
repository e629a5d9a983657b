--- Files: uploads and downloads of every size, by our client and by the official SDKs, on one engine and in
--- one sandbox.

local engine = require "bench.engine"
local measure = require "bench.measure"

local NAME = "transferred" -- that of the SDKs too: each may read what another wrote
local PIECE = ("x"):rep(1000000)
local LARGE = 16e6 -- from here on in pieces, so that memory is not what is measured

local function pieces(bytes)
  return function()
    if bytes <= 0 then return nil end
    local piece = bytes < #PIECE and PIECE:sub(1, bytes) or PIECE
    bytes = bytes - #piece
    return piece
  end
end

local function upload(box, bytes)
  assert(box.files:write(NAME, bytes < LARGE and PIECE:sub(1, bytes) or pieces(bytes)))
end

local function download(box, bytes)
  local count = 0
  if bytes < LARGE then
    count = #assert(box.files:read(NAME))
  else
    assert(box.files:read(NAME, { on_data = function(piece) count = count + #piece end }))
  end
  if count ~= bytes then error(("%d bytes instead of %d"):format(count, bytes)) end
end

--- A gigabyte, or what fits in the home of the sandbox.
local function largest(box)
  local room = assert(box.commands:run "df --output=avail -B 1000000 . | tail -n 1").stdout
  return math.min(1000, tonumber(room) - 10) * 1000000
end

return function()
  local daemon <close> = engine.start()
  local contenders <close> = daemon:contenders()
  local owner = contenders[1].box
  local most = largest(owner)
  if most < 1e9 then
    measure.row("room in the sandbox's home", measure.size(most), "so that much instead of 1 GB")
  end
  for _, case in ipairs { { 1, 5, 300 }, { 1000000, 5, 50 }, { most, 3, 1 } } do
    local bytes, rounds, count = table.unpack(case)
    local function compare(what, ours, before)
      engine.compare(("%s %s"):format(what, measure.size(bytes)), contenders, {
        bytes = bytes,
        rounds = rounds,
        count = count,
        request = ("%s %d"):format(what, bytes),
        ours = function(box) ours(box, bytes) end,
        before = before,
      })
    end
    -- There is room for one of the largest.
    compare("upload", upload, bytes >= LARGE and function() owner.files:remove(NAME) end)
    compare("download", download)
  end
end
