"""Plots of the R runner: pages as pictures."""

import base64
import struct
import unittest

from r_process import RTest, start_r


def size(result):
    """Width and height in pixels of a result's picture."""
    picture = base64.b64decode(result["png"])
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", picture[16:24])


class Plots(RTest):
    def pictures(self, code):
        return [result["png"] for result in self.results(code) if "png" in result]

    def test_a_plot_is_a_picture_and_not_the_main_result(self):
        (result,) = self.results("plot(1:3)")
        self.assertEqual(list(result), ["type", "png", "extra", "is_main_result"])
        self.assertFalse(result["is_main_result"])
        self.assertEqual(size(result), (840, 840))

    def test_what_is_added_within_a_step_is_one_picture(self):
        self.assertEqual(len(self.pictures("plot(1:3)\nlines(3:1)\nlegend('top', 'a')")), 1)

    def test_each_page_is_a_picture(self):
        pictures = self.pictures("for (i in 1:3) plot(i, main = i)")
        self.assertEqual(len(set(pictures)), 3)

    def test_pictures_come_in_order_with_values(self):
        events = self.results("plot(1)\nplot(2)\n'done'")
        self.assertEqual(["png" in event for event in events], [True, False, True])

    def test_a_page_goes_on_in_the_next_step(self):
        (before,) = self.pictures("plot(1:3)")
        (after,) = self.pictures("abline(h = 2)")
        self.assertNotEqual(before, after)
        self.assertEqual(self.pictures("1"), [])

    def test_parameters_stay_and_are_no_picture(self):
        self.assertEqual(self.pictures("plot(0)\npar(mar = c(1, 1, 1, 1))")[1:], [])
        self.assertEqual(self.pictures("par(mfrow = c(1, 2))"), [])
        self.assertEqual(self.text("par('mar')"), "[1] 1 1 1 1")
        (one,), (two,) = self.pictures("plot(1)"), self.pictures("plot(2)")
        self.assertNotEqual(one, two)
        self.pictures("par(mfrow = c(1, 1))")

    def test_figures_of_a_page_are_one_picture(self):
        self.assertEqual(
            len(
                self.pictures("par(mfrow = c(2, 2)); for (i in 1:4) plot(i); par(mfrow = c(1, 1))")
            ),
            1,
        )

    def test_devices_that_the_code_closes_have_their_picture(self):
        self.assertEqual(len(self.pictures("plot(1:5)\ninvisible(dev.off())")), 1)
        self.assertEqual(self.pictures("graphics.off()"), [])

    def test_devices_of_the_code_are_its_own(self):
        self.events("graphics.off()")
        code = "f <- tempfile(); png(f); plot(1); invisible(dev.off()); file.exists(f)"
        (result,) = self.results(code)
        self.assertEqual(result["text"], "[1] TRUE")
        self.assertEqual(
            self.pictures("f <- tempfile(); pdf(f); plot(1); invisible(dev.off())"), []
        )

    def test_size_and_resolution_are_options(self):
        (result,) = self.results(
            "options(repr.plot.width = 3, repr.plot.height = 2, repr.plot.res = 100); plot(1)"
        )
        self.assertEqual(size(result), (300, 200))
        self.events("options(repr.plot.width = -1, repr.plot.height = 'x', repr.plot.res = NULL)")
        self.assertEqual(size(self.results("plot(1)")[0]), (840, 840))

    def test_grid_and_lattice(self):
        self.assertEqual(len(self.pictures("library(grid); grid.newpage(); grid.text('x')")), 1)
        self.assertEqual(len(self.pictures("library(lattice)\nxyplot(1 ~ 1)\nxyplot(2 ~ 2)")), 2)

    def test_ggplot2(self):
        if self.text("(requireNamespace('ggplot2', quietly = TRUE))") != "[1] TRUE":
            self.skipTest("ggplot2 is not installed here")
        results = self.results("library(ggplot2)\nggplot(mtcars, aes(mpg, wt)) + geom_point()")
        self.assertEqual(
            [list(result) for result in results], [["type", "png", "extra", "is_main_result"]]
        )

    def test_a_step_that_fails_shows_what_it_has_drawn(self):
        events = self.events("plot(1:7)\nstop('late')")
        self.assertEqual([event["type"] for event in events], ["result", "error"])

    def test_a_step_that_quits_shows_what_it_has_drawn(self):
        runner = start_r()
        self.addCleanup(runner.close)
        events = runner.step("plot(1)\nquit()")
        self.assertEqual([event["type"] for event in events[1:]], ["result", "end"])

    def test_hooks_that_the_code_removes_come_back(self):
        self.events("setHook('before.plot.new', NULL, 'replace')")
        self.assertEqual(len(self.pictures("plot(1); plot(2)")), 2)

    def test_files_of_pages_are_removed(self):
        self.events("graphics.off()")
        self.pictures("for (i in 1:5) plot(i)")
        self.assertEqual(self.text("list.files(tempdir(), '^page')"), "character(0)")
        self.events("graphics.off()")
        self.assertEqual(self.text("list.files(tempdir(), '^(page|device)')"), "character(0)")


if __name__ == "__main__":
    unittest.main()
