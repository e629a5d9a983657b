"""Brings recorded and fresh answers into one form, in which only what matters is left.

May differ: timestamps, ids, chunk borders, process ids, addresses, the pixels of images, and what
the versions of Python, IPython and other libraries put into tracebacks about themselves.
"""

import base64
import json
import re

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# A frame outside of the cells: its head, and the source lines below it.
LIBRARY_FRAME = re.compile(
    r"(?:(?<=\n)|(?<=last\)))File (?!<)[^\n]*\n(?:(?:(?:-+> ?|[ ]*)\d+(?: [^\n]*)?|"
    r" +\(\.\.\.\))\n)*"
)
# How much is shown around a line, and how far it is indented, depends on IPython's version.
SURROUNDING_LINE = re.compile(r"(?<=\n) +\d+(?: [^\n]*)?\n")
MARKED_LINE = re.compile(r"(?<=\n)-+> (\d+) +")

# Each with a part of what it looks for: long outputs without it are not searched.
SUBSTITUTIONS = (
    ("Cell In", re.compile(r"Cell In ?\[(\d+)\]"), r"Cell In[\1]"),
    ("0x", re.compile(r"0x[0-9a-f]{6,}"), "0x0"),
    (" times)", re.compile(r"\(\d+ times\)"), "(N times)"),
    ("/tmp/", re.compile(r"/tmp/(?:ipykernel|stepbox)_\d+/"), "/tmp/cells/"),
    ("-packages/", re.compile(r"[^\s\"']*/(?:dist|site)-packages/"), ".../"),
    ("shell.py:", re.compile(r"interactiveshell\.py:\d+"), "interactiveshell.py:N"),
    (
        "CPU times",
        re.compile(r"CPU times: [^\n]*\nWall time: [^\n]*"),
        "CPU times: N\nWall time: N",
    ),
    # What pip says about itself, or that it is not there.
    ("pip ", re.compile(r"pip \S+ from [^\n]*\n"), "pip\r\n"),
    ("No module named pip", re.compile(r"[^\n]*No module named pip\r\n"), "pip\r\n"),
)


def text(value):
    for part, pattern, replacement in SUBSTITUTIONS:
        if part in value:
            value = pattern.sub(replacement, value)
    return value


def traceback(value):
    value = LIBRARY_FRAME.sub("", value + "\n")
    value = SURROUNDING_LINE.sub("", value)
    return text(MARKED_LINE.sub(r"--> \1 ", value)[:-1])


def _image(kind, value):
    data = base64.b64decode(value, validate=True)
    start = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff"}[kind]
    if not data.startswith(start):
        raise AssertionError("not a %s: %r" % (kind, data[:16]))
    # The recorded ones of 2 x 2 pixels have some hundred bytes, the charts 10 to 30 thousand.
    return "<%s of %s>" % (kind, "a few bytes" if len(data) < 2000 else "a chart's size")


def _event(event):
    event = dict(event)
    if "timestamp" in event:
        if not TIMESTAMP.fullmatch(event.pop("timestamp")):
            raise AssertionError("a timestamp of an unknown form in %r" % event)
    for key in ("text", "value"):
        if key in event:
            event[key] = text(event[key])
    if "traceback" in event:
        event["traceback"] = traceback(event["traceback"])
    for kind in ("png", "jpeg"):
        if kind in event:
            event[kind] = _image(kind, event[kind])
    return event


def events(lines, relative_count=False):
    """The events in normal form, adjacent pieces of one stream joined."""
    pieces = []
    for event in lines:
        last = pieces[-1] if pieces else {}
        if event["type"] in ("stdout", "stderr") and last.get("type") == event["type"]:
            last["text"] += event["text"]
        else:
            pieces.append(dict(event))
    normal = [_event(event) for event in pieces]
    if relative_count:
        for event in normal:
            event.pop("execution_count", None)
    return normal


def parse_lines(body):
    """The events of a fresh answer; its form on the wire is part of the agreement."""
    parsed = []
    for line in body.decode("ascii").split("\n"):
        if not line:
            continue
        event = json.loads(line)
        if json.dumps(event) != line:
            raise AssertionError("a line is not written as json.dumps does: %.200s" % line)
        parsed.append(event)
    return parsed


def by_stream(normal):
    """The same without the order between stdout and stderr, for writers that have none."""
    out, streams = [], {}

    def flush():
        if streams:
            out.append({key: streams[key] for key in sorted(streams)})
            streams.clear()

    for event in normal:
        if event["type"] in ("stdout", "stderr"):
            streams[event["type"]] = streams.get(event["type"], "") + event["text"]
        else:
            flush()
            out.append(event)
    flush()
    return out


def body(data, home):
    """A body that is no event stream: JSON or text, ids and the home directory put alike."""
    as_text = data.decode("utf-8") if isinstance(data, bytes) else data
    as_text = UUID.sub("<id>", as_text.replace(home, "/home/user"))
    try:
        return json.loads(as_text)
    except ValueError:
        return as_text
