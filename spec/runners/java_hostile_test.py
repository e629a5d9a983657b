"""Code that is in the runner's way, by accident or on purpose, and what is kept from it."""

import base64
import os
import shutil
import tempfile
import unittest

from java_process import FOLDER, JavaCase, JavaProcess

NASTY = "it's \"q\" $(echo run) `echo run` ${x} \\n \\\n\n;|&*\t🚀"


class Hostile(JavaCase):
    def test_variables_are_data_and_go_again(self):
        self.runner.step(
            "int run(String... words) throws Exception {\n"
            "  return new ProcessBuilder(words).inheritIO().start().waitFor();\n}"
        )
        code = (
            'System.out.print(System.getenv("V") + ".");'
            ' System.out.println(run("printenv", "V"))'
        )
        self.assertEqual(
            self.pieces(code, env={"V": NASTY}), [("stdout", NASTY + "." + NASTY + "\n0\n")]
        )
        self.assertEqual(self.pieces(code), [("stdout", "null.1\n")])
        self.assertEqual(
            self.result('new ProcessBuilder().environment().get("HOME")', env={"HOME": "/x"}), "/x"
        )
        self.assertEqual(self.result('System.getenv().get("HOME")'), "/nonexistent")

    def test_impossible_variables_are_errors_and_nothing_runs(self):
        for env in ({"": "x"}, {"A=B": "x"}, {"A": "x\0y"}, {"A\0": "x"}, {"GOOD": "1", "A": "\0"}):
            error = self.error("int ran = 1;", env=env)
            self.assertEqual(error["name"], "IllegalArgumentException")
        self.assertEqual(self.error("ran")["name"], "CompilationException")
        self.assertEqual(self.result('System.getenv("GOOD")'), "null")

    def test_the_channel_is_out_of_reach(self):
        self.assertEqual(
            self.result(
                'new ProcessBuilder("/usr/bin/python3", "-c", "import os;'
                " print([n for n in os.listdir('/proc/self/fd') if int(n) > 3])\")"
                ".redirectErrorStream(true).start().inputReader().readLine()"
            ),
            "[]",
        )
        self.assertEqual(
            self.pieces("new FileOutputStream(FileDescriptor.out).close();\nSystem.out.print(1)"),
            [("stdout", "1")],
        )
        self.assertEqual(
            self.pieces('new ProcessBuilder("echo", "x").inheritIO().start().waitFor();'),
            [("stdout", "x\n"), ("result", "0")],
        )

    def test_other_processes_do_not_read_the_runner(self):
        folder = "/proc/%d/fd" % self.runner.process.pid
        self.assertEqual(os.stat(folder).st_uid, 0)
        self.assertEqual(self.result('new File("/proc/self/environ").exists()'), "true")

    def test_input_is_at_its_end(self):
        self.assertEqual(self.result("System.in.read()"), "-1")
        self.assertEqual(self.result("System.console()"), "null")

    def test_deep_and_endless_values(self):
        self.runner.step("var me = new ArrayList<Object>(); me.add(me);")
        self.assertEqual(self.result("me"), "[(this Collection)]")
        self.runner.step(
            "Object deep = 1; for (int i = 0; i < 5000; i++) deep = new Object[] {deep};"
        )
        events = self.events("deep.getClass().getName()")
        self.assertEqual(events[0]["text"], "[Ljava.lang.Object;")
        self.assertNotIn("json", self.events("deep")[0])

    def test_results_whose_text_fails(self):
        self.runner.step(
            "class Mute { public String toString() {"
            ' throw new IllegalStateException("mute"); } }\n'
            "class Nothing { public String toString() { return null; } }"
        )
        error = self.error("new Mute()")
        self.assertEqual((error["name"], error["value"]), ("IllegalStateException", "mute"))
        self.assertEqual(self.result("new Nothing()"), "null")
        self.assertEqual(self.result("1"), "1")

    def test_what_is_too_long_for_a_line_is_cut_or_left_out(self):
        self.runner.step('String x = "x".repeat(30_000_000);')
        text = self.result("x + x", timeout=60)
        self.assertEqual(text[1048575:], "x... (60000000 characters)")
        events = self.events("List.of(x, x)", timeout=60)
        self.assertEqual(
            events[0],
            {
                "type": "stderr",
                "text": "A result is too long: without json of 60000008 bytes\n",
            },
        )
        self.assertEqual(list(events[1]), ["type", "text", "extra", "is_main_result"])
        error = self.error("throw new Exception(x + x + x);", timeout=60)
        self.assertEqual(error["value"][1048575:], "x... (90000000 characters)")
        self.runner.step("x = null;")

    def test_pictures_are_shown(self):
        self.runner.step("import java.awt.image.BufferedImage;")
        event = self.events("new BufferedImage(3, 2, BufferedImage.TYPE_INT_RGB)")[0]
        self.assertEqual(base64.b64decode(event["png"])[:4], b"\x89PNG")
        self.assertEqual(list(event)[:3], ["type", "text", "png"])

    def test_names_that_jshell_makes_are_not_shown(self):
        self.assertRegex(self.result("class Plain { }\nnew Plain()"), "^Plain@[0-9a-f]+$")
        error = self.error("String none = null; none.length()")
        self.assertIn('because "none" is null', error["value"])
        self.assertIn('because "none" is null', error["traceback"])
        error = self.error("class Wrong extends Exception { }\nthrow new Wrong();")
        self.assertEqual((error["name"], error["value"]), ("Wrong", ""))
        self.assertIn('Plain', self.error("Plain p = 1;")["value"])

    def test_numbers_that_json_does_not_have(self):
        for code, json in (
            ("List.of(Double.NaN, 1.0, Float.POSITIVE_INFINITY)", [None, 1.0, None]),
            ("List.of(Long.MAX_VALUE)", [2**63 - 1]),
            ("Map.of(true, 1)", None),
            ("List.of(new BigInteger(\"9\").pow(99))", None),
            ("List.of(Thread.State.NEW)", ["NEW"]),
            ("new byte[] {1, -1}", [1, -1]),
            ("new String[] {\"a\", null}", ["a", None]),
            ("Set.of(5)", [5]),
        ):
            self.assertEqual(self.events(code)[0].get("json"), json, code)

    def test_code_that_looks_like_code_to_split(self):
        for code, text in (
            ('String s = ";//}"; char c = \'"\'; /* ; */ s + c', ';//}"'),
            ("int[] a = {1, 2}; Runnable r = () -> { int b = 1; }; a.length // ;", "2"),
            ("if (true) { } else { }; do { } while (false); 7", "7"),
            ('@Deprecated(since = "1;")\nint old() { return 1; }\n\nold()', "1"),
            ("@FunctionalInterface interface F { int f(int x); }\nF f = x -> x + 1; f.f(1)", "2"),
            ("enum E { A, B { int v() { return 2; } }; int v() { return 1; } }\nE.B.v()", "2"),
            ("sealed interface S permits T {}\nfinal class T implements S {}\n1", "1"),
            ("\r\nint crlf = 1;\r\n\r\ncrlf + 1\r\n", "2"),
            ("public static final int K = 4; K", "4"),
        ):
            self.assertEqual(self.result(code), text, code)

    def test_lines_of_errors_are_those_of_the_step(self):
        code = "// one\n\nint a = 1; /* two\n lines */ int b = 2;\n\n  int c = b +\n    nothing;\n"
        error = self.error(code)
        self.assertRegex(error["traceback"], r"\], line 7\n        nothing;\n        \^\n")
        self.assertEqual(self.result("a + b"), "3")
        error = self.error("int x = 0;\n\nint f(int n) {\n\n  return n / x;\n}\n\nf(\n  1)")
        self.assertRegex(error["traceback"], r"at f\(Cell In\[\d+\], line 5\)\n\tat .*, line 8\n$")

    def test_threads_of_the_code_that_end_the_machine(self):
        runner = JavaProcess()
        try:
            runner.start("new Thread(() -> System.exit(1)).start(); Thread.sleep(60_000);")
            self.assertEqual(runner.finish()[-1], {"type": "end", "exit": True})
            self.assertEqual(runner.process.wait(5), 1)
        finally:
            runner.close()

    def test_hooks_that_print_on_both_streams_as_the_machine_ends(self):
        runner = JavaProcess()
        try:
            events = runner.step(
                "Runtime.getRuntime().addShutdownHook(new Thread(() -> { System.out.print(1);"
                " System.err.print(2); System.out.print(3); }));\nSystem.exit(0)"
            )
            self.assertEqual([event.get("text") for event in events[1:-1]], ["1", "2", "3"])
        finally:
            runner.close()

    def test_the_agent_that_goes_ends_the_runner(self):
        runner = JavaProcess()
        runner.step("new Thread(() -> { while (true); }).start();")
        runner.close()
        self.assertEqual(runner.process.returncode, 0)


class Memory(JavaCase):
    FILL = "while (true) hog = new Object[] {hog, new int[2000]};"

    @classmethod
    def setUpClass(cls):
        cls.runner = JavaProcess(data=300 * 1024)

    def test_the_heap_is_a_part_of_the_data_that_the_process_may_have(self):
        self.assertEqual(self.result("Runtime.getRuntime().maxMemory() >> 20 < 190"), "true")

    def test_code_that_took_all_can_let_go(self):
        self.runner.step("Object[] hog = null;")
        for _ in range(2):
            self.assertEqual(self.error(self.FILL, timeout=60)["name"], "OutOfMemoryError")
            self.assertEqual(self.result("1 + 1", timeout=60), "2")
            self.runner.step("hog = null;", timeout=60)

    def test_code_that_keeps_all_starts_afresh(self):
        runner = JavaProcess(data=300 * 1024)
        try:
            runner.step("Object[] hog = null;")
            for _ in range(5):
                events = runner.step(self.FILL, timeout=60)
                self.assertEqual(events[-2]["name"], "OutOfMemoryError")
                if events[-1].get("exit"):
                    break
            self.assertEqual(events[-1], {"type": "end", "exit": True})
        finally:
            runner.close()


class Starting(JavaCase):
    def test_without_a_compiled_runner_it_starts_from_its_source(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(FOLDER):
                if name != "runner.jar":
                    shutil.copy(os.path.join(FOLDER, name), folder)
            runner = JavaProcess(folder=folder)
            try:
                self.assertEqual(runner.step("1 + 1")[1]["text"], "2")
            finally:
                runner.close()

    def test_the_locale_does_not_matter(self):
        runner = JavaProcess(env={"LANG": "C", "LC_ALL": "C"})
        try:
            code = 'System.out.print("é"); System.getenv("V") + "日本"'
            events = runner.step(code, env={"V": "ü"})
            self.assertEqual([event.get("text") for event in events[1:-1]], ["é", "ü日本"])
        finally:
            runner.close()

    def test_classes_on_the_context_s_class_path_are_there(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "Tool.java")
            with open(source, "w") as file:
                file.write("package tools; public class Tool { public static int answer = 42; }")
            os.system("javac -d %s %s" % (folder, source))
            runner = JavaProcess(env={"CLASSPATH": folder})
            try:
                self.assertEqual(runner.step("tools.Tool.answer")[1]["text"], "42")
            finally:
                runner.close()


if __name__ == "__main__":
    unittest.main()
