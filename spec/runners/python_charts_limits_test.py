"""Charts do no harm: to the figure, to the step, or to code that draws none."""

import time
import unittest

from chart_case import ChartCase
from runner_process import RunnerProcess

MAX_POINTS = 50_000


class Limits(ChartCase):
    def test_a_million_points_are_left_out_and_said_to_be(self):
        chart = self.typed(
            "line",
            "plt.plot(np.arange(1_000_000), label='big')\nplt.plot([1, 2], label='small')\n"
            "plt.title('T')",
        )
        self.assertEqual(self.series(chart), {"small": [[0.0, 1.0], [1.0, 2.0]]})
        self.assertEqual((chart["title"], chart["truncated"]), ("T", True))
        self.assertEqual(chart["x_scale"], "linear")

    def test_what_fits_is_whole(self):
        chart = self.typed(
            "scatter", "plt.scatter(np.arange(%d), np.zeros(%d))" % ((MAX_POINTS,) * 2)
        )
        self.assertEqual(len(chart["elements"][0]["points"]), MAX_POINTS)
        self.assertEqual(chart["elements"][0]["points"][-1], [MAX_POINTS - 1.0, 0.0])
        self.assertNotIn("truncated", chart)

    def test_all_axes_of_a_figure_share_the_room(self):
        chart = self.typed(
            "superchart",
            "fig, ax = plt.subplots(3)\nfor a in ax: a.plot(np.arange(%d))" % (MAX_POINTS // 2),
        )
        self.assertEqual([len(part["elements"]) for part in chart["elements"]], [1, 1, 0])
        self.assertEqual([part.get("truncated") for part in chart["elements"]], [None, None, True])

    def test_many_ticks(self):
        chart = self.typed("line", "plt.plot([1, 2])\nplt.xticks(np.linspace(0, 1, 1500))")
        self.assertEqual((len(chart["x_ticks"]), len(chart["x_tick_labels"])), (1000, 1000))

    def test_extraction_takes_a_small_part_of_what_drawing_takes(self):
        code = """
import time
f = get_ipython().display_formatter.formatters
fig, ax = plt.subplots()
ax.plot(np.arange(1_000), np.arange(1_000) * 1.5)
plt.close(fig)
spans = {'image/png': [], 'e2b/chart': []}
for i in range(5):
    for kind in spans:
        begin = time.perf_counter()
        assert f[kind](fig)
        spans[kind].append(time.perf_counter() - begin)
print(min(spans['e2b/chart']) / min(spans['image/png']))
"""
        events = self.runner.step(code, timeout=60)
        self.assertLess(float(events[1]["text"]), 0.25, "it takes about a fiftieth")

    def test_the_picture_is_the_same_with_and_without(self):
        code = """
import base64
f = get_ipython().display_formatter.formatters
def draw(with_chart):
    fig, ax = plt.subplots(1, 2)
    ax[0].semilogy([datetime.date(2020, 1, 1), datetime.date(2020, 3, 1)], [1, 1000], label='a')
    ax[0].legend()
    ax[1].bar(['p', 'q'], [1, 2])
    plt.close(fig)
    if with_chart:
        assert f['e2b/chart'](fig)['elements'][0]['type'] == 'line'
    first = f['image/png'](fig)
    if with_chart:
        f['e2b/chart'](fig)
    return first, f['image/png'](fig)
pictures = draw(False) + draw(True)
print(len(set(pictures)), len(pictures[0]) > 1_000)
"""
        events = self.runner.step(code, timeout=60)
        self.assertEqual(events[1].get("text"), "1 True\n", events)

    def test_an_artist_of_the_codes_own_that_raises_gives_an_unknown_chart(self):
        chart = self.chart(
            "from matplotlib.lines import Line2D\n"
            "class Odd(Line2D):\n"
            "    def get_xdata(self, orig=True):\n"
            "        if orig: raise RuntimeError('odd')\n"
            "        return super().get_xdata(orig)\n"
            "plt.gca().add_line(Odd([1, 2], [3, 4]))\nplt.title('T')"
        )
        self.assertEqual(chart, {"type": "unknown", "title": "T", "elements": []})

    def test_texts_of_any_kind(self):
        chart = self.chart("plt.plot([1], label='\\ud800\\u2603')\nplt.title('a\\n\\U0001f600')")
        self.assertEqual(chart["elements"][0]["label"], "\ufffd\u2603")
        self.assertEqual(chart["title"], "a\n\U0001f600")

    def test_any_format_of_pictures_has_a_chart(self):
        events = self.runner.step(
            "%config InlineBackend.figure_formats = ['svg']\nplt.plot([1, 2], label='a')\nNone"
        )
        (result,) = [event for event in events if event["type"] == "result"]
        self.assertIn("</svg>", result["svg"])
        self.assertEqual(result["chart"]["type"], "line")
        self.runner.step("%config InlineBackend.figure_formats = ['png']")

    def test_a_class_may_make_its_own_chart(self):
        events = self.runner.step(
            "class Own:\n    def _repr_e2b_chart_(self): return {'type': 'unknown', 'n':"
            " float('nan')}\nOwn()"
        )
        self.assertEqual(events[1]["chart"], {"type": "unknown", "n": None})


class WithoutMatplotlib(unittest.TestCase):
    def test_nothing_is_imported_for_results_that_are_no_figures(self):
        runner = RunnerProcess()
        self.addCleanup(runner.close)
        events = runner.step(
            "import sys\n[m for m in sys.modules if 'chart' in m or m == 'matplotlib']"
        )
        self.assertEqual(events[1]["text"], "[]")
        begin = time.monotonic()
        runner.step("for i in range(100): display(i)")
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    unittest.main()
