"""How much of a figure a chart may hold: it travels in one line, and is there to be drawn again."""

MAX_POINTS = 50_000  # points, bars, wedges and boxes of a figure, together
MAX_TICKS = 1_000  # of an axis


class Room:
    """What is left of a figure's share.

    A series is taken as a whole or not at all, so that none looks complete that is not; the chart
    that misses one says so.
    """

    def __init__(self, points=MAX_POINTS):
        self._left = points
        self._refused = False

    def take(self, count):
        if count > self._left:
            self._refused = True
            return False
        self._left -= count
        return True

    def mark(self, chart):
        """Say in the chart that a series was left out since the last call."""
        if self._refused:
            chart["truncated"] = True
        self._refused = False
