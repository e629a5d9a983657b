"""Charts of points on two axes: lines and scatter plots."""

from stepbox_runner import chart_axis, chart_names


def _axes(axes):
    fields = {}
    for side, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        places, labels = chart_axis.ticks(axis)
        fields[side + "_ticks"] = places
        fields[side + "_tick_labels"] = labels
        fields[side + "_scale"] = chart_axis.scale(axis)
    return fields


def _series(label, xs, ys):
    return {"label": label, "points": [list(point) for point in zip(xs, ys)]}


def _line(axes, label, line):
    """As the code gave the values; repeated values are not there as often as they are drawn."""
    xs, ys = line.get_xdata(orig=True), line.get_ydata(orig=True)
    if len(xs) != len(ys):
        xs, ys = line.get_xydata().T
    return _series(
        label, chart_axis.coordinates(axes.xaxis, xs), chart_axis.coordinates(axes.yaxis, ys)
    )


def lines(parts, room):
    legend = chart_names.entries(parts)
    elements = [
        _line(parts.axes, chart_names.line_name(parts, line, legend), line)
        for line in parts.lines
        if room.take(len(line.get_xydata()))
    ]
    return {"type": "line", "elements": elements}, _axes(parts.axes)


def _groups(scatter, legend):
    """The rows of the points that have one label."""
    label = chart_names.label(scatter)
    groups = None if chart_names.is_own(label) else chart_names.groups_of_points(scatter, legend)
    return groups or {label: range(len(scatter.get_offsets()))}


def _scatter(axes, scatter, legend):
    # Dates and categories are numbers here: matplotlib keeps no more of them.
    places = scatter.get_offsets()
    xs = chart_axis.values_at(axes.xaxis, places[:, 0])
    ys = chart_axis.values_at(axes.yaxis, places[:, 1])
    for label, rows in _groups(scatter, legend).items():
        yield _series(label, [xs[row] for row in rows], [ys[row] for row in rows])


def scatters(parts, room):
    legend = chart_names.entries(parts)
    elements = []
    for scatter in parts.scatters:
        if room.take(len(scatter.get_offsets())):
            elements.extend(_scatter(parts.axes, scatter, legend))
    return {"type": "scatter", "elements": elements}, _axes(parts.axes)
