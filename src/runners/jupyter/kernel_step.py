"""One step in a kernel: the request, and what comes of it."""

import time

SILENT = 1.0  # seconds without a reply after which a kernel that says it is idle has failed
BUSY = 5.0  # seconds after a reply in which a kernel that is short of time comes to say it is idle
LOST = "the kernel published more than could be passed on: some of its output is lost"


class KernelStep:
    def __init__(self, kernel, answers, count, executions, refused):
        self._kernel = kernel
        self._answers = answers
        self._count = count
        self._executions = executions
        self._refused = refused
        self._request = None
        self.idle = False
        self._reply = None
        self._failed = False
        self.begun = None  # when it was counted: the kernel runs the code from then on
        self.leaving = False
        self.interrupted = self.interrupt_sent = False

    @property
    def done(self):
        return self.idle and self._reply is not None

    def execute(self, code):
        self._request = self._kernel.execute(code)

    def take(self, channel, message):
        """What the kernel has sent; it may belong to none of our requests."""
        if channel == "stdin":
            if message.kind == "input_request":  # though it was told that there is no input
                self._kernel.give_no_input()
        elif message.parent == self._request:
            if channel == "iopub" and not self.idle:
                self._published(message.kind, message.content)
            elif channel == "shell" and message.kind == "execute_reply":
                self._reply = message.content
            if self.done:
                self._finish()

    @property
    def patience(self):
        """Seconds to wait for the second half of what ends a step; None before the first."""
        if self.idle:
            return SILENT
        return None if self._reply is None else BUSY

    def give_up(self):
        """It does not come."""
        if self._reply is None:  # the kernel failed itself
            self._reply = {"status": "silent"}
        else:
            self.idle = True
            self._begin(self._reply)
            self._answers.error({"ename": "OutputLost", "evalue": LOST})
        self._finish()

    def _begin(self, content):
        if not self.begun:
            self.begun = time.monotonic()
            number = content.get("execution_count")
            known = isinstance(number, int) and number > 0
            self._count(number + self._refused if known else self._executions + 1)

    def _published(self, kind, content):
        if kind == "status":
            self.idle = content.get("execution_state") == "idle"
        elif kind == "execute_input":
            self._begin(content)
        elif kind in ("stream", "display_data", "execute_result", "error"):
            self._begin({})
            if kind == "stream":
                self._answers.stream(content)
            elif kind == "error":
                self._failed = True
                self._answers.error(content)
            else:
                self._answers.display(content, kind == "execute_result")

    def _finish(self):
        reply = self._reply
        self._begin(reply)
        status = reply.get("status")
        if status != "ok" and not self._failed:
            if self.interrupted and not reply.get("ename"):
                reply = {"ename": "KeyboardInterrupt"}
            elif not reply.get("ename"):
                reply = {
                    "ename": "Error",
                    "evalue": "the kernel did not answer (%s)" % status,
                }
            self._answers.error(reply)
        payload = reply.get("payload")
        for entry in payload if isinstance(payload, list) else ():
            if isinstance(entry, dict) and entry.get("source") == "ask_exit":
                self.leaving = not entry.get("keepkernel")
