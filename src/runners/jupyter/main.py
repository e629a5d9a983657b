"""The runner of Jupyter's kernels: starts one, and passes steps to it and what it says back.

    python3 main.py FD KERNEL

FD is an inherited stream socket to the agent; KERNEL is the name of a kernel that is installed.
"""

import os
import sys
import types
import warnings

PACKAGE = "stepbox_runner"


def import_bridge():
    """The modules beside this file, and those of the Python runner, which speaks the same protocol.

    They are one package: its modules are looked for here first.
    """
    home = os.path.dirname(os.path.abspath(__file__))
    package = types.ModuleType(PACKAGE)
    package.__path__ = [home, os.path.join(os.path.dirname(home), "python")]
    sys.modules[PACKAGE] = package
    sys.path[:] = [entry for entry in sys.path if entry not in ("", home)]
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")  # what libraries tell their users would be output of the code
    try:
        from stepbox_runner import bridge
    except ImportError as error:
        sys.exit(
            "kernels need Python's jupyter_client (Debian and Ubuntu: python3-jupyter-client): %s"
            % error
        )
    return bridge


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit("usage: main.py FD KERNEL")
    import_bridge().serve(int(sys.argv[1]), sys.argv[2])
