"""Steps in kernels of Jupyter: what they say, as lines of the runner protocol."""

import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from jupyter_process import MAIN, KernelTest, has_kernel, start_kernel
from runner_process import PYTHON


class Python(KernelTest):
    options = {"env": {"OF_CONTEXT": "it's"}, "cwd": "/usr"}

    def test_state_results_and_counts(self):
        count = self.runner.step("x = 20 + 1")[0]["execution_count"]
        events = self.runner.step("x * 2")
        self.assertEqual(
            events,
            [
                {"type": "number_of_executions", "execution_count": count + 1},
                {"type": "result", "text": "42", "extra": {}, "is_main_result": True},
                {"type": "end"},
            ],
        )

    def test_the_order_of_streams_and_results(self):
        events = self.events(
            "import sys\nprint('a'); print('b', file=sys.stderr); display('c'); print('d')\n'e'"
        )
        self.assertEqual(
            [(event["type"], event["text"]) for event in events],
            [
                ("stdout", "a\n"),
                ("stderr", "b\n"),
                ("result", "c"),
                ("stdout", "d\n"),
                ("result", "e"),
            ],
        )
        self.assertEqual([events[2]["is_main_result"], events[4]["is_main_result"]], [False, True])

    def test_formats(self):
        (event,) = self.events(
            "display({'text/html': '<b>', 'application/x-own': {'a': 1}, 'image/png': 'aGk=\\n'},"
            " raw=True)"
        )
        self.assertEqual(
            event,
            {
                "type": "result",
                "html": "<b>",
                "png": "aGk=",
                "extra": {"application/x-own": {"a": 1}},
                "is_main_result": False,
            },
        )

    def test_updates_and_clearing_say_nothing(self):
        events = self.events(
            "from IPython.display import clear_output\n"
            "d = display('a', display_id=True); d.update('b'); clear_output()"
        )
        self.assertEqual([event.get("text") for event in events], ["a"])

    def test_errors_have_no_colours(self):
        (error,) = self.events("def f():\n    return 1/0\nf()")
        self.assertEqual((error["name"], error["value"]), ("ZeroDivisionError", "division by zero"))
        self.assertNotIn("\x1b", error["traceback"])
        self.assertIn("----> 3 f()", error["traceback"])
        (error,) = self.events("x = = 1")
        self.assertEqual(error["name"], "SyntaxError")

    def test_a_step_right_after_an_error_runs(self):
        for _ in range(10):
            self.runner.step("1/0")
            self.assertEqual(self.text("'runs'"), "runs")

    def test_there_is_no_input(self):
        (error,) = self.events("input()")
        self.assertEqual(error["name"], "StdinNotImplementedError")
        self.assertEqual(self.text("import sys; sys.stdin.read()"), "")

    def test_the_contexts_variables_and_directory(self):
        self.assertEqual(
            self.text("import os; os.environ['OF_CONTEXT'], os.getcwd()"), "(\"it's\", '/usr')"
        )

    def test_variables_of_a_step_are_refused_and_the_code_does_not_run(self):
        count = self.runner.step("1")[0]["execution_count"]
        events = self.runner.step("ran = 1", {"A": "x"})
        self.assertEqual(events[0]["execution_count"], count + 1)
        self.assertEqual(events[1]["name"], "NotSupported")
        self.assertIn("context", events[1]["value"])
        events = self.runner.step("'ran' in globals()")
        self.assertEqual((events[0]["execution_count"], events[1]["text"]), (count + 2, "False"))

    def test_output_of_processes(self):
        # The kernel's own thread collects it, which takes a moment.
        (event,) = self.events("import os, time; x = os.system('echo child'); time.sleep(1)")
        self.assertEqual(event, {"type": "stdout", "text": "child\n"})

    def test_output_between_steps_belongs_to_none(self):
        self.events(
            "import threading, time\n"
            "t = threading.Thread(target=lambda: (time.sleep(0.3), print('late'))); t.start()"
        )
        self.runner.serve(0.8)
        self.assertEqual(self.text("1"), "1")

    def test_much_output(self):
        (event,) = self.events("for i in range(20000): print(i)")
        self.assertEqual(event["text"], "".join("%d\n" % i for i in range(20000)))
        self.assertEqual(len(self.text("'x' * 3000000")), 3000000)

    def test_code_at_which_the_kernel_itself_fails(self):
        (error,) = self.events("'\x00'")
        self.assertIn(error["name"], ("Error", "SyntaxError", "ValueError"))
        self.assertEqual(self.text("'on'"), "on")

    def test_many_messages_wait_for_an_agent_that_does_not_read(self):
        # Of a thousand at once, ZeroMQ in the kernel would itself drop some: it gets time to send them.
        self.runner.start(
            "import time\n"
            "for i in range(4000):\n"
            "    display('%d' % i + '.' * 1000)\n"
            "    if i % 400 == 0: time.sleep(0.2)"
        )
        time.sleep(3)
        events = self.runner.finish()[1:-1]
        self.assertEqual(
            [int(event["text"].strip("'.")) for event in events], list(range(4000))
        )

    def test_a_step_whose_end_is_lost_ends_with_an_error(self):
        (error,) = self.events(
            "kernel = get_ipython().kernel; kernel._publish_status = lambda *_, **__: None"
        )
        self.assertEqual(error["name"], "OutputLost")
        self.assertEqual(self.events("del kernel._publish_status"), [])

    def test_any_text(self):
        (event,) = self.events("print('\u00e9\u2603\U0001f600\\x00')")
        self.assertEqual(event["text"], "\u00e9\u2603\U0001f600\x00\n")


class Ends(unittest.TestCase):
    def setUp(self):
        if not has_kernel("python3"):
            self.skipTest("the kernel python3 is not installed here")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self):
        runner = start_kernel("python3", env={"TMPDIR": self.folder.name})
        self.addCleanup(runner.close)
        return runner

    def kernel(self, runner):
        return int(runner.step("import os; os.getpid()")[1]["text"])

    def gone(self, pid):
        for _ in range(100):
            if not os.path.exists("/proc/%d" % pid):
                return True
            time.sleep(0.05)
        return False

    def test_exit_ends_the_step_and_then_the_runner(self):
        runner = self.start()
        pid = self.kernel(runner)
        self.assertEqual(runner.step("exit()")[-1], {"type": "end", "exit": True})
        self.assertEqual(runner.process.wait(10), 0)
        self.assertTrue(self.gone(pid))
        self.assertEqual(self.left(), [])

    def left(self):
        """What the runners have there. Kernels leave folders of their own."""
        return [name for name in os.listdir(self.folder.name) if name.startswith("stepbox-")]

    def test_a_crash_of_the_kernel_is_the_runners(self):
        runner = self.start()
        pid = self.kernel(runner)
        runner.start("os.kill(os.getpid(), 9)")
        self.assertEqual(runner.process.wait(60), 1)
        self.assertTrue(self.gone(pid))

    def test_the_kernel_goes_with_the_runner(self):
        for end in (signal.SIGKILL, None):
            runner = self.start()
            pid = self.kernel(runner)
            if end:
                runner.process.send_signal(end)
            else:
                runner.socket.close()
            runner.process.wait(10)
            self.assertTrue(self.gone(pid))
        self.assertEqual(self.left(), [])  # the second has removed the first's

    def test_the_kernels_folder_is_private(self):
        self.start()
        (folder,) = self.left()
        folder = os.path.join(self.folder.name, folder)
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(folder + "/connection.json").st_mode & 0o777, 0o600)

    def test_what_killed_runners_left_goes_at_the_next_start(self):
        in_use, killed = self.start(), self.start()
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait(10)
        left = self.left()
        self.assertEqual(len(left), 2)
        others = os.path.join(self.folder.name, "others")
        os.mkdir(others)
        os.symlink(others, os.path.join(self.folder.name, "stepbox-kernel-link"))
        third = self.start()
        now = set(self.left()) - {"stepbox-kernel-link"}
        self.assertEqual(len(now), 2)
        self.assertEqual(len(now & set(left)), 1)
        self.assertTrue(os.path.isdir(others))
        for runner in (in_use, third):
            self.assertEqual(runner.step("1 + 1")[1]["text"], "2")

    def refused(self, name, home):
        ours, its = socket.socketpair()
        with ours, its:
            ended = subprocess.run(
                [PYTHON, MAIN, str(its.fileno()), name],
                env={"HOME": home, "PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=20,
                pass_fds=[its.fileno()],
                check=False,
            )
        self.assertEqual(ended.returncode, 1)
        return ended.stderr

    def install(self, name, spec):
        folder = os.path.join(self.folder.name, ".local/share/jupyter/kernels", name)
        os.makedirs(folder)
        with open(os.path.join(folder, "kernel.json"), "w") as stream:
            stream.write(spec)

    def test_kernels_that_cannot_be_used(self):
        self.install("other", "{}")
        self.install("broken", "{")
        self.install("odd", '{"argv": ["sh"], "interrupt_mode": "shout"}')
        self.install("absent", '{"argv": ["/no/such/program", "{connection_file}"]}')
        home = self.folder.name
        self.assertRegex(
            self.refused("nothing", home), "there is no kernel nothing; there are: .*other"
        )
        self.assertIn("has no argv", self.refused("other", home))
        for name in ("broken", "odd"):
            self.assertIn("the kernel %s cannot be used" % name, self.refused(name, home))
        self.assertIn("/no/such/program", self.refused("absent", home))

    def test_a_kernel_that_ends_at_once_says_why(self):
        self.install("short", '{"argv": ["sh", "-c", "echo no such module >&2; exit 3"]}')
        runner = start_kernel("short", env={"HOME": self.folder.name})
        self.addCleanup(runner.close)
        self.assertEqual(runner.process.wait(10), 1)
        self.assertEqual(runner.first["type"], "stderr")
        self.assertRegex(
            runner.first["text"], "short ended with status 3; it wrote:\nno such module"
        )


class R(KernelTest):
    """Another kernel, which does some things in its own way."""

    kernel = "ir"

    def test_results_streams_and_errors(self):
        self.runner.step("x <- 20 + 1", timeout=60)
        self.assertEqual(self.events("x * 2")[0]["text"], "[1] 42")
        self.assertEqual(
            [event["text"] for event in self.events("cat('a\\n'); message('b'); cat('c\\n')")],
            ["a\n", "b\n\n", "c\n"],
        )
        (error,) = self.events("f <- function() stop('boom'); f()")
        self.assertIn("boom", error["value"])
        self.assertIn('2. stop("boom")', error["traceback"])

    def test_interrupts(self):
        self.runner.step("y <- 5", timeout=60)
        self.runner.start("cat('go\\n'); flush.console(); Sys.sleep(60)")
        self.runner.wait(lambda event: event["type"] == "stdout")
        self.runner.interrupt()
        events = self.runner.finish()
        self.assertEqual([e["name"] for e in events if e["type"] == "error"], ["KeyboardInterrupt"])
        self.assertEqual(self.events("y")[0]["text"], "[1] 5")

    def test_quit(self):
        runner = start_kernel(self.kernel)
        try:
            self.assertEqual(runner.step("quit()", timeout=60)[-1], {"type": "end", "exit": True})
            runner.process.wait(10)
        finally:
            runner.close()


if __name__ == "__main__":
    unittest.main()
