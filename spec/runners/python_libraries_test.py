"""What libraries show of their objects, as they do in notebooks; skipped where one is missing."""

import base64
import unittest

from runner_process import RunnerProcess


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def need(self, module):
        events = self.runner.step("import " + module, timeout=60)
        if any(event.get("name") == "ModuleNotFoundError" for event in events):
            self.skipTest(module + " is not installed")

    def results(self, code):
        events = self.runner.step(code, timeout=60)[1:-1]
        for event in events:
            self.assertEqual(event["type"], "result", events)
        return events

    def result(self, code):
        (result,) = self.results(code)
        return result

    def test_types_of_columns_in_pandas(self):
        self.need("pandas")
        code = """
import datetime, pandas as pd
pd.DataFrame({
    'date': [datetime.date(2020, 1, 1), None],
    'stamp': pd.to_datetime(['2020-01-01 12:00', None]),
    'zone': pd.to_datetime(['2020-01-01', '2020-01-02'], utc=True),
    'span': pd.to_timedelta([1, None], 'h'),
    'category': pd.Categorical(['a', None]),
    'integer': pd.array([1, None], dtype='Int64'),
    'string': pd.array(['x', None], dtype='string'),
    'boolean': pd.array([True, None], dtype='boolean'),
    'float': [float('inf'), 1.5],
    'period': pd.period_range('2020-01', periods=2, freq='M'),
    'object': [[1, None], {'k': float('nan')}],
    'bytes': [b'x', b'y'],
})
"""
        self.assertEqual(
            self.result(code)["data"],
            {
                "date": ["2020-01-01", None],
                "stamp": ["2020-01-01T12:00:00", None],
                "zone": ["2020-01-01T00:00:00+00:00", "2020-01-02T00:00:00+00:00"],
                "span": ["0 days 01:00:00", None],
                "category": ["a", None],
                "integer": [1, None],
                "string": ["x", None],
                "boolean": [True, None],
                "float": [None, 1.5],
                "period": ["2020-01", "2020-02"],
                "object": [[1, None], {"k": None}],
                "bytes": ["eA==", "eQ=="],
            },
        )

    def test_names_of_columns_in_pandas(self):
        self.need("pandas")
        for code, data in (
            ("pd.DataFrame()", {}),
            ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", {"a": [2]}),
            (
                (
                    "pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([('a', 'x'), ('a',"
                    " 'y')]))"
                ),
                {"('a', 'x')": [1], "('a', 'y')": [2]},
            ),
            ("pd.DataFrame({pd.Timestamp('2020-01-01'): [1]})", {"2020-01-01 00:00:00": [1]}),
            ("pd.DataFrame({'v': [1, 2]}, index=['x', 'y'])", {"v": [1, 2]}),
        ):
            result = self.result("import pandas as pd\n" + code)
            self.assertEqual(result["data"], data, code)
            self.assertIn("<table", result["html"])

    def test_what_has_no_data_in_pandas(self):
        self.need("pandas")
        series = self.result("import pandas as pd\npd.Series([1, 2], name='s')")
        self.assertEqual(list(series), ["type", "text", "extra", "is_main_result"])
        styled = self.result("pd.DataFrame({'a': [1, 2]}).style")
        self.assertEqual(list(styled), ["type", "text", "html", "extra", "is_main_result"])

    def test_large_tables_have_no_data(self):
        self.need("pandas")
        code = "import pandas as pd\npd.DataFrame({'a': range(%d), 'b': 0.5})"
        self.assertEqual(len(self.result(code % 1000)["data"]["a"]), 1000)
        self.assertEqual(len(self.result(code % 500_000)["data"]["a"]), 500_000)
        result = self.result(code % 500_001)
        self.assertEqual(list(result), ["type", "text", "html", "extra", "is_main_result"])

    def test_polars(self):
        self.need("polars")
        code = """
import datetime, polars as pl
pl.DataFrame({'a': [1, 2], 'b': ['x', None], 'd': [datetime.date(2020, 1, 1), None],
              'f': [float('nan'), 1.5], 'l': [[1], [2]],
              'c': pl.Series(['u', 'v'], dtype=pl.Categorical)})
"""
        result = self.result(code)
        self.assertEqual(list(result), ["type", "text", "html", "data", "extra", "is_main_result"])
        self.assertEqual(
            result["data"],
            {
                "a": [1, 2],
                "b": ["x", None],
                "d": ["2020-01-01", None],
                "f": [None, 1.5],
                "l": [[1], [2]],
                "c": ["u", "v"],
            },
        )
        self.assertNotIn(
            "data", self.result("pl.DataFrame({'a': pl.arange(1_000_001, eager=True)})")
        )

    def test_plotly(self):
        self.need("plotly.graph_objects")
        self.runner.step(
            "import plotly.graph_objects as go\nfig = go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))"
        )
        mime = "application/vnd.plotly.v1+json"
        self.results("fig.show()")  # begins with the library in JavaScript
        for code in ("fig.show()", "display(fig)", "fig"):
            result = self.results(code)[-1]
            self.assertIn("Plotly.newPlot", result["html"], code)
            self.assertEqual(list(result["extra"]), [mime], code)
            self.assertEqual(result["extra"][mime]["data"][0]["type"], "scatter")
            self.assertEqual(result["extra"][mime]["data"][0]["y"], [3, 4])

    def test_plotly_where_nbformat_is_missing(self):
        self.need("plotly.graph_objects")
        runner = RunnerProcess()
        self.addCleanup(runner.close)
        runner.step("import sys\nsys.modules['nbformat'] = None\nimport plotly.graph_objects as go")
        events = runner.step("go.Figure(go.Bar(y=[1])).show()", timeout=60)[1:-1]
        self.assertEqual({event["type"] for event in events}, {"result"}, events)
        self.assertIn("application/vnd.plotly.v1+json", events[-1]["extra"])

    def test_altair(self):
        self.need("altair")
        self.need("pandas")
        code = """
import altair as alt, pandas as pd, warnings
warnings.simplefilter('ignore')  # the versions of the two may not like each other
chart = alt.Chart(pd.DataFrame({'a': [1], 'b': [2]})).mark_bar().encode(x='a', y='b')
chart
"""
        self.assertIn("vega", self.result(code)["html"])
        self.runner.step("enabled = alt.renderers.enable('mimetype')")
        extra = self.result("chart")["extra"]
        (mime,) = extra
        self.assertRegex(mime, r"^application/vnd\.vegalite\.v\d+[.+]json$")
        self.assertEqual(extra[mime]["encoding"]["x"]["field"], "a")

    def test_bokeh(self):
        self.need("bokeh.plotting")
        self.runner.step(
            "from bokeh.plotting import figure, show, output_notebook\noutput_notebook()"
        )
        results = self.results("p = figure(); l = p.line([1, 2], [3, 4])\nshow(p)")
        self.assertTrue(any("<div" in result.get("html", "") for result in results))
        scripts = [result for result in results if "javascript" in result]
        self.assertEqual(len(scripts), 1)
        self.assertEqual(
            list(scripts[0]["extra"]), ["application/vnd.bokehjs_exec.v0+json"], "its document's id"
        )

    def test_sympy(self):
        self.need("sympy")
        code = "import sympy\nx = sympy.Symbol('x')\nsympy.Integral(x**2, x)"
        result = self.result(code)
        self.assertEqual(result["text"], "Integral(x**2, x)")
        self.assertEqual(result["latex"], r"$\displaystyle \int x^{2}\, dx$")

    def test_modes_of_pictures(self):
        self.need("PIL.Image")
        for mode, formats in (("RGB", {"png", "jpeg"}), ("1", {"png", "jpeg"}), ("RGBA", {"png"})):
            result = self.result("from PIL import Image\nImage.new(%r, (2, 2))" % mode)
            self.assertEqual(set(result) & {"png", "jpeg"}, formats, mode)
            self.assertEqual(base64.b64decode(result["png"])[1:4], b"PNG")

    def test_progress_bars(self):
        self.need("tqdm")
        events = self.runner.step("import tqdm\nfor i in tqdm.tqdm(range(3)): pass")[1:-1]
        self.assertEqual([event["type"] for event in events], ["stderr"])
        self.assertRegex(events[0]["text"], r"^\r  0%[^\r]*\r.*3/3.*\n$")


if __name__ == "__main__":
    unittest.main()
