"""The `chart` of a figure of matplotlib: what its axes show, as data.

Extraction comes after the figure has been drawn, and only asks. It never fails: an axes that it
cannot read is a chart of an unknown type.
"""

from stepbox_runner import chart_axis, chart_bars, chart_boxes, chart_pies, chart_points
from stepbox_runner.chart_parts import Parts
from stepbox_runner.chart_room import Room
from stepbox_runner.formats import PlainJson


def _title(axes):
    """The one in the middle, or one beside it."""
    titles = (axes.get_title(loc) for loc in ("center", "left", "right"))
    return next((str(title) for title in titles if title), None)


def _labels(axis_of_x, axis_of_y):
    fields = {"x_label": chart_axis.label(axis_of_x), "y_label": chart_axis.label(axis_of_y)}
    fields["x_unit"] = chart_axis.unit(fields["x_label"])
    fields["y_unit"] = chart_axis.unit(fields["y_label"])
    return fields


def _bars_or_boxes(axes, chart, horizontal):
    """What they are called is in the direction of x, however they lie."""
    across, upright = (axes.yaxis, axes.xaxis) if horizontal else (axes.xaxis, axes.yaxis)
    return {**chart, **_labels(across, upright)}


def _points(axes, chart, fields):
    return {**chart, **_labels(axes.xaxis, axes.yaxis), **fields}


def _chart_of_boxes(axes, parts, room):
    if parts.only("lines", "outlines"):
        for upright, axis in ((True, axes.xaxis), (False, axes.yaxis)):
            found = chart_boxes.find_boxes(parts, upright)
            if found:
                chart = chart_boxes.boxes(found, axis, room)
                return _bars_or_boxes(axes, chart, not upright)
    return None


def _known_chart(axes, room):
    """None when it is of no type that has a name."""
    if axes.name != "rectilinear":
        return None
    parts = Parts(axes)
    boxes = _chart_of_boxes(axes, parts, room)
    if boxes is not None:
        return boxes
    if parts.only("lines"):
        return _points(axes, *chart_points.lines(parts, room))
    if parts.only("scatters"):
        return _points(axes, *chart_points.scatters(parts, room))
    if parts.only("wedges"):
        return chart_pies.pies(parts, room)
    if parts.only("bars"):
        return _bars_or_boxes(axes, chart_bars.bars(parts, room), chart_bars.is_horizontal(parts))
    return None


def _chart(axes, room):
    try:
        chart = _known_chart(axes, room)
    except Exception:  # an artist, or a value of the code's, of a kind that nobody foresaw
        chart = None
    chart = chart or {"type": "unknown", "elements": []}
    chart = {"type": chart.pop("type"), "title": _title(axes), **chart}
    room.mark(chart)
    return chart


def _is_chart(axes):
    """Not an empty place in a grid, and not the scale of colours beside a chart."""
    return axes.get_visible() and axes.has_data() and not hasattr(axes, "_colorbar")


def _figure_title(figure):
    title = getattr(figure, "_suptitle", None)
    return str(title.get_text()) if title is not None else ""


def chart(figure):
    """None when there is nothing on the figure."""
    room = Room()
    charts = [_chart(axes, room) for axes in figure.axes if _is_chart(axes)]
    if not charts:
        return None
    if len(charts) == 1:
        (single,) = charts
        single["title"] = single["title"] or _figure_title(figure) or None
        return PlainJson(single)
    return PlainJson(type="superchart", title=_figure_title(figure), elements=charts)
