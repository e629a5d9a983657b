"""sys.stdout and sys.stderr: text streams straight onto descriptors 1 and 2.

Nothing is held back: what print() gives is in the pipe when it returns. When Python code switches
from one stream to the other, the channel first has the agent read both pipes empty, so that the
order of the pieces is kept across the two.
"""

import builtins
import codecs
import functools
import io
import os
import select
import sys

from stepbox_runner.channel import move_high

ERRORS = "stepbox-output"


def _replace_surrogates(error):
    """Bytes that came in by surrogateescape go out unchanged; other lone surrogates as U+FFFD."""
    out = bytearray()
    for character in error.object[error.start : error.end]:
        code = ord(character)
        out += bytes((code - 0xDC00,)) if 0xDC80 <= code <= 0xDCFF else b"\xef\xbf\xbd"
    return bytes(out), error.end


def _wait_writable(descriptor):
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


class Sink(io.RawIOBase):
    """The byte side of a standard stream (`sys.stdout.buffer`). Writes all or raises."""

    def __init__(self, channel, descriptor, name):
        self._channel = channel
        self._descriptor = descriptor
        self.name = name
        self.mode = "wb"

    def write(self, data):
        channel = self._channel
        if channel.writer is not self:
            channel.turn_to(self)
        data = memoryview(data).cast("B")
        size = len(data)
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                # A child process may have made the shared pipe non-blocking (node does).
                _wait_writable(self._descriptor)
        return size

    def fileno(self):
        return self._descriptor

    def writable(self):
        return True

    def isatty(self):
        return False

    @property
    def raw(self):
        return self

    def close(self):
        """The descriptor is the context's, not the code's."""


class Output(io.TextIOWrapper):
    """A standard stream as text."""

    def __init__(self, sink):
        super().__init__(sink, "utf-8", "surrogateescape", "\n", line_buffering=True)
        self._sink = sink
        self.mode = "w"

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        sink = self._sink
        channel = sink._channel
        if channel.writer is not sink:
            channel.turn_to(sink)
        data = text.encode("utf-8", ERRORS)
        if data:
            try:
                written = os.write(sink._descriptor, data)
            except BlockingIOError:
                written = 0
            if written < len(data):
                sink.write(data[written:])
        return len(text)

    def flush(self):
        """Nothing is ever held back."""

    def close(self):
        """The descriptor is the context's, not the code's."""


_print = builtins.print


@functools.wraps(_print)
def _print_at_once(*values, sep=" ", end="\n", file=None, flush=False):
    """print() in one write, so that the lines of several threads stay whole."""
    stream = sys.stdout if file is None else file
    if type(stream) is not Output or type(sep) is not str or type(end) is not str:
        _print(*values, sep=sep, end=end, file=file, flush=flush)
    elif len(values) == 1:
        stream.write(str(values[0]) + end)
    else:
        stream.write(sep.join([str(value) for value in values]) + end)


class StandardStreams:
    """Puts both streams in place, and back when a step has left nothing usable there."""

    def __init__(self, channel):
        codecs.register_error(ERRORS, _replace_surrogates)
        builtins.print = _print_at_once
        self._kept = {1: move_high(1), 2: move_high(2)}
        self._stdout = sys.stdout = sys.__stdout__ = Output(Sink(channel, 1, "<stdout>"))
        self._stderr = sys.stderr = sys.__stderr__ = Output(Sink(channel, 2, "<stderr>"))

    def repair(self):
        for descriptor, kept in self._kept.items():
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(kept, descriptor)
        if not hasattr(sys.stdout, "write"):
            sys.stdout = self._stdout
        if not hasattr(sys.stderr, "write"):
            sys.stderr = self._stderr
