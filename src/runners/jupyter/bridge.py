"""Runs the agent's steps in a kernel."""

import contextlib
import os
import signal
import socket
import sys
import time

import zmq

from stepbox_runner.answers import Answers, error_event
from stepbox_runner.channel import AgentGone, Channel
from stepbox_runner.kernel import CHANNELS, Kernel, NoKernel
from stepbox_runner.kernel_step import KernelStep

ASK_AGAIN = 0.25  # seconds between requests to a kernel that has not begun to answer
EARLY = 0.05  # seconds from a step's begin in which an interrupt would hit the kernel's own work
LAST_WORDS = 0.1  # seconds in which what a kernel sent before it ended reaches us

NO_VARIABLES = (
    "Jupyter's kernels have no way to set environment variables for one step. Give them to the"
    " context when it is made."
)


class Signals:
    """SIGINT as bytes on a socket; it is for the kernel, and never raises here."""

    def __init__(self):
        self._read, write = socket.socketpair()
        self._read.setblocking(False)
        write.setblocking(False)
        self._write = write  # kept open
        signal.signal(signal.SIGINT, lambda number, frame: None)
        signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)

    def fileno(self):
        return self._read.fileno()

    def take(self):
        """Whether one has come since the last time."""
        came = False
        with contextlib.suppress(BlockingIOError):
            while self._read.recv(64):
                came = True
        return came

    @contextlib.contextmanager
    def held(self):
        """For the channel: nothing raises anyway."""
        yield

    def enter_step(self):
        """As above."""

    def disarm(self):
        """As above."""


class KernelGone(Exception):
    """The process of the kernel has ended."""


class Bridge:
    def __init__(self, descriptor, kernel_name):
        self._signals = Signals()
        self._channel = Channel(descriptor, self._signals)
        self._answers = Answers(self._channel)
        self._kernel = kernel = Kernel(kernel_name)
        self._poller = zmq.Poller()
        for socket_of_kernel in kernel.sockets:
            self._poller.register(socket_of_kernel, zmq.POLLIN)
        for descriptor in (self._signals.fileno(), self._channel.fileno(), kernel.fileno()):
            self._poller.register(descriptor, zmq.POLLIN)
        self._poller.register(kernel.ended, zmq.POLLIN)
        self._ended = False
        self._executions = 0  # steps that were counted
        self._refused = 0  # of those, steps that the kernel knows nothing of

    def _wait(self, seconds=None):
        """What is readable, as descriptors, and the kernel's channels by name. Raises KernelGone
        when nothing else is left of a kernel that ended."""
        if self._ended:
            seconds = LAST_WORDS
        timeout = None if seconds is None else max(0, int(seconds * 1000) + 1)
        channels = self._kernel.sockets
        ready = {channels.get(what, what) for what, _ in self._poller.poll(timeout)}
        if self._kernel.fileno() in ready and not self._kernel.read_log():
            self._poller.unregister(self._kernel.fileno())
        if self._ended and ready.isdisjoint(CHANNELS):
            raise KernelGone()
        if self._kernel.ended in ready:
            self._poller.unregister(self._kernel.ended)
            self._ended = True
        return ready

    def _messages(self, ready):
        """One of each of the kernel's channels that have some."""
        for channel in CHANNELS:
            message = self._kernel.receive(channel) if channel in ready else None
            if message is not None:
                yield channel, message

    def await_kernel(self):
        """Until it answers, and what it publishes reaches us."""
        # The library's own way also waits until the kernel has been silent for a while, and reads
        # no log, in which a kernel may say more than a pipe holds.
        came = set()
        while not came >= {"iopub", "shell"}:
            self._kernel.ask_who_it_is()
            again = time.monotonic() + ASK_AGAIN
            while not came >= {"iopub", "shell"} and time.monotonic() < again:
                ready = self._wait(again - time.monotonic())
                if self._channel.fileno() in ready:
                    raise AgentGone()  # there is nothing to say to us yet
                came.update(channel for channel, _ in self._messages(ready))
                self._signals.take()

    def take_steps(self):
        """Until the agent is gone or the code asked to exit."""
        self._channel.send({"type": "ready"})
        leaving = False
        while not leaving:
            self._idle()
            self._signals.take()
            request = self._channel.receive()
            if request is not None:
                leaving = self._step(request["code"], request.get("env") or {})

    def _idle(self):
        """Until a request has come. Output between steps belongs to none."""
        while not self._channel.has_request():
            ready = self._wait()
            self._signals.take()
            for _ in self._messages(ready):
                pass

    def _count(self, number):
        self._executions = number
        self._channel.begin_step({"type": "number_of_executions", "execution_count": number})

    def _step(self, code, variables):
        if variables:
            self._refused += 1
            self._count(self._executions + 1)
            self._channel.send_event(error_event("NotSupported", NO_VARIABLES, ""))
            leaving = False
        else:
            step = KernelStep(
                self._kernel, self._answers, self._count, self._executions, self._refused
            )
            step.execute(code)
            self._follow(step)
            leaving = step.leaving
        self._channel.end_step({"type": "end", "exit": True} if leaving else {"type": "end"})
        return leaving

    def _follow(self, step):
        while not step.done:
            ready = self._wait(step.patience)
            if self._signals.take():
                step.interrupted = True
            if self._channel.fileno() in ready:
                raise AgentGone()  # it sends nothing during a step, but what _drain() waits for
            for channel, message in self._messages(ready):
                step.take(channel, message)
            if step.patience and not ready:
                step.give_up()
            if step.interrupted and step.begun and not step.interrupt_sent:
                time.sleep(max(0, step.begun + EARLY - time.monotonic()))
                self._kernel.interrupt()
                step.interrupt_sent = True

    def farewell(self):
        return self._kernel.farewell()

    def end(self):
        self._kernel.end()


def serve(descriptor, name):
    """Never returns."""
    try:
        bridge = Bridge(descriptor, name)
    except NoKernel as error:
        sys.exit(str(error))
    status = 0
    try:
        bridge.await_kernel()
        bridge.take_steps()
    except AgentGone:
        pass
    except KernelGone:
        status = 1
        print(bridge.farewell(), file=sys.stderr, flush=True)
    bridge.end()
    os._exit(status)
