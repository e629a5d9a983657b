"""Signal handlers that the code installs run only while the code runs.

A handler may raise, and Python runs it between any two instructions: in the middle of the runner's
own work it would break that. So handlers are wrapped; one that comes at such a time waits for the
code's next instruction.
"""

import functools
import signal


class CodeSignals:
    def __init__(self, interrupts):
        self._interrupts = interrupts
        self._waiting = []
        self._signal = signal.signal
        self._getsignal = signal.getsignal
        interrupts.on_code(self._deliver)

    def install(self):
        @functools.wraps(signal.signal)
        def install_handler(signalnum, handler):
            return self._original(self._signal(signalnum, self._wrapped(handler)))

        @functools.wraps(signal.getsignal)
        def installed_handler(signalnum):
            return self._original(self._getsignal(signalnum))

        signal.signal = install_handler
        signal.getsignal = installed_handler

    @staticmethod
    def _original(handler):
        return getattr(handler, "stepbox_handler", handler)

    def _wrapped(self, handler):
        if not callable(handler) or isinstance(handler, signal.Handlers):
            return handler

        def run_in_code(signum, frame):
            if self._interrupts.in_code(frame):
                handler(signum, frame)
            elif signum not in self._waiting:
                self._waiting.append(signum)

        run_in_code.stepbox_handler = handler
        return run_in_code

    def _deliver(self):
        while self._waiting:
            signal.raise_signal(self._waiting.pop())
