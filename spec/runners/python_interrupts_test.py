"""Interrupts reach the code of a step, wherever it is, and nothing else; loops and tasks."""

import threading
import time
import unittest

from runner_case import RunnerCase
from runner_process import RunnerProcess


class Interrupts(RunnerCase):
    @classmethod
    def start(cls):
        return RunnerProcess()

    def interrupted(self, code, within=1.5):
        """The events of a step that is interrupted once it has printed `go`."""
        return self.interrupted_once_it_prints(code, within)

    def check(self, code, within=1.5):
        events = self.interrupted(code, within)
        errors = [event for event in events if event["type"] == "error"]
        self.assertEqual([error["name"] for error in errors], ["KeyboardInterrupt"], events)
        self.assertEqual(errors[0]["value"], "")
        self.assertEqual(events[-1], {"type": "end"})
        self.alive()

    def alive(self):
        self.assertEqual(self.runner.step("20 + 1")[1]["text"], "21")

    def test_loops(self):
        self.check("i = 0\nprint('go')\nwhile True: i += 1")
        self.assertEqual(self.runner.step("i > 0")[1]["text"], "True")

    def test_loops_that_print(self):
        self.check("import sys\nprint('go')\nwhile True: print('x'); print('y', file=sys.stderr)")

    def test_sleep(self):
        self.check("import time\nprint('go')\ntime.sleep(60)")

    def test_calls_in_c(self):
        self.check("print('go')\nsum(iter(lambda: 0, 1))")

    def test_locks_and_queues(self):
        self.check("import queue\nprint('go')\nqueue.Queue().get()")

    def test_subprocesses(self):
        self.check("import subprocess\nprint('go')\nsubprocess.run(['sleep', '60'])")
        self.check(
            "import subprocess\nprint('go')\nsubprocess.check_output('sleep 60; true', shell=True)"
        )

    def test_os_system(self):
        self.check("import os\nprint('go')\nos.system('sleep 60; echo x')")
        self.check("import os\nprint('go')\nos.system('sleep 61')")
        self.gone("sleep 6[01]")

    def test_sessions_of_their_own_are_left_alone(self):
        self.check(
            "import subprocess\nown = subprocess.Popen(['sleep', '66'], start_new_session=True)\n"
            "print('go')\nown.wait()"
        )
        self.assertEqual(self.runner.step("print(own.poll())")[1]["text"], "None\n")
        self.runner.step("own.kill(); own.wait()")

    def gone(self, pattern):
        text = self.runner.step(
            "import subprocess, time\ntime.sleep(0.1)\nprint(subprocess.run(['pgrep', '-g', '0',"
            " '-af', '^%s'], capture_output=True, text=True).stdout)" % pattern
        )[1]["text"]
        self.assertEqual(text, "\n")

    def test_shell_commands(self):
        self.check("print('go')\n!sleep 62; echo never")
        self.check("!echo go; sleep 62")
        self.gone("sleep 62")

    def test_stubborn_commands_are_killed(self):
        self.check("!trap '' INT; echo go; sleep 63; sleep 63", within=4)
        self.gone("sleep 63")

    def test_cell_magics(self):
        events = self.interrupted("%%bash\necho go\nsleep 64", within=3)
        self.assertEqual(events[-1], {"type": "end"})  # IPython itself swallows the exception
        self.gone("sleep 64")

    def test_top_level_await(self):
        self.check("import asyncio\nprint('go')\nawait asyncio.sleep(60)")
        self.check("print('go')\nawait asyncio.gather(asyncio.sleep(60), asyncio.sleep(60))")

    def test_a_loop_in_a_cell_that_awaits(self):
        self.check("import asyncio\nawait asyncio.sleep(0)\nprint('go')\nwhile True: pass")

    def test_a_background_task_that_hogs_the_loop_of_an_await(self):
        self.check(
            "import asyncio\nasync def hog():\n    print('go')\n    while True: pass\n"
            "task = asyncio.ensure_future(hog())\nawait asyncio.sleep(60)"
        )

    def test_asyncio_run_in_a_plain_cell(self):
        self.check("import asyncio\nprint('go')\nasyncio.run(asyncio.sleep(60))")

    def test_servers_of_earlier_steps_live_on(self):
        self.runner.step("import subprocess\nserver = subprocess.Popen(['sleep', '65'])")
        self.check("import time\nprint('go')\ntime.sleep(60)")
        self.assertEqual(self.runner.step("print(server.poll())")[1]["text"], "None\n")
        self.runner.step("server.kill(); server.wait()")

    def test_code_that_swallows_it_goes_on(self):
        events = self.interrupted(
            "import time\nprint('go')\ntry:\n    time.sleep(60)\nexcept BaseException as e:\n   "
            " caught = repr(e)\nprint('on')"
        )
        self.assertEqual("".join(e.get("text", "") for e in events), "go\non\n")
        self.assertEqual(self.runner.step("caught")[1]["text"], "KeyboardInterrupt()")

    def test_handlers_of_the_code_last_one_step(self):
        self.runner.step("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)")
        self.check("import time\nprint('go')\ntime.sleep(60)")
        self.runner.step("signal.signal(signal.SIGINT, signal.SIG_DFL)")
        self.runner.interrupt()
        time.sleep(0.05)
        self.alive()

    def test_between_steps_nothing_happens(self):
        for _ in range(200):
            self.runner.interrupt()
        time.sleep(0.05)
        self.alive()

    def test_one_for_a_request_that_is_on_its_way_is_for_that_step(self):
        time.sleep(0.05)
        self.runner.start("import time\ntime.sleep(60)")
        self.runner.interrupt()
        events = self.runner.finish(timeout=5)
        self.assertEqual([event["type"] for event in events][-2:], ["error", "end"])
        self.assertEqual(events[-2]["name"], "KeyboardInterrupt")

    def test_a_task_that_hogs_the_loop_between_steps(self):
        self.runner.step(
            "import asyncio\nasync def hog():\n    await asyncio.sleep(0.05)\n    while True:"
            " pass\ntask = asyncio.create_task(hog())"
        )
        time.sleep(0.3)
        self.runner.start("1")
        self.runner.interrupt()
        events = self.runner.finish(timeout=5)
        self.assertEqual(events[-2].get("name"), "KeyboardInterrupt")
        self.alive()

    def test_no_end_is_lost_at_the_edges(self):
        """Interrupts rain on short steps: each has exactly one count and one end."""
        with self.rain_of_interrupts(0.0007):
            for i in range(300):
                events = self.runner.step(
                    "print(1)\nimport sys\nprint(2, file=sys.stderr)\ndisplay(3)\n4"
                )
                kinds = [event["type"] for event in events]
                self.assertEqual(kinds.count("number_of_executions"), 1, events)
                self.assertEqual(kinds.count("end"), 1)
                self.assertEqual(kinds[-1], "end")
                for event in events:
                    if event["type"] == "error":
                        self.assertEqual(event["name"], "KeyboardInterrupt", event)
                    self.assertNotIn("stepbox_runner", str(event.get("text")))
        self.runner.step("pass")
        self.alive()

    def test_an_alarm_of_the_code_raises_in_its_own_time(self):
        self.runner.step(
            "import signal\ndef ring(*_): raise TimeoutError('late')\nold ="
            " signal.signal(signal.SIGALRM, ring)\nx = signal.setitimer(signal.ITIMER_REAL, 0.005,"
            " 0.005)"
        )
        for i in range(100):
            events = self.runner.step("print('a' * 1000); 7")
            self.assertEqual(events[-1], {"type": "end"})
            time.sleep(0.002)
        for i in range(20):
            self.runner.step("signal.setitimer(signal.ITIMER_REAL, 0)")
        self.alive()


class Loops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def text(self, code):
        events = self.runner.step(code)
        self.assertNotIn("error", [event["type"] for event in events], events)
        return events[1].get("text")

    def test_top_level_await(self):
        self.assertEqual(self.text("import asyncio\nawait asyncio.sleep(0.01, 42)"), "42")
        self.assertEqual(
            self.text(
                "async def numbers():\n    yield 1\n    yield 2\n[n async for n in numbers()]"
            ),
            "[1, 2]",
        )

    def test_asyncio_run_works_in_a_plain_cell_and_leaves_the_loop_usable(self):
        code = "import asyncio\nasync def f(): return 5\nasyncio.run(f())"
        self.assertEqual(self.text(code), "5")
        self.assertEqual(self.text("asyncio.get_event_loop().run_until_complete(f())"), "5")
        self.assertEqual(self.text("await f()"), "5")

    def test_tasks_go_on_between_steps_and_can_be_awaited_later(self):
        self.text(
            "import asyncio\nsteps = []\nasync def work():\n    for i in range(3):\n        await"
            " asyncio.sleep(0.02)\n        steps.append(i)\n    return 'done'\ntask ="
            " asyncio.create_task(work())\nother = asyncio.ensure_future(work())"
        )
        time.sleep(0.3)
        self.assertEqual(self.text("steps"), "[0, 0, 1, 1, 2, 2]")
        self.assertEqual(self.text("await task"), "done")

    def test_output_of_a_task_during_a_later_step_belongs_to_it(self):
        self.text(
            "import asyncio\nasync def f():\n    await asyncio.sleep(0.2); print('task')\nx ="
            " asyncio.ensure_future(f())"
        )
        self.assertEqual(self.text("await asyncio.sleep(0.5)"), "task\n")

    def test_a_closed_loop_is_replaced(self):
        self.text("import asyncio\nasyncio.get_event_loop().close()")
        self.assertEqual(self.text("await asyncio.sleep(0, 'ok')"), "ok")

    def test_a_failed_task_does_not_end_the_runner(self):
        self.text(
            "import asyncio\nasync def bad(): raise SystemExit(3)\ntask ="
            " asyncio.ensure_future(bad())"
        )
        time.sleep(0.1)
        self.assertEqual(self.text("'still'"), "still")

    def test_threads_may_use_the_loop(self):
        code = """
import asyncio, threading
async def answer(): return 42
loop = asyncio.get_event_loop()
results = []
thread = threading.Thread(
    target=lambda: results.append(asyncio.run_coroutine_threadsafe(answer(), loop).result(5)))
thread.start()
await asyncio.sleep(0.2)
results
"""
        self.assertEqual(self.text(code), "[42]")


if __name__ == "__main__":
    unittest.main()
