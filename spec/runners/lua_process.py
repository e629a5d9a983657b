"""A Lua runner, as the agent starts it, from what was built."""

import os

from runner_case import RunnerCase
from runner_process import BUILD, RunnerProcess

MAIN = os.path.join(BUILD, "share", "stepbox", "runners", "lua", "main.lua")


class LuaProcess(RunnerProcess):
    def __init__(self, **options):
        super().__init__(command=("lua5.4", MAIN), **options)


class LuaCase(RunnerCase):
    """One runner for the tests of a class, and what they ask of a step."""

    @classmethod
    def start(cls):
        return LuaProcess()

    def events(self, code, **options):
        """The events without the count and a plain end."""
        events = self.runner.step(code, **options)
        self.assertEqual(events[0]["type"], "number_of_executions")
        if events[-1] == {"type": "end"}:
            events.pop()
        return events[1:]

    def output(self, code, **options):
        """(stream, text) of each piece of code that gives nothing else."""
        events = self.events(code, **options)
        self.assertLessEqual({event["type"] for event in events}, {"stdout", "stderr"}, events)
        return [(event["type"], event["text"]) for event in events]

    def result(self, code, **options):
        """The only event of code that gives a value."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events], ["result"], events)
        self.assertTrue(events[0]["is_main_result"])
        self.assertEqual(events[0]["extra"], {})
        return events[0]

    def shows(self, code, text, **options):
        self.assertEqual(self.result(code, **options)["text"], text)

    def gives_nothing(self, code, **options):
        self.assertEqual(self.events(code, **options), [])

    def error(self, code, **options):
        """The only event of code that fails."""
        events = self.events(code, **options)
        self.assertEqual([event["type"] for event in events], ["error"], events)
        self.assertEqual(list(events[0]), ["type", "name", "value", "traceback"])
        return events[0]
