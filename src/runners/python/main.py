"""The Python runner: keeps one interpreter's state and runs the agent's steps in it.

    python3 main.py FD

FD is an inherited stream socket to the agent; standard output and error are pipes that the agent
reads. The two halves are separate so that a process which has done the first (imports, the shell)
can be forked, and each child can do the second (see zygote.py).
"""

import os
import sys
import types

PACKAGE = "stepbox_runner"
RECURSION_LIMIT = 3000  # what code finds in Jupyter's kernel, which has it from jedi


def prepare():
    """Import what every runner needs and build the shell; touches no descriptor."""
    home = os.path.dirname(os.path.abspath(__file__))
    # The code's own `import display` must not find our files: they are loaded as a package, and
    # their directory leaves sys.path, where the working directory takes its place.
    sys.path[:] = [""] + [entry for entry in sys.path if entry not in ("", home)]
    package = types.ModuleType(PACKAGE)
    package.__path__ = [home]
    sys.modules[PACKAGE] = package
    sys.argv[:] = [""]
    sys.setrecursionlimit(RECURSION_LIMIT)

    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        from stepbox_runner import shell, steps
    finally:
        sys.dont_write_bytecode = keep
    return steps.Runner(shell.make_shell())


def serve(runner, descriptor):
    """Become the runner on these descriptors: never returns."""
    runner.set_up(descriptor)
    runner.serve()


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit("usage: main.py FD")
    fd = int(sys.argv[1])
    serve(prepare(), fd)
