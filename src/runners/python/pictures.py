"""Pillow: an image that is shown, or saved under a name, is also a result of the step."""

import os

from IPython.core.display_functions import display

from stepbox_runner.after_import import after_import


def _extend(module):
    image = module.Image
    save = image.save

    def save_and_display(self, fp, format=None, **params):
        save(self, fp, format, **params)
        if isinstance(fp, (str, os.PathLike)):
            display(self)

    def show(self, title=None, **_options):
        """There is no screen; the picture goes where results go."""
        display(self)

    save_and_display.__doc__ = save.__doc__
    image.save = save_and_display
    image.show = show


def install():
    after_import("PIL.Image", _extend)
