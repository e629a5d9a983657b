"""The runner of Jupyter's kernels as a RunnerProcess."""

import os
import subprocess
import unittest

from runner_case import RunnerCase
from runner_process import PYTHON, ROOT, RunnerProcess

MAIN = os.path.join(ROOT, "src", "runners", "jupyter", "main.py")
KERNELS = "/usr/share/jupyter/kernels"


def has_kernel(name):
    """What starts it is Debian's Python, whatever runs the tests."""
    command = [PYTHON, "-c", "import jupyter_client"]
    has_client = subprocess.run(command, capture_output=True, check=False).returncode == 0
    return has_client and os.path.exists(os.path.join(KERNELS, name, "kernel.json"))


def start_kernel(name, **options):
    return RunnerProcess(command=(PYTHON, MAIN), variant=(name,), **options)


class KernelTest(RunnerCase):
    """Tests with one kernel for all of a class."""

    kernel = "python3"
    options = {}

    @classmethod
    def setUpClass(cls):
        if not has_kernel(cls.kernel):
            raise unittest.SkipTest("the kernel %s is not installed here" % cls.kernel)
        super().setUpClass()

    @classmethod
    def start(cls):
        return start_kernel(cls.kernel, **cls.options)

    def events(self, code, env=None, timeout=30):
        """Without the first and the last, which every step has."""
        events = self.runner.step(code, env, timeout)
        self.assertEqual(events[0]["type"], "number_of_executions", events)
        self.assertEqual(events[-1], {"type": "end"}, events)
        return events[1:-1]

    def text(self, code):
        """The text of the only event, which is a result."""
        (event,) = self.events(code)
        self.assertEqual(event["type"], "result", event)
        return event["text"]
