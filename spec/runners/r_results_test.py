"""Results of the R runner: visible values in their formats, and the state that steps share."""

import json
import unittest

from r_process import RTest, start_r


class Values(RTest):
    def test_the_last_visible_value_is_the_main_result(self):
        first, last = self.results("1:3\n'two'")
        self.assertEqual(
            first, {"type": "result", "text": "[1] 1 2 3", "extra": {}, "is_main_result": False}
        )
        self.assertEqual(list(last), ["type", "text", "extra", "is_main_result"])
        self.assertEqual((last["text"], last["is_main_result"]), ('[1] "two"', True))

    def test_what_is_invisible_is_no_result(self):
        for code in ("x <- 5", "invisible(7)", "library(stats)", "for (i in 1:2) i", "", "# only"):
            self.assertEqual(self.events(code), [], code)
        self.assertEqual([r["is_main_result"] for r in self.results("1\ny <- 2")], [False])

    def test_values_print_as_at_the_console(self):
        for code, text in (
            ("NULL", "NULL"),
            ("c(a = 1, b = 2)", "a b \n1 2 "),
            ("factor(c('u', 'v'))", "[1] u v\nLevels: u v"),
            ("quote(x + y)", "x + y"),
            ("function(x) x + 1 # kept", "function(x) x + 1"),
            ("character(0)", "character(0)"),
            ("'it\\'s \"q\"\\n\\\\'", '[1] "it\'s \\"q\\"\\n\\\\"'),
        ):
            self.assertEqual(self.text(code), text)

    def test_methods_of_the_code_print(self):
        self.events(
            "print.own <- function(x, ...) cat('<', unclass(x), '>\\n')\nstructure(3, class ="
            " 'own')"
        )
        self.assertEqual(self.text("structure(3, class = 'own')"), "< 3 >")
        self.events(
            "setClass('Own', representation(a = 'numeric'))\n"
            "setMethod('show', 'Own', function(object) cat('own', object@a, '\\n'))"
        )
        self.assertEqual(self.text("new('Own', a = 4)"), "own 4 ")

    def test_a_value_that_prints_nothing_is_no_result(self):
        self.assertEqual(
            self.events(
                "print.silent <- function(x, ...) invisible()\nstructure(1, class = 'silent')"
            ),
            [],
        )

    def test_lists_have_json(self):
        result = self.results(
            "list(a = 1, b = 'x', c = NULL, d = NA, e = NaN, f = c(1.5, 2), g = list(TRUE, 3L),\n  "
            "   h = as.Date('2024-05-06'), i = factor('u'), j = 0.1, k = 1e10, l = 123456789.125,\n"
            "     m = character(0), n = c(p = 1, q = 2), o = 1/3)"
        )[0]
        self.assertEqual(
            result["json"],
            {
                "a": 1, "b": "x", "c": None, "d": None, "e": None, "f": [1.5, 2], "g": [True, 3],
                "h": "2024-05-06", "i": "u", "j": 0.1, "k": 10000000000, "l": 123456789.125,
                "m": [], "n": {"p": 1, "q": 2}, "o": 1 / 3,
            },
        )  # fmt: skip
        self.assertEqual(list(result), ["type", "text", "json", "extra", "is_main_result"])

    def test_lists_without_a_json_form_have_text_alone(self):
        for code in ("list(mean)", "list(globalenv())", "list(1, list(quote(x)))"):
            self.assertNotIn("json", self.results(code)[0])
        self.assertNotIn(
            "json", self.results("x <- 1; for (i in 1:300) x <- list(x)\nx")[0], "nested too deeply"
        )

    def test_data_frames_have_a_table_and_columns(self):
        result = self.results(
            "data.frame(n = 1:2, s = c('<x>', NA), f = factor(c('u', 'v')), d ="
            " as.Date('2024-01-01') + 0:1,\n           x = c(NaN, 2.5), l = c(TRUE, NA))"
        )[0]
        self.assertEqual(list(result)[1:4], ["text", "html", "data"])
        self.assertEqual(
            result["data"],
            {
                "n": [1, 2],
                "s": ["<x>", None],
                "f": ["u", "v"],
                "d": ["2024-01-01", "2024-01-02"],
                "x": [None, 2.5],
                "l": [True, None],
            },
        )
        self.assertIn("<td>&lt;x&gt;</td>", result["html"])
        self.assertIn("<th>n</th>", result["html"])

    def test_help_is_text(self):
        (result,) = self.results("help('mean')")
        self.assertIn("Arithmetic Mean", result["text"])
        self.events("f <- tempfile(); writeLines(c('one', 'two'), f)")
        self.assertEqual(self.events("file.show(f)"), [{"type": "stdout", "text": "one\ntwo\n"}])

    def test_tables_are_cut_and_data_is_not(self):
        result = self.results("as.data.frame(matrix(1:30000, 1000))")[0]
        self.assertEqual(len(result["data"]["V1"]), 1000)
        self.assertEqual(result["html"].count("<tr>"), 62)
        self.assertIn("&#8942;", result["html"])
        self.assertIn("&#8230;", result["html"])
        self.assertEqual(self.results("data.frame()")[0]["data"], {})

    def test_matrices_have_a_table(self):
        result = self.results("matrix(1:4, 2, dimnames = list(c('r', 's'), c('a', 'b')))")[0]
        self.assertIn("<td>r</td><td>1</td><td>3</td>", result["html"])

    def test_text_of_all_kinds(self):
        self.assertEqual(self.text("'\u00e9\u2603\U0001f600'"), '[1] "\u00e9\u2603\U0001f600"')
        self.assertEqual(self.text("nchar('\u00e9\u2603\U0001f600')"), "[1] 3")
        self.assertEqual(self.text("'\\001\\x7f'"), '[1] "\\001\\177"')
        self.assertIn("\ufffd", self.output("cat('\\xff\\n')")[0][1])

    def test_a_value_that_prints_without_end_is_cut(self):
        result = self.results("strrep('abcdefghij', 2e6)")[0]
        self.assertTrue(result["text"].endswith("(the rest is left out)"))
        self.assertLess(len(result["text"]), 17 << 20)


class State(RTest):
    def test_variables_packages_options_and_directory_stay(self):
        self.events("x <- 20 + 1; library(tools); options(digits = 3); setwd(tempdir())")
        self.assertEqual(self.text("x * 2"), "[1] 42")
        self.assertEqual(self.text("pi"), "[1] 3.14")
        self.assertEqual(self.text("'package:tools' %in% search()"), "[1] TRUE")
        self.assertEqual(self.text("getwd() == normalizePath(tempdir())"), "[1] TRUE")

    def test_the_code_may_redefine_anything(self):
        runner = start_r()
        try:
            for code in (
                (
                    "print <- NULL; c <- function(...) 1; T <- 0; list <- 4; paste0 <- 2; eval <-"
                    " 3; cat <- 5"
                ),
                "`::` <- stop; `[[` <- stop; `<-` <- function(...) base::stop('no')",
                "rm(list = ls(all.names = TRUE))",
                "options(prompt = 'x', continue = 'y', device = NULL, keep.source = FALSE)",
            ):
                runner.step(code)
            self.assertEqual(runner.step("1:2")[1]["text"], "[1] 1 2")
            self.assertEqual(runner.step("list(1)")[1]["json"], [1])
            self.assertEqual(runner.step("ls(all.names = TRUE)")[1]["text"], "character(0)")
        finally:
            runner.close()

    def test_nothing_of_the_runner_is_in_sight(self):
        runner = start_r()
        try:
            self.assertEqual(runner.step("ls(all.names = TRUE)")[1]["text"], "character(0)")
            self.assertNotIn("stepbox", json.dumps(runner.step("search()")))
        finally:
            runner.close()

    def test_random_numbers_differ_between_contexts(self):
        values = set()
        for _ in range(2):
            runner = start_r()
            values.add(runner.step("runif(1)")[1]["text"])
            runner.close()
        self.assertEqual(len(values), 2)

    def test_top_level_jumps_end_the_step_alone(self):
        self.assertEqual(self.events("invokeRestart('abort'); 'never'"), [])
        self.assertEqual(self.text("'on'"), '[1] "on"')
        self.assertEqual(self.events("invokeRestart('abort')"), [])
        self.assertEqual(self.text("'on'"), '[1] "on"')

    def test_browser_lets_the_code_go_on(self):
        self.assertEqual(self.results("f <- function() { browser(); 5 }; f()")[0]["text"], "[1] 5")
        self.assertEqual(self.output("if (TRUE) 3"), [])


if __name__ == "__main__":
    unittest.main()
