"""The line protocol with the agent: one JSON object per line on a stream socket.

During a step the only line the agent sends is `drained`. Any thread may write to the standard
streams, so any thread may have to ask for it; the lock makes that, and every line sent, atomic.

Threads and tasks may outlive the step that began them. What they write or display while another
step runs belongs to that one, never to its main result; what comes while none runs is dropped, here
or by the agent.
"""

import fcntl
import json
import os
import resource
import select
import socket
import sys
import threading

from stepbox_runner import lengths
from stepbox_runner.formats import encode_line

# Above what a program that closes "all" descriptors from 3 up to some round number usually hits.
HIGHEST_WANTED = 1000

_decode = json.JSONDecoder().decode  # bound now: the code may rebind json.loads


def move_high(descriptor):
    """A close-on-exec copy of the descriptor on a number that code does not hit by chance."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    wanted = HIGHEST_WANTED if limit == resource.RLIM_INFINITY else min(HIGHEST_WANTED, limit - 24)
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(wanted, 3))


class AgentGone(Exception):
    """The agent closed its end."""


class Channel:
    def __init__(self, descriptor, interrupts):
        self._interrupts = interrupts
        self._socket = socket.socket(fileno=move_high(descriptor))
        self._socket.setblocking(True)
        os.close(descriptor)
        self._received = bytearray()
        self._scanned = 0
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._in_step = False
        # Who wrote last: a stream, or None after an event. Read by the streams without the lock.
        self.writer = None
        os.register_at_fork(after_in_child=self._leave_to_parent)

    def fileno(self):
        return self._socket.fileno()

    def is_ours(self):
        """False in a process forked by the code, where the protocol belongs to the parent."""
        return self._pid == os.getpid()

    def _leave_to_parent(self):
        if self._pid is not None:
            self._pid = None
            self._socket.close()

    def send(self, message):
        """Send a line that belongs to no step."""
        line = encode_line(message)
        with self._interrupts.held(), self._lock:
            self._send(line)

    def _send(self, line):
        try:
            self._socket.sendall(line)
        except ConnectionError:
            pass  # the agent is gone, as the main thread finds when it asks for the next request

    def begin_step(self, message):
        line = encode_line(message)
        with self._interrupts.held(), self._lock:
            self._in_step = True
            self.writer = None
            self._send(line)

    def end_step(self, message):
        line = encode_line(message)
        with self._interrupts.held(), self._lock:
            self._in_step = False
            self._send(line)

    def send_event(self, message, drain=False):
        """Send an event of the current step; outside of one (a thread that lives on) drop it.

        What the code writes after an event must not overtake it in the agent, which empties the
        pipes before it passes an event on. `drain` waits for that here; without it the next write
        to a standard stream does.
        """
        if not self.is_ours():
            return
        line, left_out = self._fitting_line(message)
        with self._interrupts.held(), self._lock:
            if not self._in_step:
                return
            self._send(line)
            self.writer = None
            if drain:
                self._drain()
        if left_out:
            self._tell(left_out)

    @staticmethod
    def _tell(left_out):
        try:
            sys.stderr.write("A result is too long: without %s\n" % ", ".join(left_out))
        except Exception:
            pass  # a stream of the code's own

    @staticmethod
    def _fitting_line(message):
        line = encode_line(message)
        if len(line) <= lengths.MAX_LINE:
            return line, ()
        message, left_out = lengths.shortened(message, encode_line)
        return encode_line(message), left_out

    def turn_to(self, stream):
        """Called before a write to `stream` when another stream, or an event, came last."""
        if not self.is_ours():
            self.writer = stream
            return
        with self._interrupts.held(), self._lock:
            if self._in_step and self.writer is not stream:
                self._drain()
            self.writer = stream

    def _drain(self):
        self._send(b'{"type": "drain"}\n')
        while True:
            line = self._next_line()
            if line is None:
                try:
                    self._fill()
                except AgentGone:
                    return  # as above
            elif _decode(line.decode()).get("type") == "drained":
                return

    def _fill(self):
        try:
            chunk = self._socket.recv(65536)
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise AgentGone()
        self._received += chunk

    def _next_line(self):
        end = self._received.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._received)
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._scanned = 0
        return line

    def has_request(self):
        """Whether bytes of the next request are here already. Safe in a signal handler."""
        if self._received:
            return True
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def receive_any(self):
        """The next message, of any kind. Raises AgentGone at the end."""
        line = self._next_line()
        while line is None:
            self._fill()
            line = self._next_line()
        return _decode(line.decode())

    def receive(self):
        """The next request; None for a line that is none. Raises AgentGone at the end."""
        self._interrupts.enter_step()
        message = self.receive_any()
        if message.get("type") == "run":
            return message
        self._interrupts.disarm()
        return None
