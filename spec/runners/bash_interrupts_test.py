"""Interrupts end a step of bash wherever it is, and nothing else; state and background jobs stay."""

import os
import tempfile
import time
import unittest

from bash_process import BashCase, BashProcess


class Interrupts(BashCase):
    def interrupted(self, code, within=1.5):
        """The events of a step that is interrupted once it has printed `go`."""
        return self.interrupted_once_it_prints(code, within)

    def check(self, code, within=1.5):
        events = self.interrupted("kept=yes\necho go\n" + code, within)
        self.assertEqual(
            [event for event in events if event["type"] in ("error", "result", "end")],
            [
                {"type": "error", "name": "KeyboardInterrupt", "value": "", "traceback": ""},
                {"type": "end"},
            ],
        )
        self.prints("echo $? $kept", "130 yes\n")
        return "".join(event.get("text", "") for event in events)

    def test_loops(self):
        self.check("while :; do :; done")
        self.check("for ((;;)); do ((i++)); done")
        self.check("until false; do /bin/true; done")
        self.check("eval 'while :; do :; done'")
        self.check("f() { while :; do sleep 0.05; done; }; f")

    def test_children(self):
        self.check("sleep 100")
        self.check("sleep 100 | cat | cat")
        self.check("while :; do echo y; done | cat > /dev/null")
        self.check("cat /dev/zero > /dev/null; sleep 100")
        self.check("timeout 100 sleep 100")

    def test_subshells_and_substitutions(self):
        self.check("(while :; do :; done)")
        self.check("x=$(sleep 100)")
        self.check("x=$(while :; do :; done)")
        self.check("read x < <(sleep 100)")

    def test_an_interrupt_of_its_own_ends_the_step_alone(self):
        interrupt = {"type": "error", "name": "KeyboardInterrupt", "value": "", "traceback": ""}
        self.outcome("x=kept")
        for code in ("kill -INT $$; sleep 1; echo no", "y=$(kill -INT $BASHPID); echo no"):
            self.assertEqual(self.events(code), [interrupt])
        self.prints("(kill -INT $BASHPID; echo no); echo $? $x", "130 kept\n")

    def test_nothing_of_the_step_goes_on(self):
        runner = BashProcess()
        self.addCleanup(runner.close)
        for code in ("x=$(while :; do :; done)", "x=$(sleep 100; sleep 100)") * 5:
            runner.start("echo go; " + code)
            runner.wait(lambda event: event["type"] == "stdout")
            time.sleep(0.05)
            runner.interrupt()
            runner.finish()
        time.sleep(0.2)
        text = runner.step("pgrep -P $$ -af 'stepbox_shell|sleep'; echo none")[1]["text"]
        self.assertEqual(text, "none\n")

    def test_subshells_that_are_about_to_start(self):
        runner = BashProcess()
        self.addCleanup(runner.close)
        for i in range(150):
            runner.start("x=$(while :; do :; done)")
            runner.wait(lambda event: event["type"] == "number_of_executions")
            runner.serve(i % 30 / 5000)
            runner.interrupt()
            runner.finish()
        time.sleep(0.2)
        text = runner.step("pgrep -P $$ -f stepbox_shell; echo none")[1]["text"]
        self.assertEqual(text, "none\n")

    def test_pipelines_that_are_not_whole_yet(self):
        for delay in range(60):
            self.runner.start("sleep 100 | cat | cat | cat")
            self.runner.wait(lambda event: event["type"] == "number_of_executions")
            time.sleep(delay / 30_000)
            self.runner.interrupt()
            self.assertEqual(self.runner.finish()[-1], {"type": "end"})
            self.prints("echo on", "on\n")
        time.sleep(0.2)
        self.prints("pgrep -P $$ sleep; true", "")

    def test_what_waits_in_the_shell(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.mkfifo(directory.name + "/fifo")
        self.check("read x < %s/fifo" % directory.name)
        self.check("sleep 100 & wait; echo no")
        self.outcome("kill %%")

    def test_job_control(self):
        self.check("set -m; sleep 100")
        self.check("sleep 100 & fg")
        self.outcome("set +m")

    def test_nothing_is_run_after_it(self):
        self.assertEqual(self.check("sleep 100; echo no\necho no"), "go\n")

    def test_a_trap_of_the_code_runs_and_does_not_go_on(self):
        self.assertEqual(self.check("trap 'echo trapped' INT; sleep 100; echo no"), "go\ntrapped\n")
        self.check("trap '' INT; while :; do :; done")
        self.outcome("trap - INT")

    def test_stubborn_children_are_killed(self):
        self.check("sh -c 'trap \"\" INT; sleep 100; sleep 100' 2> /dev/null", within=4)
        self.check("bash -c 'trap : INT; while :; do sleep 100; done'", within=4)

    def test_background_jobs_live_on(self):
        self.outcome("sleep 100 & early=$!")
        self.check("sleep 100 & late=$!; sleep 100")
        self.check("set -m; sleep 100 & third=$!; sleep 100")
        self.prints("set +m; kill -0 $early && kill -0 $late && kill -0 $third && echo on", "on\n")
        self.outcome("kill $early $late $third; wait")

    def test_between_steps_nothing_happens(self):
        for _ in range(200):
            self.runner.interrupt()
        time.sleep(0.05)
        self.prints("echo on", "on\n")

    def test_a_program_that_took_the_shells_place(self):
        runner = BashProcess()
        self.addCleanup(runner.close)
        runner.start("echo go; exec sleep 100")
        runner.wait(lambda event: event["type"] == "stdout")
        time.sleep(0.1)
        runner.interrupt()
        events = runner.finish(timeout=5)
        self.assertEqual(events[-2].get("name"), "KeyboardInterrupt")
        self.assertEqual(events[-1], {"type": "end", "exit": True})

    def test_a_trap_at_exit(self):
        runner = BashProcess()
        self.addCleanup(runner.close)
        runner.start("trap 'echo go; sleep 100' EXIT; exit 3")
        runner.wait(lambda event: event["type"] == "stdout")
        time.sleep(0.1)
        runner.interrupt()
        events = runner.finish(timeout=5)
        self.assertEqual(events[-2].get("name"), "KeyboardInterrupt")
        self.assertEqual(events[-1], {"type": "end", "exit": True})

    def test_no_end_is_lost_at_the_edges(self):
        """Interrupts rain on short steps: each has exactly one count and one end."""
        self.outcome("x=kept")
        with self.rain_of_interrupts(0.0007):
            for _ in range(300):
                events = self.runner.step("echo 1; /bin/true; y=$(echo 2); f() { :; }; f")
                kinds = [event["type"] for event in events]
                self.assertEqual(kinds.count("number_of_executions"), 1)
                self.assertEqual(kinds.count("error") + kinds.count("result"), 1)
                self.assertEqual(kinds.count("end"), 1)
                self.assertEqual(kinds[-1], "end")
        self.runner.step(":")
        self.prints("echo $x", "kept\n")


if __name__ == "__main__":
    unittest.main()
