"""A Java runner, as the agent starts it, from what was built."""

import os
import shutil
import unittest

from runner_case import RunnerCase
from runner_process import BUILD, RunnerProcess

FOLDER = os.path.join(BUILD, "share", "stepbox", "runners", "java")


class JavaProcess(RunnerProcess):
    def __init__(self, folder=FOLDER, data=None, **options):
        """`data`: kilobytes of data that the process may have, as in a sandbox."""
        command = ("/bin/sh", os.path.join(folder, "start.sh"))
        if data:
            bounded = 'ulimit -S -d %d && exec /bin/sh "$@"' % data
            command = ("/bin/sh", "-c", bounded, *command)
        super().__init__(command=command, **options)


@unittest.skipUnless(shutil.which("jshell"), "there is no JDK here (default-jdk-headless)")
class JavaCase(RunnerCase):
    """One runner for the tests of a class, and what they ask of a step."""

    @classmethod
    def start(cls):
        return JavaProcess()

    def events(self, code, **options):
        """The events without the count and a plain end."""
        events = self.runner.step(code, **options)
        self.assertEqual(events[0]["type"], "number_of_executions")
        self.assertEqual(events[-1], {"type": "end"})
        return events[1:-1]

    def result(self, code, **options):
        """The text of the result, which is the only event."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events], ["result"], events)
        return events[0]["text"]

    def error(self, code, **options):
        """The only event of code that fails."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events], ["error"], events)
        self.assertEqual(list(events[0]), ["type", "name", "value", "traceback"])
        return events[0]

    def pieces(self, code, **options):
        """What is written, as (stream, text), and nothing else happens."""
        events = self.events(code, **options)
        return [(event["type"], event.get("text", event)) for event in events]
