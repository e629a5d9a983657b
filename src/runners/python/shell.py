"""IPython's shell without a terminal, a profile, a history file or a thread of its own."""

import asyncio
import builtins
import sys
from traceback import format_exception

from stepbox_runner.without_terminal import IPython  # comes before anything else of IPython
import IPython.core.interactiveshell as interactiveshell
from IPython.core.application import ProfileDir
from IPython.core.compilerop import CachingCompiler
from traitlets import Any, Bool, CBool, Type, Unicode
from traitlets.config import Config

from stepbox_runner import cell_name, commands, display

# The name is spelt differently from version 9 on.
COLORS = "NoColor" if IPython.version_info < (9,) else "nocolor"


class NoProfile(ProfileDir):
    """A profile directory that is named but never made."""

    location = Unicode("/nonexistent")


class CellCompiler(CachingCompiler):
    def get_code_name(self, raw_code, transformed_code, number):
        return cell_name.cell_name(raw_code)


def _text(value):
    try:
        return str(value)
    except Exception:
        return "<exception str() failed>"


# Python has them from 3.11 on.
GROUPS = getattr(builtins, "BaseExceptionGroup", ())


def _has_group(error):
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, GROUPS):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


class Shell(interactiveshell.InteractiveShell):
    display_pub_class = Type(display.ResultPublisher)
    displayhook_class = Type(display.ResultHook)
    compiler_class = Type(CellCompiler)
    autoindent = CBool(False)
    # Pages of help are printed; there is no pager and nobody to press a key.
    display_page = Bool(False)
    channel = Any()
    context_loop = Any()
    before_code = Any()
    after_code = Any()
    running_cells = 0
    _completer = None

    def init_ipython_dir(self, ipython_dir):
        """Setting the directory would make it."""

    def init_profile_dir(self, profile_dir):
        self.profile_dir = NoProfile()

    def init_hooks(self):
        super().init_hooks()
        self.set_hook("show_in_pager", self._print_page, 90)

    @staticmethod
    def _print_page(_shell, text, start=0, screen_lines=0):
        if isinstance(text, dict):
            text = text.get("text/plain", "")
        print(text)

    def enable_gui(self, gui=None):
        """There are no windows, and so no event loop of theirs (`%matplotlib` asks for one)."""

    def enable_matplotlib(self, gui=None):
        """For the same reason `%matplotlib` alone is not for what the installation prefers."""
        return super().enable_matplotlib(gui or "inline")

    def init_completer(self):
        """Nobody completes words here; the debugger makes one, which costs time and memory."""

    @property
    def Completer(self):
        if self._completer is None:
            super().init_completer()
        return self._completer

    @Completer.setter
    def Completer(self, completer):
        self._completer = completer

    def init_display_formatter(self):
        super().init_display_formatter()
        display.add_formatters(self.display_formatter)

    def should_run_async(self, *args, **kwargs):
        """What is raised here would leave the cell's coroutine to warn of itself in a later step."""
        try:
            return super().should_run_async(*args, **kwargs)
        except Exception:
            return False  # the code cannot be compiled: the cell tells why

    # IPython takes what is raised in its own preparations and clean-up, and goes on: interrupts
    # are for the code itself, from its first statement to its last. Cells may run cells.
    async def run_ast_nodes(self, *args, **kwargs):
        self.running_cells += 1
        try:
            return await super().run_ast_nodes(*args, **kwargs)
        finally:
            self.running_cells -= 1
            if not self.running_cells:
                self.after_code()

    async def run_code(self, code_obj, result=None, *, async_=False):
        self.before_code()
        return await super().run_code(code_obj, result, async_=async_)

    def ask_exit(self):
        """exit() and quit(): the step ends as usual, and the runner after it."""
        self.exit_requested = True

    exit_requested = False
    has_reported_error = False

    def report_error(self, name, value, traceback):
        self.has_reported_error = True
        event = {"type": "error", "name": name, "value": value, "traceback": traceback}
        self.channel.send_event(event)

    def showtraceback(self, exc_tuple=None, *args, **kwargs):
        kind, value, traceback = exc_tuple or sys.exc_info()
        if self.context_loop.cancelled and kind is asyncio.CancelledError:
            # The interrupt reached an await of the code as a cancellation.
            value = KeyboardInterrupt().with_traceback(traceback)
            exc_tuple = KeyboardInterrupt, value, traceback
        if _has_group(value):
            # IPython would print it, or leave the members out.
            self._get_exc_info((kind, value, traceback))
            lines = format_exception(kind, value, traceback.tb_next or traceback)
            self._showtraceback(kind, value, lines)
        else:
            super().showtraceback(exc_tuple, *args, **kwargs)

    def _showtraceback(self, etype, evalue, stb):
        if self.channel.is_ours():
            self.report_error(etype.__name__, _text(evalue), "".join(stb))
        else:  # a process forked by the code has no channel
            print("\n".join(stb), file=sys.stderr)

    def report_unshown(self, result):
        """Usage errors print a line instead of a traceback; they are errors all the same."""
        error = result.error_before_exec or result.error_in_exec
        if error is not None and not self.has_reported_error:
            self.report_error(type(error).__name__, _text(error), "")

    def show_usage_error(self, exc):
        print("UsageError: %s" % exc, file=sys.stderr)

    def system(self, cmd):
        command = self.var_expand(cmd, depth=1)
        if command.rstrip().endswith("&"):
            code = commands.run_in_background(command)
        else:
            code = commands.run_on_terminal(command)
        self.user_ns["_exit_code"] = code


def make_shell():
    config = Config()
    config.HistoryManager.enabled = False
    # Versions before 9 keep a directory of pickles beside the history at once.
    store = vars(interactiveshell).get("PickleShareDB")
    interactiveshell.PickleShareDB = lambda _path: {}
    try:
        return Shell.instance(config=config, colors=COLORS)
    finally:
        interactiveshell.PickleShareDB = store
