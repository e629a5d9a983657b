"""The environment variables of one step: set before it, put back after it, always as data."""

import contextlib
import os

# The code may rebind os.environ; the process environment is behind this object.
_environ = os.environ


def _put_back(before):
    for name, value in before.items():
        if value is None:
            _environ.pop(name, None)
        else:
            _environ[name] = value


@contextlib.contextmanager
def step_environment(variables):
    """Raises what os.environ raises for an impossible name or value, with nothing left set."""
    before = {}
    try:
        for name, value in variables.items():
            previous = _environ.get(name)
            _environ[name] = value
            before[name] = previous
        yield
    finally:
        _put_back(before)
