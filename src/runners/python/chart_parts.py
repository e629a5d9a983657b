"""What is drawn on an axes, by what it is: data of a known family, decoration, or neither."""

import sys


def _of(module, name):
    return getattr(sys.modules["matplotlib." + module], name)


def _in_data(axes, transform):
    """Whether both coordinates are data. Those of axhline(), axvspan() and texts are not."""
    return tuple(transform.contains_branch_seperately(axes.transData)) == (True, True)


def is_reference(line):
    """A line of two points straight up or across: a grid line, a limit or an error bar."""
    points = line.get_xydata()
    return len(points) == 2 and (points[0] == points[1]).any()


def _is_empty_rectangle(patch):
    return isinstance(patch, _of("patches", "Rectangle")) and (
        patch.get_width() == 0 and patch.get_height() == 0
    )


class Parts:
    """Lists of artists: `lines`, `scatters`, `bars`, `wedges`, `outlines` (of boxes), `areas` and
    `others`, and `keys`: what has no data and only gives a legend its label and colour.
    """

    def __init__(self, axes):
        self.axes = axes
        self.lines, self.scatters, self.bars, self.wedges = [], [], [], []
        self.outlines, self.areas, self.others, self.keys = [], [], [], []
        self.box_lines = []  # all lines with data, and those that would have them
        self.number_of_line = {}  # by its id, as matplotlib draws them
        self.series_of_line = {}  # containers (with error bars, stems) by the id of their line
        self._of_containers = set()
        self.others += list(axes.images) + list(axes.tables)
        self._sort_containers()
        self._sort_lines()
        self._sort_collections()
        self._sort_patches()

    def _sort_containers(self):
        for container in self.axes.containers:
            if isinstance(container, _of("container", "BarContainer")):
                # One whose bars were removed again stays in the list.
                if container.patches and all(bar.axes is self.axes for bar in container.patches):
                    self.bars.append(container)
                    self._of_containers.update(map(id, container.patches))
            elif isinstance(container, _of("container", "StemContainer")):
                self.series_of_line[id(container.markerline)] = container
                self._of_containers.update((id(container.stemlines), id(container.baseline)))
            elif isinstance(container, _of("container", "ErrorbarContainer")):
                line, caps, bars = container.lines
                self._of_containers.update(map(id, (*caps, *bars)))
                if line is not None:
                    self.series_of_line[id(line)] = container

    def _sort_lines(self):
        for number, line in enumerate(self.axes.lines):
            self.number_of_line[id(line)] = number
            if id(line) in self._of_containers or not _in_data(self.axes, line.get_transform()):
                continue
            self.box_lines.append(line)
            (self.lines if len(line.get_xydata()) else self.keys).append(line)

    def _sort_collections(self):
        for part in self.axes.collections:
            if id(part) in self._of_containers:
                continue
            if isinstance(part, _of("collections", "PathCollection")) and _in_data(
                self.axes, part.get_offset_transform()
            ):
                (self.scatters if len(part.get_offsets()) else self.keys).append(part)
            elif type(part).__name__ in (
                "LineCollection",
                "PolyCollection",
                "FillBetweenPolyCollection",
            ):
                self.areas.append(part)
            else:
                self.others.append(part)

    def _sort_patches(self):
        for patch in self.axes.patches:
            if id(patch) in self._of_containers or isinstance(patch, _of("patches", "Shadow")):
                continue
            if not _in_data(self.axes, patch.get_transform()):
                continue
            if isinstance(patch, _of("patches", "Wedge")):
                self.wedges.append(patch)
            elif isinstance(patch, _of("patches", "PathPatch")):
                self.outlines.append(patch)
            elif _is_empty_rectangle(patch):
                self.keys.append(patch)
            else:
                self.others.append(patch)

    def only(self, *families):
        """Whether there is data of these families, and nothing but decoration beside it."""
        known = ("lines", "scatters", "bars", "wedges", "outlines")
        lists = {name: getattr(self, name) for name in known}
        if "lines" not in families:
            lists["lines"] = [line for line in self.lines if not is_reference(line)]
        return (
            not self.others
            and any(lists[name] for name in families)
            and not any(lists[name] for name in known if name not in families)
        )
