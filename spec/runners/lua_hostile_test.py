"""Variables of a step are data and go again; code that breaks its own world does not break the runner."""

import unittest

from lua_process import LuaCase, LuaProcess

NASTY = 'it\'s "q" $(echo run) `echo run` ${x} \\n \\\n\n;|&*\t🚀'


class Variables(LuaCase):
    def test_values_are_data_for_the_code_and_its_programs(self):
        self.shows("os.getenv 'V'", NASTY, env={"V": NASTY})
        self.shows("(io.popen('printenv V'):read 'a')", NASTY + "\n", env={"V": NASTY})
        self.shows("os.getenv 'V', (io.popen('printenv V'):read 'a')", "nil\t")

    def test_earlier_values_come_back(self):
        self.shows("os.getenv 'HOME'", "/elsewhere", env={"HOME": "/elsewhere", "a-b": "x"})
        self.shows("os.getenv 'HOME', os.getenv 'a-b'", "/nonexistent\tnil")
        self.error("error 'x'", env={"HOME": "/elsewhere"})
        self.shows("os.getenv 'HOME'", "/nonexistent")

    def test_bad_ones_are_errors_and_nothing_runs(self):
        for name, value, word in (
            ("", "x", "empty"),
            ("A=B", "x", "'='"),
            ("A", "a\0b", "NUL"),
            ("A\0B", "x", "NUL"),
        ):
            error = self.error("ran = true", env={"GOOD": "1", name: value})
            self.assertEqual(error["name"], "ValueError")
            self.assertIn(word, error["value"])
        self.shows("ran, os.getenv 'GOOD'", "nil\tnil")


class Channel(LuaCase):
    END = '{"type": "end"}'

    def test_programs_have_no_descriptor_of_it(self):
        for code in (
            "os.execute 'ls -l /proc/self/fd'",
            "io.write(io.popen('ls -l /proc/self/fd'):read 'a')",
        ):
            text = "".join(e["text"] for e in self.events(code) if e["type"] == "stdout")
            self.assertIn("pipe:", text)
            self.assertNotIn("socket:", text)

    def test_lines_of_the_protocol_are_output(self):
        code = "print '%s' io.stderr:write '%s\\n' os.execute [[echo '%s']]\n" % (
            self.END,
            self.END,
            self.END,
        )
        events = self.events(code)
        texts = "".join(e["text"] for e in events if e["type"] in ("stdout", "stderr"))
        self.assertEqual(texts, (self.END + "\n") * 3)

    def test_closed_descriptors_come_back(self):
        self.gives_nothing(
            "pcall(io.close, io.stdout) pcall(function() io.stderr:close() end) io.stdin:close()"
        )
        self.assertEqual(
            self.output("print('o') io.stderr:write('e')"), [("stdout", "o\n"), ("stderr", "e")]
        )


class BrokenWorlds(unittest.TestCase):
    def setUp(self):
        self.runner = LuaProcess()
        self.addCleanup(self.runner.close)

    def check(self, code):
        self.runner.step(code)
        events = self.runner.step("40 + 2")
        self.assertEqual([e.get("text") for e in events[1:-1]], ["42"], events)
        events = self.runner.step("{1, {a = 'x'}}")
        self.assertEqual([e.get("text") for e in events[1:-1]], ['{ 1, { a = "x" } }'], events)
        self.assertEqual(self.runner.step("y y")[1]["name"], "SyntaxError")
        self.assertEqual(self.runner.step("local x = nil; x.y = 1")[1]["name"], "Error")

    def test_without_its_library(self):
        self.check("for name in pairs(_G) do if name ~= '_G' then _G[name] = nil end end _G = nil")

    def test_with_emptied_tables(self):
        self.check(
            "local n = next for _, t in pairs {string, table, io, os, debug, math, utf8, coroutine}"
            " do for k in n, t do t[k] = nil end end"
        )

    def test_with_a_strict_global_table(self):
        self.check(
            "setmetatable(_G, {__index = error, __newindex = error, __gc = error, __pairs = error})"
        )

    def test_with_changed_metatables_of_basic_values(self):
        self.check(
            "getmetatable('').__index = error getmetatable('').__len = error "
            "getmetatable('').__concat = error debug.setmetatable(nil, {__index = error}) "
            "debug.setmetatable(print, {__call = error, __index = error}) "
            "debug.setmetatable(1, {__add = error, __lt = error}) "
            "debug.setmetatable(true, {__index = error})\nlocal x = {}"
        )

    def test_with_a_collector_that_is_stopped_or_busy(self):
        self.check("collectgarbage 'stop'")
        self.check("collectgarbage('generational') collectgarbage('incremental', 1, 1)")
        self.check("setmetatable({}, {__gc = function() error 'in gc' end}) collectgarbage()")

    def test_with_hooks_left_behind(self):
        self.check("debug.sethook(function() error 'hook' end, '', 1000000)")

    def test_with_files_that_are_closed_and_replaced(self):
        self.check("io.output('/dev/null') io.stdout = nil io.stderr = 5 print = error")


if __name__ == "__main__":
    unittest.main()
