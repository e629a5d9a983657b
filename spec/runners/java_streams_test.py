"""What the code writes: at once, whole, in order, and never the runner's protocol."""

import time
import unittest

from java_process import JavaCase


class Streams(JavaCase):
    def test_order_is_kept_across_streams_and_results(self):
        events = self.events(
            "for (int i = 0; i < 50; i++) { System.out.println(i); System.err.println(-i); }\n"
            '"end"'
        )
        wanted = [(s, "%d\n" % n) for i in range(50) for s, n in (("stdout", i), ("stderr", -i))]
        self.assertEqual([(e["type"], e["text"]) for e in events], wanted + [("result", "end")])

    def test_what_is_printed_streams(self):
        self.runner.start('System.out.print("a"); Thread.sleep(400); System.out.print("b");')
        self.runner.wait(lambda event: event["type"] == "stdout")
        begin = time.monotonic()
        self.runner.finish()
        self.assertGreater(time.monotonic() - begin, 0.2)

    def test_all_ways_to_print(self):
        self.assertEqual(
            self.pieces(
                "var o = System.out; o.print(1); o.print('c'); o.print(2.5); o.print(true);"
                ' o.print(new char[] {\'x\'}); o.print((Object) null); o.println(); o.append("é");'
                ' o.write(65); o.write(new byte[] {66, 10}); o.format("%05d|", 7); o.println(9L);'
                " o.print(1.5f); o.println(new char[0]); o.println((String) null); o.flush();"
            ),
            [("stdout", "1c2.5truexnull\néAB\n00007|9\n1.5\nnull\n")],
        )

    def test_stack_traces_that_are_printed_name_the_lines_of_steps(self):
        self.events("int number(String text) {\n\n    return Integer.parseInt(text);\n}")
        code = (
            "class Wörk {\n    void run() {\n        try {\n            number(\"x\");\n"
            "        } catch (NumberFormatException e) {\n            %s\n        }\n    }\n}\n"
            "new Wörk().run();"
        )
        for way in (
            "e.printStackTrace();",
            "e.printStackTrace(System.out);",
            "java.util.logging.Logger.getLogger(\"\").log(java.util.logging.Level.SEVERE, \"\", e);",
            "var all = new StringWriter(); e.printStackTrace(new PrintWriter(all)); System.out.println(all);",
        ):
            text = "".join(piece[1] for piece in self.pieces(code % way))
            self.assertRegex(
                text,
                r"\tat number\(Cell In\[\d+\], line 3\)\n"
                r"\tat Wörk\.run\(Cell In\[\d+\], line 4\)\n\tat Cell In\[\d+\], line 10\n",
            )
        (piece,) = self.pieces(
            "var failing = new Thread(() -> {\n  number(null);\n}); failing.start(); failing.join();"
        )
        self.assertRegex(piece[1], r"line 3\)\n\tat lambda.*\(Cell In\[\d+\], line 2\)\n")

    def test_what_only_looks_like_a_frame_is_written_as_it_is(self):
        text = "REPL.$JShell$999.run($JShell$999.java:7) REPL.$JShell$ é"
        self.assertEqual(self.pieces(f'System.out.print("{text}");'), [("stdout", text)])
        code = 'byte[] all = "\\0REPL.$JShell$(".getBytes(); all[0] = -1; System.out.write(all);'
        self.assertEqual(self.pieces(code), [("stdout", "\ufffdREPL.$JShell$(")])

    def test_lines_of_threads_stay_whole(self):
        (piece,) = self.pieces(
            "IntStream.range(0, 8).mapToObj(n -> new Thread(() -> { for (int i = 0; i < 500; i++)"
            ' System.out.println("" + n + "-".repeat(50)); })).peek(Thread::start).toList()'
            ".forEach(t -> { try { t.join(); } catch (InterruptedException e) { } });"
        )
        lines = piece[1].splitlines()
        self.assertEqual(len(lines), 4000)
        self.assertEqual({line[1:] for line in lines}, {"-" * 50})

    def test_threads_on_both_streams_end(self):
        events = self.events(
            "Runnable both = () -> { for (int i = 0; i < 200; i++) { System.out.print(1);"
            " System.err.print(2); } }; var other = new Thread(both); other.start(); both.run();"
            " other.join();"
        )
        for stream, digit in (("stdout", "1"), ("stderr", "2")):
            text = "".join(event["text"] for event in events if event["type"] == stream)
            self.assertEqual(text, digit * 400)

    def test_threads_that_live_on_do_not_hang_the_next_step(self):
        self.runner.step(
            "var going = new Thread(() -> { while (!Thread.interrupted()) { System.out.print(1);"
            " System.err.print(2); } }); going.setDaemon(true); going.start();"
        )
        for n in range(5):
            events = self.runner.step("%d + 1" % n)
            self.assertIn(str(n + 1), [e.get("text") for e in events if e["type"] == "result"])
        self.runner.step("going.interrupt(); going.join();")
        self.assertEqual(self.result("2"), "2")

    def test_lines_of_the_protocol_are_output(self):
        line = '{"type":"end"}\n{"type":"result","text":"no"}\n'
        self.assertEqual(
            self.pieces('System.out.print("%s")' % line.replace('"', '\\"').replace("\n", "\\n")),
            [("stdout", line)],
        )

    def test_streams_of_the_code_are_flushed_and_kept(self):
        self.runner.step("var kept = System.out; var bytes = new ByteArrayOutputStream();")
        self.assertEqual(
            self.pieces(
                "System.setOut(new PrintStream(new BufferedOutputStream(kept)));"
                ' System.out.print("x")'
            ),
            [("stdout", "x")],
        )
        self.assertEqual(
            self.pieces('System.setOut(new PrintStream(bytes)); System.out.print("caught")'), []
        )
        self.assertEqual(self.result("bytes"), "caught")
        self.runner.step("System.setOut(null);")
        self.assertEqual(self.pieces('System.out.print("back")'), [("stdout", "back")])

    def test_streams_of_the_code_that_fail_harm_nobody(self):
        self.runner.step("var kept2 = System.out;")
        self.events(
            "System.setOut(new PrintStream(OutputStream.nullOutputStream()) { public void flush() {"
            ' throw new IllegalStateException("no"); } });'
        )
        self.runner.step("System.setOut(kept2);")
        self.assertEqual(self.result("3"), "3")

    def test_invalid_text(self):
        self.assertEqual(self.pieces('System.out.print("a\\ud800b")'), [("stdout", "a?b")])
        self.assertEqual(self.result('"a\\ud800b\\0c"'), "a\ufffdb\0c")
        self.assertEqual(
            self.pieces("System.out.write(new byte[] {(byte) 0xff, 0});"), [("stdout", "\ufffd\0")]
        )

    def test_children_may_make_the_pipe_non_blocking(self):
        self.runner.step(
            'new ProcessBuilder("/usr/bin/python3", "-c", "import os; os.set_blocking(1, False)")'
            ".inheritIO().start().waitFor();"
        )
        (piece,) = self.pieces('System.out.print("x".repeat(2_000_000))')
        self.assertEqual(len(piece[1]), 2000000)


if __name__ == "__main__":
    unittest.main()
