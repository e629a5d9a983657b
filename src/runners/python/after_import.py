"""Run a function right after a module has been imported for the first time."""

import importlib.util
import sys


class _Loader:
    """The module's own loader, with one thing more to do at the end."""

    def __init__(self, loader, function):
        self._loader = loader
        self._function = function

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._function(module)


class _Finder:
    def __init__(self, name, function):
        self._name = name
        self._function = function
        self._searching = False

    def find_spec(self, name, path=None, target=None):
        if name != self._name or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching = False
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._function)
        return spec


def after_import(name, function):
    if name in sys.modules:
        function(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, function))
