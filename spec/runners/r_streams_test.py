"""Output of the R runner: order, streaming, programs, standard input, variables of a step."""

import time
import unittest

from r_process import RTest, start_r


class Streams(RTest):
    def test_the_order_of_both_streams_and_of_results(self):
        events = self.events(
            "cat('a\\n'); message('b'); print('c'); 'd'\nwrite('e', stderr()); cat('f\\n')"
        )
        self.assertEqual(
            [(event["type"], event["text"]) for event in events],
            [
                ("stdout", "a\n"),
                ("stderr", "b\n"),
                ("stdout", '[1] "c"\n'),
                ("result", '[1] "d"'),
                ("stderr", "e\n"),
                ("stdout", "f\n"),
            ],
        )

    def test_what_is_written_is_to_be_seen_at_once(self):
        self.runner.start("cat('no end of line'); Sys.sleep(30)")
        begin = time.monotonic()
        self.runner.wait(lambda event: event["type"] == "stdout")
        self.runner.serve(0.1)
        self.assertLess(time.monotonic() - begin, 5)
        self.runner.interrupt()
        self.runner.finish()

    def test_progress_bars_keep_their_returns(self):
        text = self.output(
            "p <- txtProgressBar(max = 2, style = 3); for (i in 1:2) setTxtProgressBar(p, i);"
            " close(p)"
        )[0][1]
        self.assertGreaterEqual(text.count("\r"), 3)
        self.assertIn("100%", text)

    def test_warnings_come_after_their_expression(self):
        self.assertEqual(
            self.output(
                "options(warn = 0)\nf <- function() warning('w')\nf(); cat('on\\n')\nwarning('top')"
            ),
            [
                ("stderr", "Warning message:\nIn f() : w\n"),
                ("stdout", "on\n"),
                ("stderr", "Warning message:\ntop \n"),
            ],
        )

    def test_warnings_at_once_and_as_errors(self):
        self.assertEqual(
            self.output("options(warn = 1); f <- function() warning('w'); f(); cat('on\\n')"),
            [("stderr", "Warning in f() : w\n"), ("stdout", "on\n")],
        )
        error = self.error("options(warn = 2); f()")
        self.assertEqual(error["value"], "(converted from warning) w")
        self.assertRegex(error["traceback"].split("\n")[2], r"^1\. f\(\)   # step \d+, line 1$")
        self.assertRegex(
            self.error("warning('x')")["traceback"],
            r'^Error: \(converted from warning\) x\nTraceback:\n1\. warning\("x"\)   # step \d+, line 1$',
        )
        self.assertEqual(
            self.events("options(warn = 0); suppressWarnings(as.numeric('x')) -> x"), []
        )

    def test_sinks_get_what_is_for_them(self):
        self.events("f <- tempfile(); sink(f)\n1 + 1\ncat('in\\n')")
        self.assertEqual(self.events("2 + 2"), [])
        self.assertEqual(self.text("sink()\nreadLines(f)"), '[1] "[1] 2" "in"    "[1] 4"')
        self.assertEqual(self.text("capture.output(print(1), cat('x'))"), '[1] "[1] 1" "x"    ')

    def test_programs_write_in_order(self):
        self.assertEqual(
            self.output(
                "message('a'); x <- system('echo b; echo c >&2'); cat('d\\n'); x <- system2('echo',"
                " 'e')"
            )[0:2],
            [("stderr", "a\n"), ("stdout", "b\n")],
        )
        self.assertEqual(self.text("system('echo in', intern = TRUE)"), '[1] "in"')
        self.assertEqual(self.text("system('exit 3') + 0"), "[1] 3")
        self.assertEqual(self.text("system('cat', input = 'x', intern = TRUE)"), '[1] "x"')

    def test_processes_that_the_code_forks(self):
        self.assertEqual(
            self.results("parallel::mclapply(1:2, function(i) i * 2, mc.cores = 2)")[0]["json"],
            [2, 4],
        )
        self.runner.step("p <- parallel::mcparallel(stop('no'))")
        self.events("x <- suppressWarnings(parallel::mccollect(p))")
        self.events("if (is.null(parallel:::mcfork()$pid)) stop('child') else Sys.sleep(0.3)")
        self.assertEqual(self.text("'still'"), '[1] "still"')

    def test_reading_the_console_ends_at_once(self):
        self.assertEqual(self.results("readline('? ')")[0]["text"], '[1] ""')
        for code in ("readLines('stdin')", "readLines(stdin())", "readLines(file('stdin'))"):
            self.assertIn("character(0)", [r.get("text") for r in self.results(code)], code)
        self.assertEqual(self.results("scan(quiet = TRUE)")[0]["text"], "numeric(0)")

    def test_much_output(self):
        text = self.output("for (i in 1:20000) cat(i, '\\n')")[0][1]
        self.assertEqual(text.split(" \n")[:-1], [str(i) for i in range(1, 20001)])

    def test_text_is_utf_8_whatever_the_variables_say(self):
        for variables in ({"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "no_such"}):
            runner = start_r(env=variables)
            try:
                events = runner.step("cat('\u00e9\u2603\\n'); nchar('\u00e9')")
                self.assertEqual(events[-3]["text"], "\u00e9\u2603\n")
                self.assertEqual(events[-2]["text"], "[1] 1")
            finally:
                runner.close()
        self.runner.step("Sys.setlocale('LC_ALL', 'C')")
        self.assertEqual(self.text("'\u00e9'"), '[1] "\u00e9"')


class Environment(RTest):
    options = {"env": {"KEPT": "before"}}

    def test_values_are_data(self):
        for value in (
            "it's",
            'say "hi"',
            "a\nb",
            "a\\",
            "a\\nb",
            "$(x) `y`",
            "",
            "\u2603\U0001f600",
        ):
            self.assertEqual(
                self.output("cat(Sys.getenv('A'), '.', sep = '')", {"A": value}),
                [("stdout", value + ".")],
            )
            self.assertEqual(
                self.output("x <- system('printf %s. \"$A\"')", {"A": value}),
                [("stdout", value + ".")],
            )

    def test_they_last_one_step(self):
        code = "paste(Sys.getenv('A', NA), Sys.getenv('KEPT'))"
        self.assertEqual(self.text(code, {"A": "1", "KEPT": "2"}), '[1] "1 2"')
        self.assertEqual(self.text(code), '[1] "NA before"')
        self.error(
            "Sys.setenv(A = 'changed'); Sys.unsetenv('KEPT'); stop()", {"A": "1", "KEPT": "2"}
        )
        self.assertEqual(self.text(code), '[1] "NA before"')

    def test_other_names_stay_as_the_code_left_them(self):
        self.events("invisible(Sys.setenv(OWN = 'x'))", {"A": "1"})
        self.assertEqual(self.text("Sys.getenv('OWN')"), '[1] "x"')

    def test_impossible_variables_are_errors_and_the_code_does_not_run(self):
        for env in ({"": "x"}, {"A=B": "x"}, {"A": "x\0y"}, {"A\0": "x"}, {"OK": "x", "B\0": ""}):
            error = self.error("ran <- TRUE", env)
            self.assertEqual(error["name"], "Error")
            self.assertIn("environment variable", error["value"])
        self.assertEqual(self.text("exists('ran')"), "[1] FALSE")
        self.assertEqual(self.text("Sys.getenv('OK')"), '[1] ""')


if __name__ == "__main__":
    unittest.main()
