"""Interrupts end the code of a step, wherever it is, and keep the state."""

import time
import unittest

from java_process import JavaCase


class Interrupts(JavaCase):
    def interrupted(self, code, within=10.0, form='{ System.out.println("go"); %s }'):
        """The events of a step that is interrupted once it has printed `go`.

        The two are one snippet: with more of them the interrupt could come between.
        """
        if "{" in form and code[-1] not in ";}":
            code += ";"
        events = self.interrupted_once_it_prints(form % code, within)
        self.assertEqual(events[-1], {"type": "end"})
        return events

    def check(self, code, **options):
        events = self.interrupted(code, **options)
        errors = [event for event in events if event["type"] == "error"]
        self.assertEqual([error["name"] for error in errors], ["InterruptedException"], events)
        self.assertEqual(errors[0]["value"], "the step was interrupted")
        self.assertNotIn("stepbox", errors[0]["traceback"])
        self.alive()
        return errors[0]

    def alive(self):
        self.assertEqual(self.result("20 + 1"), "21")

    def test_loops(self):
        self.runner.step("long turns = 0;")
        error = self.check("\nwhile (true) turns++;")
        self.assertRegex(error["traceback"], r"\n\tat Cell In\[\d+\], line 2\n$")
        self.assertEqual(self.result("turns > 0"), "true")

    def test_loops_that_print(self):
        self.check('while (true) { System.out.println("x"); System.err.println("y"); }')
        self.assertEqual(self.pieces('System.out.println("on")'), [("stdout", "on\n")])

    def test_loops_within_the_library(self):
        self.check("Stream.iterate(1, n -> n + 1).filter(n -> false).findFirst()")
        self.check("LongStream.range(0, Long.MAX_VALUE).sum()")

    def test_sleeps_and_waits(self):
        self.check("Thread.sleep(60_000)")
        self.check("new ArrayBlockingQueue<String>(1).take()")
        self.check("new CompletableFuture<String>().get()")
        self.check("synchronized (Object.class) { Object.class.wait(); }")

    def test_locks_that_do_not_heed_the_flag(self):
        self.runner.step(
            "import java.util.concurrent.locks.*; var lock = new ReentrantLock(); var holder ="
            " new Thread(lock::lock); holder.start(); holder.join();"
        )
        self.check("lock.lock()")
        self.check("new CompletableFuture<String>().join()")

    def test_code_that_swallows_what_java_raises(self):
        self.check("while (true) try { Thread.sleep(10); } catch (InterruptedException e) { }")

    def test_code_that_heeds_the_flag_ends_in_its_own_way(self):
        events = self.interrupted(
            'while (!Thread.currentThread().isInterrupted()); System.out.println("tidy")'
        )
        self.assertEqual("".join(e.get("text", "") for e in events), "go\ntidy\n")
        self.assertEqual(events[-2]["name"], "InterruptedException")
        self.alive()

    def test_nothing_more_of_the_step_runs(self):
        self.interrupted(
            "try { Thread.sleep(60_000); } catch (InterruptedException e) { }",
            form='{ System.out.println("go"); %s }\nint after = 1;',
        )
        self.assertEqual(self.error("after")["name"], "CompilationException")

    def test_children_of_the_step_get_it_too(self):
        self.check('new ProcessBuilder("sleep", "60").start().waitFor()')
        self.check('new ProcessBuilder("sleep", "61").start().getInputStream().read()')
        # One that the code starts once the interrupt has come.
        self.check(
            "try { Thread.sleep(60_000); } catch (InterruptedException e) {"
            ' new ProcessBuilder("sleep", "62").start(); throw e; }'
        )
        text = self.pieces(
            'new ProcessBuilder("pgrep", "-g", "0", "-a", "sleep").inheritIO().start().waitFor();'
            ' System.out.println("done")'
        )
        self.assertEqual(text, [("stdout", "done\n")])

    def test_servers_of_earlier_steps_live_on(self):
        self.runner.step('var server = new ProcessBuilder("sleep", "65").start();')
        self.check("Thread.sleep(60_000)")
        self.assertEqual(self.result("server.isAlive()"), "true")
        self.runner.step("server.destroy()")

    def test_sockets(self):
        self.runner.step("var door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());")
        self.check("door.accept()")
        self.check('new Socket("127.0.0.1", door.getLocalPort()).getInputStream().read()')

    def test_the_text_of_a_result(self):
        self.runner.step(
            "class Endless { public String toString() { while (true); } }\n"
            "class Odd extends Exception { public String getMessage() { while (true); } }"
        )
        self.check("new Endless()", form='System.out.println("go");\n%s')
        self.interrupted("throw new Odd()")
        self.alive()

    def test_what_belongs_to_the_thread_is_kept_without_one(self):
        self.runner.step("var own = new ThreadLocal<String>(); own.set(null);")
        self.runner.step('own.set("kept")')
        self.assertEqual(self.result("own.get()"), "kept")

    def test_between_steps_nothing_happens(self):
        for _ in range(200):
            self.runner.interrupt()
        time.sleep(0.1)
        self.alive()

    def test_handlers_of_the_code_last_one_step(self):
        self.runner.step('sun.misc.Signal.handle(new sun.misc.Signal("INT"), s -> {});')
        self.check("while (true);")

    def test_no_end_is_lost_at_the_edges(self):
        """Interrupts rain on short steps: each has exactly one count and one end."""
        with self.rain_of_interrupts(0.003):
            for _ in range(60):
                events = self.runner.step(
                    'System.out.println(1); System.err.println(2); int n = 3;\nn + "x"'
                )
                kinds = [event["type"] for event in events]
                self.assertEqual(kinds.count("number_of_executions"), 1, events)
                self.assertEqual(kinds.count("end"), 1, events)
                self.assertEqual(kinds[-1], "end")
                for event in events:
                    if event["type"] == "error":
                        self.assertEqual(event["name"], "InterruptedException", event)
        self.alive()


if __name__ == "__main__":
    unittest.main()
