"""The life of a runner: takes one step after the other until the agent goes or the code exits."""

import atexit
import builtins
import contextlib
import os
import sys
import traceback

from stepbox_runner import commands, pictures, plotly_figures, stdin
from stepbox_runner.code_signals import CodeSignals
from stepbox_runner.channel import AgentGone, Channel
from stepbox_runner.environ import step_environment
from stepbox_runner.event_loop import ContextLoop
from stepbox_runner.hidden import hide_process
from stepbox_runner.interrupts import Interrupts
from stepbox_runner.streams import StandardStreams

_builtins = vars(builtins)
_at_start = dict(_builtins)


def _restore_builtins():
    """Put back what the code deleted from builtins, with no use of a builtin."""
    for name in _at_start:
        if name not in _builtins:
            _builtins[name] = _at_start[name]


class Runner:
    def __init__(self, shell):
        self._shell = shell

    def warm_up(self, function):
        """In the zygote: what is the same for all that will be forked from it."""
        function(self._shell)

    def set_up(self, descriptor):
        """All that needs neither the environment nor the working directory of the context."""
        hide_process()
        shell = self._shell
        self._interrupts = Interrupts()
        self._channel = shell.channel = Channel(descriptor, self._interrupts)
        self._interrupts.install(self._channel.has_request)
        CodeSignals(self._interrupts).install()
        self._loop = shell.context_loop = ContextLoop(self._interrupts)
        shell.loop_runner = self._loop.run
        shell.before_code = self._interrupts.arm
        shell.after_code = self._interrupts.enter_step
        self._streams = StandardStreams(self._channel)
        stdin.install()
        commands.install()
        pictures.install()
        plotly_figures.install()

    def receive_begin(self):
        """What the agent tells a forked runner first; None when it has gone."""
        try:
            return self._channel.receive_any()
        except AgentGone:
            return None

    def serve(self):
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        with contextlib.suppress(OSError):  # a working directory that is gone
            self._shell.starting_dir = os.getcwd()
            self._shell.history_manager.dir_hist[:] = [os.getcwd()]
        self._channel.send({"type": "ready"})
        self._take_steps()
        self._leave()

    def _take_steps(self):
        while not self._shell.exit_requested:
            if not self._channel.has_request():
                self._loop.wait_readable(self._channel)
            try:
                request = self._channel.receive()
            except AgentGone:
                break
            if request is not None:
                self._step(request["code"], request.get("env") or {})

    def _step(self, code, variables):
        shell = self._shell
        count = shell.execution_count
        self._streams.repair()
        self._loop.begin_step()
        shell.has_reported_error = False
        shell.running_cells = 0
        self._channel.begin_step({"type": "number_of_executions", "execution_count": count})
        failure = None
        try:
            with step_environment(variables):
                self._run(code)
        except BaseException as error:  # whatever gets out of IPython, or an impossible variable
            self._settle()
            failure = error
        if not self._channel.is_ours():
            self._leave_child(failure)
        if failure is not None:
            if not shell.has_reported_error:
                text = "".join(traceback.format_exception_only(type(failure), failure))
                shell.report_error(type(failure).__name__, str(failure), text)
            if shell.execution_count == count:
                shell.execution_count = count + 1
        self._flush()
        end = {"type": "end"}
        if shell.exit_requested:
            end["exit"] = True
        self._channel.end_step(end)

    def _run(self, code):
        try:
            result = self._shell.run_cell(code, store_history=True)
        finally:
            self._settle()
        self._shell.report_unshown(result)

    def _settle(self):
        """The code has ended. Called again when one of its signal handlers raised in here."""
        self._interrupts.disarm()
        _restore_builtins()
        self._interrupts.reinstall()

    def _flush(self):
        """The code may have put buffered streams of its own in place."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # the code's own stream: closed, None, or of a kind that cannot

    def _leave(self):
        """End without waiting for the code's threads; what it registered at exit still runs."""
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass  # what the code registered is no reason to stay
        self._flush()
        os._exit(0)

    def _leave_child(self, failure):
        """A process that the code forked came out at the end of the cell: it has no next step."""
        self._flush()
        os._exit(0 if failure is None and self._shell.last_execution_succeeded else 1)
