"""The runner's memory and descriptors are not for other processes of the sandbox.

They run as the same user: without this, code of one context could write into the runner of another
and speak to the agent in its name. The code itself may undo it for its own runner.
"""

import ctypes

PR_SET_DUMPABLE = 4


def hide_process():
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
