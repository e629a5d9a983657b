"""What the sessions share: a sandbox for the length of a block, expected errors, and waiting with an end."""

import contextlib
import os
import time

from e2b import Sandbox


def content(topic):
    """Says that all went well, and ends the program at once: now and then the SDK's threads abort it when the
    interpreter is taken down."""
    print(f"{topic}: the official SDK is content", flush=True)
    os._exit(0)


@contextlib.contextmanager
def in_sandbox(topic, kind=Sandbox, **options):
    """A fresh sandbox, killed whatever happens; then the program ends."""
    box = kind.create(timeout=60, **options)
    try:
        yield box
    finally:
        box.kill()
    content(topic)


class fails:
    """A block that must raise this kind of error, which is then its `error`."""

    def __init__(self, kind):
        self.kind = kind

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert error is not None, f"no {self.kind.__name__}"
        self.error = error
        return isinstance(error, self.kind)


def eventually(what, fn):
    """Waits until fn() gives something, at most five seconds. what: for the message; text, or a function that makes it."""
    end = time.monotonic() + 5
    while True:
        value = fn()
        if value:
            return value
        assert time.monotonic() < end, f"not within five seconds: {what() if callable(what) else what}"
        time.sleep(0.02)
