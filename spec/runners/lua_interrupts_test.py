"""Interrupts reach the code of a step of Lua, wherever it is, and nothing else; the state stays."""

import time
import unittest

from lua_process import LuaCase


class Interrupts(LuaCase):
    def interrupted(self, code, within=1.5):
        """The events of a step that is interrupted once it has printed `go`."""
        return self.interrupted_once_it_prints("kept = 'yes' print 'go' " + code, within)

    def check(self, code, within=1.5):
        events = self.interrupted(code, within)
        self.assertEqual(
            [event for event in events if event["type"] in ("error", "result", "end")],
            [
                {"type": "error", "name": "KeyboardInterrupt", "value": "", "traceback": ""},
                {"type": "end"},
            ],
        )
        self.shows("kept", "yes")

    def test_loops(self):
        self.check("while true do end")
        self.check("goto b ::a:: goto b ::b:: goto a")
        self.check("load 'while true do end' ()")
        self.check("local function f() return f() end f()")
        self.check("while true do print('o') io.stderr:write('e') end")

    def test_loops_around_pcall(self):
        self.check("while true do pcall(function() while true do end end) end")
        self.check("local function f() pcall(f) return f() end f()")
        self.check("while true do xpcall(error, function() end) end")

    def test_coroutines(self):
        self.check("coroutine.wrap(function() while true do end end)()")
        self.check(
            "local wrap = coroutine.wrap\nwrap(function() wrap(function() while true do end end)()"
            " end)()"
        )
        self.check(
            "while true do coroutine.resume(coroutine.create(function() while true do end end)) end"
        )
        self.check(
            "while true do pcall(coroutine.wrap(function() while true do pcall(error) end end)) end"
        )
        self.check(
            "local c = coroutine.wrap(function() while true do coroutine.yield() end end)\nwhile"
            " true do c() end"
        )

    def test_callbacks_of_functions_in_c(self):
        self.check("string.gsub(('x'):rep(100), '.', function() while true do end end)")
        self.check("table.sort({1, 2, 3}, function() while true do end end)")
        self.check(
            "local t = setmetatable({}, {__index = function() while true do end end}) local x = t.x"
        )

    def test_closing_methods_get_time(self):
        self.check(
            "local guard <close> = setmetatable({}, {__close = function()\n"
            "for i = 1, 1000 do end closed = 'whole' end})\nwhile true do end"
        )
        self.shows("closed", "whole")

    def test_programs(self):
        self.check("os.execute 'sleep 100'")
        self.check("os.execute 'sleep 100; sleep 100'")
        self.check("io.popen('sleep 100'):read 'a'")
        self.check("io.popen('sleep 100'):close()")

    def test_programs_that_are_about_to_start(self):
        for i in range(150):
            self.runner.start("os.execute 'sleep 100'")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            self.runner.serve(i % 30 / 10000)
            begin = time.monotonic()
            self.runner.interrupt()
            names = [event.get("name") for event in self.runner.finish()]
            self.assertEqual(names, ["KeyboardInterrupt", None])
            self.assertLess(time.monotonic() - begin, 1.5)

    def test_stubborn_programs_are_killed(self):
        self.check("os.execute 'trap \"\" INT; sleep 100; sleep 100'", within=4)

    def test_programs_of_earlier_steps_live_on(self):
        self.gives_nothing("early = io.popen('sleep 100; echo', 'r')")
        self.gives_nothing("server = io.popen('sleep 101 >/dev/null & echo $!'):read 'l'")
        self.check("while true do end")
        self.check("os.execute 'sleep 100'")
        self.shows("(os.execute('kill ' .. server))", "true")
        self.shows("io.type(early)", "file")
        self.check("early:close()", within=3)

    def test_hooks_of_the_code(self):
        self.check("debug.sethook(function() end, 'l') while true do end")
        self.check("while true do debug.sethook(function() end, 'crl', 1) end")
        self.check("while true do debug.sethook() end")
        self.gives_nothing(
            "count = 0 debug.sethook(function() count = count + 1 end, 'l')\nlocal x\nx ="
            " 1\ndebug.sethook()"
        )
        self.shows("count > 1", "true")

    def test_code_that_catches_it_goes_on(self):
        events = self.interrupted(
            "local ok, e = pcall(function() while true do end end) print(ok, e)"
        )
        self.assertEqual("".join(e.get("text", "") for e in events), "go\nfalse\tinterrupted\n")
        self.assertEqual([e["type"] for e in events][-1], "end")
        self.shows("kept", "yes")

    def test_between_steps_nothing_happens(self):
        for _ in range(200):
            self.runner.interrupt()
        time.sleep(0.05)
        self.shows("1 + 1", "2")

    def test_no_end_is_lost_at_the_edges(self):
        """Interrupts rain on short steps: each has exactly one count and one end."""
        with self.rain_of_interrupts(0.0007):
            for _ in range(300):
                events = self.runner.step(
                    "print(1) io.stderr:write(2)\npcall(error)\ncoroutine.wrap(function() end)()\n4"
                )
                kinds = [event["type"] for event in events]
                self.assertEqual(kinds.count("number_of_executions"), 1, events)
                self.assertEqual(kinds.count("error") + kinds.count("result"), 1, events)
                self.assertEqual(kinds.count("end"), 1)
                for event in events:
                    if event["type"] == "error":
                        self.assertEqual(event["name"], "KeyboardInterrupt", event)
        self.runner.step("")
        self.shows("2 + 2", "4")


if __name__ == "__main__":
    unittest.main()
