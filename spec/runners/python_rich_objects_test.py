"""Objects with rich forms: classes of the code, IPython's own, and results too long for a line."""

import base64
import unittest

from runner_process import RunnerProcess


class RichObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = RunnerProcess()

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def events(self, code):
        return self.runner.step(code, timeout=60)[1:-1]

    def formats(self, event):
        self.assertEqual(event["type"], "result", event)
        return {k: v for k, v in event.items() if k not in ("type", "is_main_result")}

    def shown(self, code):
        """The formats of what the code displays; a result without `extra` has none."""
        forms = [self.formats(event) for event in self.events(code)]
        for form in forms:
            if form["extra"] == {}:
                del form["extra"]
        return forms

    def test_methods_of_a_class(self):
        code = """
class A:
    def __repr__(self): return 'r'
    def _repr_html_(self): return '<b>'
    def _repr_markdown_(self): return '*m*'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'png'
    def _repr_jpeg_(self): return b'jpg'
    def _repr_pdf_(self): return b'pdf'
    def _repr_latex_(self): return '$l$'
    def _repr_json_(self): return {'j': 1}
    def _repr_javascript_(self): return 'js'
    def _repr_e2b_data_(self): return {'c': [1]}
A()
"""
        (form,) = self.shown(code)
        self.assertEqual(
            form,
            {
                "text": "r",
                "html": "<b>",
                "markdown": "*m*",
                "svg": "<svg/>",
                "png": base64.b64encode(b"png").decode(),
                "jpeg": base64.b64encode(b"jpg").decode(),
                "pdf": base64.b64encode(b"pdf").decode(),
                "latex": "$l$",
                "json": {"j": 1},
                "javascript": "js",
                "data": {"c": [1]},
            },
        )

    def test_a_bundle_of_mime_types(self):
        code = """
class B:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {'text/plain': 'p', 'text/html': 'h', 'a/b': {'x': 1}}, {'a/b': {'width': 1}}
B()
"""
        self.assertEqual(self.shown(code), [{"text": "p", "html": "h", "extra": {"a/b": {"x": 1}}}])

    def test_a_method_that_raises_is_an_error_and_the_other_forms_are_shown(self):
        code = """
class C:
    def __repr__(self): return 'C!'
    def %s: raise ValueError('no form')
C()
"""
        for method in (
            "_repr_html_(self)",
            "_repr_mimebundle_(self, **more)",
            "_ipython_display_(self)",
            "_repr_e2b_chart_(self)",
        ):
            error, result = self.events(code % method)
            self.assertEqual((error["name"], error["value"]), ("ValueError", "no form"), method)
            self.assertEqual((result["text"], result["is_main_result"]), ("C!", True), method)
        (error,) = self.events("class D:\n    def __repr__(self): raise KeyError('k')\nD()")
        self.assertEqual((error["type"], error["name"]), ("error", "KeyError"))
        self.assertEqual(self.shown("3"), [{"text": "3"}])

    def test_a_form_of_the_wrong_type_is_left_out_with_a_warning(self):
        warning, result = self.events(
            "class E:\n    def __repr__(self): return 'E'\n    def _repr_html_(self): return 5\nE()"
        )
        self.assertEqual(warning["type"], "stderr")
        self.assertIn("text/html formatter returned invalid type", warning["text"])
        self.assertEqual(self.formats(result), {"text": "E", "extra": {}})

    def test_an_object_that_displays_itself_has_no_other_result(self):
        events = self.events("class F:\n    def _ipython_display_(self): print('self')\nF()")
        self.assertEqual([event["type"] for event in events], ["stdout"])

    def test_an_object_that_has_every_attribute(self):
        code = """
class G:
    def __getattr__(self, name): return lambda *a, **k: 'anything'
    def __repr__(self): return 'G'
G()
"""
        self.assertEqual(self.shown(code), [{"text": "G"}])

    def test_display_objects_of_ipython(self):
        self.events("from IPython.display import *")
        png = base64.b64encode(b"\x89PNG\r\n\x1a\n0").decode()
        for code, forms in (
            ("HTML('<b>x</b>')", {"html": "<b>x</b>"}),
            ("Markdown('# h')", {"markdown": "# h"}),
            ("Latex('$x$')", {"latex": "$x$"}),
            ("Math('x')", {"latex": "$\\displaystyle x$"}),
            ("JSON({'a': [1, None]})", {"json": {"a": [1, None]}}),
            ("Javascript('1+1')", {"javascript": "1+1"}),
            ("GeoJSON({'a': 1})", {"extra": {"application/geo+json": {"a": 1}}}),
            ("Image(b'\\x89PNG\\r\\n\\x1a\\n0')", {"png": png}),
            ("Image(b'\\xff\\xd8\\xff0', format='jpeg')", {"jpeg": "/9j/MA=="}),
            (
                "Image(url='http://example.org/x.png')",
                {"html": '<img src="http://example.org/x.png"/>'},
            ),
        ):
            (form,) = self.shown(code)
            self.assertRegex(form.pop("text"), "^<IPython.(core.)?display.[A-Za-z]+ object>$")
            self.assertEqual(form, forms, code)
        (form,) = self.shown("Image(b'GIF89a', format='gif')")
        self.assertEqual(form["extra"]["image/gif"].strip(), "R0lGODlh")
        (form,) = self.shown("SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>')")
        self.assertRegex(form["svg"], "^<svg xmlns=[^>]*/>$")

    def test_cell_magics_that_show_their_text(self):
        for magic, key in (
            ("html", "html"),
            ("markdown", "markdown"),
            ("latex", "latex"),
            ("javascript", "javascript"),
        ):
            (event,) = self.events("%%%%%s\nx" % magic)
            self.assertEqual((event[key], event["is_main_result"]), ("x\n", False))

    def test_a_result_too_long_for_a_line_leaves_its_longest_form_out(self):
        self.runner.step("kept = 1")
        result, note = self.events(
            "display({'text/plain': 'p', 'text/html': 'h' * 70_000_000, 'image/png': b'123',"
            " 'a/b': 'x'}, raw=True)"
        )
        self.assertEqual(self.formats(result), {"text": "p", "png": "MTIz", "extra": {"a/b": "x"}})
        self.assertEqual(
            (note["type"], note["text"]),
            ("stderr", "A result is too long: without html of 70000003 bytes\n"),
        )
        self.assertEqual(self.shown("kept"), [{"text": "1"}])

    def test_texts_too_long_for_a_line_are_cut(self):
        (form,) = self.shown("'\\u2603' * 20_000_000")
        self.assertEqual(form["text"], "\u2603" * 1048576 + "... (20000000 characters)")
        (error,) = self.events("raise ValueError('v' * 70_000_000)")
        self.assertEqual(error["name"], "ValueError")
        self.assertRegex(error["value"], r"^v{1048576}\.\.\. \(70000000 characters\)$")
        self.assertLess(len(error["traceback"]), 1_100_000)


if __name__ == "__main__":
    unittest.main()
