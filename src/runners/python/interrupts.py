"""SIGINT: a KeyboardInterrupt in the code of a step, and nowhere else."""

import asyncio
import contextlib
import os
import signal
import threading
import time

from stepbox_runner.processes import interrupt_started_since, own_descendants

LATE = 0.02  # seconds that an interrupt may be under way

_RUN_HANDLE = asyncio.Handle._run.__code__
_install_handler = signal.signal
_installed_handler = signal.getsignal


def _in_callback(frame):
    """Whether an event loop is running somebody's callback (or task step) in this stack."""
    while frame is not None:
        if frame.f_code is _RUN_HANDLE:
            return True
        frame = frame.f_back
    return False


class Interrupts:
    """Three states: idle; in_step, from the arrival of a request; running, while its code runs."""

    def __init__(self):
        self._pid = None
        self._state = "idle"
        self._held = 0
        self._pending = False
        self._cancel = None
        self._has_request = None
        self._ended = 0.0
        self._processes = ()
        self._in_code_again = lambda: None

    def install(self, has_request):
        self._pid = os.getpid()
        self._has_request = has_request
        self.reinstall()

    def on_code(self, function):
        """Have a function called whenever the code begins to run, or goes on."""
        self._in_code_again = function

    def reinstall(self):
        """Take SIGINT back in case the code of a step put its own handler in place."""
        if _installed_handler(signal.SIGINT) != self._on_signal:
            _install_handler(signal.SIGINT, self._on_signal)

    def in_code(self, frame):
        """Whether a signal handler that raises would raise in the code, not in the runner."""
        if os.getpid() != self._pid:
            return True
        if self._state == "running":
            return not self._held
        return _in_callback(frame)

    def _on_signal(self, _signum, frame):
        if os.getpid() != self._pid:
            raise KeyboardInterrupt
        if self._state == "running":
            if self._held:
                self._pending = True
            else:
                self._interrupt(frame)
        elif self._state == "in_step":
            self._pending = True
        else:
            self._pending = self._is_for_waiting_request()
            if _in_callback(frame):
                raise KeyboardInterrupt  # a background task hogs the loop between two steps

    def _is_for_waiting_request(self):
        """Whether the agent meant a request that it has sent and we have not taken yet.

        One that comes right after the end of a step was on its way when that step ended.
        """
        return time.monotonic() - self._ended > LATE and self._has_request()

    def _interrupt(self, frame):
        interrupt_started_since(self._processes)
        # While the loop sleeps there is no frame of the code's to raise in: cancel what it awaits.
        if self._cancel is not None and not _in_callback(frame):
            self._cancel()
        else:
            raise KeyboardInterrupt

    def _go_on(self):
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt
        self._in_code_again()

    @contextlib.contextmanager
    def held(self):
        """Nothing raises inside; what comes is raised on the way out. For any thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._state == "running" and not self._held:
            self._go_on()

    @contextlib.contextmanager
    def cancelling(self, cancel):
        """Inside, an interrupt that finds the loop asleep calls `cancel` instead of raising."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._cancel = None

    def enter_step(self):
        """Before the code of a step and after it: an interrupt belongs to it, but cannot raise."""
        self._state = "in_step"

    def arm(self):
        """The code of the step runs now. Raises if an interrupt came before."""
        if self._state != "running":
            self._processes = own_descendants()
            self._state = "running"
        self._go_on()

    def disarm(self):
        while self._state != "idle":
            try:
                self._state = "idle"
            except BaseException:
                pass  # a signal came before the assignment: the code has ended, it is too late
        self._pending = False
        self._ended = time.monotonic()
