"""SIGINT: a KeyboardInterrupt in the code of a step, and nowhere else."""

import asyncio
import contextlib
import os
import signal
import threading

_RUN_HANDLE = asyncio.Handle._run.__code__


def _in_callback(frame):
    """Whether an event loop is running somebody's callback (or task step) in this stack."""
    while frame is not None:
        if frame.f_code is _RUN_HANDLE:
            return True
        frame = frame.f_back
    return False


class Interrupts:
    """Three states: idle, starting (a request is being taken), running (the code runs)."""

    def __init__(self):
        self._pid = None
        self._state = "idle"
        self._held = 0
        self._pending = False
        self._cancel = None
        self._has_request = None

    def install(self, has_request):
        self._pid = os.getpid()
        self._has_request = has_request
        self.reinstall()

    def reinstall(self):
        """Take SIGINT back in case the code of a step put its own handler in place."""
        if signal.getsignal(signal.SIGINT) != self._on_signal:
            signal.signal(signal.SIGINT, self._on_signal)

    def _on_signal(self, _signum, frame):
        if os.getpid() != self._pid:
            raise KeyboardInterrupt
        if self._state == "running":
            if self._held:
                self._pending = True
            else:
                self._interrupt(frame)
        elif self._state == "starting":
            self._pending = True
        else:
            # The agent has sent a request that is not taken yet: the interrupt is for that one.
            self._pending = self._has_request()
            if _in_callback(frame):
                raise KeyboardInterrupt  # a background task hogs the loop between two steps

    def _interrupt(self, frame):
        # While the loop sleeps there is no frame of the code's to raise in: cancel what it awaits.
        if self._cancel is not None and not _in_callback(frame):
            self._cancel()
        else:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self):
        """No interrupt inside; one that comes is raised on the way out. For any thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._pending and self._state == "running" and not self._held:
            self._pending = False
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def cancelling(self, cancel):
        """Inside, an interrupt that finds the loop asleep calls `cancel` instead of raising."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._cancel = None

    def start(self):
        """From here on an interrupt belongs to the request that is about to be read."""
        self._state = "starting"

    def arm(self):
        """From here on the code of the step runs. Raises if the interrupt came before."""
        self._state = "running"
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def disarm(self):
        while self._state != "idle":
            try:
                self._state = "idle"
            except KeyboardInterrupt:
                pass  # it came before the assignment: the code has ended, nothing to interrupt
        self._pending = False
