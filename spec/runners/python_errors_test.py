"""Errors as lines: names, values, tracebacks, and the ways out of a step."""

import unittest

from runner_process import RunnerProcess


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def error(self, code, timeout=20):
        events = self.runner.step(code, timeout=timeout)
        errors = [event for event in events if event["type"] == "error"]
        self.assertEqual(len(errors), 1, events)
        self.assertEqual(list(errors[0]), ["type", "name", "value", "traceback"])
        return errors[0]

    def test_a_traceback_without_colours(self):
        error = self.error("def f(a):\n    return 1/a\n\nf(0)")
        self.assertEqual(error["name"], "ZeroDivisionError")
        self.assertEqual(error["value"], "division by zero")
        self.assertTrue(error["traceback"].startswith("-" * 75 + "ZeroDivisionError"))
        self.assertTrue(error["traceback"].endswith("\nZeroDivisionError: division by zero"))
        self.assertIn("----> 4 f(0)\n", error["traceback"])
        self.assertNotIn("\x1b", error["traceback"])

    def test_syntax_errors_name_the_cell_as_jupyter_does(self):
        for code, value in (
            ("x = = 1", "invalid syntax (1843956808.py, line 1)"),
            ("return 5", "'return' outside function (2826953615.py, line 1)"),
            (
                "def f():\nreturn 1",
                (
                    "expected an indented block after function definition on line 1 (341325504.py,"
                    " line 2)"
                ),
            ),
        ):
            error = self.error(code)
            self.assertEqual(error["value"].split(" (")[-1], value.split(" (")[-1])
            self.assertNotIn("Traceback", error["traceback"])
            self.assertIn("In", error["traceback"])

    def test_what_is_not_python_at_all(self):
        for code in ("a\x00b", "\ud800", "'\ud800'; 1/0", "(" * 500):
            self.error(code)
        self.assertEqual(self.runner.step("1")[1]["text"], "1")

    def test_what_is_not_python_leaves_nothing_to_warn_of_later(self):
        for code in ("a\x00b", "1" + "+1" * 100000):
            self.error(code)
            events = self.runner.step("import gc; gc.collect();")
            self.assertEqual([event["type"] for event in events[1:]], ["end"], events)

    def test_exit_codes_are_errors_with_a_warning(self):
        runner = RunnerProcess()
        events = runner.step("import sys; print('a'); sys.exit(3)")
        runner.close()
        self.assertEqual(
            [event["type"] for event in events[1:]], ["stdout", "error", "stderr", "end"]
        )
        self.assertEqual((events[2]["name"], events[2]["value"]), ("SystemExit", "3"))
        self.assertEqual(
            events[2]["traceback"],
            "An exception has occurred, use %tb to see the full traceback.\nSystemExit: 3\n",
        )
        self.assertIn("UserWarning: To exit: use", events[3]["text"])

    def test_usage_errors_have_a_line_and_no_traceback(self):
        events = self.runner.step("%nosuchmagic")
        self.assertEqual(
            events[1],
            {
                "type": "stderr",
                "text": "UsageError: Line magic function `%nosuchmagic` not found.\n",
            },
        )
        self.assertEqual(
            events[2],
            {
                "type": "error",
                "name": "UsageError",
                "value": "Line magic function `%nosuchmagic` not found.",
                "traceback": "",
            },
        )

    def test_an_exception_in_repr_is_the_error_and_no_result_comes(self):
        error = self.error("class R:\n    def __repr__(self): raise ValueError('bad repr')\nR()")
        self.assertEqual((error["name"], error["value"]), ("ValueError", "bad repr"))

    def test_an_exception_that_cannot_be_told(self):
        error = self.runner.step("class E(Exception):\n    def __str__(self): 1/0\nraise E")[1]
        self.assertEqual((error["name"], error["value"]), ("E", "<exception str() failed>"))

    def test_recursion(self):
        error = self.error("def r(): return r()\nr()", timeout=60)
        self.assertEqual(error["name"], "RecursionError")
        self.assertEqual(error["value"], "maximum recursion depth exceeded")
        self.assertEqual(
            self.runner.step("def deep(n): return n and deep(n - 1)\ndeep(2500)")[1]["text"], "0"
        )

    def test_exception_groups_and_chains(self):
        error = self.error(
            "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('w') from e"
        )
        self.assertIn("direct cause of the following exception", error["traceback"])

    def test_every_step_counts(self):
        count = self.runner.step("1")[0]["execution_count"]
        for code in ("x = = 1", "1/0", "%nosuchmagic x", "raise SystemExit", "pass"):
            count += 1
            self.assertEqual(self.runner.step(code)[0]["execution_count"], count, code)

    def test_state_survives_errors(self):
        self.error("kept = 5\n1/0")
        self.assertEqual(self.runner.step("kept")[1]["text"], "5")

    def test_warnings_show_the_cell(self):
        events = self.runner.step("import warnings\nwarnings.warn('careful')")
        self.assertEqual(events[1]["type"], "stderr")
        self.assertRegex(events[1]["text"], r"^/tmp/stepbox_\d+/\d+\.py:2: UserWarning: careful\n")


class Exit(unittest.TestCase):
    def check(self, code, atexit=""):
        runner = RunnerProcess()
        try:
            runner.step(atexit)
            events = runner.step(code)
            self.assertEqual(events[-1], {"type": "end", "exit": True})
            self.assertEqual(runner.process.wait(5), 0)
            return events
        finally:
            runner.close()

    def test_exit_and_quit_end_the_step_and_then_the_runner(self):
        self.assertEqual(self.check("print('bye')\nexit()")[1]["text"], "bye\n")
        self.check("quit()")
        self.check("exit")

    def test_threads_and_handlers_do_not_hold_it(self):
        self.check(
            "exit()",
            "import threading, time, atexit\n"
            "threading.Thread(target=time.sleep, args=(60,)).start()\n"
            "@atexit.register\ndef fail(): raise SystemExit(5)",
        )

    def test_handlers_at_exit_run(self):
        import os
        import tempfile

        path = os.path.join(tempfile.mkdtemp(), "left")
        self.check("exit()", "import atexit\natexit.register(lambda: open(%r, 'w').close())" % path)
        self.assertTrue(os.path.exists(path))
        os.remove(path)
        os.rmdir(os.path.dirname(path))

    def test_it_leaves_when_the_agent_goes(self):
        runner = RunnerProcess()
        runner.socket.close()
        self.assertEqual(runner.process.wait(5), 0)
        runner.close()

    def test_it_leaves_when_the_agent_goes_during_a_step(self):
        runner = RunnerProcess()
        runner.start(
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
            "time.sleep(0.3)\nprint('x')\ndisplay(1)"
        )
        runner.socket.close()
        self.assertEqual(runner.process.wait(5), 0)
        runner.close()


class Environment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess(env={"KEPT": "before"})

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def text(self, code, env=None):
        return self.runner.step("import os\n" + code, env)[1].get("text")

    def test_values_are_data(self):
        for value in (
            "it's",
            'say "hi"',
            "a\nb",
            "a\\",
            "a\\nb\\x41",
            "'; print('no'); '",
            "",
            "\u2603",
        ):
            self.assertEqual(self.text("print(os.environ['A'])", {"A": value}), value + "\n")
            self.assertEqual(
                self.text("print(os.popen('printf %s. \"$A\"').read())", {"A": value}),
                value + ".\n",
            )

    def test_they_last_one_step(self):
        self.assertEqual(
            self.text("os.environ['A'] + os.environ['KEPT']", {"A": "1", "KEPT": "2"}), "12"
        )
        self.assertEqual(self.text("str(os.environ.get('A')) + os.environ['KEPT']"), "Nonebefore")

    def test_they_are_gone_after_errors_too_and_changes_to_them_do_not_stay(self):
        self.text(
            "os.environ['A'] = 'changed'; del os.environ['KEPT']; 1/0", {"A": "1", "KEPT": "2"}
        )
        self.assertEqual(self.text("str(os.environ.get('A')) + os.environ['KEPT']"), "Nonebefore")

    def test_other_names_stay_as_the_code_left_them(self):
        self.text("os.environ['OWN'] = 'x'", {"A": "1"})
        self.assertEqual(self.text("os.environ['OWN']"), "x")

    def test_cell_magics_see_them(self):
        events = self.runner.step("%%bash\necho $A", {"A": "1"})
        self.assertEqual(events[1]["text"], "1\n")

    def test_line_numbers_do_not_move(self):
        error = self.runner.step("a = 1\n1/0", {"A": "1"})[1]
        self.assertIn("----> 2 1/0", error["traceback"])

    def test_impossible_variables_are_errors_and_the_code_does_not_run(self):
        for env in (
            {"B": "1", "": "1"},
            {"B": "1", "A=": "1"},
            {"B": "1", "A": "\0"},
            {"A": "\ud800"},
        ):
            events = self.runner.step("ran = True", env)
            self.assertEqual([event["type"] for event in events[1:]], ["error", "end"])
        self.assertEqual(self.text("'ran' in globals(), 'B' in os.environ"), "(False, False)")


if __name__ == "__main__":
    unittest.main()
