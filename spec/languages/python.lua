--- Programs in Python. See spec/support/programs.lua for the form.

local programs = require "spec.support.programs"
local like = programs.like

return {
  language = "python",
  { "keeps variables from step to step",
    "x = 20 + 1",
    { "x * 2", { result = { text = "42" } } },
  },
  { "shows the last expression alone",
    { "1\n2\n3", { result = { text = "3" } } },
    { "3;" },
    { "None" },
    { "'it''s'", { result = { text = "its" } } },
  },
  { "keeps the order of streams and results",
    { [[
import sys
print("a")
print("b", file=sys.stderr)
display("c")
print("d")
"e"]],
      { stdout = "a\n" }, { stderr = "b\n" }, { shown = { text = "c" } }, { stdout = "d\n" },
      { result = { text = "e" } } },
  },
  { "tells errors with name, value and traceback",
    { "def f():\n  return 1 / 0\nf()",
      { error = { "ZeroDivisionError", "division by zero",
        like ".*line 2.*ZeroDivisionError: division by zero" } } },
    { "x = = 1", { error = { "SyntaxError", like "invalid syntax.*" } } },
  },
  { "gets a step's variables as data",
    { "import os; print(os.environ['A'])", { stdout = "it's \"q\" $(x) `y` \\n\n\240\159\154\128\n" },
      envs = { A = "it's \"q\" $(x) `y` \\n\n\240\159\154\128" } },
    { "print(os.environ.get('A'))", { stdout = "None\n" } },
  },
  { "gets the context's variables and directory", envs = { B = "of the context" }, cwd = "/tmp",
    { "import os; print(os.environ['B'], os.getcwd())", { stdout = "of the context /tmp\n" } },
  },
  { "goes on after an interrupt with its state",
    "y = 5",
    { "while True: pass", { error = { "KeyboardInterrupt", "" } }, interrupt = 0.5 },
    { "y", { result = { text = "5" } } },
  },
  { "starts afresh after exit() and after a crash",
    "z = 1",
    { "exit()" },
    { "'z' in globals()", { result = { text = "False" } }, restarted = true },
    { "import os; os.abort()", fails = "context_lost" },
    { "'os' in globals()", { result = { text = "False" } }, restarted = true },
  },
}
