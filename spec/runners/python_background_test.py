"""Tasks and threads that outlive the step that began them."""

import time
import unittest

from runner_process import RunnerProcess


class Background(unittest.TestCase):
    def setUp(self):
        self.runner = RunnerProcess()
        self.addCleanup(self.runner.close)

    def events(self, code):
        return [
            (event.get("name", event["type"]), event.get("text", event.get("value")))
            for event in self.runner.step(code)[1:-1]
        ]

    def test_await_at_top_level(self):
        code = """
import asyncio
class Room:
    async def __aenter__(self): return 'in'
    async def __aexit__(self, *_): print('out')
async def count():
    for i in range(2): yield i
async with Room() as where:
    print(where)
async for i in count():
    print(i)
await asyncio.sleep(0)
[i async for i in count()]
"""
        self.assertEqual(self.events(code), [("stdout", "in\nout\n0\n1\n"), ("result", "[0, 1]")])
        self.assertEqual(
            self.events("await asyncio.gather(*(asyncio.sleep(0, n) for n in 'ab'))"),
            [("result", "['a', 'b']")],
        )
        self.assertEqual(self.events("asyncio.run(asyncio.sleep(0, 5))"), [("result", "5")])
        self.assertEqual(
            self.events("await asyncio.wait_for(asyncio.sleep(9), .01)")[0][0], "TimeoutError"
        )

    def test_a_task_goes_on_between_steps(self):
        code = """
import asyncio
seen = []
async def work():
    for i in range(3):
        await asyncio.sleep(0.02)
        seen.append(i)
    return 'done'
task = asyncio.create_task(work())
"""
        self.assertEqual(self.events(code), [])
        time.sleep(0.5)
        self.assertEqual(self.events("seen"), [("result", "[0, 1, 2]")])
        self.assertEqual(self.events("await task"), [("result", "done")])

    def test_a_task_that_fails_is_told_of_when_it_is_awaited(self):
        self.events(
            "import asyncio\nasync def bad(): raise ValueError('bg')\ntask ="
            " asyncio.create_task(bad())"
        )
        time.sleep(0.1)
        self.assertEqual(self.events("1"), [("result", "1")])
        self.assertEqual(self.events("await task"), [("ValueError", "bg")])

    def test_what_a_task_prints_between_steps_asks_for_nothing(self):
        self.events("""
import asyncio, sys
async def talk():
    await asyncio.sleep(0.05)
    print('o'); print('e', file=sys.stderr); display('d')
task = asyncio.create_task(talk())
""")
        before = self.runner.drains
        time.sleep(0.3)
        self.assertEqual(self.runner.drains, before)
        events = self.events("task.done()")
        self.assertEqual(events[-1], ("result", "True"))
        self.assertNotIn(("result", "d"), events)

    def test_what_a_thread_prints_during_a_later_step_is_output_of_that_step(self):
        self.events("""
import threading
go, gone = threading.Event(), threading.Event()
def talk():
    go.wait(10)
    print('from the thread'); display('shown'); gone.set()
thread = threading.Thread(target=talk); thread.start()
""")
        events = self.runner.step("go.set()\nt = gone.wait(10)\n'mine'")[1:-1]
        self.assertEqual(
            [(event["type"], event["text"], event.get("is_main_result")) for event in events],
            [
                ("stdout", "from the thread\n", None),
                ("result", "shown", False),
                ("result", "mine", True),
            ],
        )

    def test_a_thread_that_fails_writes_to_stderr(self):
        code = """
import threading
thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()
"""
        ((stream, text),) = self.events(code)
        self.assertEqual(stream, "stderr")
        self.assertIn("ZeroDivisionError: division by zero", text)


if __name__ == "__main__":
    unittest.main()
