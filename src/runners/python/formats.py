"""What a result line says: MIME types to keys, Python values to JSON that every reader takes.

The agent reads lines with a strict parser: integers of 64 bits, finite numbers, no lone surrogate
and no deep nesting. Whatever the code displays is brought into that form, or left out.
"""

import base64
import dataclasses
import datetime
import enum
import json
import re
import sys
import uuid

# In the order in which the keys stand in a result.
KEYS = {
    "text/plain": "text",
    "text/html": "html",
    "text/markdown": "markdown",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "text/latex": "latex",
    "application/json": "json",
    "application/javascript": "javascript",
    "e2b/data": "data",
    "e2b/chart": "chart",
}
STRUCTURED = ("application/json", "e2b/data", "e2b/chart")

MAX_DEPTH = 254  # of nested lists and dicts in a value
_INT_RANGE = range(-(2**63), 2**63)
_LONG_NUMBER = re.compile(r"[0-9]{19}")
_SURROGATE = re.compile("[\ud800-\udfff]")

_dump_ascii = json.JSONEncoder(ensure_ascii=True).encode
_dump_raw = json.JSONEncoder(ensure_ascii=False).encode
_dump_strict = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


class NotJson(TypeError):
    """The value has no JSON form."""


class PlainJson(dict):
    """Made here, of nothing that JSON does not have: need not be looked through again."""


def encode_line(message):
    """The message as one line of ASCII. Its values are JSON already; strings may be anything."""
    line = _dump_ascii(message)
    if "\\ud" in line:
        raw = _dump_raw(message)
        if _SURROGATE.search(raw):
            line = _dump_ascii(json.loads(_SURROGATE.sub("\ufffd", raw)))
    return line.encode("ascii") + b"\n"


def _key(key):
    if isinstance(key, str):
        return str(key)
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if key is None or isinstance(key, (bool, int, float)):
        return _dump_ascii(_scalar(key))
    if isinstance(key, (datetime.date, datetime.time, uuid.UUID)):
        return _scalar(key)
    raise NotJson(type(key).__name__)


def _scalar(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if value not in _INT_RANGE:
            raise NotJson("integer of more than 64 bits")
        return int(value)
    if isinstance(value, float):
        value = float(value)
        return value if value - value == 0 else None  # NaN and the infinities have no JSON
    if isinstance(value, (datetime.date, datetime.time)):
        # pandas' NaT is a datetime that is not equal to itself.
        return value.isoformat() if value == value else None
    if isinstance(value, uuid.UUID):
        return str(value)
    if type(value).__name__ == "NAType":  # what pandas has where a value is missing
        return None
    raise NotJson(type(value).__name__)


def _numpy(value):
    """A numpy array or scalar as plain lists and numbers; None if it is neither."""
    numpy = sys.modules.get("numpy")
    if not isinstance(value, (getattr(numpy, "ndarray", ()), getattr(numpy, "generic", ()))):
        return None
    if value.dtype.kind in "mM":
        return numpy.where(numpy.isnat(value), None, value.astype(str)).tolist()
    if value.dtype.kind in "biufOSU":
        return value.tolist()
    raise NotJson("array of %s" % value.dtype)


def _plain(value, fallback, depth):
    if depth > MAX_DEPTH:
        raise NotJson("nested too deeply")
    if isinstance(value, dict):
        return {_key(k): _plain(v, fallback, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, fallback, depth + 1) for item in value]
    if isinstance(value, enum.Enum):
        return _plain(value.value, fallback, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _plain(fields, fallback, depth + 1)
    try:
        return _scalar(value)
    except NotJson:
        plain = _numpy(value)
        if plain is not None and plain is not value:
            return _plain(plain, fallback, depth + 1)
        if type(value).__module__.startswith("numpy") and plain is None:
            return None  # NaT
        return fallback(value)


def _refuse(value):
    raise NotJson(type(value).__name__)


def _describe(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def _is_json(value):
    """Whether it is JSON already, which most are. May say no of one that is."""
    try:
        text = _dump_strict(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return text.count("[") + text.count("{") <= MAX_DEPTH and not _LONG_NUMBER.search(text)


def strict_json(value):
    """A JSON form of a list or dict, or NotJson when a part of it has none."""
    return value if _is_json(value) else _plain(value, _refuse, 0)


def lenient_json(value):
    """A JSON form in which parts that have none become their text."""
    return value if _is_json(value) else _plain(value, _describe, 0)


def _text(value):
    """Strings lose their quotes: the text of 'a' is a."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _content(mime, value):
    if type(value) is PlainJson:
        return value
    if mime in STRUCTURED or mime not in KEYS:
        return lenient_json(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    value = value if isinstance(value, str) else str(value)
    if mime == "text/plain":
        return _text(value)
    if mime.startswith("image/") and mime != "image/svg+xml":
        return value.replace("\n", "")
    return value


def result_event(data, is_main):
    """The result line for one object's formats; None when it has none."""
    contents = {}
    for mime, value in data.items():
        if value is None:
            continue
        try:
            contents[str(mime)] = _content(mime, value)
        except MemoryError:
            raise  # a result for which there was no room must not look like one that never was
        except Exception:  # a value whose own str() or iteration raises is left out
            continue
    if not contents:
        return None
    event = {"type": "result"}
    for mime, key in KEYS.items():
        if mime in contents:
            event[key] = contents.pop(mime)
    event["extra"] = contents
    event["is_main_result"] = is_main
    return event
