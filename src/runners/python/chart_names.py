"""Names of the series of a chart.

Some libraries (seaborn) draw series without labels, and give the legend its entries by artists
without data. There the colour tells which series an entry is for.
"""

import sys


def colour(artist):
    colors = sys.modules["matplotlib.colors"]
    if hasattr(artist, "get_facecolor"):
        faces = colors.to_rgba_array(artist.get_facecolor())
        return _key(faces[0]) if len(faces) else None
    return _key(colors.to_rgba(artist.get_color()))


def _key(rgba):
    """Without the opacity, and as it is on the screen."""
    return tuple(round(float(part) * 255) for part in rgba[:3])


def is_own(text):
    """Labels with an underscore are matplotlib's, for artists that have none."""
    return bool(text) and not text.startswith("_")


def label(artist):
    return str(artist.get_label() or "")


def entries(parts):
    """Labels of the legend by their colours."""
    found = {}
    for artist in parts.keys + parts.areas:
        if is_own(label(artist)):
            found.setdefault(colour(artist), label(artist))
    return found


def line_name(parts, line, legend):
    named = parts.series_of_line.get(id(line), line)
    text = label(named)
    if is_own(text):
        return text
    if legend and colour(line) in legend:
        return legend[colour(line)]
    if not text.startswith("_child"):
        return "Line %d" % parts.number_of_line[id(line)]
    return "Line " + text[len("_child") :]


def groups_of_points(scatter, legend):
    """The rows of the points that belong to each entry of the legend; None when not all do."""
    faces = scatter.get_facecolors()
    count = len(scatter.get_offsets())
    if not legend or len(faces) not in (1, count):
        return None
    groups = {name: [] for name in legend.values()}
    for row in range(count):
        name = legend.get(_key(faces[row % len(faces)]))
        if name is None:
            return None
        groups[name].append(row)
    return {name: rows for name, rows in groups.items() if rows}
