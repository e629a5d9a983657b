"""What code of notebooks relies on: magics, shell escapes, warnings, top-level await, displays."""

import os
import tempfile
import time
import unittest

from runner_process import RunnerProcess


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def events(self, code, timeout=60):
        """As (type, text); errors as (name, value)."""
        return [
            (event.get("name", event["type"]), event.get("text", event.get("value")))
            for event in self.runner.step(code, timeout=timeout)[1:-1]
        ]

    def output(self, code, stream="stdout"):
        """All that the step gives, which must be one piece of a stream."""
        events = self.events(code)
        self.assertEqual([kind for kind, _ in events], [stream], events)
        return events[0][1]

    def text(self, code):
        """All that the step gives, which must be one result."""
        return self.output(code, "result")


class Magics(Notebook):
    def test_times(self):
        self.assertRegex(self.output("%time x = 5"), r"^CPU times: .*\nWall time: .*\n$")
        self.assertEqual(self.text("x"), "5")
        self.assertRegex(self.output("%timeit -n1 -r1 x"), r" per loop .* 1 loop each\)\n$")
        self.assertRegex(self.output("%%timeit -n1 -r1\ny = 1\ny"), r" per loop ")

    def test_pip(self):
        output = self.output("%pip --version")
        self.assertRegex(output, "^pip [0-9.]+ from |No module named pip")

    def test_shell_escapes(self):
        self.assertEqual(self.output("!echo a b; pwd"), "a b\r\n/tmp\r\n")
        self.assertEqual(
            self.output("word = 'x y'\n!echo {word} $word $$HOME"), "x y x y /nonexistent\r\n"
        )
        self.assertEqual(self.events("found = !printf 'a\\nb\\n'"), [])
        self.assertEqual(self.text("found, found.s, found.n"), r"(['a', 'b'], 'a b', 'a\nb')")
        self.assertEqual(self.output("!exit 3\nprint(_exit_code)"), "3\n")

    def test_cells_in_other_languages(self):
        self.assertEqual(self.output("%%bash\nfor i in 1 2; do echo $i; done"), "1\n2\n")
        self.assertEqual(self.output("%%sh\necho $0"), "sh\n")
        self.assertEqual(self.events("%%bash --out lines\necho kept"), [])
        self.assertEqual(self.text("lines"), "kept\\n")
        self.assertEqual(self.events("%%bash\nexit 2")[0][0], "CalledProcessError")

    def test_capturing(self):
        code = "%%capture held\nimport sys\nprint('o')\nprint('e', file=sys.stderr)\ndisplay(1)\n2"
        self.assertEqual(self.events(code), [])
        self.assertEqual(
            self.text("held.stdout, held.stderr, len(held.outputs)"), r"('o\n', 'e\n', 2)"
        )
        self.assertEqual(self.events("held.show()")[0], ("stdout", "o\n"))

    def test_environment_and_directory(self):
        self.assertEqual(self.output("%env NOTE=a b"), "env: NOTE=a b\n")
        self.assertEqual(self.text("import os\nos.environ['NOTE']"), "a b")
        self.assertEqual(self.output("!echo $NOTE"), "a b\r\n")
        self.assertEqual(self.text("%env NOTE"), "a b")
        self.assertEqual(self.output("%cd /usr"), "/usr\n")
        self.assertEqual(self.text("os.getcwd()"), "/usr")
        self.assertEqual(self.text("%pwd"), "/usr")
        self.assertEqual(self.output("!pwd"), "/usr\r\n")
        self.assertEqual(self.output("%cd -"), "/tmp\n")

    def test_files(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "made.py")
            self.assertEqual(
                self.output("%%writefile " + path + "\nmade = 7"), "Writing %s\n" % path
            )
            with open(path) as file:
                self.assertEqual(file.read(), "made = 7\n")
            self.assertEqual(self.events("%run " + path), [])
            self.assertEqual(self.text("made"), "7")

    def test_unknown_magics_are_errors(self):
        for code, text in (
            ("%nosuch 3", "Line magic function `%nosuch` not found."),
            ("%%nosuch\nx", "Cell magic `%%nosuch` not found."),
        ):
            self.assertEqual(
                self.events(code),
                [("stderr", "UsageError: %s\n" % text), ("UsageError", text)],
            )
        self.assertEqual(self.events("%load_ext nosuch")[0][0], "ModuleNotFoundError")

    def test_names_and_history(self):
        self.runner.step("%reset -f")
        self.runner.step("first, second = 1, 'b'")
        self.assertRegex(self.output("%who"), r"^first\s+second\s+\n$")
        self.assertIn("first, second = 1, 'b'\n", self.output("%history"))
        self.runner.step("%reset -f")
        self.assertEqual(self.events("first")[0][0], "NameError")

    def test_matplotlib_is_inline_whatever_is_asked_for_without_a_name(self):
        if self.events("import matplotlib.pyplot as plt"):
            self.skipTest("matplotlib is not installed")
        self.assertEqual(self.events("%matplotlib inline"), [])
        for code in ("%matplotlib inline", "%matplotlib"):
            self.runner.step(code)
            events = self.runner.step("lines = plt.plot([1, 2])")[1:-1]
            self.assertEqual(len(events), 1, events)
            self.assertIn("png", events[0])

    def test_the_debugger_has_nobody_to_ask(self):
        self.runner.step("def f(): raise ValueError('v')\nf()")
        self.assertEqual(self.events("%debug")[-1][0], "StdinNotImplementedError")
        self.assertEqual(self.text("1"), "1")


class Input(Notebook):
    def test_nothing_can_be_asked(self):
        for code in (
            "input()",
            "input('name? ')",
            "import getpass\ngetpass.getpass()",
            "import getpass\ngetpass.getpass('word? ')",
            "raw = __builtins__.input('x')",
        ):
            begin = time.monotonic()
            ((name, value),) = self.events(code)
            self.assertEqual(name, "StdinNotImplementedError", code)
            self.assertIn("does not support input requests", value)
            self.assertLess(time.monotonic() - begin, 5)

    def test_lines_of_standard_input_are_at_their_end(self):
        self.assertEqual(
            self.text("import sys\nsys.stdin.readline(), list(sys.stdin), sys.stdin.read()"),
            "('', [], '')",
        )
        self.assertEqual(self.events("!cat"), [])


class Displays(Notebook):
    def test_ids_and_updates(self):
        self.assertEqual(self.events("h = display('a', display_id='one')"), [("result", "a")])
        self.assertEqual(self.text("h.display_id"), "one")
        for code in (
            "h.update('b')",
            (
                "from IPython.display import update_display, clear_output\nupdate_display('c',"
                " display_id='one')"
            ),
            "clear_output()",
            "clear_output(wait=True)",
        ):
            self.assertEqual(self.events(code), [], code)
        events = self.events("h = display(display_id=True)\nh.display('d')\nh.display('e')")
        self.assertEqual(events, [("result", "d"), ("result", "e")])

    def test_several_values_and_the_last_expression(self):
        events = self.runner.step("display(1, 'two')\n'three'")[1:-1]
        self.assertEqual(
            [(event["text"], event["is_main_result"]) for event in events],
            [("1", False), ("two", False), ("three", True)],
        )

    def test_carriage_returns_are_kept(self):
        code = "import sys\nfor i in range(3): sys.stdout.write('\\r%d%%' % i)\nprint()"
        self.assertEqual(self.output(code), "\r0%\r1%\r2%\n")

    def test_warnings_come_once_from_each_place(self):
        code = "import warnings\nfor i in range(3): warnings.warn('once')"
        text = self.output(code, "stderr")
        self.assertEqual(text.count("UserWarning: once"), 1)
        self.assertRegex(text, r"^/tmp/\w+/\d+\.py:2: UserWarning: once\n  for i in range\(3\): ")
        self.runner.step("def old():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)")
        self.assertIn("DeprecationWarning: old", self.output("old()", "stderr"))

    def test_logging(self):
        code = "import logging\nlogging.warning('careful')\nlogging.info('unseen')"
        self.assertEqual(self.output(code, "stderr"), "WARNING:root:careful\n")


if __name__ == "__main__":
    unittest.main()
