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

from stepbox_runner.processes import descendants, signal_all

TERMINAL_SIZE = struct.pack("HHHH", 24, 80, 0, 0)  # rows, columns, and no pixels
AFTER_EXIT = 0.05  # seconds to wait for the last output when a grandchild holds the terminal
GRACE = 2.0  # seconds that an interrupted command has to end


def _end(pid, has_ended):
    """End a command that was interrupted: more gently first, since it may have to clean up."""
    deadline = time.monotonic() + GRACE
    while not has_ended():
        family = [pid] + descendants(pid)
        if time.monotonic() > deadline:
            signal_all(family, signal.SIGKILL)
            return
        time.sleep(0.05)
        # Again: a shell that is about to run a program keeps a signal from it.
        if not has_ended():
            signal_all(family, signal.SIGINT)


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
        _end(pid, lambda: _reap(pid, os.WNOHANG))
        _reap(pid, 0)
        raise


def _reap(pid, options):
    """Whether the child is gone; it may have been waited for already."""
    try:
        return os.waitpid(pid, options)[0] != 0
    except ChildProcessError:
        return True


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
