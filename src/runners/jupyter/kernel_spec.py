"""Finds the kernels that are installed: folders with a kernel.json, where Jupyter keeps them."""

import json
import os
import re
import sys

# The user's first. The agent looks in the same places.
BELOW_HOME = ".local/share/jupyter/kernels"
OF_SYSTEM = ("/usr/local/share/jupyter/kernels", "/usr/share/jupyter/kernels")

_MAX_BYTES = 1 << 20
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_PLACE = re.compile(r"\{(\w+)\}")


class NoKernel(Exception):
    """There is no such kernel, or what is there cannot be used."""


def _directories():
    return (os.path.join(os.path.expanduser("~"), BELOW_HOME),) + OF_SYSTEM


def installed():
    names = set()
    for directory in _directories():
        try:
            entries = os.listdir(directory)
        except OSError:
            continue
        for name in entries:
            if os.path.isfile(os.path.join(directory, name, "kernel.json")):
                names.add(name)
    return sorted(names)


def _texts(value):
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) for x in value)


class KernelSpec:
    """argv, env, interrupt_mode and language, as kernel.json has them."""

    def __init__(self, name, folder):
        path = os.path.join(folder, "kernel.json")
        try:
            with open(path, encoding="utf-8") as stream:
                spec = json.loads(stream.read(_MAX_BYTES))
        except (OSError, ValueError) as error:
            raise NoKernel("the kernel %s cannot be used: %s: %s" % (name, path, error)) from None
        if not isinstance(spec, dict) or not _texts(spec.get("argv")):
            raise NoKernel("the kernel %s cannot be used: %s has no argv" % (name, path))
        self.name = name
        self.folder = folder
        self.argv = spec["argv"]
        self.interrupt_mode = spec.get("interrupt_mode", "signal")
        variables = spec.get("env")
        self.env = variables if isinstance(variables, dict) else {}

    def command(self, connection_file):
        """The words of argv. A plain `python` is the one that runs us, as in Jupyter."""
        places = {
            "connection_file": connection_file,
            "resource_dir": self.folder,
            "prefix": sys.prefix,
        }
        words = [_PLACE.sub(lambda m: places.get(m[1], m[0]), word) for word in self.argv]
        if re.fullmatch(r"python(3(\.%d)?)?" % sys.version_info[1], words[0]):
            words[0] = sys.executable
        return words

    def environment(self):
        """Ours, with the kernel's own variables, which may name others."""
        result = dict(os.environ)
        for name, value in self.env.items():
            result[str(name)] = _VARIABLE.sub(
                lambda m: os.environ.get(m[1] or m[2], m[0]), str(value)
            )
        return result


def find(name):
    for directory in _directories():
        folder = os.path.join(directory, name)
        if os.path.isfile(os.path.join(folder, "kernel.json")):
            return KernelSpec(name, folder)
    raise NoKernel(
        "there is no kernel %s; there are: %s" % (name, ", ".join(installed()) or "none")
    )
