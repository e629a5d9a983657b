"""What a step of Lua gives: values, errors with the code's own lines, output in order, kept state."""

import os
import resource
import tempfile
import time
import unittest

from lua_process import LuaCase, LuaProcess
from runner_process import BUILD


class Results(LuaCase):
    def test_expressions(self):
        self.shows("1 + 1", "2")
        self.shows("undefined, 'two', nil", "nil\ttwo\tnil")
        self.shows("'it\\'s'", "it's")
        self.shows("return 5", "5")
        self.shows("#'abc' -- a comment", "3")
        self.shows("nil", "nil")
        self.shows("#!/usr/bin/env lua5.4\n7", "7")

    def test_code_without_a_value(self):
        for code in (
            "",
            "  \n",
            "-- comment",
            "x = 1",
            "local y = 2",
            "io.write('')",
            "...",
            "repeat local q = 1 until q == 1",
            "do return end",
        ):
            self.gives_nothing(code)

    def test_the_last_expression_of_more(self):
        self.shows("x = 5\nx + 1", "6")
        self.shows("x = 6; x * 2", "12")
        self.shows("local l = 3\nl", "3")
        self.shows("x = 1\n'text'", "text")
        self.shows("x = 1\n{x}", "{ 1 }")
        self.shows("t = {\n  1,\n}\ntable.concat(t,\n  ',')", "1")
        self.shows("function f() return 'v' end\nf()", "v")
        self.gives_nothing("if true then\n  f()\nend")
        self.gives_nothing("s = [[\nf()\n]]")
        self.gives_nothing("--[[\nf()\n]]")

    def test_lines_that_go_on_are_not_torn(self):
        self.gives_nothing("f = function(x) return function(y) z = x + y end end\nf\n(1)\n(2)")
        self.shows("z", "3")
        self.gives_nothing("z = 10\n- 3")
        self.shows("z", "7")

    def test_tables_are_readable(self):
        self.shows("{1, 'a\\n', {b = true}}", '{ 1, "a\\n", { b = true } }')
        self.shows(
            "{b = 1, a = 2, ['x y'] = 3, [10] = 4, ['end'] = 5}",
            '{ [10] = 4, a = 2, b = 1, ["end"] = 5, ["x y"] = 3 }',
        )
        self.shows("setmetatable({}, {__tostring = function() return 'mine' end})", "mine")
        self.assertRegex(self.result("t = {}; t.t = t; t")["text"], r"^{ t = <table: 0x\w+> }$")
        self.shows("{{{{{{}, 1}}}}}", "{ { { { { {}, 1 } } } } }")
        text = self.result("t = {}; for i = 1, 1e6 do t[i] = i end; t")["text"]
        self.assertIn("(999800 more)", text)
        text = self.result("t = {}; for i = 1, 100 do t[i] = ('x'):rep(5000) end; t")["text"]
        self.assertLess(len(text), 200_000)
        text = self.result("local t = {}; for i = 1, 1e5 do t = {t} end; t")["text"]
        self.assertEqual(text, "{ { { { { {...} } } } } }")

    def test_plain_values_have_json(self):
        self.assertEqual(
            self.result("{1, {a = 'ü', b = 0/0, c = 1.5}}")["json"],
            [1, {"a": "ü", "b": None, "c": 1.5}],
        )
        self.assertEqual(self.result("{}")["json"], {})
        self.assertEqual(self.result("42")["json"], 42)
        self.assertEqual(self.result("math.maxinteger")["json"], 2**63 - 1)
        for code in (
            "{1, x = 2}",
            "{print}",
            "print",
            "setmetatable({}, {})",
            "1, 2",
            "'\\xff'",
            "t = {}; t[1] = t; t",
            "{[1.5] = 1}",
            "{[3] = 1}",
        ):
            self.assertNotIn("json", self.result(code), code)

    def test_values_whose_tostring_fails(self):
        code = "setmetatable({}, {__tostring = function() error 'no' end})"
        self.shows(code, "(table whose tostring() failed)")
        self.shows("{%s}" % code, "{ (table whose tostring() failed) }")

    def test_all_of_unicode(self):
        self.shows("'grün 漢字 🚀'", "grün 漢字 🚀")
        self.shows("'a\\xffb\\0'", "a\ufffdb\0")
        self.assertEqual(self.output("print('🚀\\xf0\\x9f')"), [("stdout", "🚀\ufffd\n")])

    def test_large_code_and_values(self):
        begin = time.monotonic()
        self.shows("x = 1\n" * 170_000 + "x", "1")
        self.shows("#'" + "y" * 1_000_000 + "'", "1000000")
        self.assertEqual(len(self.result("('z'):rep(5000000)")["text"]), 5_000_000)
        self.gives_nothing("t = {\n" + "  {1, 2, 3},\n" * 50_000 + "}")
        self.assertLess(time.monotonic() - begin, 15, "far above what it takes")


class Errors(LuaCase):
    def test_traces_have_the_codes_own_lines_alone(self):
        error = self.error(
            "function f(n)\n  if n == 0 then error 'deep' end\n  return (f(n - 1))\nend\n\nf(1)"
        )
        cell = error["value"].split(":")[0]
        self.assertEqual(error["name"], "Error")
        self.assertEqual(error["value"], cell + ":2: deep")
        self.assertEqual(
            error["traceback"],
            "{0}:2: deep\nstack traceback:\n\t[C]: in function 'error'\n\t{0}:2: in function 'f'\n"
            "\t{0}:3: in function 'f'\n\t{0}:6: in main chunk".format(cell),
        )
        self.assertIn(
            "cell %d:1: in main chunk" % (int(cell.split()[1]) + 1), self.error("f(0)")["traceback"]
        )

    def test_syntax_errors(self):
        self.gives_nothing("ran = nil")
        error = self.error("ran = true\nx = = 1")
        self.assertEqual(error["name"], "SyntaxError")
        self.assertRegex(error["value"], r"^cell \d+:2: unexpected symbol near '='$")
        self.assertIn("<eof>", self.error("if x then")["value"])
        self.shows("ran", "nil")

    def test_values_that_are_no_strings(self):
        self.assertEqual(self.error("error({code = 1})")["name"], "table")
        self.assertEqual(self.error("error({code = 1})")["value"], "{ code = 1 }")
        error = self.error(
            "error(setmetatable({}, {__name = 'MyError', __tostring = function() return 'v' end}))"
        )
        self.assertEqual((error["name"], error["value"]), ("MyError", "v"))
        self.assertEqual(self.error("error()")["value"], "nil")
        self.assertEqual(self.error("error(print)")["value"], "(error object is a function value)")
        self.assertEqual(self.error("error('m\\nn', 0)")["value"], "m\nn")

    def test_deep_recursion(self):
        error = self.error("local function f() return 1 + f() end\nf()")
        self.assertRegex(error["value"], r"stack overflow")
        self.assertLess(len(error["traceback"]), 2000)
        self.error(
            "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k]"
            " end\nlocal x = t.x"
        )

    def test_coroutines(self):
        self.assertIn(
            "in co", self.error("coroutine.wrap(function() error 'in co' end)()")["value"]
        )
        self.shows("coroutine.resume(coroutine.create(function() error('e', 0) end))", "false\te")
        self.shows("coroutine.isyieldable()", "false")
        self.assertIn("outside a coroutine", self.error("coroutine.yield()")["value"])

    def test_tracebacks_of_the_code_are_its_own(self):
        text = self.result("select(2, xpcall(error, debug.traceback, 'm'))")["text"]
        self.assertTrue(text.startswith("m\nstack traceback:\n"))
        self.assertTrue(text.endswith("in main chunk"), text)
        self.assertNotIn("steps.lua", text)
        self.shows("debug.traceback({}) ~= nil", "true")


class Coroutines(LuaCase):
    def test_they_work_as_ever(self):
        self.shows(
            "c = coroutine.create(function(a, b) local c = coroutine.yield(a + b) return c * 2"
            " end)\ncoroutine.resume(c, 1, 2)",
            "true\t3",
        )
        self.shows("coroutine.resume(c, 5)", "true\t10")
        self.shows("coroutine.resume(c)", "false\tcannot resume dead coroutine")
        self.shows(
            "n = 0\nfor v in coroutine.wrap(function() for i = 1, 4 do coroutine.yield(i) end end)"
            " do n = n + v end\nn",
            "10",
        )
        self.shows(
            "coroutine.resume(coroutine.running())", "false\tcannot resume non-suspended coroutine"
        )
        self.assertIn("bad argument #1 to 'resume'", self.error("coroutine.resume(1)")["value"])
        self.assertIn("bad argument #1 to 'wrap'", self.error("coroutine.wrap(1)")["value"])

    def test_closing(self):
        self.gives_nothing(
            "log = {}\nlocal function guard(name, fails) return setmetatable({}, {__close ="
            " function()\nlog[#log + 1] = name if fails then error('close', 0) end end}) end\nc ="
            " coroutine.create(function() local a <close> = guard 'a' coroutine.yield() end)\nd ="
            " coroutine.create(function() local b <close> = guard('b', true) coroutine.yield()"
            " end)\ncoroutine.resume(c) coroutine.resume(d)"
        )
        self.shows("coroutine.close(c)", "true")
        self.shows("coroutine.close(d)", "false\tclose")
        self.shows("table.concat(log)", "ab")
        self.shows("coroutine.status(c)", "dead")
        self.assertIn(
            "cannot close a running", self.error("coroutine.close(coroutine.running())")["value"]
        )


class Output(LuaCase):
    def test_streams_in_order(self):
        code = (
            "print('o', 1) io.stderr:write('e\\n') io.write('o2\\n', 3, '\\n') warn('@on')"
            " warn('w') print('o4')"
        )
        self.assertEqual(
            self.output(code),
            [
                ("stdout", "o\t1\n"),
                ("stderr", "e\n"),
                ("stdout", "o2\n3\n"),
                ("stderr", "Lua warning: w\n"),
                ("stdout", "o4\n"),
            ],
        )

    def test_children_in_order(self):
        code = (
            "print('a') os.execute('echo b >&2') print('c') io.popen('echo d >&2'):close()"
            " print('e')"
        )
        self.assertEqual(
            self.output(code),
            [
                ("stdout", "a\n"),
                ("stderr", "b\n"),
                ("stdout", "c\n"),
                ("stderr", "d\n"),
                ("stdout", "e\n"),
            ],
        )

    def test_values_come_after_output(self):
        events = self.events("io.stderr:write('e')\nio.write('o')\n7")
        self.assertEqual([e["type"] for e in events], ["stderr", "stdout", "result"])

    def test_one_stream_asks_for_nothing(self):
        before = self.runner.drains
        self.output("for i = 1, 1000 do print(i) end")
        self.assertEqual(self.runner.drains, before)

    def test_it_is_seen_at_once(self):
        code = "local e = os.clock() + 5 repeat until os.clock() > e"
        self.runner.start("io.write('a') %s print('b')" % code)
        begin = time.monotonic()
        self.runner.wait(lambda event: event["type"] == "stdout")
        self.assertLess(time.monotonic() - begin, 4)
        self.runner.interrupt()
        self.runner.finish()

    def test_much_of_it(self):
        ((stream, text),) = self.output("for i = 1, 20000 do print(('x'):rep(1023)) end")
        self.assertEqual(len(text), 20_480_000)
        ((stream, text),) = self.output("io.write(('x'):rep(5000000))")
        self.assertEqual(len(text), 5_000_000)

    def test_files_of_the_code(self):
        with tempfile.TemporaryDirectory() as directory:
            self.gives_nothing(
                "io.output('%s/f'); io.write('in the file'); io.close(); io.output(io.stdout)"
                % directory
            )
            with open(directory + "/f") as file:
                self.assertEqual(file.read(), "in the file")
        self.assertEqual(self.output("io.write('out')"), [("stdout", "out")])

    def test_input_is_at_its_end(self):
        self.shows("io.read(), io.read('a'), io.stdin:read('n')", "nil\t\tnil")
        self.gives_nothing("for line in io.lines() do print(line) end")


@unittest.skipIf("asan" in BUILD, "AddressSanitizer itself ends a program whose memory is bounded")
class Memory(LuaCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        resource.prlimit(cls.runner.process.pid, resource.RLIMIT_DATA, (300 << 20, 300 << 20))

    def test_no_memory(self):
        self.gives_nothing("kept = 1")
        self.assertIn(
            "memory",
            self.error("local t = {}\nfor i = 1, 40 do t[i] = ('x'):rep(2^i) .. i end", timeout=60)[
                "value"
            ],
        )
        self.shows("kept", "1")


class State(LuaCase):
    def test_globals_stay_and_locals_go(self):
        self.gives_nothing("x = 1\nlocal y = 2\nfunction f() return x + 1 end")
        self.shows("x, y, f()", "1\tnil\t2")

    def test_modules(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(directory + "/mine.lua", "w") as file:
                file.write("loads = (loads or 0) + 1\nreturn {value = 'from the directory'}")
            runner = LuaProcess(cwd=directory)
            self.addCleanup(runner.close)
            self.assertEqual(runner.step("require 'mine'.value")[1]["text"], "from the directory")
            self.assertEqual(runner.step("require 'mine'; loads")[1]["text"], "1")
        self.assertIn("module 'nosuch' not found", self.error("require 'nosuch'")["value"])
        self.shows("require 'string' == string", "true")

    def test_nothing_of_the_runner_is_in_the_codes_way(self):
        self.shows("#arg, arg[0]", "0\tlua")
        self.shows("select('#', ...)", "0")
        self.gives_nothing(
            "for name in pairs(package.loaded) do assert(({_G=1, package=1, coroutine=1, table=1,"
            " io=1, os=1, string=1, math=1, utf8=1, debug=1})[name], name) end"
        )


class Ends(unittest.TestCase):
    def leaving(self, code):
        runner = LuaProcess()
        self.addCleanup(runner.close)
        events = runner.step(code)
        self.assertEqual(events[-1], {"type": "end", "exit": True})
        return "".join(event.get("text", "") for event in events), runner.process.wait(5)

    def test_exit(self):
        self.assertEqual(self.leaving("print('a') os.exit(3)"), ("a\n", 3))
        self.assertEqual(self.leaving("coroutine.wrap(function() pcall(os.exit) end)()"), ("", 0))
        code = "setmetatable({}, {__gc = function() print 'collected' end})\nos.exit(true, true)"
        self.assertEqual(self.leaving(code), ("collected\n", 0))

    def test_a_crash_is_none(self):
        runner = LuaProcess()
        self.addCleanup(runner.close)
        with self.assertRaisesRegex(AssertionError, "the runner is gone"):
            runner.step("os.execute('kill -9 $PPID')")
        self.assertEqual(runner.process.wait(5), -9)


if __name__ == "__main__":
    unittest.main()
