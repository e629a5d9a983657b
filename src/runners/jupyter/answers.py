"""What a kernel says of a step, as lines of the runner protocol."""

import re

from stepbox_runner.formats import encode_line, result_event
from stepbox_runner.streams import Sink

MAX_LINE = 60 << 20  # bytes; the agent takes 64 MiB
_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def _text(value):
    return _ESCAPES.sub("", value if isinstance(value, str) else str(value))


def error_event(name, value, traceback):
    lines = traceback if isinstance(traceback, list) else [traceback]
    return {
        "type": "error",
        "name": _text(name),
        "value": _text(value),
        "traceback": "\n".join(_text(line).rstrip("\n") for line in lines),
    }


def _is_large(value):
    return isinstance(value, str) and len(value) > MAX_LINE // 8 or not isinstance(value, str)


class Answers:
    """Passes them on in the order in which they come."""

    def __init__(self, channel):
        self._channel = channel
        self._streams = {
            "stdout": Sink(channel, 1, "<stdout>"),
            "stderr": Sink(channel, 2, "<stderr>"),
        }

    def stream(self, content):
        sink = self._streams.get(content.get("name"))
        text = content.get("text")
        if sink is not None and isinstance(text, str):
            sink.write(text.encode("utf-8", "replace"))

    def display(self, content, is_main):
        data = content.get("data")
        event = result_event(data, is_main) if isinstance(data, dict) else None
        if event is None:
            return
        if any(map(_is_large, data.values())) and len(encode_line(event)) > MAX_LINE:
            event = error_event("ResultTooLarge", "a result is larger than 60 MiB", "")
        self._channel.send_event(event)

    def error(self, content):
        self._channel.send_event(
            error_event(
                content.get("ename") or "Error",
                content.get("evalue", ""),
                content.get("traceback", ""),
            )
        )
