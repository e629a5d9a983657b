"""State, results and modules of steps in JavaScript."""

import json
import os
import tempfile

from javascript_process import JavaScriptCase, JavaScriptProcess


class State(JavaScriptCase):
    def test_names_are_kept_and_declared_anew(self):
        self.assertEqual(
            self.events("const a = 1; let b = 2; var c = 3; class D {} function e() { return b }"),
            [],
        )
        self.assertEqual(self.text("[a, b, c, typeof D, e()].join()"), "1,2,3,function,2")
        self.assertEqual(
            self.events("let a = 10; const b = 20; class c {} function D() {} var e = 5"), []
        )
        self.assertEqual(
            self.text("[a, b, typeof c, typeof D, e].join()"), "10,20,function,function,5"
        )

    def test_closures_see_what_is_declared_anew(self):
        self.events(
            "let rate = 2; function twice(x) { return times(x) } function times(x) { return x * rate }"
        )
        self.assertEqual(self.text("twice(4)"), "8")
        self.events("function times(x) { return x * rate * 10 }\nconst rate = 3;")
        self.assertEqual(self.text("twice(4)"), "120")

    def test_a_variable_declared_without_a_value_has_none(self):
        self.events("let v = 1")
        self.assertEqual(self.text("let v; String(v)"), "undefined")
        self.events("v = 2")
        self.assertEqual(self.text("await 0; let v; String(v)"), "undefined")

    def test_constants_cannot_be_assigned_to(self):
        message = "Assignment to constant variable."
        for code in (
            "K = 2",
            "K++",
            "({K} = {K: 3})",
            "[K] = [4]",
            "for (K of [5]);",
            "(() => { K += 1 })()",
            "await 0; K = 6",
        ):
            self.events("const K = 1")
            self.assertEqual(self.error(code)["value"], message, code)
            self.assertEqual(self.text("K"), "1", code)

    def test_other_variables_of_a_constants_name_can(self):
        self.events("const K = 1")
        code = """
        function f(K) { K = 2; return K }
        const g = () => { let K = 1; K++; return K };
        function h() { try { throw 1 } catch (K) { K = 5; return K } }
        function i() { { K = 7; return K } var K }
        for (let K = 0; K < 1; K++);
        [f(), g(), h(), i(), K].join()"""
        self.assertEqual(self.text(code), "2,2,5,7,1")
        self.assertEqual(self.text("let K = 1; K++; K"), "2")

    def test_top_level_await_has_all_declarations(self):
        code = """
        const {a: [p], ...rest} = await Promise.resolve({a: [1], b: 2});
        let q = await 3, r
        class S { static v = q }
        function t() { return u }
        for (var u = 0; u < 2; u++) await null
        if (u) var w = 5; else var w = 6
        var [x] = [7]"""
        self.assertEqual(self.events(code), [])
        self.assertEqual(
            self.text("JSON.stringify([p, rest, q, r, S.v, t(), w, x])"),
            '[1,{"b":2},3,null,3,2,5,7]',
        )

    def test_await_in_all_places(self):
        self.assertEqual(
            self.text(
                "for await (const x of [Promise.resolve(1), 2]) globalThis.sum = (globalThis.sum ?? 0) + x\nsum"
            ),
            "3",
        )
        self.assertEqual(self.text("(await 1) + await 2"), "3")
        self.assertEqual(self.text("await (async () => await 5)()"), "5")
        self.assertEqual(self.text("[await 1, ...(await [2])].length"), "2")
        self.assertEqual(self.text("await await 4 // note"), "4")
        self.assertEqual(
            self.text("let l = [1]\nawait 2\nl\nif (l) await 3; else await 4\nl[0]"), "1"
        )

    def test_await_takes_no_longer_than_in_a_module(self):
        code = """
        const order = [];
        Promise.resolve().then(() => order.push(1)).then(() => order.push(2)).then(() => order.push(3));
        await null; order.push("a");
        await null; order.push("b");
        order.join()"""
        self.assertEqual(self.text(code), "1,a,2,b")

    def test_strict_code(self):
        self.assertEqual(self.events('"use strict"; (function () { return this })()'), [])
        self.assertEqual(self.events('"use strict"; await 0; (function () { return this })()'), [])
        self.assertEqual(self.text("(function () { return this === globalThis })()"), "true")
        self.assertEqual(self.text("sloppy = 1; sloppy"), "1")

    def test_names_that_node_has_itself(self):
        self.assertEqual(
            self.text('const crypto = require("crypto"); typeof crypto.createHash'), "function"
        )
        self.assertEqual(
            self.text("let performance = 3, navigator = 4; performance + navigator"), "7"
        )

    def test_the_same_arrays_and_errors_everywhere(self):
        code = '[] instanceof Array && new Error() instanceof Error && require("vm").runInThisContext("[]") instanceof Array'
        self.assertEqual(self.text(code), "true")

    def test_exports_are_no_errors(self):
        code = "export const x1 = 1; export default 2; export function y1() { return 3 } export { x1 as z }; export class C1 {}"
        self.assertEqual(self.events(code), [])
        self.assertEqual(self.text("x1 + y1() + typeof C1"), "4function")
        self.assertEqual(self.events('export * from "fs"; export { readFileSync } from "fs"'), [])
        self.assertEqual(
            self.text("module.exports = { m: 1 }; exports.n = 2; module.exports.m"), "1"
        )


class Results(JavaScriptCase):
    def test_the_last_expression(self):
        self.assertEqual(self.text("1\n2\n3"), "3")
        self.assertEqual(self.text("1 + 1;"), "2")
        self.assertEqual(self.text("5;;"), "5")
        self.assertEqual(self.text("let one = 1\none\n+ 1"), "2")
        for code in (
            "",
            " \n",
            "// note",
            "let z = 1",
            "undefined",
            "if (1) { 5 }",
            "for (;;) break",
            "function f() {}",
        ):
            self.assertEqual(self.events(code), [], code)

    def test_promises_are_awaited(self):
        self.assertEqual(self.text("Promise.resolve(5)"), "5")
        self.assertEqual(self.text("(async () => 6)()"), "6")
        self.assertEqual(self.text("(await 7);"), "7")
        self.assertEqual(self.error("Promise.reject(new Error('no'))")["value"], "no")

    def test_texts(self):
        self.assertEqual(self.text("'it'"), "it")
        self.assertEqual(self.text('"it\'s"'), "it's")
        self.assertEqual(self.text('"a\\nb"'), "a\\nb")
        self.assertEqual(self.text("null"), "null")
        self.assertEqual(self.text("new Map([[1, {a: 2}]])"), "Map(1) { 1 => { a: 2 } }")
        self.assertEqual(self.text("x => x"), "[Function (anonymous)]")
        self.assertEqual(len(self.text("'x'.repeat(100000)")), 100000)

    def test_objects(self):
        self.assertEqual(
            self.result("{a: 1, b: [true, null, 'x', 1.5]}"),
            {
                "type": "result",
                "text": "{ a: 1, b: [ true, null, 'x', 1.5 ] }",
                "json": {"a": 1, "b": [True, None, "x", 1.5]},
                "extra": {},
                "is_main_result": True,
            },
        )
        self.assertEqual(
            list(self.result("[1]")), ["type", "text", "json", "extra", "is_main_result"]
        )
        self.assertEqual(
            self.result("[NaN, undefined, new Date(0)]")["json"],
            [None, None, "1970-01-01T00:00:00.000Z"],
        )
        self.assertEqual(self.result("[{a: undefined}]")["json"], [{}])
        for code in (
            "[1n]",
            "[() => 1]",
            "[new Map()]",
            "[1e19]",
            "const c = []; c.push(c); c",
            "5",
            "[new Proxy({}, {})]",
            "let d = []; for (let i = 0; i < 300; i++) d = [d]; d",
            "({get a() { throw 1 }})",
        ):
            self.assertNotIn("json", self.result(code), code)

    def test_a_block_is_no_object(self):
        self.assertEqual(self.events("{ let inner = 1 }"), [])
        self.assertEqual(self.output("{ console.log(1) }"), [("stdout", "1\n")])

    def test_own_displays(self):
        events = self.events(
            """
        display("shown"); display({"text/html": "<b>", "image/png": "AA\\n==", "application/x-c": {k: 1}}, {raw: true})
        await display({[Symbol.for("Jupyter.display")]: async () => ({"text/markdown": "*m*"})});
        ({[Symbol.for("Jupyter.display")]: () => ({"text/plain": "p", "text/latex": "$x$", "application/json": {a: [1n]}})})"""
        )
        self.assertEqual([event.pop("type") for event in events], ["result"] * 4)
        self.assertEqual(
            events,
            [
                {"text": "shown", "extra": {}, "is_main_result": False},
                {
                    "html": "<b>",
                    "png": "AA==",
                    "extra": {"application/x-c": {"k": 1}},
                    "is_main_result": False,
                },
                {"markdown": "*m*", "extra": {}, "is_main_result": False},
                {
                    "text": "p",
                    "latex": "$x$",
                    "json": {"a": ["1"]},
                    "extra": {},
                    "is_main_result": True,
                },
            ],
        )
        self.assertEqual(self.result("({toHTML: () => '<p>'})")["html"], "<p>")
        self.assertEqual(
            self.result("({_toSvg: () => '<svg>', _toMime: () => ({'text/latex': 'y'})})")["svg"],
            "<svg>",
        )
        self.assertEqual(
            self.result("Buffer.from('89504e470d0a1a0a00', 'hex')")["png"], "iVBORw0KGgoA"
        )

    def test_characters(self):
        self.assertEqual(self.text('"🎉é"'), "🎉é")
        self.assertEqual(
            self.output('console.log("🎉\\u0000\\ud800")'), [("stdout", "🎉\0\ufffd\n")]
        )
        self.assertEqual(self.result("['\\ud800', '\\\\ud800']")["json"], ["\ufffd", "\\ud800"])


class Modules(JavaScriptCase):
    @classmethod
    def start(cls, **options):
        cls.directory = tempfile.TemporaryDirectory()
        cls.write("m.mjs", "export const one = 1; export default () => 2;")
        cls.write("c.js", "exports.here = __filename; exports.n = 5;")
        cls.write("d.json", '{"j": 1}')
        cls.write(
            "node_modules/pkg/package.json",
            json.dumps({"name": "pkg", "exports": {"import": "./i.mjs", "require": "./r.js"}}),
        )
        cls.write("node_modules/pkg/i.mjs", "export const kind = 'import';")
        cls.write("node_modules/pkg/r.js", "exports.kind = 'require';")
        return super().start(cwd=cls.directory.name, **options)

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.directory.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.directory.cleanup()

    def test_imports_last(self):
        self.assertEqual(
            self.events(
                'import fs, { readFileSync as read } from "fs"; import * as path from "node:path"'
            ),
            [],
        )
        self.assertEqual(
            self.text("typeof fs.readFileSync + typeof read + path.sep"), "functionfunction/"
        )

    def test_local_files_and_packages(self):
        self.assertEqual(self.text('import two, { one } from "./m.mjs"; one + two()'), "3")
        self.assertEqual(
            self.text('import { kind } from "pkg"; kind + require("pkg").kind'), "importrequire"
        )
        self.assertEqual(self.text('(await import("./m.mjs")).one'), "1")
        self.assertEqual(self.text('const {n} = require("./c.js"); n + require("./c").n'), "10")
        self.assertEqual(self.text('eval(`import("./m.mjs")`).then(m => m.one)'), "1")

    def test_debians_packages(self):
        self.assertEqual(
            self.text(
                'import * as acorn from "acorn"; typeof acorn.parse + typeof require("acorn").parse'
            ),
            "functionfunction",
        )

    def test_import_attributes(self):
        for number, word in enumerate(("with", "assert")):
            code = 'import j%d from "./d.json" %s { type: "json" }; j%d.j' % (number, word, number)
            # Node 18 warns on stderr that it is an experiment.
            results = [event for event in self.events(code) if event["type"] != "stderr"]
            self.assertEqual([event.get("text") for event in results], ["1"], results)

    def test_what_is_not_there(self):
        error = self.error('import { nope } from "fs"')
        self.assertEqual(
            (error["name"], error["value"]),
            ("SyntaxError", "The requested module 'fs' does not provide an export named 'nope'"),
        )
        self.assertIn("Cannot find package 'no-such'", self.error('import "no-such"')["value"])
        self.assertIn("Cannot find module './no-such'", self.error('require("./no-such")')["value"])

    def test_where_the_code_is(self):
        directory = os.path.realpath(self.directory.name)
        self.assertEqual(self.text("__dirname"), directory)
        self.assertEqual(
            self.text(
                "require.main === module && process.argv.length === 2 && process.execArgv.length === 0"
            ),
            "true",
        )
        code = 'import { fileURLToPath } from "url"; import path from "path"; const __dirname = path.dirname(fileURLToPath(import.meta.url)); __dirname'
        self.assertEqual(self.text(code), directory)
        self.assertEqual(
            self.text(
                'import { createRequire } from "module"; createRequire(import.meta.url)("./c.js").n'
            ),
            "5",
        )

    def test_the_working_directory_is_kept(self):
        runner = JavaScriptProcess(cwd=self.directory.name)
        self.write("sub/s.mjs", "export default 'in sub';")
        runner.step('process.chdir("sub")')
        self.assertEqual(runner.step('import s from "./s.mjs"; s')[1]["text"], "in sub")
        runner.close()
