"""The folder of a kernel's sockets, and of the file that tells their key.

A runner that is killed cannot remove its own. The next one does that: a lock says whether a folder
is in use, and the system takes it from who holds it when that one ends, however it ends.
"""

import contextlib
import fcntl
import glob
import os
import shutil
import tempfile

_PREFIX = "stepbox-kernel-"
_LONGEST = 60  # bytes of the path of a place for folders; the path of a socket can have 107


def _lock(path):
    """A descriptor that holds the folder's lock; None when another has it, or has removed it."""
    descriptor = None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    if descriptor is not None:
        os.close(descriptor)
    return None


def _remove(path):
    # The code may have put anything there, folders in folders without end, too.
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned(place):
    for path in glob.glob(os.path.join(glob.escape(place), _PREFIX + "*")):
        with contextlib.suppress(OSError):  # another user's, or none of ours
            lock = _lock(path)
            if lock is not None:
                _remove(path)
                os.close(lock)


class KernelFolder:
    """A new one, for this user alone."""

    def __init__(self):
        place = tempfile.gettempdir()
        if len(os.fsencode(place)) > _LONGEST:
            place = "/tmp"
        _remove_abandoned(place)
        lock = None
        while lock is None:  # until another runner had no time to take it for an abandoned one
            self.path = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            lock = _lock(self.path)

    def remove(self):
        _remove(self.path)
