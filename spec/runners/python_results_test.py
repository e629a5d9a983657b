"""What a step's results look like: formats, keys and their order, JSON forms."""

import base64
import json
import unittest

from runner_process import RunnerProcess


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def results(self, code):
        events = self.runner.step(code)
        self.assertEqual(events[0]["type"], "number_of_executions")
        self.assertEqual(events[-1], {"type": "end"})
        for event in events:
            self.assertIn(event["type"], ("number_of_executions", "result", "end"), events)
        return [event for event in events if event["type"] == "result"]

    def result(self, code):
        (result,) = self.results(code)
        return result

    def test_says_ready_first(self):
        self.assertEqual(self.runner.first, {"type": "ready"})

    def test_only_the_last_expression_is_a_result(self):
        self.assertEqual(
            self.result("1\n2\n3"),
            {"type": "result", "text": "3", "extra": {}, "is_main_result": True},
        )

    def test_none_and_silenced_expressions_have_no_result(self):
        for code in ("None", "1+1;", "x = 1", "", " \n\t", "# note"):
            self.assertEqual(self.results(code), [], code)

    def test_strings_lose_their_quotes_and_keep_their_escapes(self):
        self.assertEqual(self.result("'hello'")["text"], "hello")
        self.assertEqual(self.result('"it\'s"')["text"], "it's")
        self.assertEqual(self.result(r"'a\\nb'")["text"], r"a\\nb")
        self.assertEqual(self.result("''")["text"], "")

    def test_lists_and_dicts_have_a_json_form(self):
        result = self.result("{'a': [1, 2.5, None, True, 'x'], 2: {}}")
        self.assertEqual(result["json"], {"a": [1, 2.5, None, True, "x"], "2": {}})
        self.assertEqual(list(result), ["type", "text", "json", "extra", "is_main_result"])

    def test_numbers_that_json_lacks_are_null(self):
        self.assertEqual(
            self.result("[float('nan'), float('inf'), 1.5]")["json"], [None, None, 1.5]
        )

    def test_values_without_a_json_form_leave_it_out(self):
        for code in (
            "{(1, 2): 3}",
            "[object]",
            "[{1}]",
            "[2**64]",
            "[b'x']",
            "a = []\na.append(a)\na",
        ):
            self.assertNotIn("json", self.result(code), code)

    def test_deep_nesting_has_no_json_form_and_does_no_harm(self):
        code = "a = []\nfor i in range(%d): a = [a]\na"
        self.assertIn("json", self.result(code % 200))
        events = self.runner.step(code % 300)
        self.assertEqual(
            [event for event in events if "json" in event], [], "more than readers take"
        )
        self.assertEqual(self.result("1")["text"], "1")

    def test_dates_and_the_like_become_text_in_json(self):
        code = """
import datetime, enum, uuid, dataclasses
class Colour(enum.Enum): RED = 'red'
@dataclasses.dataclass
class Point: x: int
[datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3),
 Colour.RED, Point(1), uuid.UUID(int=1)]
"""
        self.assertEqual(
            self.result(code)["json"],
            [
                "2020-01-02",
                "2020-01-02T03:00:00",
                "red",
                {"x": 1},
                "00000000-0000-0000-0000-000000000001",
            ],
        )

    def test_display_gives_results_that_are_not_main_in_their_place(self):
        events = self.runner.step("print('a')\ndisplay(1)\nprint('b')\n2")
        shapes = [(e["type"], e.get("text"), e.get("is_main_result")) for e in events[1:-1]]
        self.assertEqual(
            shapes,
            [
                ("stdout", "a\n", None),
                ("result", "1", False),
                ("stdout", "b\n", None),
                ("result", "2", True),
            ],
        )

    def test_every_known_format_has_its_key_in_order_and_others_are_extra(self):
        code = """
data = {
    'text/plain': 'p', 'text/html': 'h', 'text/markdown': 'm', 'image/svg+xml': 's',
    'image/png': b'png', 'image/jpeg': 'anBn\\n', 'application/pdf': b'pdf', 'text/latex': 'l',
    'application/json': {'k': float('nan')}, 'application/javascript': 'j',
    'application/x-own': [b'b', object],
}
display(data, raw=True)
"""
        result = self.result(code)
        self.assertEqual(
            list(result),
            ["type", "text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex", "json"]
            + ["javascript", "extra", "is_main_result"],
        )
        self.assertEqual(result["png"], base64.b64encode(b"png").decode())
        self.assertEqual(result["jpeg"], "anBn")
        self.assertEqual(result["json"], {"k": None})
        self.assertEqual(result["extra"], {"application/x-own": ["Yg==", "<class 'object'>"]})

    def test_updates_and_clearing_give_nothing(self):
        code = """
from IPython.display import clear_output, display, update_display
handle = display(1, display_id='d')
update_display(2, display_id='d')
handle.update(3)
clear_output()
"""
        self.assertEqual([result["text"] for result in self.results(code)], ["1"])

    def test_a_display_that_cannot_be_told_is_left_out(self):
        code = """
class Bad:
    def __str__(self): raise ValueError
    __repr__ = __str__
display({'application/x-own': Bad()}, raw=True)
display({'application/x-own': Bad(), 'text/plain': 'p'}, raw=True)
"""
        result = self.result(code)
        self.assertEqual((result["text"], result["extra"]), ("p", {}))

    def test_a_display_without_memory_is_an_error(self):
        code = """
class Large:
    def __str__(self): raise MemoryError
    __repr__ = __str__
display({'application/x-own': Large(), 'text/plain': 'p'}, raw=True)
"""
        events = self.runner.step(code)
        self.assertEqual([event["type"] for event in events[1:-1]], ["error"], events)
        self.assertEqual(events[1]["name"], "MemoryError")

    def test_lone_surrogates_leave_a_line_that_every_reader_takes(self):
        result = self.result("{'\\ud800': '\U0001f600 \\udc80', 'b': '\\\\ud800'}")
        self.assertEqual(result["json"], {"\ufffd": "\U0001f600 \ufffd", "b": "\\ud800"})
        json.dumps(result).encode("utf-8")

    def test_a_result_of_five_megabytes(self):
        self.assertEqual(len(self.result("'x' * 5_000_000")["text"]), 5_000_000)

    def test_underscores_and_history(self):
        self.result("40 + 2")
        self.assertEqual(self.result("_ + 1")["text"], "43")
        self.assertEqual(self.result("In[-2]")["text"], "_ + 1")
        self.assertEqual(self.result("list(Out)[-1] in Out")["text"], "True")

    def test_names_of_the_main_module(self):
        code = "__name__, '__file__' in globals(), __builtins__.__name__, __import__('sys').argv"
        self.assertEqual(self.result(code)["text"], "('__main__', False, 'builtins', [''])")
        self.assertEqual(
            self.result("class C: pass\nimport pickle\npickle.loads(pickle.dumps(C)) is C")["text"],
            "True",
        )

    def test_the_runner_is_not_in_the_way_of_imports(self):
        code = (
            "import sys\n[m for m in ('display', 'shell', 'channel') if m in sys.modules],"
            " sys.path[0]"
        )
        self.assertEqual(self.result(code)["text"], "([], '')")
        events = self.runner.step("import display")
        self.assertEqual(events[1]["name"], "ModuleNotFoundError")

    def test_help_pages_are_printed(self):
        events = self.runner.step("len?")
        self.assertEqual([e["type"] for e in events[1:-1]], ["stdout"])
        self.assertIn("Return the number of items", events[1]["text"])


class Libraries(unittest.TestCase):
    """With the libraries that have rich forms; skipped where one is not installed."""

    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def results(self, module, code, count=1):
        events = self.runner.step("import " + module)
        if any(event.get("name") == "ModuleNotFoundError" for event in events):
            self.skipTest(module + " is not installed")
        events = self.runner.step(code)
        results = [event for event in events if event["type"] == "result"]
        self.assertEqual(len(results), count, events)
        self.assertEqual(len(events), count + 2, events)
        return results

    def test_nothing_big_is_imported_before_the_code_asks(self):
        runner = RunnerProcess()
        names = "('matplotlib', 'pandas', 'numpy', 'PIL', 'prompt_toolkit')"
        events = runner.step("import sys\n[m for m in %s if m in sys.modules]" % names)
        runner.close()
        self.assertEqual(events[1]["text"], "[]")

    def test_numpy_inside_a_dict(self):
        (result,) = self.results(
            "numpy",
            """
import numpy as np
{'a': np.arange(3), 'f': np.float32(1.5), 'n': np.array([1.0, np.nan]), 'b': np.bool_(True),
 't': np.array(['2020-01-01', 'NaT'], dtype='datetime64[s]'), 'm': np.zeros((1, 2))}
""",
        )
        self.assertEqual(
            result["json"],
            {
                "a": [0, 1, 2],
                "f": 1.5,
                "n": [1.0, None],
                "b": True,
                "t": ["2020-01-01T00:00:00", None],
                "m": [[0.0, 0.0]],
            },
        )

    def test_data_frames_have_data(self):
        (result,) = self.results(
            "pandas",
            """
import pandas as pd
pd.DataFrame({'a': [1.0, float('nan')], 'b': ['x', None],
              't': pd.to_datetime(['2020-01-01', None]), 3: pd.Categorical(['u', 'v'])})
""",
        )
        self.assertEqual(list(result), ["type", "text", "html", "data", "extra", "is_main_result"])
        self.assertEqual(
            result["data"],
            {
                "a": [1.0, None],
                "b": ["x", None],
                "t": ["2020-01-01T00:00:00", None],
                "3": ["u", "v"],
            },
        )

    def test_data_frames_with_odd_columns(self):
        (result,) = self.results(
            "pandas",
            """
import decimal
pd.DataFrame([[1, decimal.Decimal('1.5'), pd.Period('2020-01')]],
             columns=pd.MultiIndex.from_tuples([('a', 'x'), ('a', 'x'), ('b', 'y')]))
""",
        )
        self.assertEqual(result["data"], {"('a', 'x')": ["1.5"], "('b', 'y')": ["2020-01"]})

    def test_images_have_png_and_jpeg(self):
        (result,) = self.results(
            "PIL.Image", "from PIL import Image\nImage.new('RGB', (2, 2), 'red')"
        )
        self.assertTrue(result["is_main_result"])
        self.assertEqual(base64.b64decode(result["png"])[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(base64.b64decode(result["jpeg"])[:3], b"\xff\xd8\xff")

    def test_images_that_are_saved_or_shown_are_results(self):
        code = "from PIL import Image\nImage.new('RGBA', (2, 2)).%s"
        (result,) = self.results("PIL.Image", code % "save('/dev/null', 'PNG')")
        self.assertFalse(result["is_main_result"])
        self.assertIn("png", result)
        self.results("PIL.Image", code % "show()")
        self.results("PIL.Image", code % "save(__import__('io').BytesIO(), 'PNG')", count=0)

    def test_open_figures_are_results_after_the_cell(self):
        code = "import matplotlib.pyplot as plt\nlines = plt.plot([1, 2])\nplt.title('T')\n7"
        main, figure = self.results("matplotlib.pyplot", code, count=2)
        self.assertEqual(main["text"], "7")
        self.assertFalse(figure["is_main_result"])
        self.assertRegex(figure["text"], "^<Figure size .* with 1 Axes>$")
        self.assertEqual(base64.b64decode(figure["png"])[:8], b"\x89PNG\r\n\x1a\n")
        self.results("matplotlib.pyplot", "plt.plot([1])\nplt.show()")
        self.results("matplotlib.pyplot", "%matplotlib inline\nlines = plt.plot([1])")


if __name__ == "__main__":
    unittest.main()
