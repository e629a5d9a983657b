"""A kernel, found, started and spoken to by Jupyter's own library (jupyter_client 7 and 8).

The library is only asked for what does not wait: the bridge waits itself, for the messages of the
kernel, its log and its end, the agent and interrupts at once.
"""

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
from typing import NamedTuple, Optional

import zmq
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_core.paths import jupyter_path
from traitlets import TraitError

from stepbox_runner.kernel_folder import KernelFolder

CHANNELS = ("iopub", "shell", "stdin")

_TAIL = 4096  # bytes that are kept of what the kernel wrote last
_WAITING = 50000  # messages that a channel holds; what a kernel publishes beyond is lost
_ENDS_WITHIN = 1.0  # seconds for a kernel to end when it is asked, and then again by SIGTERM

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_prctl = ctypes.CDLL(None, use_errno=True).prctl


class NoKernel(Exception):
    """There is no such kernel, or what is there cannot be used."""


class Message(NamedTuple):
    kind: str = ""
    parent: Optional[str] = None  # the identifier of the request that it belongs to
    content: dict = {}


class Specs(KernelSpecManager):
    """What is installed, found without the library's care for the kernel of Python: to know where
    that may lie besides, it imports all of IPython, and then all of ipykernel."""

    def __init__(self):
        super().__init__(kernel_dirs=jupyter_path("kernels"), ensure_native_kernel=False)

    def get_kernel_spec(self, kernel_name):
        folder = self.find_kernel_specs().get(kernel_name.lower())
        if folder is None:
            raise NoSuchKernel(kernel_name)
        return self.kernel_spec_class.from_resource_dir(folder)


def _find(name):
    """The manager of specs, which has one of that name that can be used."""
    specs = Specs()
    try:
        spec = specs.get_kernel_spec(name)
    except NoSuchKernel:
        installed = ", ".join(sorted(specs.find_kernel_specs())) or "none"
        raise NoKernel("there is no kernel %s; there are: %s" % (name, installed)) from None
    except (OSError, ValueError, TypeError, TraitError) as error:
        raise NoKernel("the kernel %s cannot be used: %s" % (name, error)) from None
    if not spec.argv or not all(isinstance(word, str) for word in spec.argv):
        raise NoKernel("the kernel %s cannot be used: its kernel.json has no argv" % name)
    return specs


class Kernel:
    """Starts it.

    What it writes to its own standard streams is a log, as in Jupyter: kernels send the output of
    code as messages, and some write it there, too.
    """

    def __init__(self, name):
        self.name = name
        specs = _find(name)
        self._folder = KernelFolder()
        self._manager = KernelManager(
            kernel_name=name,
            kernel_spec_manager=specs,
            transport="ipc",
            connection_file=os.path.join(self._folder.path, "connection.json"),
        )
        self._tail = b""
        try:
            self._log = self._start()
        except (OSError, ValueError, TypeError, ImportError) as error:
            self._folder.remove()
            raise NoKernel("the kernel %s cannot be started: %s" % (name, error)) from None
        self._process = self._manager.provisioner.process
        self.ended = os.pidfd_open(self._process.pid)  # readable when the process has ended
        self._client = self._manager.client()
        self._client.context.setsockopt(zmq.RCVHWM, _WAITING)
        self._client.start_channels(hb=False)
        self.sockets = {
            getattr(self._client, channel + "_channel").socket: channel for channel in CHANNELS
        }
        self._receive = {
            channel: getattr(self._client, "get_%s_msg" % channel) for channel in CHANNELS
        }

    def _start(self):
        ours = os.getpid()

        def die_with_us():
            _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != ours:
                os._exit(1)

        ours_of_log, log = os.pipe()
        os.set_blocking(ours_of_log, False)
        try:
            self._manager.start_kernel(
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_us
            )
        finally:
            os.close(log)
        return ours_of_log

    def ask_who_it_is(self):
        self._client.kernel_info()

    def execute(self, code):
        """Returns the identifier of the request, which its answers have as their parent's."""
        return self._client.execute(
            code,
            allow_stdin=False,
            stop_on_error=False,  # or else the kernel may refuse the next step, too
        )

    def give_no_input(self):
        self._client.input("")

    def receive(self, channel):
        """The next message that has come; None when there is none. What is none that the library
        can read, as code may have its kernel send, is a Message of no kind."""
        try:
            message = self._receive[channel](timeout=0)
            content = message["content"]
            return Message(
                message["msg_type"],
                message["parent_header"].get("msg_id"),
                content if isinstance(content, dict) else {},
            )
        except queue.Empty:
            return None
        except Exception:
            return Message()

    def interrupt(self):
        """By the signal or the message that it wants."""
        self._manager.interrupt_kernel()

    def fileno(self):
        """Readable when there is more of the log."""
        return self._log

    def read_log(self):
        """False when there will be no more."""
        try:
            more = os.read(self._log, 65536)
        except BlockingIOError:
            return True
        self._tail = (self._tail + more)[-_TAIL:]
        return more != b""

    def farewell(self):
        """What is said of one that has ended by itself."""
        code = self._process.wait()
        how = "was ended by signal %d" % -code if code < 0 else "ended with status %d" % code
        self.read_log()
        latest = self._tail.decode("utf-8", "replace")
        text = "the kernel %s %s" % (self.name, how)
        return text + ("; it wrote:\n" + latest if latest else "")

    def end(self):
        """Has it leave, which it may take a moment for; what it has started is killed."""
        self._manager.request_shutdown()
        self._manager.finish_shutdown(waittime=2 * _ENDS_WITHIN, pollinterval=0.02)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._client.stop_channels()
        self._manager.cleanup_resources()
        self._folder.remove()
