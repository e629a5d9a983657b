"""What the tests of charts share: a runner with matplotlib, and the chart of a step's figure."""

import unittest

from runner_process import RunnerProcess


class ChartCase(unittest.TestCase):
    modules = ("matplotlib.pyplot",)

    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()
        for module in cls.modules:
            events = cls.runner.step("import " + module, timeout=60)
            if any(event.get("name") == "ModuleNotFoundError" for event in events):
                cls.runner.close()
                raise unittest.SkipTest(module + " is not installed")
        cls.runner.step(
            "import matplotlib.pyplot as plt, numpy as np, datetime, warnings\n"
            "warnings.simplefilter('ignore')\nplt.rcParams['figure.dpi'] = 20  # drawn sooner"
        )

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def figure(self, code):
        """The result of the one figure that the code leaves open."""
        events = self.runner.step("_ = None\n" + code + "\nNone", timeout=60)
        results = [event for event in events if event["type"] == "result"]
        self.assertEqual(len(results), 1, events)
        self.assertEqual(len(events), 3, events)
        self.assertIn("png", results[0])
        return results[0]

    def chart(self, code):
        return self.figure(code)["chart"]

    def typed(self, type_, code):
        chart = self.chart(code)
        self.assertEqual(chart["type"], type_, chart)
        return chart

    def series(self, chart):
        return {element["label"]: element["points"] for element in chart["elements"]}

    def groups(self, chart):
        """The bars by their groups."""
        groups = {}
        for bar in chart["elements"]:
            self.assertEqual(list(bar), ["label", "group", "value"])
            groups.setdefault(bar["group"], {})[bar["label"]] = bar["value"]
        return groups
