"""Plays the agent's part of the runner protocol against one real runner process."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("STEPBOX_BUILD", "build"))
MAIN = os.path.join(ROOT, "src", "runners", "python", "main.py")
PYTHON = os.environ.get("STEPBOX_PYTHON", "/usr/bin/python3")

START_SECONDS = 60  # as in the agent


class RunnerProcess:
    """Events come out in the agent's form: the pipes are read empty before an event is passed."""

    def __init__(self, cwd="/tmp", env=None, command=(PYTHON, MAIN), variant=()):
        """The words of `variant` come after the descriptor."""
        self.socket, far_end = socket.socketpair()
        self.pipes = {}
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        self.pipes = {out_read: "stdout", err_read: "stderr"}
        for descriptor in self.pipes:
            os.set_blocking(descriptor, False)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "LANG": "C.UTF-8",
            # matplotlib says so where it can keep nothing, which at home root alone can.
            "MPLCONFIGDIR": os.path.join(BUILD, "spec", "matplotlib"),
        }
        environment.update(env or {})
        self.process = subprocess.Popen(
            [*command, str(far_end.fileno()), *variant],
            stdin=subprocess.DEVNULL,
            stdout=out_write,
            stderr=err_write,
            pass_fds=[far_end.fileno()],
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
        far_end.close()
        os.close(out_write)
        os.close(err_write)
        self.received = bytearray()
        self.scanned = 0
        self.events = []
        self.drains = 0
        self.first = self.wait(lambda event: True, START_SECONDS)[0]

    def close(self):
        self.socket.close()
        for descriptor in self.pipes:
            os.close(descriptor)
        try:
            self.process.wait(5)
        finally:
            # What the code has started, too: here no process 1 of a sandbox ends it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def _drain(self, drop=False):
        for descriptor, stream in self.pipes.items():
            while True:
                try:
                    chunk = os.read(descriptor, 1 << 20)
                except BlockingIOError:
                    break
                if not chunk:
                    break
                if not drop:
                    self._output(stream, chunk)

    def _output(self, stream, chunk):
        last = self.events[-1] if self.events else None
        if last is not None and last.get("type") == stream:
            last["chunks"].append(chunk)
        else:
            self.events.append({"type": stream, "chunks": [chunk]})

    def wait(self, until, timeout=20):
        """Collect events until one for which `until` holds; all of them come back, texts joined."""
        if self._take_lines(until) or self.events and until(self.events[-1]):
            return self._joined()
        deadline = time.monotonic() + timeout
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        for descriptor in self.pipes:
            poll.register(descriptor, select.POLLIN)
        while True:
            # As in the agent, the pipes are never read before the lines that came earlier.
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise AssertionError("no such event in time; got %.2000r" % self._joined())
            ready = [descriptor for descriptor, _ in poll.poll(remaining * 1000)]
            if self.socket.fileno() in ready:
                if self._read_lines(until):
                    return self._joined()
            else:
                self._drain()
                if self.events and until(self.events[-1]):
                    return self._joined()

    def serve(self, seconds):
        """Do the agent's part for a while; the events are the next wait's."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            if select.select([self.socket], [], [], remaining)[0]:
                self._read_lines(lambda event: False)

    def _read_lines(self, until):
        chunk = self.socket.recv(1 << 20)
        if not chunk:
            raise AssertionError("the runner is gone; got %.2000r" % self._joined())
        self.received += chunk
        return self._take_lines(until)

    def _take_lines(self, until):
        """Those that have come, but for what comes after the event that is waited for."""
        while (end := self.received.find(b"\n", self.scanned)) >= 0:
            event = json.loads(self.received[:end].decode("ascii"))
            del self.received[: end + 1]
            self.scanned = 0
            if event["type"] != "number_of_executions":
                self._drain()
            if event["type"] == "drain":
                self.drains += 1
                self.send({"type": "drained"})
                if self.events and until(self.events[-1]):
                    return True
                continue
            self.events.append(event)
            if until(event):
                return True
        self.scanned = len(self.received)
        return False

    def _joined(self):
        events, self.events = self.events, []
        for event in events:
            if "chunks" in event:
                event["text"] = b"".join(event.pop("chunks")).decode("utf-8", "replace")
        return events

    def start(self, code, env=None):
        self._drain(drop=True)  # what came between steps, as in the agent
        self.send({"type": "run", "code": code, "env": env or {}})

    def finish(self, timeout=20):
        return self.wait(lambda event: event["type"] == "end", timeout)

    def step(self, code, env=None, timeout=20):
        self.start(code, env)
        return self.finish(timeout)
