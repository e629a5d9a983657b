"""Results: what display() publishes and what the last expression of a cell evaluates to."""

import sys

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import BaseFormatter
from traitlets import ObjectName, Unicode

from stepbox_runner.formats import NotJson, result_event, strict_json

MAX_CELLS = 1_000_000  # of a table that has its data in a result


class ResultPublisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **more):
        """Updates of an earlier display have no line in the protocol and are dropped."""
        self._validate_data(data, metadata)
        event = None if update else result_event(data, False)
        if event is not None:
            self.shell.channel.send_event(event, drain=True)

    def clear_output(self, wait=False):
        """What has been sent stays sent."""


class ResultHook(DisplayHook):
    def write_output_prompt(self):
        """There is no prompt."""

    def write_format_data(self, format_dict, md_dict=None):
        event = result_event(format_dict, True)
        if event is not None:
            self.shell.channel.send_event(event)

    def finish_displayhook(self):
        """The event is the whole of it."""


class DataFormatter(BaseFormatter):
    """The `data` of a result: a DataFrame's columns as lists."""

    format_type = Unicode("e2b/data")
    print_method = ObjectName("_repr_e2b_data_")
    _return_type = dict


def _chart(figure):
    """A figure without a chart is still a figure: a fault in here is no fault of the step."""
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        from stepbox_runner import charts  # not before the first figure

        return charts.chart(figure)
    except Exception:
        return None
    finally:
        sys.dont_write_bytecode = keep


class ChartFormatter(BaseFormatter):
    """The `chart` of a result: what a figure shows, as data."""

    format_type = Unicode("e2b/chart")
    print_method = ObjectName("_repr_e2b_chart_")
    _return_type = dict

    def __call__(self, obj):
        """Not by a registered type: to choose the format of pictures is to unregister figures."""
        figure = sys.modules.get("matplotlib.figure")
        if isinstance(obj, getattr(figure, "Figure", ())):
            return _chart(obj)
        return super().__call__(obj)


def _json_form(value):
    try:
        return strict_json(value)
    except NotJson:
        return None


def _columns(frame):
    if frame.size > MAX_CELLS:
        return None
    # By position: two columns may have the same name, and then the last one stands.
    return {str(name): frame.iloc[:, i].tolist() for i, name in enumerate(frame.columns)}


def _polars_columns(frame):
    if frame.height * frame.width > MAX_CELLS:
        return None
    return frame.to_dict(as_series=False)


def _jpeg(image):
    """For versions of Pillow whose images have a PNG form only."""
    if hasattr(image, "_repr_jpeg_"):
        return image._repr_jpeg_()
    import io

    buffer = io.BytesIO()
    try:
        image.save(buffer, "JPEG")
    except (OSError, ValueError):  # a mode that JPEG does not know
        return None
    return buffer.getvalue()


def add_formatters(display_formatter):
    formatters = display_formatter.formatters
    for kind in (list, dict):
        formatters["application/json"].for_type(kind, _json_form)
    data = DataFormatter(parent=display_formatter)
    formatters["e2b/data"] = data
    for module in ("pandas.core.frame", "pandas"):  # where versions before 3, and from 3 on, say
        data.for_type_by_name(module, "DataFrame", _columns)
    data.for_type_by_name("polars.dataframe.frame", "DataFrame", _polars_columns)
    # Comes after the pictures: what it reads is then as it was drawn.
    formatters["e2b/chart"] = ChartFormatter(parent=display_formatter)
    formatters["image/jpeg"].for_type_by_name("PIL.Image", "Image", _jpeg)
