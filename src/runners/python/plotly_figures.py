"""Plotly draws in notebooks only where nbformat is installed, of which it reads the version alone.

What it makes needs no more than that: notebooks have it for other reasons, a runner does not.
"""

import types

from stepbox_runner.after_import import after_import

_VERSION = "5.0.0"  # of nbformat; from 4.2 on its outputs have a JSON MIME type


def _extend(module):
    if getattr(module, "nbformat", module) is None:
        module.nbformat = types.SimpleNamespace(__version__=_VERSION)


def install():
    after_import("plotly.io._renderers", _extend)
