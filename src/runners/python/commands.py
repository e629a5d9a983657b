"""Shell commands that the code runs in the foreground: `!command`, `%system`, os.system().

Both run in the runner's process group, so that they end with it, and can be interrupted.
"""

import codecs
import fcntl
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from stepbox_runner.processes import descendants, kill_all

TERMINAL_SIZE = struct.pack("HHHH", 24, 80, 0, 0)  # rows, columns, and no pixels
AFTER_EXIT = 0.05  # seconds to wait for the last output when a grandchild holds the terminal
GRACE = 2.0  # seconds that an interrupted command has to end


def _end(pid, has_ended):
    """The command has been interrupted with the step; kill what is left after the grace time."""
    family = [pid] + descendants(pid)
    deadline = time.monotonic() + GRACE
    while not has_ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    if not has_ended():
        kill_all(family)


def system(command):
    """os.system(), but interruptible: the C function ignores SIGINT while it waits."""
    sys.audit("os.system", command)
    command = os.fsencode(command)
    pid = os.posix_spawn(
        "/bin/sh", ["sh", "-c", command], os.environ, setsigdef=[signal.SIGINT, signal.SIGQUIT]
    )
    try:
        return os.waitpid(pid, 0)[1]
    except KeyboardInterrupt:
        status = []

        def has_ended():
            if not status:
                ended, code = os.waitpid(pid, os.WNOHANG)
                if ended:
                    status.append(code)
            return bool(status)

        _end(pid, has_ended)
        if not has_ended():
            os.waitpid(pid, 0)
        raise


def _copy(terminal, ended, write):
    """Pass on what comes from the terminal until all writers, or the command, have ended."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    poll = select.poll()
    poll.register(terminal, select.POLLIN)
    poll.register(ended, select.POLLIN)
    timeout = None
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(timeout)]
        if terminal in ready:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # EIO: the last writer is gone
                chunk = b""
            if not chunk:
                break
            write(decoder.decode(chunk))
        elif ended in ready:
            poll.unregister(ended)
            timeout = AFTER_EXIT * 1000
        else:
            break
    rest = decoder.decode(b"", True)
    if rest:
        write(rest)


def run_on_terminal(command):
    """Run a shell command on a pseudo-terminal, both its streams to sys.stdout; its exit code."""
    shell = shutil.which(os.environ.get("SHELL") or "sh") or "/bin/sh"
    terminal, far_end = os.openpty()
    try:
        try:
            fcntl.ioctl(far_end, termios.TIOCSWINSZ, TERMINAL_SIZE)
            child = subprocess.Popen(
                [shell, "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=far_end,
                stderr=far_end,
            )
        finally:
            os.close(far_end)
        ended = os.pidfd_open(child.pid)
        try:
            _copy(terminal, ended, lambda text: sys.stdout.write(text))
            return child.wait()
        except BaseException:
            _end(child.pid, lambda: child.poll() is not None)
            child.wait()
            raise
        finally:
            os.close(ended)
    finally:
        os.close(terminal)


def run_in_background(command):
    """For `!command &`: no terminal, which would end it, but the step's own descriptors."""
    status = system(command)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def install():
    os.system = system
