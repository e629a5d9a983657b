"""There is nobody to ask: input() and getpass() say so instead of waiting or reading nothing."""

import builtins
import getpass

from IPython.core.error import StdinNotImplementedError

MESSAGE = "%s was called, but this frontend does not support input requests."


def _input(prompt="", /):
    raise StdinNotImplementedError(MESSAGE % "raw_input")


def _getpass(prompt="Password: ", stream=None, **_options):
    raise StdinNotImplementedError(MESSAGE % "getpass")


def install():
    builtins.input = _input
    getpass.getpass = _getpass
