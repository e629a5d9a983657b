"""The comparison forgives what may differ, and nothing else."""

import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import normal_form
import replay

TIME = "2026-11-30T08:01:17.273657+00:00"


def piece(stream, text):
    return {"type": stream, "text": text, "timestamp": TIME}


class Forgiven(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(normal_form.events(one), normal_form.events(other))

    def test_times_and_the_borders_of_pieces(self):
        later = dict(piece("stdout", "ab"), timestamp="2027-01-01T00:00:00+00:00")
        self.same([piece("stdout", "a"), piece("stdout", "b")], [later])

    def test_what_versions_say_about_themselves(self):
        old = "---E  Traceback (most recent call last)Cell In [1], line 2\n      1 a\n----> 2   b\n"
        new = "---E  Traceback (most recent call last)Cell In[1], line 2\n----> 2 b\n"
        library = (
            "File /usr/lib/x.py:5, in f(a)\n      4 def f(a):\n----> 5     g()\n   (...)\n     "
            " 7 h\n"
        )
        error = {"type": "error", "name": "E", "value": "v"}
        self.same(
            [dict(error, traceback=old + library + "E: v")], [dict(error, traceback=new + "E: v")]
        )


class NotForgiven(unittest.TestCase):
    def differ(self, one, other):
        self.assertNotEqual(normal_form.events(one), normal_form.events(other))

    def test_order_and_text(self):
        out, err = piece("stdout", "a"), piece("stderr", "b")
        self.differ([out, err], [err, out])
        self.differ([out], [piece("stdout", "a\n")])
        self.differ([out], [piece("stderr", "a")])

    def test_keys_and_values(self):
        result = {"type": "result", "text": "1", "extra": {}, "is_main_result": True}
        self.differ([result], [dict(result, is_main_result=False)])
        self.differ([result], [dict(result, json=1)])
        self.differ([result], [])

    def test_frames_of_cells(self):
        error = {"type": "error", "name": "E", "value": "v"}
        frame = "Cell In[1], line %d\n----> %d b\nE: v"
        self.differ(
            [dict(error, traceback=frame % (2, 2))], [dict(error, traceback=frame % (3, 3))]
        )

    def test_images_that_are_none_and_times_of_another_form(self):
        with self.assertRaises(AssertionError):
            normal_form.events([{"type": "result", "png": "AAAA"}])
        with self.assertRaises(AssertionError):
            normal_form.events([dict(piece("stdout", "a"), timestamp="today")])

    def test_lines_that_json_dumps_would_write_otherwise(self):
        for line in ('{"type":"keepalive"}', '{"type": "stdout", "text": "\u2603"}'):
            with self.assertRaises((AssertionError, UnicodeDecodeError)):
                normal_form.parse_lines(line.encode())

    def test_where_the_order_of_streams_is_unknown_the_texts_still_count(self):
        out, err = piece("stdout", "a"), piece("stderr", "b")
        forms = [
            normal_form.by_stream(normal_form.events(events))
            for events in ([out, err], [err, out], [err], [out, piece("stderr", "c")])
        ]
        self.assertEqual(forms[0], forms[1])
        self.assertNotEqual(forms[0], forms[2])
        self.assertNotEqual(forms[0], forms[3])


class Recordings(unittest.TestCase):
    def test_every_recorded_case_is_replayed_once(self):
        sequences = replay.load_sequences(None)
        names = [case.name for sequence in sequences for case in sequence]
        files = os.listdir(os.path.join(replay.HERE, "events"))
        self.assertEqual(sorted(names), sorted(name[: -len(".json")] for name in files))

    def test_every_difference_has_a_reason(self):
        with open(os.path.join(replay.HERE, "differences.json"), encoding="utf-8") as file:
            for name, difference in json.load(file).items():
                self.assertTrue(difference["reason"].endswith("."), name)
                self.assertGreater(len(difference), 1, name)


if __name__ == "__main__":
    unittest.main()
