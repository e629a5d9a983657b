"""The processes that the code has started, as /proc shows them."""

import os
import signal


def descendants(pid):
    """All descendants that are still attached to the process by their parents."""
    found = []
    parents = [pid]
    for parent in parents:
        for child in _children(parent):
            found.append(child)
            parents.append(child)
    return found


def _children(pid):
    children = []
    try:
        # A child belongs to the thread that forked it.
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread)) as listed:
                children.extend(int(child) for child in listed.read().split())
    except OSError:
        pass  # it has ended meanwhile
    return children


def own_descendants():
    """Those of this process. Most often there is no child, which one system call tells."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    return descendants(os.getpid())


def interrupt_started_since(before):
    """What a terminal does on Ctrl-C, but only to processes that are not in `before`."""
    group = os.getpgrp()
    for pid in own_descendants():
        if pid not in before:
            try:
                if os.getpgid(pid) == group:
                    os.kill(pid, signal.SIGINT)
            except OSError:
                pass  # it has ended meanwhile


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass
