"""Interrupts reach the code of a step of the R runner, wherever it is, and nothing else."""

import subprocess
import time
import unittest

from r_process import RTest


class Interrupts(RTest):
    def interrupted(self, code, within=3):
        """The events of a step that is interrupted once it has printed `go`."""
        return self.interrupted_once_it_prints(code, within, self.runner.serve)

    def check(self, code):
        self.runner.step("state <- 5")
        events = self.interrupted(code)
        errors = [event for event in events if event["type"] == "error"]
        self.assertEqual(
            errors, [{"type": "error", "name": "KeyboardInterrupt", "value": "", "traceback": ""}]
        )
        self.assertEqual(events[-1], {"type": "end"})
        self.assertEqual(self.text("state"), "[1] 5")

    def gone(self, pattern):
        time.sleep(0.1)
        group = str(self.runner.process.pid)
        found = subprocess.run(
            ["pgrep", "-g", group, "-af", pattern], capture_output=True, text=True
        )
        self.assertEqual(found.stdout, "")

    def test_loops(self):
        self.check("cat('go\\n'); while (TRUE) {}")
        self.check("cat('go\\n'); repeat state2 <- 1")
        self.check("f <- function() while (TRUE) sqrt(2); cat('go\\n'); f()")

    def test_loops_that_print(self):
        self.check("repeat { cat('x\\n'); message('y') }")

    def test_sleep(self):
        self.check("cat('go\\n'); Sys.sleep(60)")

    def test_printing_a_value(self):
        self.check(
            "print.slow <- function(x, ...) Sys.sleep(60)\ncat('go\\n')\nstructure(1, class ="
            " 'slow')"
        )

    def test_programs(self):
        self.check("cat('go\\n'); system('sleep 61; echo never')")
        self.check("cat('go\\n'); system('sleep 62', intern = TRUE)")
        self.check("cat('go\\n'); system2('sleep', '63')")
        self.check("cat('go\\n'); readLines(pipe('sleep 64'))")
        self.gone("^sleep 6[1-4]")
        self.runner.step("invisible(gc())")  # which warns of the pipe that nobody closed

    def test_programs_that_are_about_to_start(self):
        """From the moment on that the step is counted, none is missed."""
        for i in range(120):
            self.runner.start("system('sleep 66')")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            if i % 4:
                self.runner.serve(i % 20 / 4000)
            self.runner.interrupt()
            events = self.runner.finish()
            names = [event["name"] for event in events if event["type"] == "error"]
            self.assertEqual(names, ["KeyboardInterrupt"], events)

    def test_programs_in_the_background_live_on(self):
        self.runner.step("server <- system('sleep 65 >/dev/null & echo $!', intern = TRUE)")
        self.check("cat('go\\n'); Sys.sleep(60)")
        self.check("cat('go\\n'); repeat {}")
        self.assertEqual(
            self.output("x <- system(paste('kill', server, '&& echo on'))"),
            [("stdout", "on\n")],
        )

    def test_processes_that_the_code_forked(self):
        self.check("cat('go\\n'); parallel::mclapply(1:2, function(i) Sys.sleep(60), mc.cores = 2)")

    def test_code_that_catches_it_goes_on(self):
        events = self.interrupted(
            "cat('go\\n'); tryCatch(Sys.sleep(60), interrupt = function(e)"
            " cat('caught\\n'))\ncat('on\\n')"
        )
        self.assertEqual("".join(event.get("text", "") for event in events), "go\ncaught\non\n")

    def test_exit_handlers_run(self):
        events = self.interrupted(
            "f <- function() { on.exit(cat('left\\n')); cat('go\\n'); repeat {} }; f()"
        )
        self.assertEqual("".join(event.get("text", "") for event in events), "go\nleft\n")

    def test_suspended_interrupts_wait(self):
        events = self.interrupted(
            "suspendInterrupts({ cat('go\\n'); t <- Sys.time() + 0.5; while (Sys.time() < t) {};"
            " cat('whole\\n') })\ncat('never\\n')"
        )
        written = [event["text"] for event in events if event["type"] == "stdout"]
        self.assertEqual("".join(written), "go\nwhole\n")

    def test_between_steps_nothing_happens(self):
        for _ in range(200):
            self.runner.interrupt()
        time.sleep(0.05)
        self.assertEqual(self.text("1"), "[1] 1")

    def test_waiting_again_and_again(self):
        """No other thread takes one, while R waits in a way that jumps out of its handler."""
        for i in range(200):
            self.runner.start("Sys.sleep(60)" if i % 2 else "system('sleep 67')")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            self.runner.serve(i % 17 / 2000)
            self.runner.interrupt()
            self.assertEqual(self.runner.finish()[-1], {"type": "end"})

    def test_steps_at_any_moment(self):
        """Whenever it comes, the step ends, and the next one is whole."""
        for i in range(60):
            self.runner.start("cat('go\\n'); x <- 0; for (i in 1:100) x <- x + i; x")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            self.runner.serve(i % 12 / 4000)
            self.runner.interrupt()
            self.assertEqual(self.runner.finish()[-1], {"type": "end"})
            self.assertEqual(self.text("'whole'"), '[1] "whole"')


if __name__ == "__main__":
    unittest.main()
