"""The `chart` of bars and boxes: their groups, names and directions."""

import unittest

from chart_case import ChartCase

FIELDS = ["type", "title", "elements", "x_label", "y_label", "x_unit", "y_unit"]


class Bars(ChartCase):
    def test_fields_and_values(self):
        chart = self.typed(
            "bar",
            "plt.bar(['Author A', 'Author B'], [100, 200], label='Books Sold')\n"
            "plt.xlabel('Authors')\nplt.ylabel('Books (1000)')\nplt.title('Sales')",
        )
        self.assertEqual(list(chart), FIELDS)
        self.assertEqual(
            list(chart.values()),
            [
                "bar",
                "Sales",
                [
                    {"label": "Author A", "group": "Books Sold", "value": 100.0},
                    {"label": "Author B", "group": "Books Sold", "value": 200.0},
                ],
                "Authors",
                "Books (1000)",
                None,
                "1000",
            ],
        )

    def test_groups_side_by_side(self):
        chart = self.typed(
            "bar",
            "x = np.arange(3)\nplt.bar(x - .2, [1, 2, 3], .4, label='u')\n"
            "plt.bar(x + .2, [4, 5, 6], .4)\nplt.xticks(x, ['p', 'q', 'r'])",
        )
        self.assertEqual(
            self.groups(chart),
            {"u": {"p": 1.0, "q": 2.0, "r": 3.0}, "Group 1": {"p": 4.0, "q": 5.0, "r": 6.0}},
        )

    def test_stacks_have_the_values_of_their_parts(self):
        chart = self.typed(
            "bar",
            "plt.bar(['a', 'b'], [1, 2], label='low')\n"
            "plt.bar(['a', 'b'], [3, -4], bottom=[1, 2], label='high', yerr=.5, capsize=3)",
        )
        self.assertEqual(
            self.groups(chart), {"low": {"a": 1.0, "b": 2.0}, "high": {"a": 3.0, "b": -4.0}}
        )

    def test_lying_bars_are_named_by_the_label_of_x(self):
        chart = self.typed(
            "bar",
            "plt.barh(['a', 'b', 'c'], [2, 2, 2])\nplt.xlabel('weight (kg)')\nplt.ylabel('animal')",
        )
        self.assertEqual(self.groups(chart), {"Group 0": {"a": 2.0, "b": 2.0, "c": 2.0}})
        self.assertEqual((chart["x_label"], chart["y_label"]), ("animal", "weight (kg)"))
        self.assertEqual((chart["x_unit"], chart["y_unit"]), (None, "kg"))

    def test_equal_bars_stand_as_they_were_drawn(self):
        chart = self.typed("bar", "plt.bar(['a', 'b'], [7, 7])\nplt.xlabel('x')\nplt.ylabel('y')")
        self.assertEqual(self.groups(chart), {"Group 0": {"a": 7.0, "b": 7.0}})
        self.assertEqual((chart["x_label"], chart["y_label"]), ("x", "y"))

    def test_bars_at_numbers_and_dates(self):
        chart = self.typed("bar", "plt.bar([2019, 2020.5], [1, float('nan')])")
        self.assertEqual(self.groups(chart), {"Group 0": {"2019": 1.0, "2020.5": None}})
        chart = self.typed(
            "bar", "plt.bar([datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 2, 12)], [1, 2])"
        )
        self.assertEqual(
            self.groups(chart), {"Group 0": {"2020-01-01": 1.0, "2020-01-02T12:00:00": 2.0}}
        )

    def test_a_tick_names_only_the_bar_beside_it(self):
        chart = self.typed("bar", "plt.bar(range(4), [1, 2, 3, 4])\nplt.xticks([0, 3], ['a', 'd'])")
        self.assertEqual(self.groups(chart), {"Group 0": {"a": 1.0, "1": 2.0, "2": 3.0, "d": 4.0}})

    def test_histograms_are_bars_at_the_middle_of_their_bins(self):
        chart = self.typed("bar", "_ = plt.hist([0, 1, 1, 4], bins=2, label='h')")
        self.assertEqual(self.groups(chart), {"h": {"1": 3.0, "3": 1.0}})

    def test_what_only_decorates(self):
        chart = self.typed("bar", "plt.bar(['a'], [1])\nplt.axhline(.5)\nplt.plot([0, 0], [0, 1])")
        self.assertEqual(self.groups(chart), {"Group 0": {"a": 1.0}})


class Boxes(ChartCase):
    # 76 is more than 1.5 times the distance of the quartiles below the first of them.
    DATA = "[[85, 90, 78, 92, 88], [95, 89, 76, 91, 84, 87]]"
    FIVE = {
        "label": "A",
        "min": 78.0,
        "first_quartile": 85.0,
        "median": 88.0,
        "third_quartile": 90.0,
        "max": 92.0,
        "outliers": [],
    }
    SIX = {
        "label": "B",
        "min": 84.0,
        "first_quartile": 84.75,
        "median": 88.0,
        "third_quartile": 90.5,
        "max": 95.0,
        "outliers": [76.0],
    }

    def boxes(self, options, more=""):
        return self.typed("box_and_whisker", "_ = plt.boxplot(%s%s)%s" % (self.DATA, options, more))

    def test_fields_and_values(self):
        names = (
            "\nplt.xticks([1, 2], ['A', 'B'])\nplt.xlabel('Class')\nplt.ylabel('Score (points)')"
        )
        for options in ("", ", patch_artist=True"):
            chart = self.boxes(options, names)
            self.assertEqual(list(chart), FIELDS)
            self.assertEqual(chart["elements"], [self.FIVE, self.SIX], options)
            self.assertEqual((chart["x_label"], chart["y_label"]), ("Class", "Score (points)"))
            self.assertEqual((chart["x_unit"], chart["y_unit"]), (None, "points"))

    def test_in_every_style(self):
        values = [dict(self.FIVE, label="1"), dict(self.SIX, label="2")]
        for options in (
            ", notch=True",
            ", notch=True, patch_artist=True",
            ", showmeans=True",
            ", showmeans=True, meanline=True",
            ", showcaps=False",
            ", sym='r+', widths=.1",
        ):
            self.assertEqual(self.boxes(options)["elements"], values, options)

    def test_lying_boxes_are_named_by_the_label_of_x(self):
        chart = self.boxes(
            ", vert=False", "\nplt.yticks([1, 2], ['A', 'B'])\nplt.xlabel('v')\nplt.ylabel('name')"
        )
        self.assertEqual(chart["elements"], [self.FIVE, self.SIX])
        self.assertEqual((chart["x_label"], chart["y_label"]), ("name", "v"))

    def test_without_outliers_and_drawn_twice(self):
        one = dict(self.FIVE, label="1")
        chart = self.boxes(
            ", showfliers=False, patch_artist=True", "\n_ = plt.boxplot(%s)" % self.DATA
        )
        self.assertEqual(chart["elements"][0], one)
        self.assertEqual([box["outliers"] for box in chart["elements"]], [[], [], [76.0]])

    def test_one_value_and_none(self):
        chart = self.typed("box_and_whisker", "_ = plt.boxplot([[3, 3], []])")
        first, second = chart["elements"]
        self.assertEqual(
            (first["min"], first["median"], first["max"], first["outliers"]), (3.0, 3.0, 3.0, [])
        )
        self.assertEqual((second["median"], second["outliers"]), (None, []))

    def test_lines_that_look_like_parts_of_boxes_are_lines(self):
        for code in (
            "plt.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])",
            "plt.plot([1, 1], [0, 1]); plt.plot([0, 2], [1, 1]); plt.plot([1, 1], [1, 3])",
        ):
            self.typed("line", code)


if __name__ == "__main__":
    unittest.main()
