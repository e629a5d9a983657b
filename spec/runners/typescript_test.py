"""What is TypeScript's own: types, what is compiled, and positions in the code as it was written."""

import os
import re
import tempfile
import unittest

from javascript_process import JavaScriptCase, JavaScriptProcess


class TypeScriptCase(JavaScriptCase):
    needs = ("acorn/dist/acorn.js", "typescript/lib/typescript.js")
    variant = ("typescript",)


class Code(TypeScriptCase):
    def test_types_leave_no_trace(self):
        self.assertEqual(self.text("const a: number = 5; a"), "5")
        self.assertEqual(
            self.events("interface I { x: number }\ntype T = I | string;\ndeclare const w: T"), []
        )
        self.assertEqual(self.text("function id<X>(x: X): X { return x }\nid<string>('s')!"), "s")
        self.assertEqual(self.text("let t = <const>['a']; (t as readonly string[])[0]"), "a")
        self.assertEqual(
            self.text(
                "abstract class A { abstract m(): void } class B extends A { m(): void {} }\ntypeof new B().m"
            ),
            "function",
        )

    def test_satisfies(self):
        self.assertEqual(self.text("const s = { a: 1 } satisfies Record<string, number>; s.a"), "1")
        code = (
            "const one = [1] satisfies number[], two = 'x' satisfies string\nthrow new Error(two)"
        )
        self.assertRegex(self.error(code)["traceback"], r"^<cell \d+>:2\n")
        self.assertEqual(self.text("const satisfies = 3; satisfies"), "3")

    def test_enumerations_and_namespaces(self):
        self.assertEqual(self.text("enum E { A, B = 5, C }\nE.C + E[5]"), "6B")
        self.assertEqual(self.result("enum E { D = 'd' }\nE")["json"], {"D": "d"})
        self.assertEqual(self.text("const enum F { A = 3 }\nF.A"), "3")
        self.assertEqual(self.text("namespace N { export const v = 3 }\nN.v"), "3")

    def test_classes(self):
        self.assertEqual(
            self.result(
                "class P { constructor(public x: number, private y = 2) {} sum() { return this.x + this.y } }\nnew P(1).sum()"
            )["text"],
            "3",
        )
        code = "const seen: string[] = [];\nfunction log(...all: any[]): any { seen.push('called') }\nclass D { @log m() { return 1 } }\nseen.length + new D().m()"
        self.assertEqual(self.text(code), "2")

    def test_state_and_await(self):
        self.events("let x: number = 1; const y: string = 'y'; class Z { z?: number = 3 }")
        self.assertEqual(
            self.text("const x: string = await Promise.resolve<string>('x'); x + y + new Z().z"),
            "xy3",
        )
        self.assertEqual(self.result("{a: 1}")["json"], {"a": 1})
        self.assertEqual(self.events("{ let inner: number = 1 }"), [])

    def test_imports_that_the_step_does_not_use_are_for_later_ones(self):
        self.events(
            'import fs from "fs"; import type { Stats } from "fs"; import { readFileSync, type Dirent } from "node:fs"'
        )
        self.assertEqual(
            self.text("typeof fs.readFileSync + typeof readFileSync"), "functionfunction"
        )
        self.events(
            'export interface E { a: string }\nexport const e: E = { a: "b" }; export type { E as F }'
        )
        self.assertEqual(self.text("e.a"), "b")

    def test_interrupts(self):
        events = self.interrupted("let n: number = 0; while (true) n++")
        self.assertEqual(events[1]["name"], "KeyboardInterrupt")
        self.assertEqual(self.text("n > 0"), "true")


class Positions(TypeScriptCase):
    def check(self, code, line, column, name="Error"):
        error = self.error(code)
        self.assertEqual(error["name"], name, error)
        self.assertRegex(
            error["traceback"],
            r"^<cell (\d+)>:%d\n(.|\n)*<cell \1>:%d:%d\b" % (line, line, column),
            code,
        )
        self.assertEqual(error["traceback"].split("\n")[1], code.split("\n")[line - 1])

    def test_below_types_of_many_lines(self):
        self.check(
            "interface P {\n  x: number;\n}\ntype Q =\n  | 'a'\n  | 'b';\n\nfunction f(\n  p: P,\n  q?: Q,\n): void {\n  throw new Error('x');\n}\nf({ x: 1 })",
            12,
            9,
        )

    def test_below_what_is_compiled(self):
        self.check("enum E {\n  A,\n  B,\n}\nthrow new Error('x')", 5, 7)
        self.check(
            "class P {\n  constructor(public a: number,\n              private b: string) {}\n  m(): never { throw new Error('x') }\n}\nnew P(1, '').m()",
            4,
            22,
        )
        self.check(
            "function d(..._: any[]): any {}\nclass D {\n  @d\n  m() {\n    throw new Error('x')\n  }\n}\nnew D().m()",
            5,
            11,
        )
        self.check(
            "function g<T extends {\n  a: number\n}>(x: T) {\n  return (null as any).foo\n}\ng({ a: 1 })",
            4,
            24,
            "TypeError",
        )

    def test_with_await_and_imports(self):
        self.check(
            "import type { Stats } from 'fs'\nimport fs from 'fs'\nconst v: number = await 1\n\nthrow new Error(`${v}`)",
            5,
            7,
        )

    def test_syntax_errors(self):
        error = self.error("let ok = 1\nlet x: number = = 4")
        self.assertEqual((error["name"], error["value"]), ("SyntaxError", "Expression expected."))
        self.assertRegex(
            error["traceback"],
            r"^<cell \d+>:2\nlet x: number = = 4\n {16}\^\n\nSyntaxError: Expression expected\.$",
        )

    def test_errors_of_what_only_javascript_forbids(self):
        types = "interface A {\n  a: string;\n}\n"
        for code, line, column in (
            ("let x = 1;\nlet x: number = 2;", 2, 5),
            ("function f() {\n  for (const y of [1] as number[]) { break away; }\n}", 2, 44),
            ("return 5 as number", 1, 1),
            ("function g(p: string, p: number) { 'use strict' }", 1, 23),
        ):
            error = self.error(types + code)
            self.assertEqual(error["name"], "SyntaxError")
            written = code.split("\n")[line - 1]
            mark = " " * (column - 1) + "^"
            where = "^<cell \\d+>:%d\n%s\n\n" % (line + 3, re.escape(f"{written}\n{mark}"))
            self.assertRegex(error["traceback"], where)


class Files(TypeScriptCase):
    def test_files_in_typescript(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "h.ts"), "w") as file:
                file.write(
                    "export interface A {\n  b: number;\n}\nexport const a: A = { b: 4 };\nexport default function boom(): never {\n  throw new Error('in it');\n}\n"
                )
            runner = JavaScriptProcess(variant=self.variant, cwd=directory)
            self.addCleanup(runner.close)
            self.assertEqual(runner.step('import boom, { a, A } from "./h"; a.b')[1]["text"], "4")
            self.assertEqual(runner.step('(await import("./h.ts")).a.b')[1]["text"], "4")
            self.assertEqual(runner.step('require("./h").a.b')[1]["text"], "4")
            self.assertIn("h.ts:6:9", runner.step("boom()")[1]["traceback"])


if __name__ == "__main__":
    unittest.main()
