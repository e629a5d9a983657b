"""Import IPython without its terminal front end.

Versions before 9 import it, prompt_toolkit and jedi with the package, only to offer one function:
more than half of the start time and 14 MB in every context.
"""

import sys
import types

_NAME = "IPython.terminal.embed"


def _embed(*args, **kwargs):
    from IPython.terminal.embed import embed

    return embed(*args, **kwargs)


def _import():
    stand_in = types.ModuleType(_NAME)
    stand_in.embed = _embed
    sys.modules[_NAME] = stand_in
    try:
        import IPython
    finally:
        del sys.modules[_NAME]
    return IPython


IPython = _import()
