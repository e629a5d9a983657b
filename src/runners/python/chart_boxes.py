"""Box plots, told by their shapes: matplotlib keeps nothing else of them on the axes.

For each box it draws, in this order, all centred on one place: an outline (a line, or a patch),
two whiskers from the quartiles outward, two caps, the median, and at choice the mean and a set of
marks for what lies outside. Shapes are looked at with the direction of the values upright.
"""

import math

from stepbox_runner import chart_axis
from stepbox_runner.chart_values import plain

MAX_OUTLINE = 32  # points; one with notches has eleven
_DISTANCE = 1.0  # between the places of two boxes, or of two groups of them


def _same(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (a != a and b != b)


class _Shape:
    """A line or the outline of a box: its kind, and the place that it is centred on."""

    def __init__(self, kind, centre=None, values=()):
        self.kind, self.centre, self.values = kind, centre, values


def _shape(points, upright, is_marks=False):
    if len(points) == 0:
        return _Shape("nothing")
    if len(points) > MAX_OUTLINE and not is_marks:
        return _Shape("other")
    places, values = (points[:, 0], points[:, 1]) if upright else (points[:, 1], points[:, 0])
    first, last = float(places.min()), float(places.max())
    return _Shape(_kind(points, places, values, is_marks), (first + last) / 2, values.tolist())


def _kind(points, places, values, is_marks):
    flat = _same(places.min(), places.max())
    if is_marks:
        return "marks" if flat else "other"
    if len(points) == 2:
        return "whisker" if flat else "level" if _same(*values) else "other"
    closed = len(points) >= 5 and _same(places[0], places[-1]) and _same(values[0], values[-1])
    return "outline" if closed else "other"


def _is_marks(line):
    return line.get_linestyle() in ("None", "none", "", " ") and line.get_marker() != "None"


def _runs(shapes):
    """The shapes of one box after those of another."""
    run = []
    for shape in shapes:
        kinds = [other.kind for other in run]
        starts = shape.kind != "nothing" and any(
            other.centre is not None and not _same(other.centre, shape.centre) for other in run
        )
        if starts or (shape.kind == "outline" and run) or _is_third_whisker(shape, kinds):
            yield run
            run = []
        run.append(shape)
    if run:
        yield run


def _is_third_whisker(shape, kinds):
    return shape.kind == "whisker" and kinds.count("whisker") == 2


class _Box:
    """Raises ValueError when the shapes are not those of a box."""

    def __init__(self, run, outlines):
        kinds = {}
        for shape in run:
            kinds.setdefault(shape.kind, []).append(shape)
        whiskers, levels = kinds.get("whisker", []), kinds.get("level", [])
        if len(whiskers) != 2 or not levels:
            raise ValueError("no box")
        self.place = whiskers[0].centre
        if not any(_same(shape.centre, self.place) for shape in kinds.get("outline", outlines)):
            raise ValueError("no box")
        (self.first, self.low), (self.third, self.high) = (line.values for line in whiskers)
        order = (self.low, self.first, self.third, self.high)
        if any(a > b for a, b in zip(order, order[1:])):
            raise ValueError("no box")
        capped = (
            len(levels) > 2
            and _same(levels[0].values[0], self.low)
            and _same(levels[1].values[0], self.high)
        )
        self.median = levels[2 if capped else 0].values[0]
        self.outliers = [
            value
            for marks in kinds.get("marks", [])
            for value in marks.values
            if value < self.low or value > self.high  # others are means
        ]

    def element(self, name):
        return {
            "label": name,
            "min": plain(self.low),
            "first_quartile": plain(self.first),
            "median": plain(self.median),
            "third_quartile": plain(self.third),
            "max": plain(self.high),
            "outliers": [plain(value) for value in self.outliers],
        }


def find_boxes(parts, upright):
    """All boxes; none when something on the axes is not part of one."""
    lines = []
    for line in parts.box_lines:
        lines.append(_shape(line.get_xydata(), upright, _is_marks(line)))
        if lines[-1].kind == "other":
            return []
    outlines = [_shape(patch.get_path().vertices, upright) for patch in parts.outlines]
    try:
        return [_Box(run, outlines) for run in _runs(lines)]
    except ValueError:
        return []


def boxes(found, axis, room):
    elements = []
    if room.take(len(found)):
        names = chart_axis.names_at(axis, [box.place for box in found], _DISTANCE)
        for box, name in zip(found, names):
            element = box.element(name)
            if element not in elements:  # drawn twice, one above the other
                elements.append(element)
    return {"type": "box_and_whisker", "elements": elements}
