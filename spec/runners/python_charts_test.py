"""The `chart` of a figure: values of each family of charts, worked out by hand."""

import unittest

from chart_case import ChartCase

POINT_FIELDS = ["type", "title", "elements", "x_label", "y_label", "x_unit", "y_unit"] + [
    "%s_%s" % (side, field) for side in "xy" for field in ("ticks", "tick_labels", "scale")
]


class Lines(ChartCase):
    def test_a_line_has_all_fields_in_order(self):
        chart = self.typed(
            "line",
            "plt.plot([1, 2, 3], [4, 5, 6], label='a')\nplt.title('T')\n"
            "plt.xlabel('Time (s)')\nplt.ylabel('v [m/s]')\n"
            "plt.xticks([1, 2, 3])\nplt.yticks([4, 6])",
        )
        self.assertEqual(list(chart), POINT_FIELDS)
        self.assertEqual(
            list(chart.values()),
            ["line", "T", [{"label": "a", "points": [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]}]]
            + ["Time (s)", "v [m/s]", "s", "m/s"]
            + [[1.0, 2.0, 3.0], ["1", "2", "3"], "linear", [4.0, 6.0], ["4", "6"], "linear"],
        )

    def test_several_lines_and_those_without_a_label(self):
        chart = self.typed("line", "plt.plot([1, 2])\nplt.plot([5], [3], 'o', label='p')")
        self.assertEqual(
            self.series(chart), {"Line 0": [[0.0, 1.0], [1.0, 2.0]], "p": [[5.0, 3.0]]}
        )
        self.assertIsNone(chart["title"])
        self.assertEqual((chart["x_label"], chart["y_unit"]), (None, None))

    def test_units_stand_in_parentheses_or_brackets(self):
        for label, unit in (
            ("Y-axis (log scale)", "log scale"),
            ("Y[kg]", "kg"),
            ("f(x)", None),
            ("plain", None),
            ("()", None),
        ):
            self.assertEqual(self.chart("plt.plot([1])\nplt.ylabel(%r)" % label)["y_unit"], unit)

    def test_the_title_may_stand_at_a_side_or_above_the_figure(self):
        self.assertEqual(self.chart("plt.plot([1])\nplt.title('L', loc='left')")["title"], "L")
        self.assertEqual(self.chart("plt.plot([1])\nplt.suptitle('S')")["title"], "S")

    def test_numbers_without_a_json_form_are_null(self):
        chart = self.chart(
            "plt.plot(np.array([1, 2, 3], 'int8'), [float('nan'), np.inf, np.float32(1.5)],"
            " label='a')\nplt.plot([1, 2], np.ma.masked_array([1, 2], [True, False]), label='m')"
        )
        self.assertEqual(
            self.series(chart),
            {"a": [[1.0, None], [2.0, None], [3.0, 1.5]], "m": [[1.0, None], [2.0, 2.0]]},
        )

    def test_dates(self):
        chart = self.typed(
            "line",
            "plt.plot([datetime.date(2023, 9, 1), datetime.date(2023, 9, 2)], [1, 2], label='d')\n"
            "times = [datetime.datetime(2023, 9, 1, 12), datetime.datetime(2023, 9, 1, 12, 0, 1)]\n"
            "plt.plot(times, [3, 4], label='t')\n"
            "stamps = np.array(['2023-09-01', 'NaT'], 'datetime64[ns]')\n"
            "plt.plot(stamps, [5, 6], label='s')",
        )
        self.assertEqual(
            self.series(chart),
            {
                "d": [["2023-09-01", 1.0], ["2023-09-02", 2.0]],
                "t": [["2023-09-01T12:00:00", 3.0], ["2023-09-01T12:00:01", 4.0]],
                "s": [["2023-09-01T00:00:00", 5.0], [None, 6.0]],
            },
        )
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("datetime", "linear"))
        self.assertIn("2023-09-01T12:00:00+00:00", chart["x_ticks"])

    def test_categories(self):
        chart = self.typed("line", "plt.plot([1, 2, 3], ['low', 'high', 'low'])")
        self.assertEqual(
            chart["elements"][0]["points"], [[1.0, "low"], [2.0, "high"], [3.0, "low"]]
        )
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("linear", "categorical"))
        self.assertEqual((chart["y_ticks"], chart["y_tick_labels"]), ([0.0, 1.0], ["low", "high"]))

    def test_scales(self):
        for scale in ("linear", "log", "symlog", "logit", "asinh"):
            chart = self.chart("plt.plot([0.1, 0.5])\nplt.yscale(%r)" % scale)
            self.assertEqual((chart["x_scale"], chart["y_scale"]), ("linear", scale))
        chart = self.chart("plt.loglog([1, 10, 100], [1, 1, 1])")
        self.assertEqual(
            chart["x_tick_labels"][chart["x_ticks"].index(1.0)], r"$\mathdefault{10^{0}}$"
        )
        self.assertEqual(chart["elements"][0]["points"][2], [100.0, 1.0])

    def test_names_set_by_the_code_make_a_scale_of_categories(self):
        code = "plt.plot([5, 6, 7])\nplt.xticks([0, 1, 2], %r)"
        self.assertEqual(self.chart(code % ["a", "b", "c"])["x_scale"], "categorical")
        self.assertEqual(self.chart(code % ["0.0", "1.0", "2.0"])["x_scale"], "linear")

    def test_what_only_decorates_is_no_line(self):
        chart = self.typed(
            "line",
            "plt.plot([1, 2], label='data')\nplt.axhline(1)\nplt.axvline(1)\nplt.axline((0, 0), (1,"
            " 1))\nplt.axvspan(0, 1)\nplt.fill_between([0, 1], [1, 2])\nplt.text(0, 1,"
            " 'x')\nplt.grid()\nplt.annotate('here', (0, 1), (1, 1), arrowprops={})\nplt.legend()",
        )
        self.assertEqual(self.series(chart), {"data": [[0.0, 1.0], [1.0, 2.0]]})

    def test_a_level_line_of_two_points_is_data(self):
        chart = self.typed("line", "plt.plot([0, 10], [5, 5], label='flat')")
        self.assertEqual(self.series(chart), {"flat": [[0.0, 5.0], [10.0, 5.0]]})

    def test_lines_with_error_bars_and_stems(self):
        chart = self.typed(
            "line",
            "plt.errorbar([1, 2], [3, 4], yerr=0.1, capsize=2, label='e')\n"
            "plt.stem([1, 2], [5, 6], label='s')",
        )
        self.assertEqual(
            self.series(chart), {"e": [[1.0, 3.0], [2.0, 4.0]], "s": [[1.0, 5.0], [2.0, 6.0]]}
        )


class Scatters(ChartCase):
    def test_groups(self):
        chart = self.typed(
            "scatter",
            "plt.scatter([1, 2], [3, 4], c='blue', label='A')\nplt.scatter([5], [6], label='B')\n"
            "plt.xlabel('x')",
        )
        self.assertEqual(list(chart), POINT_FIELDS)
        self.assertEqual(self.series(chart), {"A": [[1.0, 3.0], [2.0, 4.0]], "B": [[5.0, 6.0]]})

    def test_without_a_label_and_with_a_scale_of_colours(self):
        chart = self.typed("scatter", "plt.scatter([1, 2], [3, 4], c=[1, 2])\nplt.colorbar()")
        self.assertEqual(self.series(chart), {"_child0": [[1.0, 3.0], [2.0, 4.0]]})

    def test_dates_and_categories(self):
        chart = self.typed(
            "scatter", "plt.scatter([datetime.date(2020, 1, 1)] * 2, ['u', 'v'], label='A')"
        )
        self.assertEqual(
            self.series(chart), {"A": [["2020-01-01T00:00:00", "u"], ["2020-01-01T00:00:00", "v"]]}
        )
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("datetime", "categorical"))

    def test_masked_points(self):
        chart = self.typed("scatter", "plt.scatter([1, float('nan')], [3, 4], label='A')")
        points = self.series(chart)["A"]
        self.assertEqual(points[0], [1.0, 3.0])
        self.assertIsNone(points[1][0])
        chart = self.typed(
            "scatter", "plt.scatter(np.array(['2020-01-01', 'NaT'], 'M8[D]'), [3, 4], label='A')"
        )
        points = self.series(chart)["A"]
        self.assertEqual(points[0], ["2020-01-01T00:00:00", 3.0])
        self.assertIsNone(points[1][0])


class Pies(ChartCase):
    def test_angles_and_radius(self):
        chart = self.typed(
            "pie",
            "plt.pie([90, 10], labels=['No', 'No, in blue'], autopct='%1.1f%%', startangle=90,"
            " shadow=True, radius=1.5)\nplt.title('Awake?')",
        )
        self.assertEqual(list(chart), ["type", "title", "elements"])
        self.assertEqual(chart["title"], "Awake?")
        self.assertEqual(
            chart["elements"],
            [
                {"label": "No", "angle": 324.0, "radius": 1.5},
                {"label": "No, in blue", "angle": 36.0, "radius": 1.5},
            ],
        )

    def test_thirds_clockwise_and_without_labels(self):
        chart = self.typed("pie", "plt.pie([1, 1, 1], counterclock=False)")
        self.assertEqual(chart["elements"], [{"label": "", "angle": 120.0, "radius": 1.0}] * 3)


class SeveralAxes(ChartCase):
    def test_each_axes_is_a_chart(self):
        chart = self.typed(
            "superchart",
            "fig, ax = plt.subplots(2, 2)\nfig.suptitle('All')\nax[0, 0].plot([1], label='l')\n"
            "ax[0, 1].pie([1])\nax[1, 0].bar(['a'], [2])\nax[1, 0].set_title('B')",
        )
        self.assertEqual(list(chart), ["type", "title", "elements"])
        self.assertEqual(chart["title"], "All")
        self.assertEqual(
            [(part["type"], part["title"]) for part in chart["elements"]],
            [("line", None), ("pie", None), ("bar", "B")],
            "the fourth place is empty",
        )
        self.assertEqual(chart["elements"][0]["elements"], [{"label": "l", "points": [[0.0, 1.0]]}])

    def test_without_a_title_and_on_two_scales(self):
        chart = self.typed(
            "superchart", "plt.bar(['a', 'b'], [1, 2])\nplt.twinx().plot(['a', 'b'], [10, 20])"
        )
        self.assertEqual(chart["title"], "")
        self.assertEqual([part["type"] for part in chart["elements"]], ["bar", "line"])
        self.assertEqual(chart["elements"][1]["elements"][0]["points"], [["a", 10.0], ["b", 20.0]])


class Unknown(ChartCase):
    def test_what_has_no_type_has_no_elements(self):
        for code in (
            "plt.imshow([[1, 2], [3, 4]])",
            "plt.gcf().add_subplot(projection='3d').plot([1, 2], [3, 4], [5, 6])",
            "plt.contourf([[1, 2], [3, 4]])",
            "plt.hexbin([1, 2], [3, 4])",
            "plt.violinplot([[1, 2, 3]])",
            "plt.fill_between([1, 2], [3, 4])",
            "plt.polar([0, 1], [1, 2])",
            "plt.gca().add_artist(plt.Circle((0, 0), 1))",
            "plt.plot([1, 2, 3]); plt.scatter([1], [2])",
            "plt.bar(['a', 'b'], [1, 2]); plt.plot([1, 3, 2])",
        ):
            chart = self.chart(code + "\nplt.title('T')")
            self.assertEqual(chart, {"type": "unknown", "title": "T", "elements": []}, code)

    def test_a_figure_with_nothing_on_it_has_no_chart(self):
        for code in ("plt.subplots(2);", "plt.text(0, 0, 'x')"):
            self.assertNotIn("chart", self.figure(code), code)


if __name__ == "__main__":
    unittest.main()
