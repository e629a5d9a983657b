"""In the zygote: run what every first step runs, so that forked runners find it done.

What is made on first use (tables, regular expressions, formatters) would be made in each of them,
and take memory of its own there. Nothing that code could see is left behind.
"""

import asyncio
import linecache
import ssl

import stepbox_runner.charts  # noqa: F401, in no runner before its first figure otherwise
from stepbox_runner.formats import encode_line

CELLS = ("1", "x = 1\nx + 1", "import os\n[os.sep, {}]", "def f():\n    return 'a'\nf()")


class _NoChannel:
    """Nobody listens yet."""

    @staticmethod
    def send_event(message, drain=False):
        encode_line(message)


def _nothing():
    pass


def _run_cells(shell):
    shell.channel = _NoChannel()
    shell.before_code = shell.after_code = _nothing
    for cell in CELLS:
        if not shell.run_cell(cell, store_history=True).success:
            raise RuntimeError("a cell cannot be run in the zygote")
    shell.channel = shell.before_code = shell.after_code = None


def _forget(shell, variables):
    history = shell.history_manager
    for lines in (history.input_hist_parsed, history.input_hist_raw):
        del lines[1:]
    history._i00 = history._i = history._ii = history._iii = ""
    shell.displayhook.flush()
    shell.user_ns.clear()
    shell.user_ns.update(variables)
    shell.execution_count = 1
    shell.last_execution_succeeded = True
    shell.last_execution_result = None
    shell.has_reported_error = False


def warm_up(shell):
    variables = dict(shell.user_ns)
    lines, names = dict(linecache.cache), dict(shell.compile._filename_map)
    _run_cells(shell)
    _forget(shell, variables)
    linecache.cache.clear()
    linecache.cache.update(lines)
    shell.compile._filename_map.clear()
    shell.compile._filename_map.update(names)
    asyncio.SelectorEventLoop().close()
    # Loads what OpenSSL reads at its start; each process draws its own seed (see fresh_process).
    ssl.RAND_status()
