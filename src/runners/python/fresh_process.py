"""From a process that was forked from the zygote to one like any other: its environment, what it may
import, its working directory, and all that must differ from process to process.
"""

import atexit
import os
import random
import resource
import site
import sys
import time

_kept = []  # never freed
_pth_seen = set()  # the .pth files that were there when the zygote started


def _pth_files(directory):
    try:
        names = os.listdir(directory)
    except OSError:
        return set()
    return {os.path.join(directory, name) for name in names if name.endswith(".pth")}


def note_packages():
    """In the zygote: what has been seen of the directories of packages."""
    for directory in site.getsitepackages():
        _pth_seen.update(_pth_files(directory))


def _set_environment(variables):
    for name in list(os.environ):
        del os.environ[name]
    os.environ.update(variables)
    time.tzset()


def _path_key(entry):
    return os.path.normcase(os.path.abspath(entry))


def _add_user_packages(known, system):
    """They come before the system's."""
    before = len(sys.path)
    site.addusersitepackages(known)
    added = sys.path[before:]
    first = min((sys.path.index(entry) for entry in system if entry in sys.path), default=before)
    sys.path[:] = sys.path[:first] + added + sys.path[first:before]


def _add_system_packages(known, system):
    """A directory, or a .pth file, that was not there when the zygote started."""
    for place, directory in enumerate(system):
        if directory in sys.path:
            for file in sorted(_pth_files(directory) - _pth_seen):
                site.addpackage(directory, os.path.basename(file), known)
        elif os.path.isdir(directory):
            before = len(sys.path)
            site.addsitedir(directory, known)
            added = sys.path[before:]
            later = [sys.path.index(entry) for entry in system[place + 1 :] if entry in sys.path]
            first = min(later, default=before)
            sys.path[:] = sys.path[:first] + added + sys.path[first:before]


def _find_packages():
    """What site.py does at the start of an interpreter, where this sandbox differs."""
    # The finders know other directories. Freeing them here would copy the memory that they are in.
    _kept.extend(sys.path_importer_cache.values())
    sys.path_importer_cache.clear()
    site.USER_BASE = site.USER_SITE = None
    known = {_path_key(entry) for entry in sys.path if entry}
    system = site.getsitepackages()
    _add_system_packages(known, system)
    if site.ENABLE_USER_SITE and os.path.isdir(site.getusersitepackages()):
        _add_user_packages(known, system)
        site.execusercustomize()


def renew_secrets():
    """What modules have drawn at random, or remember, of the zygote. `random` itself and `tempfile`
    see to it on their own, and so does OpenSSL where the process's id differs."""
    random.seed()
    modules = sys.modules
    if "uuid" in modules:
        uuid = modules["uuid"]
        uuid._node = uuid._last_timestamp = None
    if "ssl" in modules:
        modules["ssl"].RAND_add(os.urandom(32), 32.0)
    if "multiprocessing.process" in modules:
        process = modules["multiprocessing.process"]
        process.current_process().authkey = os.urandom(32)
    if "numpy.random" in modules:
        modules["numpy.random"].seed()


def _reopen_devnull():
    """IPython opens it at import and closes it at exit; of the zygote's descriptors none is left,
    and that number may be another file's by then."""
    module = sys.modules.get("IPython.utils.io")
    stale = getattr(module, "devnull", None)
    if stale is None:
        return
    atexit.unregister(stale.close)
    _kept.append(stale)
    module.devnull = open(os.devnull, "w", encoding="utf-8")
    atexit.register(module.devnull.close)


def _enter_directory(*paths):
    for path in paths:
        try:
            return os.chdir(path)
        except OSError:
            pass  # as the agent does: the next one is taken


def _limit_files(soft):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def begin(message):
    """Become what the agent says."""
    _set_environment(message["env"])
    if message["files"] > 0:
        _limit_files(message["files"])
    _reopen_devnull()
    _enter_directory(message["cwd"], message["home"])
    _find_packages()
