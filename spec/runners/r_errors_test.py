"""Errors of the R runner as lines, and the ways out of a step."""

import os
import signal
import tempfile
import unittest

from r_process import RTest, start_r


class Errors(RTest):
    def test_calls_without_those_of_the_runner(self):
        error = self.error("f <- function(a) {\n  stop('boom ', a)\n}\ng <- function() f(1)\ng()")
        self.assertEqual((error["name"], error["value"]), ("Error", "boom 1"))
        self.assertRegex(
            error["traceback"],
            r"^Error in f\(1\): boom 1\nTraceback:\n1\. g\(\)   # step \d+, line 5\n"
            r'2\. f\(1\)   # step \d+, line 4\n3\. stop\("boom ", a\)   # step \d+, line 2$',
        )

    def test_the_statement_that_r_finds_fault_with(self):
        log = r'log\("a"\)   # step \d+, line '
        for code, calls in (
            ("f <- function() {\n  x <- 1\n  y <- nowhere\n}\n\nf()",
             r"1\. f\(\)   # step \d+, line 6\n2\. y <- nowhere   # step \d+, line 3"),
            ("h <- function() {\n  h <- nowhere\n}\nh()",
             r"1\. h\(\)   # step \d+, line 4\n2\. h <- nowhere   # step \d+, line 2"),
            ("1\nx <- list()[[3]]", r"1\. x <- list\(\)\[\[3\]\]   # step \d+, line 2"),
            ('sapply("a", function(each) {\n  log("a")\n})',
             r"1\. sapply\(.*, lines 1 to 3\n2\. lapply\(.*\n3\. FUN\(.*\n4\. " + log + "2"),
            ('if (TRUE) {\n\n  log("a")\n}', r"1\. " + log + "3"),
            ('source(textConnection("\\nlog(\'a\')"))', r"1\. source.*line 1\n(.*\n)*4\. eval.*"),
        ):
            self.assertRegex(self.error(code)["traceback"], r"Traceback:\n" + calls + "$")

    def test_loops_at_top_level_are_named_whole(self):
        error = self.error("1\nfor (i in 1:2) {\n  i\n  stop('here')\n}")
        self.assertRegex(error["traceback"], r'1\. stop\("here"\)   # step \d+, lines? (2 to 5|4)$')

    def test_errors_at_top_level_have_no_call(self):
        for code, value in (
            ("stop('top')", "top"),
            ("no_such_variable", "object 'no_such_variable' not found"),
            ("no_such()", 'could not find function "no_such"'),
        ):
            error = self.error(code)
            self.assertEqual(error["value"], value)
            self.assertRegex(error["traceback"], r"^Error(: | in no_such\(\): )")
            self.assertNotIn("eval(", error["traceback"])

    def test_syntax_errors_have_their_place_and_nothing_runs(self):
        error = self.error("ran <- TRUE\ny <- (1 + \n  * 2)")
        self.assertEqual(error["name"], "parseError")
        self.assertEqual(error["value"], "unexpected '*' (line 3, column 3)")
        self.assertRegex(
            error["traceback"],
            r"^Error: step \d+:3:3: unexpected '\*'\n2: y <- \(1 \+ \n3:   \*\n     \^$",
        )
        self.assertEqual(self.text("exists('ran')"), "[1] FALSE")
        self.assertEqual(self.error("f(")["value"], "unexpected end of input (line 2, column 0)")
        self.assertIn("INCOMPLETE_STRING", self.error("'open")["value"])

    def test_what_is_no_text(self):
        self.assertIn("NUL", self.error("1\0 + 1")["value"])
        self.assertEqual(self.text("'a'\r\n"), '[1] "a"')

    def test_conditions_of_the_code(self):
        error = self.error(
            "stop(structure(class = c('http_error', 'error', 'condition'),\n"
            "     list(message = 'two\\nlines', call = NULL)))"
        )
        self.assertEqual((error["name"], error["value"]), ("http_error", "two\nlines"))

    def test_an_error_while_printing(self):
        error = self.error(
            "print.bad <- function(x, ...) { cat('half'); stop('cannot print') }\nstructure(1,"
            " class = 'bad')"
        )
        self.assertEqual(error["value"], "cannot print")
        self.assertEqual(self.text("1"), "[1] 1")

    def test_recursion_without_end(self):
        for code in (
            "f <- function(n) f(n + 1); f(1)",
            "f <- function(n) lapply(1, function(i) f(n)); f(1)",
            "f <- function(n) tryCatch(f(n), warning = identity); f(1)",
            "options(expressions = 500000); f(1)",
        ):
            error = self.error(code)
            self.assertRegex(error["value"], "infinite recursion|stack usage|stack overflow", code)
            self.assertLess(len(error["traceback"]), 20000)
        self.assertEqual(self.text("'on'"), '[1] "on"')

    def test_state_survives_and_the_rest_of_the_step_does_not_run(self):
        self.error("kept <- 5\nstop('x')\nkept <- 6")
        self.assertEqual(self.text("kept"), "[1] 5")

    def test_the_code_catches_its_own(self):
        self.assertEqual(
            self.output(
                "tryCatch(stop('a'), error = function(e) cat('caught'), finally = cat(' done\\n'))"
            ),
            [("stdout", "caught done\n")],
        )
        self.assertEqual(
            self.output("try(stop('shown'))"), [("stderr", 'Error in try(stop("shown")) : shown\n')]
        )

    def test_every_step_counts(self):
        count = self.runner.step("1")[0]["execution_count"]
        for code in ("x = = 1", "stop()", "", "1\0"):
            count += 1
            self.assertEqual(self.runner.step(code)[0]["execution_count"], count)


class Exit(unittest.TestCase):
    def check(self, code, status=0):
        runner = start_r()
        try:
            events = runner.step(code)
            self.assertEqual(events[-1], {"type": "end", "exit": True})
            self.assertEqual(runner.process.wait(10), status)
            return events[1:-1]
        finally:
            runner.close()

    def test_quit_ends_the_step_and_then_the_runner(self):
        self.assertEqual(self.check("cat('bye\\n'); q()")[0]["text"], "bye\n")
        self.check("f <- function() quit(status = 3); f(); stop('never')", 3)
        self.check("q('no', 1, FALSE)", 1)
        self.check("tryCatch(quit(), error = identity, finally = cat('x'))")

    def test_what_the_code_leaves_for_the_end_runs(self):
        self.assertEqual(self.check(".Last <- function() cat('last\\n'); q()")[0]["text"], "last\n")
        self.assertEqual(
            self.check("reg.finalizer(globalenv(), function(e) cat('fin\\n'), TRUE); q()")[-1][
                "text"
            ],
            "fin\n",
        )

    def test_its_files_are_removed(self):
        runner = start_r()
        folder = runner.step("cat(tempdir()); plot(1)")[1]["text"]
        self.assertTrue(os.path.isdir(folder))
        runner.close()
        self.assertFalse(os.path.exists(folder))

    def test_it_leaves_when_the_agent_goes(self):
        runner = start_r()
        runner.socket.close()
        self.assertEqual(runner.process.wait(10), 0)
        runner.close()

    def test_crashes_are_crashes(self):
        with tempfile.TemporaryDirectory() as folder:  # it leaves its own one behind
            runner = start_r(env={"TMPDIR": folder})
            runner.start("tools::pskill(Sys.getpid(), 9); Sys.sleep(5)")
            self.assertEqual(runner.process.wait(10), -signal.SIGKILL)
            runner.close()

    def test_it_does_not_read_files_of_the_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, ".Rprofile"), "w") as profile:
                profile.write("stop('read')\n")
            runner = start_r(cwd=folder)
            self.assertEqual(
                runner.step("basename(getwd())")[1]["text"], '[1] "%s"' % os.path.basename(folder)
            )
            runner.close()


if __name__ == "__main__":
    unittest.main()
