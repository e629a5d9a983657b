"""A bash runner, as the agent starts it, from what was built."""

import os

from runner_case import RunnerCase
from runner_process import BUILD, RunnerProcess

MAIN = os.path.join(BUILD, "share", "stepbox", "runners", "bash", "main.sh")
BASH = os.environ.get("STEPBOX_BASH", "/bin/bash")


class BashProcess(RunnerProcess):
    def __init__(self, **options):
        command = (BASH, "--norc", "--noprofile", "-p", MAIN)
        super().__init__(command=command, **options)


class BashCase(RunnerCase):
    """One runner for the tests of a class, and what they ask of a step."""

    @classmethod
    def start(cls):
        return BashProcess()

    def events(self, code, **options):
        """The events without the count and a plain end."""
        events = self.runner.step(code, **options)
        self.assertEqual(events[0]["type"], "number_of_executions")
        if events[-1] == {"type": "end"}:
            events.pop()
        return events[1:]

    def outcome(self, code, **options):
        """(stdout, stderr, exit status) of code that ends with one."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events].count("result"), 1, events)
        text = {"stdout": "", "stderr": ""}
        for event in events:
            if event["type"] in text:
                text[event["type"]] += event["text"]
        result = events[-1]
        self.assertEqual(list(result), ["type", "data", "extra", "is_main_result"])
        self.assertTrue(result["is_main_result"])
        return text["stdout"], text["stderr"], result["data"]["exit_status"]

    def prints(self, code, text, **options):
        self.assertEqual(self.outcome(code, **options), (text, "", 0))

    def error(self, code, **options):
        """The only event of code that fails before it runs."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events], ["error"], events)
        self.assertEqual(list(events[0]), ["type", "name", "value", "traceback"])
        return events[0]
