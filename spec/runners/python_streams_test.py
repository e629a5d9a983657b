"""Standard streams: order, bytes, speed, and code that does odd things to them."""

import time
import unittest

from runner_process import RunnerProcess


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def output(self, code, runner=None):
        """The step's pieces as (stream, text); it must have nothing else."""
        events = (runner or self.runner).step(code)
        self.assertEqual(events[-1], {"type": "end"})
        return [(event["type"], event.get("text", event)) for event in events[1:-1]]

    def test_order_is_kept_across_the_two_streams(self):
        code = """
import sys
for i in range(50):
    print('o', i)
    print('e', i, file=sys.stderr)
"""
        expected = []
        for i in range(50):
            expected += [("stdout", "o %d\n" % i), ("stderr", "e %d\n" % i)]
        self.assertEqual(self.output(code), expected)

    def test_one_stream_alone_asks_for_no_more_than_one_drain(self):
        before = self.runner.drains
        self.output("for i in range(1000): print(i)")
        self.assertLessEqual(self.runner.drains - before, 1)
        before = self.runner.drains
        self.output("x = 1")
        self.assertEqual(self.runner.drains, before)

    def test_the_first_piece_arrives_while_the_step_goes_on(self):
        self.runner.start("import time\nprint('now', end='')\ntime.sleep(5)")
        begin = time.monotonic()
        piece = self.runner.wait(lambda event: event["type"] == "stdout")[-1]
        self.assertLess(time.monotonic() - begin, 4)
        self.assertEqual(piece["text"], "now")
        self.runner.interrupt()
        self.runner.finish()

    def test_bytes_that_are_not_text(self):
        code = (
            "import sys, os\nn = sys.stdout.buffer.write(b'\\xff\\x00')\nprint(n, os.write(1, b''))"
        )
        self.assertEqual(self.output(code), [("stdout", "\ufffd\x002 0\n")])

    def test_surrogates(self):
        code = "print('a\\ud800b')\nprint(b'\\xe2\\x98\\x83'.decode('ascii', 'surrogateescape'))"
        self.assertEqual(self.output(code), [("stdout", "a\ufffdb\n\u2603\n")])

    def test_the_streams_answer_as_text_streams_do(self):
        code = """
import io, sys
for stream in sys.stdout, sys.stderr:
    print(isinstance(stream, io.TextIOBase), stream.encoding, stream.isatty(), stream.fileno(),
          stream.name, stream.writable(), stream.readable(), stream.buffer.raw.fileno())
sys.stdout.writelines(['a', 'b'])
sys.stdout.reconfigure(encoding='utf-8', errors='strict', line_buffering=False)
print(sys.stdout.write('\\u2603'))
try:
    sys.stdout.write(b'x')
except TypeError as e:
    print(e)
"""
        self.assertEqual(
            self.output(code),
            [
                (
                    "stdout",
                    (
                        "True utf-8 False 1 <stdout> True False 1\n"
                        "True utf-8 False 2 <stderr> True False 2\n"
                        "ab\u26031\nwrite() argument must be str, not bytes\n"
                    ),
                )
            ],
        )

    def test_children_write_to_the_same_places(self):
        code = """
import os, subprocess, sys
print('a')
done = subprocess.run('echo b; echo c >&2', shell=True)
status = os.system('echo d; exit 3')
print(os.waitstatus_to_exitcode(status))
"""
        pieces = self.output(code)
        self.assertEqual("".join(t for s, t in pieces if s == "stdout"), "a\nb\nd\n3\n")
        self.assertEqual("".join(t for s, t in pieces if s == "stderr"), "c\n")

    def test_shell_commands_run_on_a_terminal(self):
        code = "!test -t 1 && echo out; echo err >&2; exit 3\nprint(_exit_code)"
        self.assertEqual(self.output(code), [("stdout", "out\r\nerr\r\n3\n")])
        self.assertEqual(self.output("lines = !echo a; echo b\nprint(lines)")[0][1], "['a', 'b']\n")
        self.assertEqual(self.output("!cat"), [], "commands have no input")

    def test_a_character_split_by_a_command_is_put_together(self):
        code = r"!printf '\342\230'; sleep 0.1; printf '\203'; printf '\377'"
        self.assertEqual(self.output(code), [("stdout", "\u2603\ufffd")])

    def test_a_command_in_the_background_does_not_hold_the_step(self):
        begin = time.monotonic()
        self.assertEqual(self.output("!sleep 5 &")[:], [])
        self.assertEqual(self.output("!(sleep 5; echo no) & echo yes"), [("stdout", "yes\r\n")])
        self.assertLess(time.monotonic() - begin, 2)

    def test_captured_commands_stay_captured(self):
        code = "%%capture held\nprint('a')\n!echo b"
        self.assertEqual(self.output(code), [])
        self.assertEqual(self.output("print(repr(held.stdout))"), [("stdout", "'a\\nb\\r\\n'\n")])

    def test_cell_magics_for_other_programs(self):
        events = self.runner.step("%%bash\necho hi\necho err >&2\nexit 2")
        self.assertEqual(
            [(e["type"], e.get("text", e.get("name"))) for e in events[1:-1]],
            [("stdout", "hi\n"), ("stderr", "err\n"), ("error", "CalledProcessError")],
        )

    def test_a_hundred_megabytes_of_lines(self):
        code = "line = 'x' * 1023\nfor i in range(100_000): print(line)"
        begin = time.monotonic()
        ((stream, text),) = self.output(code)
        self.assertEqual(len(text), 102_400_000)
        self.assertLess(time.monotonic() - begin, 10, "far above what it takes")

    def test_a_line_larger_than_the_pipe(self):
        ((stream, text),) = self.output("print('x' * 5_000_000)")
        self.assertEqual(len(text), 5_000_001)

    def test_a_pipe_made_non_blocking_by_a_child_loses_nothing(self):
        code = (
            "import os\nos.set_blocking(1, False)\nprint('x' * 3_000_000)\nos.set_blocking(1, True)"
        )
        ((stream, text),) = self.output(code)
        self.assertEqual(len(text), 3_000_001)

    def test_stdin_is_at_its_end_and_cannot_be_asked(self):
        self.assertEqual(
            self.output("import sys\nprint(repr(sys.stdin.read()))"), [("stdout", "''\n")]
        )
        for code, function in (("input('name? ')", "raw_input"), ("getpass.getpass()", "getpass")):
            error = self.runner.step("import getpass\n" + code)[1]
            self.assertEqual(error["name"], "StdinNotImplementedError")
            self.assertEqual(
                error["value"],
                function + " was called, but this frontend does not support input requests.",
            )

    def test_threads_that_write_to_both_streams(self):
        code = """
import sys, threading
def work(n):
    for i in range(50):
        print('o', n, i)
        print('e', n, i, file=sys.stderr)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for i in range(50): display(i)
for t in threads: t.join()
"""
        events = self.runner.step(code)
        text = "".join(e["text"] for e in events if e["type"] == "stdout")
        for n in range(4):
            lines = [
                line for line in text.replace("\n", " \n").split("o ") if line.startswith("%d " % n)
            ]
            self.assertEqual(len(lines), 50)
        self.assertEqual(sum(e["type"] == "result" for e in events), 50)

    def test_a_signal_handler_that_prints_while_streams_switch(self):
        code = """
import signal, sys
count = 0
def tick(*_):
    global count
    count += 1
    print('t', file=sys.stderr if count % 2 else sys.stdout)
old = signal.signal(signal.SIGALRM, tick)
x = signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
for i in range(300):
    print('o'); print('e', file=sys.stderr)
x = signal.setitimer(signal.ITIMER_REAL, 0)
x = signal.signal(signal.SIGALRM, old)
"""
        pieces = self.output(code)
        self.assertEqual("".join(t for s, t in pieces if s == "stdout").count("o\n"), 300)

    def test_what_threads_write_after_the_step_asks_for_nothing(self):
        code = """
import sys, threading, time
def late():
    time.sleep(0.2)
    for i in range(20):
        print('o'); print('e', file=sys.stderr); display(i)
thread = threading.Thread(target=late); thread.start()
"""
        self.output(code)
        before = self.runner.drains
        time.sleep(0.6)
        self.assertEqual(self.runner.drains, before)
        events = self.runner.step("thread.join()")
        self.assertEqual([e for e in events if e["type"] == "result"], [])


class OddThings(unittest.TestCase):
    """Code that breaks its own streams does not break the runner."""

    def setUp(self):
        self.runner = RunnerProcess()
        self.addCleanup(self.runner.close)

    def check(self):
        events = self.runner.step("print('still'); 40 + 2")
        self.assertEqual([e.get("text") for e in events[1:-1]], ["still\n", "42"], events)

    def test_closing_the_streams(self):
        self.runner.step("import sys\nsys.stdout.close()\nsys.stderr.close()\nsys.stdin.close()")
        self.check()

    def test_closing_the_descriptors(self):
        self.runner.step("import os\nos.close(1)\nos.close(2)\nos.close(0)")
        self.check()
        self.runner.step("import os\nos.closerange(3, 256)")
        self.check()

    def test_replacing_the_streams(self):
        self.runner.step("import sys, io\nsys.stdout = sys.stderr = io.StringIO()")
        events = self.runner.step("print('hidden'); 1/0")
        self.assertEqual([e["type"] for e in events[1:-1]], ["error"])
        self.runner.step("sys.stdout = sys.stderr = None")
        self.check()

    def test_redefining_names(self):
        self.runner.step("print = len = json = str = 5\nimport os\nos.environ = {}")
        self.runner.step("del print, len, str\nimport json\njson.dumps = json.loads = None")
        self.check()

    def test_deleting_builtins(self):
        self.runner.step("import builtins\ndel builtins.len, builtins.isinstance, builtins.str")
        self.check()

    def test_a_working_directory_that_goes_away(self):
        self.runner.step("import os, tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.rmdir(d)")
        self.check()

    def test_a_child_that_ends_at_once(self):
        code = """
import os, sys
pid = os.fork()
if pid == 0:
    print('child'); print('child', file=sys.stderr); display(1); os._exit(0)
os.waitpid(pid, 0)
print('parent')
"""
        events = self.runner.step(code)
        self.assertEqual(
            "".join(e["text"] for e in events if e["type"] == "stdout"), "child\nparent\n"
        )
        self.assertEqual([e for e in events if e["type"] == "result"], [])
        self.check()

    def test_a_child_that_comes_out_of_the_cell(self):
        self.runner.step("import os, sys\npid = os.fork()\nif pid: status = os.waitpid(pid, 0)[1]")
        self.assertEqual(self.runner.step("status")[1]["text"], "0")
        events = self.runner.step(
            "pid = os.fork()\nif pid == 0: 1/0\nstatus = os.waitstatus_to_exitcode(os.waitpid(pid,"
            " 0)[1])"
        )
        self.assertIn("ZeroDivisionError", "".join(e.get("text", "") for e in events))
        self.assertEqual(self.runner.step("status")[1]["text"], "1")
        self.check()

    def test_worker_processes(self):
        code = """
import concurrent.futures, multiprocessing
def square(n): return n * n
with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context('fork')) as pool:
    squares = list(pool.map(square, range(5)))
squares
"""
        events = self.runner.step(code)
        results = [e for e in events if e["type"] == "result"]
        self.assertEqual(results[0]["text"], "[0, 1, 4, 9, 16]")
        self.check()

    def test_the_protocol_socket_is_not_inherited(self):
        code = (
            "import subprocess\nprint(subprocess.run(['ls', '-l', '/proc/self/fd'],"
            " close_fds=False, capture_output=True, text=True).stdout)"
        )
        text = self.runner.step(code)[1]["text"]
        self.assertIn("pipe:", text)
        self.assertNotIn("socket:", text)


if __name__ == "__main__":
    unittest.main()
