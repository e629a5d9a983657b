"""Charts that pandas and seaborn draw with matplotlib; skipped where one is not installed."""

import unittest

from chart_case import ChartCase

FRAME = """
import pandas as pd
df = pd.DataFrame({'a': [1, 2, 3], 'b': [3, 2, 1]}, index=list('xyz'))
daily = df.set_axis(pd.date_range('2020-01-01', periods=3), axis=0)
rows = pd.DataFrame({'x': [1, 2, 3, 1, 2, 3], 'y': [1., 2, 3, 3, 2, 7],
                     'h': list('uuuvvv'), 'c': list('ppqpqq')})
"""


class Pandas(ChartCase):
    modules = ("matplotlib.pyplot", "pandas")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runner.step(FRAME)

    def test_lines_over_periods(self):
        chart = self.typed("line", "daily.plot()")
        self.assertEqual(
            self.series(chart)["b"],
            [
                ["2020-01-01T00:00:00", 3.0],
                ["2020-01-02T00:00:00", 2.0],
                ["2020-01-03T00:00:00", 1.0],
            ],
        )
        self.assertEqual(list(self.series(chart)), ["a", "b"])
        self.assertEqual(chart["x_scale"], "datetime")
        self.assertEqual(chart["x_ticks"][0], "2020-01-01T00:00:00")

    def test_lines_over_times(self):
        chart = self.typed(
            "line",
            "daily.set_axis(pd.to_datetime(['2020-01-01', '2021-03-04', '2023-01-01']),"
            " axis=0).plot()",
        )
        self.assertEqual(
            [x for x, _ in self.series(chart)["a"]],
            ["2020-01-01T00:00:00", "2021-03-04T00:00:00", "2023-01-01T00:00:00"],
        )
        self.assertEqual(chart["x_scale"], "datetime")

    def test_lines_over_names(self):
        chart = self.typed("line", "df.plot()")
        self.assertEqual(self.series(chart)["a"], [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
        self.assertIn("y", chart["x_tick_labels"])

    def test_bars(self):
        groups = {"a": {"x": 1.0, "y": 2.0, "z": 3.0}, "b": {"x": 3.0, "y": 2.0, "z": 1.0}}
        for code in ("df.plot.bar()", "df.plot.bar(stacked=True)", "df.plot.barh()"):
            self.assertEqual(self.groups(self.typed("bar", code)), groups, code)

    def test_bars_over_periods(self):
        groups = self.groups(self.typed("bar", "daily.plot.bar()"))
        self.assertEqual([list(bars.values()) for bars in groups.values()], [[1, 2, 3], [3, 2, 1]])
        for bars in groups.values():
            self.assertEqual(
                [label[:10] for label in bars], ["2020-01-01", "2020-01-02", "2020-01-03"]
            )

    def test_histograms_have_their_columns_as_groups(self):
        chart = self.typed("bar", "df.plot.hist(bins=2)")
        self.assertEqual(
            self.groups(chart), {"a": {"1.5": 1.0, "2.5": 2.0}, "b": {"1.5": 1.0, "2.5": 2.0}}
        )

    def test_areas_are_their_upper_lines(self):
        chart = self.typed("line", "daily.plot.area()")
        self.assertEqual(
            {name: [y for _, y in points] for name, points in self.series(chart).items()},
            {"a": [1.0, 2.0, 3.0], "b": [4.0, 4.0, 4.0]},
        )

    def test_boxes_pies_and_points(self):
        chart = self.typed("box_and_whisker", "df.plot.box()")
        self.assertEqual(
            chart["elements"][1],
            {
                "label": "b",
                "min": 1.0,
                "first_quartile": 1.5,
                "median": 2.0,
                "third_quartile": 2.5,
                "max": 3.0,
                "outliers": [],
            },
        )
        chart = self.typed("pie", "df.a.plot.pie()")
        self.assertEqual(
            [(wedge["label"], wedge["angle"]) for wedge in chart["elements"]],
            [("x", 60.0), ("y", 120.0), ("z", 180.0)],
        )
        chart = self.typed("scatter", "df.plot.scatter('a', 'b')")
        self.assertEqual(chart["elements"][0]["points"], [[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
        self.assertEqual((chart["x_label"], chart["y_label"]), ("a", "b"))

    def test_columns_apart(self):
        chart = self.typed("superchart", "df.plot(subplots=True, title='Apart')")
        self.assertEqual(chart["title"], "Apart")
        self.assertEqual([list(self.series(part)) for part in chart["elements"]], [["a"], ["b"]])


class Seaborn(ChartCase):
    modules = ("matplotlib.pyplot", "pandas", "seaborn")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runner.step(FRAME + "import seaborn as sns")

    def test_colours_name_lines_and_points(self):
        for type_, function in (("line", "lineplot"), ("scatter", "scatterplot")):
            chart = self.typed(type_, "sns.%s(data=rows, x='x', y='y', hue='h')" % function)
            self.assertEqual(
                self.series(chart),
                {
                    "u": [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]],
                    "v": [[1.0, 3.0], [2.0, 2.0], [3.0, 7.0]],
                },
            )
            self.assertEqual((chart["x_label"], chart["y_label"]), ("x", "y"))

    def test_bars_with_their_errors(self):
        chart = self.typed("bar", "sns.barplot(data=rows, x='c', y='y', hue='h')")
        self.assertEqual(self.groups(chart), {"u": {"p": 1.5, "q": 3.0}, "v": {"p": 3.0, "q": 4.5}})
        chart = self.typed("bar", "sns.countplot(data=rows, x='c')")
        self.assertEqual(self.groups(chart), {"Group 0": {"p": 3.0, "q": 3.0}})

    def test_histograms(self):
        chart = self.typed("bar", "sns.histplot(data=rows, x='y', bins=2)")
        self.assertEqual(self.groups(chart), {"Group 0": {"2.5": 5.0, "5.5": 1.0}})

    def test_boxes_standing_and_lying(self):
        for x, y in (("c", "y"), ("y", "c")):
            chart = self.typed("box_and_whisker", "sns.boxplot(data=rows, x=%r, y=%r)" % (x, y))
            self.assertEqual([box["label"] for box in chart["elements"]], ["p", "q"])
            self.assertEqual([box["median"] for box in chart["elements"]], [2.0, 3.0])
            self.assertEqual(chart["elements"][1]["third_quartile"], 5.0)
            self.assertEqual((chart["x_label"], chart["y_label"]), ("c", "y"))

    def test_boxes_of_groups(self):
        chart = self.typed("box_and_whisker", "sns.boxplot(data=rows, x='c', y='y', hue='h')")
        self.assertEqual(
            sorted((box["label"], box["median"]) for box in chart["elements"]),
            [("p", 1.5), ("p", 3.0), ("q", 3.0), ("q", 4.5)],
        )

    def test_grids_and_the_unknown(self):
        chart = self.typed("superchart", "sns.relplot(data=rows, x='x', y='y', col='c')")
        self.assertEqual([part["title"] for part in chart["elements"]], ["c = p", "c = q"])
        self.typed("unknown", "sns.heatmap([[1, 2], [3, 4]])")
        self.typed("unknown", "sns.regplot(data=rows, x='x', y='y')")


if __name__ == "__main__":
    unittest.main()
