-- An agent: a language model that runs code in sandboxes, at any endpoint that speaks OpenAI's protocol.
--   OPENAI_API_KEY=... make run FILE='examples/agent.lua "How many primes are below 10000?"'
-- OPENAI_BASE_URL and OPENAI_MODEL choose the endpoint and the model.
local blocks = require "stepbox.blocks"
local cjson = require "cjson"
local stepbox = require "stepbox"

local base = os.getenv "OPENAI_BASE_URL" or "https://api.openai.com/v1"
local model = os.getenv "OPENAI_MODEL" or "gpt-4.1-mini"
local key = assert(os.getenv "OPENAI_API_KEY", "set OPENAI_API_KEY")

-- Inputs of the blocks that are not the model's to choose. The mark finds what it leaves behind.
local mark = ("%d-%d"):format(os.time(), math.random(1 << 30))
local host = { timeout = 600, step_timeout = 60, max_output = 65536, metadata = { agent = mark } }
local function clean_up()
  for info in assert(stepbox.list { metadata = { agent = mark } }) do stepbox.kill(info.id) end
end
local _ <close> = setmetatable({}, { __close = clean_up })

local function with_file(content)
  local path = os.tmpname() -- for this user's eyes alone
  local file = assert(io.open(path, "w"))
  file:write(content)
  file:close()
  return path
end

-- The key goes to curl in a file: arguments can be read by everybody on the machine.
local function ask(messages)
  local body = with_file(cjson.encode { model = model, messages = messages, tools = blocks.tools "openai" })
  local config = with_file(('url = "%s/chat/completions"\nheader = "Authorization: Bearer %s"\n'
    .. 'header = "Content-Type: application/json"\ndata-binary = "@%s"\nmax-time = 300\nretry = 3\n')
    :format(base, key:gsub('[%c"\\]', ""), body))
  local pipe = assert(io.popen("curl -sS --fail-with-body --config " .. config, "r"))
  local text = pipe:read "a"
  local ok = pipe:close()
  os.remove(body)
  os.remove(config)
  if not ok then error("the endpoint: " .. text, 0) end
  return cjson.decode(text).choices[1].message
end

local messages = {
  { role = "system", content = "Answer by running code. Keep what you need in one sandbox and go on in it." },
  { role = "user", content = assert(arg[1], "usage: agent.lua QUESTION") },
}
for _ = 1, 20 do
  local message = ask(messages)
  local calls = type(message.tool_calls) == "table" and message.tool_calls[1] and message.tool_calls or nil
  messages[#messages + 1] = { role = "assistant", content = message.content, tool_calls = calls }
  if not calls then return print(message.content) end
  for _, call in ipairs(calls) do
    local result = blocks.call(call["function"].name, call["function"].arguments, host)
    print(("%s %s\n  -> %s"):format(call["function"].name, call["function"].arguments, result:sub(1, 300)))
    messages[#messages + 1] = { role = "tool", tool_call_id = call.id, content = result }
  end
end
error("no answer after 20 turns", 0)
