"""Interrupts reach the code that a kernel of Jupyter runs, and nothing else."""

import os
import tempfile
import time
import unittest

from jupyter_process import KernelTest, has_kernel, start_kernel


class Interrupts(KernelTest):
    def interrupted(self, code, within=3):
        return self.interrupted_once_it_prints(code, within, self.runner.serve)

    def check(self, code):
        self.runner.step("state = 5")
        events = self.interrupted(code)
        self.assertEqual([e["name"] for e in events if e["type"] == "error"], ["KeyboardInterrupt"])
        self.assertEqual(events[-1], {"type": "end"})
        self.assertEqual(self.text("state"), "5")

    def test_loops_and_sleep(self):
        self.check("print('go', flush=True)\nwhile True: pass")
        self.check("import time\nprint('go', flush=True)\ntime.sleep(60)")

    def test_programs(self):
        self.check("import subprocess\nprint('go', flush=True)\nsubprocess.run(['sleep', '60'])")

    def test_code_that_catches_it_goes_on(self):
        events = self.interrupted(
            "import time\nprint('go', flush=True)\ntry:\n    time.sleep(60)\n"
            "except KeyboardInterrupt:\n    print('caught')"
        )
        self.assertEqual("".join(e.get("text", "") for e in events), "go\ncaught\n")

    def test_one_at_the_very_beginning_is_not_lost(self):
        for _ in range(5):
            self.runner.start("import time\ntime.sleep(60)")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            self.runner.interrupt()
            self.assertEqual(self.runner.finish(10)[-2]["name"], "KeyboardInterrupt")

    def test_between_steps_nothing_happens(self):
        for _ in range(50):
            self.runner.interrupt()
        self.runner.serve(0.2)
        self.assertEqual(self.text("1"), "1")


class ByMessage(unittest.TestCase):
    """A kernel that wants its interrupts as messages: Python's with a thread that takes them."""

    def test_interrupts_as_messages(self):
        if not has_kernel("python3"):
            self.skipTest("the kernel python3 is not installed here")
        with tempfile.TemporaryDirectory() as home:
            folder = os.path.join(home, ".local/share/jupyter/kernels/messages")
            os.makedirs(folder)
            with open(os.path.join(folder, "kernel.json"), "w") as stream:
                stream.write(
                    '{"argv": ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],'
                    ' "interrupt_mode": "message", "env": {"OWN": "of ${HOME}"}}'
                )
            runner = start_kernel("messages", env={"HOME": home})
            try:
                self.assertEqual(
                    runner.step("import os; os.environ['OWN']")[1]["text"], "of " + home
                )
                runner.start("import time\nprint('go', flush=True)\ntime.sleep(60)")
                runner.wait(lambda event: event["type"] == "stdout")
                runner.serve(0.1)
                runner.interrupt()
                self.assertEqual(runner.finish(10)[-2]["name"], "KeyboardInterrupt")
            finally:
                runner.close()


if __name__ == "__main__":
    unittest.main()
