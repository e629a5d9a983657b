"""Bars: each container is a group, whose bars are named by where they stand."""

from stepbox_runner import chart_axis, chart_names
from stepbox_runner.chart_values import plain


def _is_horizontal(container):
    return getattr(container, "orientation", None) == "horizontal"


def is_horizontal(parts):
    return all(_is_horizontal(container) for container in parts.bars)


def _group(container, number, legend):
    """hist() puts the label on the first bar."""
    first = container.patches[0]
    for text in map(chart_names.label, (container, first)):
        if chart_names.is_own(text):
            return text
    return (legend and legend.get(chart_names.colour(first))) or "Group %d" % number


def _extent(bar, horizontal):
    """Where the bar stands, and its value."""
    if horizontal:
        return bar.get_y() + bar.get_height() / 2, bar.get_width()
    return bar.get_x() + bar.get_width() / 2, bar.get_height()


def _distance(places):
    """Between two neighbours."""
    places = sorted(places)
    return min((b - a for a, b in zip(places, places[1:]) if b > a), default=1.0)


def _bars(parts, container, group):
    horizontal = _is_horizontal(container)
    axis = parts.axes.yaxis if horizontal else parts.axes.xaxis
    extents = [_extent(bar, horizontal) for bar in container.patches]
    places = [place for place, _ in extents]
    names = chart_axis.names_at(axis, places, _distance(places))
    for name, (_, value) in zip(names, extents):
        yield {"label": name, "group": group, "value": plain(value)}


def bars(parts, room):
    legend = chart_names.entries(parts)
    elements = []
    for number, container in enumerate(parts.bars):
        if room.take(len(container.patches)):
            elements.extend(_bars(parts, container, _group(container, number, legend)))
    return {"type": "bar", "elements": elements}
