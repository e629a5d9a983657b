"""A JavaScript or TypeScript runner, as the agent starts it, from what was built."""

import glob
import os
import shutil
import time
import unittest

from runner_case import RunnerCase
from runner_process import BUILD, RunnerProcess

MAIN = os.path.join(BUILD, "share", "stepbox", "runners", "javascript", "main.js")
NODE = os.environ.get("STEPBOX_NODE", "/usr/bin/node")
OPTIONS = ("--experimental-vm-modules", "--no-force-async-hooks-checks")
PLACES = ("/usr/share/nodejs", "/usr/local/lib/node_modules", "/usr/lib/node_modules")


def missing(*files):
    """Why the runner cannot run here, or None."""
    if not shutil.which(NODE):
        return "there is no " + NODE
    for file in files:
        if not any(glob.glob(os.path.join(place, file)) for place in PLACES):
            return "there is no %s in any of %s" % (file, ", ".join(PLACES))
    return None


class JavaScriptProcess(RunnerProcess):
    def __init__(self, variant=(), **options):
        super().__init__(command=(NODE, *OPTIONS, MAIN), variant=variant, **options)


class JavaScriptCase(RunnerCase):
    """One runner for the tests of a class, and what they ask of a step."""

    needs = ("acorn/dist/acorn.js",)
    variant = ()

    @classmethod
    def setUpClass(cls):
        reason = missing(*cls.needs)
        if reason:
            raise unittest.SkipTest(reason)
        super().setUpClass()

    @classmethod
    def start(cls, **options):
        return JavaScriptProcess(variant=cls.variant, **options)

    def events(self, code, **options):
        """The events without the count and the end, which must be there."""
        events = self.runner.step(code, **options)
        self.assertEqual(events[0]["type"], "number_of_executions")
        self.assertEqual(events[-1], {"type": "end"})
        return events[1:-1]

    def result(self, code, **options):
        """The one event of a step, which is a result."""
        (event,) = self.events(code, **options)
        self.assertEqual(event["type"], "result", event)
        return event

    def text(self, code, **options):
        return self.result(code, **options)["text"]

    def output(self, code, **options):
        """What the step wrote, as (stream, text); it must have nothing else."""
        events = self.events(code, **options)
        return [(event["type"], event.get("text", event)) for event in events]

    def error(self, code, **options):
        """The one event of a step, which is an error."""
        (event,) = self.events(code, **options)
        self.assertEqual(list(event), ["type", "name", "value", "traceback"], event)
        self.assertNotIn("runners/javascript", event["traceback"])
        self.assertNotIn("\x1b", event["traceback"])
        return event

    def interrupted(self, code, after=0.15, within=10):
        """The events of a step that is interrupted while it runs."""
        self.runner.start(code)
        events = self.runner.wait(lambda event: event["type"] == "number_of_executions")
        time.sleep(after)
        begin = time.monotonic()
        self.runner.interrupt()
        events += self.runner.finish()
        self.assertLess(time.monotonic() - begin, within)
        return events
