"""Errors of steps in JavaScript: names, values, tracebacks with the code's own lines."""

import time
import unittest

from javascript_process import JavaScriptCase


class Errors(JavaScriptCase):
    def test_a_traceback_has_the_line_and_the_frames_of_the_code_alone(self):
        error = self.error(
            "function outer() {\n  inner();\n}\nfunction inner() {\n  throw new TypeError('deep');\n}\nouter()"
        )
        count = self.runner.step("1")[0]["execution_count"] - 1
        name = "<cell %d>" % count
        self.assertEqual((error["name"], error["value"]), ("TypeError", "deep"))
        self.assertEqual(
            error["traceback"],
            (
                "{0}:5\n  throw new TypeError('deep');\n        ^\n\nTypeError: deep\n"
                "    at inner ({0}:5:9)\n    at outer ({0}:2:3)\n    at {0}:7:1"
            ).format(name),
        )

    def test_positions_where_the_code_was_changed(self):
        for code, place in (
            ("const a = 1; throw new Error('x')", "1:20"),
            ("class A {} throw new Error('x')", "1:18"),
            ("class A {}\nconst {b} = await {b: 1}; throw new Error('x')", "2:33"),
            ("import fs from 'fs'\nimport path from 'path'\nthrow new Error('x')", "3:7"),
            ("await 1;\nnull.foo", "2:6"),
            ("await 1; const c = await 2, d = (await 3).x.y", "1:45"),
            ("export default 5; export const e = 1; throw new Error('x')", "1:45"),
            ("{a: null.foo}", "1:10"),
            ("const k = 1; k = null.foo", "1:23"),
        ):
            self.assertIn("%s\n" % place, self.error(code)["traceback"] + "\n", code)

    def test_async_frames(self):
        traceback = self.error(
            "async function slow() {\n  await 1;\n  throw new Error('late')\n}\n\nawait slow()"
        )["traceback"]
        self.assertRegex(traceback, r"at slow \(<cell \d+>:3:9\)")
        self.assertRegex(traceback, r"at async <cell \d+>:6:1")

    def test_functions_of_earlier_steps(self):
        self.runner.step("const before = 1;\nfunction thrower() { throw new Error('from before') }")
        traceback = self.error("\n\nthrower()")["traceback"]
        self.assertRegex(
            traceback,
            r"^<cell (\d+)>:2\nfunction thrower\(\)(.|\n)*at thrower \(<cell \1>:2:28\)\n    at <cell \d+>:3:1$",
        )

    def test_causes_and_aggregates(self):
        traceback = self.error("throw new Error('outer', {cause: new RangeError('inner')})")[
            "traceback"
        ]
        self.assertIn("[cause]: RangeError: inner", traceback)
        error = self.error(
            "await Promise.any([Promise.reject(new Error('first')), Promise.reject(new TypeError('second'))])"
        )
        self.assertEqual(error["name"], "AggregateError")
        self.assertIn("Error: first", error["traceback"])
        self.assertIn("TypeError: second", error["traceback"])

    def test_own_errors(self):
        error = self.error(
            "class Own extends Error { name = 'Own'; code = 42 }\nthrow new Own('two\\nlines')"
        )
        self.assertEqual((error["name"], error["value"]), ("Own", "two\nlines"))
        self.assertIn("code: 42", error["traceback"])

    def test_errors_of_node_have_their_codes(self):
        error = self.error("require('fs').readFileSync('/no/such')")
        self.assertEqual(error["value"], "ENOENT: no such file or directory, open '/no/such'")
        self.assertIn(
            "TypeError [ERR_INVALID_ARG_TYPE]: The", self.error("Buffer.from(5)")["traceback"]
        )

    def test_what_is_no_error(self):
        for code, value in (
            ("throw 'text'", "text"),
            ("throw 5", "5"),
            ("throw null", "null"),
            ("throw {a: 1}", "{ a: 1 }"),
        ):
            error = self.error(code)
            self.assertEqual((error["name"], error["value"]), ("Uncaught", value), code)

    def test_errors_that_fight(self):
        self.error("throw Object.defineProperty(new Error('a'), 'name', {get() { throw 1 }})")
        self.error("throw Object.assign(new Error('a'), {stack: null, message: 5})")
        self.error("throw new Proxy(new Error('a'), {get() { throw new Error('b') }})")
        self.error("throw {get message() { throw 1 }, get stack() { throw 2 }}")
        self.assertEqual(self.text("1"), "1")

    def test_syntax_errors_name_the_line(self):
        for code, value, line, column in (
            ("x = = 1", "Unexpected token '='", 1, 5),
            ("let ok = 1;\nlet y = ;", "Unexpected token ';'", 2, 9),
            ("const x = 1\nconst y = ;\nawait 1", "Unexpected token ';'", 2, 11),
            ("let a = 1; let a = 2", "Identifier 'a' has already been declared", 1, 16),
            ("return 5", "Illegal return statement", 1, 1),
            ("import fs from 'fs'\nfoo(", "Unexpected end of input", 2, 5),
            ("foo(", "Unexpected end of input", 1, 5),
        ):
            error = self.error(code)
            self.assertEqual((error["name"], error["value"]), ("SyntaxError", value), code)
            text, mark = error["traceback"].split("\n")[1:3]
            self.assertEqual(text, code.split("\n")[line - 1])
            self.assertEqual(mark, " " * (column - 1) + "^", code)
            self.assertTrue(error["traceback"].endswith("\n\nSyntaxError: " + value))

    def test_code_with_a_syntax_error_does_not_run(self):
        self.error("globalThis.ran = 1; function (")
        self.assertEqual(self.text("typeof ran"), "undefined")

    def test_too_deep(self):
        self.assertEqual(self.error("function f() { f() }\nf()")["name"], "RangeError")
        self.assertEqual(self.error("(" * 20000)["name"], "RangeError")
        self.assertEqual(self.text("1"), "1")

    def test_stacks_that_the_code_reads(self):
        self.assertRegex(
            self.text(
                "const stack = new Error('s').stack; await 0; stack.split('\\n').length + stack"
            ),
            r"^2Error: s\\n    at <cell \d+>:1:15$",
        )
        code = "const keep = Error.prepareStackTrace; Error.prepareStackTrace = (_, sites) => sites.length; const s = new Error().stack; Error.prepareStackTrace = keep; typeof s"
        self.assertEqual(self.text(code), "number")


class Unhandled(JavaScriptCase):
    def test_are_errors_of_the_step_that_goes_on(self):
        for code in (
            "Promise.reject(new Error('lost')); 5",
            "setTimeout(() => { throw new Error('lost') }); await new Promise(r => setTimeout(r, 20)); 5",
        ):
            error, result = self.events(code)
            self.assertEqual(
                (error["type"], error["value"], result["text"]), ("error", "lost", "5")
            )

    def test_one_is_an_error_the_others_are_output(self):
        code = "for (const m of ['a', 'b', 'c']) Promise.reject(new Error(m)); await new Promise(r => setTimeout(r, 10))"
        events = self.events(code)
        self.assertEqual([event["type"] for event in events], ["error", "stderr"])
        self.assertRegex(
            events[1]["text"], r"^Uncaught (.|\n)*Error: b(.|\n)*\nUncaught (.|\n)*Error: c"
        )

    def test_between_steps_kill_nothing(self):
        self.events(
            "setTimeout(() => { throw new Error('later') }, 5); setTimeout(() => Promise.reject(1), 5)"
        )
        time.sleep(0.1)
        events = self.runner.step("'alive'")
        self.assertEqual([event.get("text") for event in events], [None, "alive", None])

    def test_the_codes_own_handlers_take_them(self):
        runner = self.start()
        events = runner.step(
            "process.on('uncaughtException', (e) => console.log('mine', e.message)); setTimeout(() => { throw new Error('u') }); await new Promise(r => setTimeout(r, 20))"
        )
        self.assertEqual([event.get("text") for event in events[1:-1]], ["mine u\n"])
        runner.close()

    def test_listeners_that_the_code_removes_come_back(self):
        runner = self.start()
        events = runner.step(
            "process.removeAllListeners(); setTimeout(() => { throw new Error('u') }); await new Promise(r => setTimeout(r, 20))"
        )
        self.assertEqual([event["type"] for event in events[1:-1]], ["error"])
        runner.close()


if __name__ == "__main__":
    unittest.main()
