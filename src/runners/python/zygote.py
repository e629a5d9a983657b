"""The zygote: a process outside of all sandboxes that runners are forked from.

The engine starts it as `python3 ZYGOTE N`, with descriptors in the places that zygote_job.h names:
a socket for jobs, the C half as a library, and the sources of the runner, which are read from
memory under the names that they have inside the sandboxes. It imports what a runner needs, and then
waits in C. Each return from there is in a new process, inside a sandbox and without any rights.
"""

import sys

del sys.path[0]  # the directory of this script, which is one of descriptors

import ctypes
import gc
import importlib.machinery
import importlib.util
import json
import os
import types

SCRIPT, JOBS, LIBRARY, FILES = 3, 4, 5, 6
HOME = "/opt/stepbox/runners/python/"
PACKAGE = "stepbox_runner"
NEVER = 3  # exit status: another try would end the same way


class _Files(importlib.machinery.SourceFileLoader):
    """Modules of the runner out of memory. What they become does not refer to it."""

    files = {}

    def get_data(self, path):
        try:
            return self.files[path]
        except KeyError:
            raise OSError(path) from None

    def path_stats(self, path):
        raise OSError(path)  # no cached bytecode

    def exec_module(self, module):
        loader = importlib.machinery.SourceFileLoader(self.name, self.path)
        module.__spec__.loader = module.__loader__ = loader
        super().exec_module(module)
        module.__spec__.cached = module.__cached__ = importlib.util.cache_from_source(self.path)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        package, _, module = name.rpartition(".")
        file = HOME + module + ".py"
        if package != PACKAGE or file not in cls.files:
            return None
        return importlib.util.spec_from_file_location(name, file, loader=cls(name, file))


def _read_files():
    with open(FILES, "rb") as stream:
        texts = json.loads(stream.read())
    _Files.files = {path: text.encode() for path, text in texts.items()}


def _prepare():
    """The runner's first half, as `python3 main.py` has it, and what this process adds."""
    _read_files()
    sys.meta_path.insert(0, _Files)
    try:
        main = types.ModuleType("stepbox_main")
        main.__file__ = HOME + "main.py"
        source = _Files.files[main.__file__]
        exec(compile(source, main.__file__, "exec", dont_inherit=True), vars(main))
        runner = main.prepare()
        from stepbox_runner import fresh_process, warm_up
    finally:
        sys.meta_path.remove(_Files)
        _Files.files = {}
    fresh_process.note_packages()
    runner.warm_up(warm_up.warm_up)
    sys.orig_argv[:] = [sys.executable, main.__file__, str(SCRIPT)]
    return runner, fresh_process


def _library():
    library = ctypes.PyDLL("/proc/self/fd/%d" % LIBRARY, use_errno=True)
    if library.process_title_find() or library.zygote_prepare():
        sys.exit("the zygote cannot be set up: %s" % os.strerror(ctypes.get_errno()))
    return library


def _hook(function):
    return ctypes.cast(function, ctypes.c_void_p)


def main():
    library = _library()
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        runner, fresh_process = _prepare()
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(NEVER)
    sys.dont_write_bytecode = writes_bytecode
    if len(os.listdir("/proc/self/task")) != 1:
        print("something that Python imports at its start has begun a thread", file=sys.stderr)
        sys.exit(NEVER)  # what the thread holds in the moment of a fork would be held for ever
    os.close(LIBRARY)
    python = ctypes.pythonapi
    hooks = [
        _hook(function)
        for function in (
            python.PyOS_BeforeFork,
            python.PyOS_AfterFork_Parent,
            python.PyOS_AfterFork_Child,
        )
    ]
    # What is there now stays for ever: a collection in a runner must not touch, and so copy, it.
    gc.collect()
    gc.freeze()
    channel = library.zygote_serve(JOBS, *hooks)
    fresh_process.renew_secrets()
    runner.set_up(channel)
    message = runner.receive_begin()
    if message is not None:
        fresh_process.begin(message)
        runner.serve()
    os._exit(0)


main()
