"""The process of a kernel, and the folder with its sockets."""

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")

_TAIL = 4096  # bytes that are kept of what the kernel wrote last
_FOLDER_MAX = 60  # bytes; the path of a socket can have 107

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_prctl = ctypes.CDLL(None, use_errno=True).prctl


class KernelProcess:
    """Starts the kernel.

    What it writes to its own standard streams is a log, as in Jupyter: kernels send the output of
    code as messages, and some write it there, too.
    """

    def __init__(self, spec):
        self.key = secrets.token_hex(32)
        place = tempfile.gettempdir()
        self._folder = tempfile.mkdtemp(
            prefix="stepbox-kernel-", dir=place if len(place) < _FOLDER_MAX else "/tmp"
        )
        # Jupyter's name for a socket is the folder's path, "-" and a number.
        self._base = os.path.join(self._folder, "k")
        self._ports = {name: number for number, name in enumerate(CHANNELS, 1)}
        ours = os.getpid()

        def prepare():
            # A group of its own, so that an interrupt reaches what it has started, and not us.
            os.setpgid(0, 0)
            _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != ours:
                os._exit(1)

        self._log, log = os.pipe()
        os.set_blocking(self._log, False)
        self._tail = b""
        try:
            self._process = subprocess.Popen(
                spec.command(self._write_connection_file()),
                env=spec.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=prepare,
            )
        except BaseException:
            self._remove_folder()
            raise
        finally:
            os.close(log)
        self.pid = self._process.pid
        self.ended = os.pidfd_open(self.pid)  # readable when the process has ended

    def endpoint(self, channel):
        return "ipc://%s-%d" % (self._base, self._ports[channel])

    def _write_connection_file(self):
        connection = {
            "transport": "ipc",
            "ip": self._base,
            "key": self.key,
            "signature_scheme": "hmac-sha256",
            "kernel_name": "",
        }
        connection.update({name + "_port": port for name, port in self._ports.items()})
        path = os.path.join(self._folder, "connection.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(connection, stream)
        return path

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

    def latest(self):
        """What it wrote last, for people."""
        self.read_log()
        return self._tail.decode("utf-8", "replace")

    def poll(self):
        """Its exit status; None while it runs."""
        return self._process.poll()

    def interrupt(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGINT)

    def end(self, seconds):
        """Wait so long for it to leave by itself; then it is killed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._remove_folder()

    def _remove_folder(self):
        shutil.rmtree(self._folder, ignore_errors=True)
