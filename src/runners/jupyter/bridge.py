"""Runs the agent's steps in a kernel."""

import contextlib
import os
import signal
import socket
import sys
import time

import zmq

from stepbox_runner import kernel_spec
from stepbox_runner.answers import Answers, error_event
from stepbox_runner.channel import AgentGone, Channel
from stepbox_runner.kernel_client import KernelClient
from stepbox_runner.kernel_process import KernelProcess
from stepbox_runner.kernel_step import KernelStep

ASK_AGAIN = 0.25  # seconds between requests to a kernel that has not begun to answer
EARLY = 0.05  # seconds from a step's begin in which an interrupt would hit the kernel's own work
SILENT = 1.0  # seconds without a reply after which a kernel that says it is idle has failed
LEAVE = 1.0  # seconds for a kernel to end by itself

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
    def __init__(self, descriptor, spec):
        self._signals = Signals()
        self._channel = Channel(descriptor, self._signals)
        self._answers = Answers(self._channel)
        self._spec = spec
        self._process = KernelProcess(spec)
        self._client = KernelClient(self._process)
        self._poller = zmq.Poller()
        for readable in (self._client.iopub, self._client.shell, self._client.stdin):
            self._poller.register(readable, zmq.POLLIN)
        for readable in (self._signals, self._process, self._channel):
            self._poller.register(readable.fileno(), zmq.POLLIN)
        self._poller.register(self._process.ended, zmq.POLLIN)
        self._executions = 0  # steps that were counted
        self._refused = 0  # of those, steps that the kernel knows nothing of

    def _wait(self, seconds=None):
        """What is readable. Raises KernelGone when nothing else is left of a kernel that ended."""
        timeout = None if seconds is None else max(0, int(seconds * 1000) + 1)
        ready = dict(self._poller.poll(timeout))
        if self._process.fileno() in ready and not self._process.read_log():
            self._poller.unregister(self._process.fileno())
        messages = ready.keys() & {self._client.iopub, self._client.shell}
        if self._process.ended in ready and not messages:
            raise KernelGone()
        return ready

    def await_kernel(self):
        """Until it answers, and what it publishes reaches us."""
        client = self._client
        answered = published = False
        while not (answered and published):
            client.send(client.shell, "kernel_info_request", {})
            again = time.monotonic() + ASK_AGAIN
            while not (answered and published) and time.monotonic() < again:
                self._wait(again - time.monotonic())
                answered |= client.receive(client.shell) is not None
                published |= client.receive(client.iopub) is not None
                self._signals.take()
        while client.receive(client.shell) or client.receive(client.iopub):
            pass

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
            self._wait()
            self._signals.take()
            for channel in (self._client.iopub, self._client.shell, self._client.stdin):
                while self._client.receive(channel):
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
                self._client, self._answers, self._count, self._executions, self._refused
            )
            step.execute(code)
            self._follow(step)
            leaving = step.leaving
        self._channel.end_step({"type": "end", "exit": True} if leaving else {"type": "end"})
        return leaving

    def _follow(self, step):
        while not step.done:
            ready = self._wait(SILENT if step.idle else None)
            if self._signals.take():
                step.interrupted = True
            if self._channel.fileno() in ready:
                raise AgentGone()  # it sends nothing during a step, but what _drain() waits for
            step.take_messages()
            if step.idle and not ready:
                step.give_up()
            if step.interrupted and step.begun and not step.interrupt_sent:
                time.sleep(max(0, step.begun + EARLY - time.monotonic()))
                self._interrupt()
                step.interrupt_sent = True

    def _interrupt(self):
        if self._spec.interrupt_mode == "message":
            self._client.send(self._client.control, "interrupt_request", {})
        else:
            self._process.interrupt()

    def farewell(self):
        """What is said of a kernel that has ended by itself."""
        code = self._process.poll()
        how = "was ended by signal %d" % -code if code < 0 else "ended with status %d" % code
        text = "the kernel %s %s" % (self._spec.name, how)
        latest = self._process.latest()
        return text + ("; it wrote:\n" + latest if latest else "")

    def end(self, gracefully):
        if gracefully and self._process.poll() is None:
            with contextlib.suppress(zmq.ZMQError):
                client = self._client
                client.send(client.control, "shutdown_request", {"restart": False})
        self._process.end(LEAVE if gracefully else 0)
        self._client.close()


def serve(descriptor, name):
    """Never returns."""
    try:
        spec = kernel_spec.find(name)
        bridge = Bridge(descriptor, spec)
    except (kernel_spec.NoKernel, OSError) as error:
        sys.exit(str(error))
    gracefully = status = 0
    try:
        bridge.await_kernel()
        bridge.take_steps()
        gracefully = 1
    except AgentGone:
        gracefully = 1
    except KernelGone:
        status = 1
        print(bridge.farewell(), file=sys.stderr, flush=True)
    bridge.end(gracefully)
    os._exit(status)
