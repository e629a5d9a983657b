"""The R runner as a RunnerProcess. It needs the build, since parts of it are libraries in C."""

import os
import shutil
import tempfile
import unittest

from runner_case import RunnerCase
from runner_process import BUILD, RunnerProcess

MAIN = os.path.join(BUILD, "share", "stepbox", "runners", "r", "main.R")
RSCRIPT = shutil.which("Rscript")


class RProcess(RunnerProcess):
    """R that is killed leaves its folder for temporary files, which goes with the sandbox elsewhere."""

    def __init__(self, env=None, **options):
        self.folder = tempfile.TemporaryDirectory(prefix="stepbox-r.")
        environment = {"TMPDIR": self.folder.name, **(env or {})}
        super().__init__(command=(RSCRIPT, "--vanilla", MAIN), env=environment, **options)

    def close(self):
        try:
            super().close()
        finally:
            self.folder.cleanup()


def start_r(**options):
    return RProcess(**options)


@unittest.skipUnless(RSCRIPT, "R is not installed here")
class RTest(RunnerCase):
    """Tests with one runner for all of a class."""

    options = {}

    @classmethod
    def start(cls):
        return start_r(**cls.options)

    def events(self, code, env=None, timeout=30):
        """Without the first and the last, which every step has."""
        events = self.runner.step(code, env, timeout)
        self.assertEqual(events[0]["type"], "number_of_executions")
        self.assertEqual(events[-1], {"type": "end"})
        return events[1:-1]

    def results(self, code, env=None):
        return [event for event in self.events(code, env) if event["type"] == "result"]

    def text(self, code, env=None):
        """The text of the only event, which is the last expression's value."""
        events = self.events(code, env)
        self.assertEqual([event["type"] for event in events], ["result"], events)
        self.assertTrue(events[0]["is_main_result"])
        return events[0]["text"]

    def output(self, code, env=None):
        """What was written, as a list of (stream, text)."""
        return [
            (event["type"], event["text"])
            for event in self.events(code, env)
            if event["type"] in ("stdout", "stderr")
        ]

    def error(self, code, env=None):
        errors = [event for event in self.events(code, env) if event["type"] == "error"]
        self.assertEqual(len(errors), 1)
        self.assertEqual(list(errors[0]), ["type", "name", "value", "traceback"])
        return errors[0]
