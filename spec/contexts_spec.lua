local installed = require "spec.support.languages"
local stepbox = require "stepbox"
local sandbox = require "spec.support.sandbox"
local task = require "stepbox.task"

describe("a context", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300, envs = { FROM_CREATE = "create" } }) end)
  teardown(function() assert(box:kill()) end)

  local function text(context, code, options) return assert(context:step(code, options)).text end

  it("keeps its variables from step to step, and from other contexts", function()
    local one, two = assert(box:context()), assert(box:context())
    assert(one:step "x = 'one'")
    assert.equal("one", text(one, "x"))
    assert.equal("NameError", assert(two:step "x").error.name)
    assert.equal("NameError", assert(box:step "x").error.name)
    assert.equal("one", assert(box:step("x", { context = one.id })).text)
  end)

  it("shares files with the others", function()
    local one, two = assert(box:context()), assert(box:context())
    assert(one:step "open('/home/user/shared', 'w').write('from one')")
    assert.equal("from one", text(two, "open('/home/user/shared').read()"))
    assert.equal("from one", assert(box.files:read "/home/user/shared"))
  end)

  it("begins in its directory, and is there again after a restart", function()
    local context = assert(box:context { cwd = "/tmp" })
    assert.equal("/tmp", context.cwd)
    assert.equal("/tmp", text(context, "import os; os.getcwd()"))
    assert(context:step "os.chdir('/')\nx = 1")
    assert.is_true(context:restart())
    assert.equal("/tmp", text(context, "import os; os.getcwd()"))
    assert.equal("NameError", assert(context:step "x").error.name)
  end)

  it("begins in the home directory where its own is not there, and a relative one is in that", function()
    assert(box.files:make_dir "/home/user/below")
    local context = assert(box:context { cwd = "below" })
    assert.equal("/home/user/below", context.cwd)
    assert.equal("/home/user/below", text(context, "import os; os.getcwd()"))
    assert.equal("/home/user", text(assert(box:context { cwd = "/no/such" }), "import os; os.getcwd()"))
    local none, message, code = box:context { cwd = ("x"):rep(5000) }
    assert.same({ nil, "context: HTTP 400: cwd: the path is too long", "invalid" }, { none, message, code })
  end)

  it("says what it is", function()
    local context = assert(box:context { language = " PY " })
    assert.equal("python", context.language)
    assert.equal("/home/user", context.cwd)
    assert.equal("stepbox.Context " .. context.id .. " (python)", tostring(context))
  end)

  it("takes the options of a step but language and context", function()
    local context, seen = assert(box:context()), {}
    local execution = assert(context:step("import os\nprint(os.environ['A'])\n1 / 0", {
      envs = { A = "it's \"a\"\n$(b) \\" },
      on_stdout = function(piece) seen[#seen + 1] = piece end,
      on_error = function(raised) seen[#seen + 1] = raised.name end,
    }))
    assert.same({ "it's \"a\"\n$(b) \\\n", "ZeroDivisionError" }, seen)
    assert.equal("ZeroDivisionError", execution.error.name)
    assert.equal("False", text(context, "'A' in os.environ"))
    for _, wrong in ipairs { "language", "context" } do
      assert.error_matches(function() context:step("1", { [wrong] = "x" }) end, "unknown option '" .. wrong)
    end
    assert.error_matches(function() context:step(5) end, "bad argument #1 to 'step'")
  end)

  it("has variables of its own, a step's before them, and after a restart too", function()
    local value = "it's \"a\"\n$(b) \\ \u{20ac}"
    local context = assert(box:context { envs = { OWN = value, BOTH = "context" } })
    local code = "import os\nfor name in 'OWN', 'BOTH', 'FROM_CREATE': print(os.environ[name])"
    assert.equal(value .. "\ncontext\ncreate\n", assert(context:step(code)).stdout)
    assert.equal("step", text(context, "os.environ['BOTH']", { envs = { BOTH = "step" } }))
    assert.equal("context", text(context, "os.environ['BOTH']"))
    assert.is_true(context:restart())
    assert.equal("context", text(context, "import os; os.environ['BOTH']"))
    assert.equal("False", assert(box:step "import os; 'OWN' in os.environ").text)
    assert.is_nil(context.envs)
  end)

  it("has a deadline for each step, after which its state is intact and the next step runs", function()
    local context = assert(box:context())
    assert(context:step "kept = 1")
    local endless = "print('p', flush=True)\nwhile True: pass"
    local execution, _, code, partial = context:step(endless, { timeout = 0.3 })
    assert.is_nil(execution)
    assert.equal("timeout", code)
    assert.equal("p\n", partial.stdout)
    assert.equal("1", text(context, "kept"))
  end)

  it("is interrupted alone, and keeps its state", function()
    local one, two = assert(box:context()), assert(box:context())
    assert(one:step "kept = 7")
    assert.is_false(one:interrupt())
    stepbox.run(function()
      local begun = 0
      local function on_stdout() begun = begun + 1 end
      local code = "import time\nprint('go', flush=True)\nfor i in range(40): time.sleep(0.05)\n'whole'"
      local first = stepbox.spawn(function() return assert(one:step(code, { on_stdout = on_stdout })) end)
      local second = stepbox.spawn(function() return assert(two:step(code, { on_stdout = on_stdout })) end)
      while begun < 2 do stepbox.sleep(0.02) end
      assert.is_true(one:interrupt())
      assert.equal("KeyboardInterrupt", first:wait().error.name)
      assert.equal("whole", second:wait().text)
    end)
    assert.equal("7", text(one, "kept"))
  end)

  it("that is restarted ends the step that runs in it", function()
    local context = assert(box:context())
    stepbox.run(function()
      local begun
      local running = stepbox.spawn(function()
        return context:step("print('go', flush=True)\nimport time; time.sleep(30)",
          { on_stdout = function() begun = true end })
      end)
      while not begun do stepbox.sleep(0.02) end
      assert.is_true(context:restart())
      local execution, _, code = running:wait()
      assert(code or execution.error, "the step ended as if nothing had happened")
    end)
    assert.equal("2", text(context, "1 + 1"))
  end)

  it("that was removed is not found, and the others go on", function()
    local context, other = assert(box:context()), assert(box:context())
    assert(other:step "x = 3")
    assert.is_true(context:remove())
    for _, call in ipairs { "remove", "restart", "interrupt" } do
      local value, message, code = context[call](context)
      assert.is_nil(value)
      assert.equal("not_found", code)
      assert.matches(context.id, message, 1, true)
    end
    assert.equal("not_found", (select(3, context:step "1")))
    assert.equal("3", text(other, "x"))
  end)

  it("that nobody ever made is not found", function()
    local context = setmetatable({ box = box, id = "../../health" }, getmetatable((assert(box:context()))))
    assert.equal("not_found", (select(3, context:restart())))
    assert.equal("not_found", (select(3, context:remove())))
    for _, id in ipairs { "a/b", "x/restart", context.id .. "/", "/" } do
      context.id = id
      for _, call in ipairs { "restart", "remove", "interrupt" } do
        assert.equal("not_found", (select(3, context[call](context))), id)
      end
      assert.equal("not_found", (select(3, box:interrupt(id))))
    end
    context.id = "a\0b"
    assert.equal("invalid", (select(3, context:remove())))
  end)

  it("in a language that is not there is unsupported, and the server says why", function()
    local context, message, code = box:context { language = "cobol" }
    assert.is_nil(context)
    assert.equal("unsupported", code)
    assert.matches("cobol", message, 1, true)
  end)

  it("has options that are checked", function()
    for options, wanted in pairs {
      [{ lang = "python" }] = "unknown option 'lang' of 'context'",
      [{ language = 5 }] = "bad option 'language' of 'context'",
      [{ cwd = "a\0b" }] = "bad option 'cwd'",
      [{ envs = { ["1A"] = "b" } }] = "bad option 'envs'",
      [{ envs = { A = "\0" } }] = "bad option 'envs'",
    } do
      assert.error_matches(function() box:context(options) end, wanted)
    end
    assert.equal("invalid", (select(3, box:context { language = "\255" })))
  end)

  it("is listed by every process, in the order of making", function()
    local own = assert(stepbox.create { timeout = 60 })
    finally(function() own:kill() end)
    assert.same({}, assert(own:contexts()))
    local one, two = assert(own:context { cwd = "/tmp" }), assert(own:context())
    local listed = assert(assert(stepbox.connect(own.id)):contexts())
    assert.equal(2, #listed)
    assert.same({ one.id, "python", "/tmp" }, { listed[1].id, listed[1].language, listed[1].cwd })
    assert.equal(two.id, listed[2].id)
    assert(one:step "x = 'by id'")
    assert.equal("by id", listed[1]:step("x").text)
    assert(own:step "1")
    assert.equal(3, #assert(own:contexts())) -- the default one is there once it was used
  end)

  it("of a closed box is closed", function()
    local own = assert(stepbox.create { timeout = 60 })
    local context = assert(own:context())
    assert(own:kill())
    for _, call in ipairs { "contexts", "context", "languages" } do
      assert.equal("closed", (select(3, own[call](own))))
    end
    assert.equal("closed", (select(3, context:step "1")))
    assert.equal("closed", (select(3, context:remove())))
  end)

  it("is one of twenty in parallel that share nothing but files", function()
    local contexts = {}
    stepbox.run(function()
      local tasks = {}
      for i = 1, 20 do
        tasks[i] = stepbox.spawn(function() contexts[i] = assert(box:context()) end)
      end
      for _, one in ipairs(tasks) do one:wait() end
      for i, context in ipairs(contexts) do
        tasks[i] = stepbox.spawn(function()
          local code = ("import os, time\nmine = %d\nos.environ['MINE'] = '%d'\nos.makedirs('/tmp/d%d')\n"
            .. "os.chdir('/tmp/d%d')\nprint(mine)\ntime.sleep(0.1)"):format(i, i, i, i)
          assert.equal(i .. "\n", assert(context:step(code, { envs = { STEP = tostring(i) } })).stdout)
          local state = text(context, "'%d %s %s %s' % (mine, os.environ['MINE'], os.getcwd(), "
            .. "'STEP' in os.environ)")
          assert.equal(("%d %d /tmp/d%d False"):format(i, i, i), state)
        end)
      end
      for _, one in ipairs(tasks) do one:wait() end
    end)
    local ids = {}
    for _, context in ipairs(contexts) do ids[context.id] = true end
    local count = 0
    for _ in pairs(ids) do count = count + 1 end
    assert.equal(20, count)
    local all_made = "all(os.path.isdir('/tmp/d%d' % i) for i in range(1, 21))"
    assert.equal("True", text(contexts[7], all_made))
    assert.equal("False", assert(box:step "'mine' in globals()").text)
    for _, context in ipairs(contexts) do assert(context:remove()) end
  end)

  it("does not keep its sandbox from being killed by the collector when both are gone", function()
    local id
    do
      local own = assert(stepbox.create { timeout = 60 })
      id = own.id
      assert(assert(own:context()):step "1")
    end
    collectgarbage()
    collectgarbage()
    sandbox.assert_gone(id)
  end)
end)

-- In each language: what prints the directory, and then a variable of the context's and one of the step's;
-- what sets a variable of the language's; and what fails, or prints nothing, where that is not set.
local IN = {
  javascript = { "console.log([process.cwd(), process.env.OWN, process.env.STEP].join('\\n'))",
    "var kept = 'kept'", "console.log(kept)" },
  typescript = { "console.log([process.cwd(), process.env.OWN, process.env.STEP].join('\\n'))",
    "var kept: string = 'kept'", "console.log(kept)" },
  bash = { [[pwd; printf '%s\n' "$OWN" "$STEP"]], "kept=kept", "echo $kept" },
  r = { [[writeLines(c(getwd(), Sys.getenv("OWN"), Sys.getenv("STEP")))]], "kept <- 'kept'",
    "writeLines(kept)" },
  java = { [[System.out.println(new java.io.File("").getAbsolutePath() + "\n" + System.getenv("OWN") + "\n"
    + System.getenv("STEP"));]], 'var kept = "kept";', "System.out.println(kept);" },
  lua = { "local p = io.popen 'pwd'; io.write(p:read 'a', os.getenv 'OWN', '\\n', os.getenv 'STEP', '\\n')",
    "kept = 'kept'", "print(assert(kept))" },
}

describe("a context in another language", function()
  local box
  setup(function() box = assert(stepbox.create { timeout = 300 }) end)
  teardown(function() assert(box:kill()) end)

  for language, code in pairs(IN) do
    it("has its directory and its variables, as data, and a state of its own: " .. language, function()
      local is_there, why = installed.has(language)
      if not is_there then pending(why) return end
      local value = "it's \"a\" $(b) `c` \\n \u{20ac}"
      local folder = "/home/user/" .. language .. " it's"
      assert(box.files:make_dir(folder))
      local one = assert(box:context { language = language, cwd = folder, envs = { OWN = value } })
      local two = assert(box:context { language = language })
      assert.same({ language, folder }, { one.language, one.cwd })
      for _ = 1, 2 do
        local printed = assert(one:step(code[1], { envs = { STEP = value } })).stdout
        assert.equal(folder .. "\n" .. value .. "\n" .. value .. "\n", printed)
        assert.is_nil(assert(one:step(code[2])).error)
        assert.equal("kept\n", assert(one:step(code[3])).stdout)
        assert.not_equal("kept\n", assert(two:step(code[3])).stdout)
        assert(one:restart())
        assert.not_equal("kept\n", assert(one:step(code[3])).stdout)
      end
    end)
  end
end)

describe("the languages of a sandbox", function()
  it("are told with what is missing, or it is said that they are not", function()
    local box = assert(stepbox.create { timeout = 60 })
    finally(function() box:kill() end)
    local languages, message, code = box:languages()
    if not languages then
      assert.same({ "unsupported", "languages: this server does not tell its languages" }, { code, message })
      return
    end
    local named = {}
    for _, language in ipairs(languages) do
      named[language.name] = language
      assert.equal("boolean", type(language.available))
      assert.equal("table", type(language.aliases))
      if not language.available then assert.matches("%S", language.message) end
    end
    assert.is_true(named.python.available)
  end)
end)

describe("a context of another server", function()
  local pid, folder, client
  setup(function()
    folder = sandbox.temporary()
    pid = sandbox.background("exec /usr/bin/python3 spec/support/server.py " .. folder .. "/port")
    assert(sandbox.eventually(5, function() return sandbox.read(folder .. "/port"):find "\n" end))
    local url = "http://127.0.0.1:" .. sandbox.read(folder .. "/port"):match "%d+"
    client = assert(stepbox.client { api_key = "key", api_url = url, sandbox_url = url })
  end)
  teardown(function()
    os.execute("kill " .. pid)
    os.execute("rm -r " .. folder)
  end)

  local function seen(box) return assert(box:step "what came").stdout end

  it("has its variables sent with each step, whose own win, as data", function()
    local box = assert(client:create { template = "echo" })
    local envs = { A = "it's\n$(a) \\", B = "of the context" }
    local context = assert(box:context { language = "bash", cwd = "/x y", envs = envs })
    assert.equal('{"cwd": "/x y", "language": "bash"}', seen(box))
    envs.A = "changed later"
    local sent = assert(context:step("code", { envs = { B = "of the step", C = "c" } })).stdout
    local wanted = [[{"code": "code", "context_id": "c1", "env_vars": ]]
      .. [[{"A": "it's\n$(a) \\", "B": "of the step", "C": "c"}}]]
    assert.equal(wanted, sent)
    sent = assert(context:step "code").stdout
    assert.matches([["B": "of the context"]], sent, 1, true)
    assert.same({ A = "it's\n$(a) \\", B = "of the context" }, assert(box:contexts())[1].envs)
    assert(context:remove())
    assert.is_nil(assert(box:contexts())[1].envs)
  end)

  it("has no language of which the server says that it failed", function()
    local box = assert(client:create { template = "nolanguage" })
    local context, message, code = box:context { language = "r" }
    assert.is_nil(context)
    assert.same({ "unsupported", "context: install r-base-core" }, { code, message })
    local execution
    execution, message, code = box:step("1", { language = "r" })
    assert.is_nil(execution)
    assert.same({ "unsupported", "step: install r-base-core" }, { code, message })
    local languages = { box:languages() }
    assert.same({ nil, "languages: this server does not tell its languages", "unsupported" }, languages)
  end)

  it("is made in a task too", function()
    local box = assert(client:create { template = "echo" })
    assert.equal("c1", task.run(function() return assert(box:context()).id end))
  end)
end)
