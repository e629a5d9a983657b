local is_open = require("stepbox.cli.lines").is_open

--- Of each language what is whole, and what is not.
local CASES = {
  python = {
    whole = { "1", "x = 'a # b'", "f(1, 2)", "def f():\n  return 1\n", "'it\\'s'", "# if x:", "x = 'open",
      "%ls -l",
      "!echo '", "if x: y", "%%bash\nls\n", "a = '''x\ny'''", ")",
      "x = [1,\n  2]", "f(a,\n  b)", "x = {\n  'a': 1,\n}", "x = '''if:\n  y'''", "d = {'a':\n  1}" },
    open = { "def f():", "f(1,", "x = '''a", "a = 1 + \\", "if x:\n  y", "@decorated", "%%bash\nls",
      "{'a': [1", "if x and \\\n  y:\n  z", "for x in [\n  1]:\n  y", "class A:\n\n  def f():\n    y" },
  },
  javascript = {
    whole = { "1", "const f = () => 1", "// {", "/* { */ 1", "`a ${b} c`", "i++", "i--", "'// {'",
      "f({\n  a: 1\n})",
      "'open", "x = {}", "a.b", "s.replace(/'/g, '')", "s.split(/[(]/)", "x = /\\(/", "s.match(/`/)",
      "s.match(/\\//)", "f(/[/(]/)", "a / b / c", "(a) / 2", "x[0] / '2'", "return /(/", "a = 1 / 2 // (",
      "/it's/.test(a)", "1 /" },
    open = { "function f() {", "f(", "`a", "/* a", "x =", "a +", "a.", "[1, 2,", "x ? y :\n(",
      "promise\n  .", "const f = () =>", "if (a) {\n} else", "a ? b :", "f(/'/,", "x / (", "x[0] / `2" },
  },
  typescript = { whole = { "let x: number = 1", "interface A { a: string }" }, open = { "interface A {" } },
  java = {
    whole = { "int x = 5", 'String s = "{";', "class A { }", "char c = '{';", 'var t = """\n{\n""";', "i--" },
    open = { "class A {", "int f(", 'var t = """\n{', "/* ", "int x =", "Runnable r = () ->",
      "if (a) {\n} else" },
  },
  r = {
    whole = { "1", "x <- 'a'", "# (", "f(1)", '"a\nb"', "x$y", "5 %% 2", "'it\\'s'" },
    open = { "f(1,", "x <-", "x |>", "df %>%", "a +", "'a", "function(x) {", "a ~", "`my name",
      "if (a) b else" },
  },
  lua = {
    whole = { "return 1", "function f() end", "if x then y() else z() end", "-- do", "--[[ do ]] x = 1",
      "x = [[ do\nif ]]", "for i = 1, 2 do print(i) end", "repeat x() until y", "x = 'do'", "t.end_ = 1",
      "local function f(a) return function() end end", "endless = 1", "if a then elseif b then end",
      "return ...", "local x <const>", "x.band", "floor = 1" },
    open = { "function f()", "if x then", "for i = 1, 2 do", "x = [[a", "--[==[ a ]] ", "x =", "f(1,",
      "repeat",
      "while x do\nif y then z() end", "local t = {", "x = 'a' ..", "x = a and", "y = b or",
      "z = not", "t." },
  },
  bash = {
    whole = { "ls", "echo 'a {'", "if true; then ls; fi", "for i in 1 2; do echo $i; done", "# if", "echo if",
      "f() { ls; }", "case $x in a) ls;; esac", "case $x in\n(a) ls\n;;\nesac", "cat <<E\nif\nE", "x=$(ls)",
      "echo a\\ b", "echo ${x#y}", "a & b", "cat <<<'x'", "echo done", "while read x; do :; done < f",
      "cat <<-'E'\n\tif\n\tE", "[[ -e x ]] && ls", "(cd x; ls)", "echo }", "until false; do break; done",
      "echo \"it's $(ls 'a')\"", "time ls", "fi", "if a; then b; elif c; then d; else e; fi", "echo $#",
      "echo $((1<<2))", "x=$(( (1 << 3) ))", "(( x <<= 1 ))", "((cd x); ls)", "echo $((a)) b",
      "echo $'it\\'s'",
      "while true\ndo ls\ndone", "function f { ls; }", "f()\n{\nls\n}", "function f\n{ ls; }", "f() (ls)",
      "x=()", "echo $()", "cat <<\\E\nif\nE", "cat <<'A B'\nif\nA B", "for ((i = 0; i < 3; i++)); do :; done",
      "for x\nin a; do :; done" },
    open = { "echo 'a", 'echo "a', "if true; then", "if true", "for i in 1 2", "for i in 1 2; do",
      "f() {", "ls |",
      "ls &&", "ls ||", "echo \\", "case $x in", "case $x in a) ls;;", "cat <<E", "cat <<E\nif", "x=$(ls",
      "(cd x",
      "echo ${x", "while true; do\nif a; then b; fi", "`ls", "{ ls", "! if x",
      "while true", "until false", "function f {", "function f", "f()", "f ()\n{", "cat <<\\E",
      "cat <<'A B'\nA",
      "cat $((1<<2)) <<E", "(( 1 << 2", "coproc {", "echo $'it\\'" },
  },
  unknown = { whole = { "f(1)", "'a" }, open = { "f(1", "{" } },
}

describe("what is typed", function()
  for language, cases in pairs(CASES) do
    it("is known to be whole, or not, in " .. language, function()
      for _, text in ipairs(cases.whole) do assert.is_false(is_open(text, language), text) end
      for _, text in ipairs(cases.open) do assert.is_true(is_open(text, language), text) end
      for _, nothing in ipairs { "", " ", "\n\t" } do assert.is_false(is_open(nothing, language)) end
    end)
  end

  it("is told the same line by line, each looked at twice at most", function()
    for language, cases in pairs(CASES) do
      for _, list in pairs(cases) do
        for _, text in ipairs(list) do
          local state, so_far = {}, nil
          for line in (text .. "\n"):gmatch "([^\n]*)\n" do
            so_far = so_far and so_far .. "\n" .. line or line
            assert.equal(is_open(so_far, language), is_open(so_far, language, state), so_far)
          end
        end
      end
    end
    for language, first in pairs { python = "x = [", javascript = "f(", bash = "x=(", lua = "x = {" } do
      local text, state, begin = first, {}, os.clock()
      for i = 1, 10000 do
        text = text .. "\n  " .. i .. ", 'abc', " .. i .. ","
        assert.is_true(is_open(text, language, state))
      end
      assert.is_true(os.clock() - begin < 20, language)
    end
  end)

  it("is of the language whatever that is called", function()
    assert.is_true(is_open("if true; then", "SH"))
    assert.is_true(is_open("`a", "js"))
    assert.is_true(is_open("def f():", "py"))
    assert.is_true(is_open "def f():")
  end)
end)
