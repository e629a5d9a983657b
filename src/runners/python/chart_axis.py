"""One axis of a chart: its label, unit, scale and ticks, and what stands at a place on it."""

import bisect
import re
import sys

from stepbox_runner.chart_room import MAX_POINTS, MAX_TICKS
from stepbox_runner.chart_values import plain, plain_list

# "Speed (km/h)", "Speed [km/h]".
_UNIT = re.compile(r"(?:\s\(|\[)([^)\]]+)[)\]]")


def _converter(axis):
    # From version 3.10 on there is a method, and the attribute warns.
    return axis.get_converter() if hasattr(axis, "get_converter") else axis.converter


def _comes_from(value, module):
    return any(kind.__module__ == module for kind in type(value).__mro__)


def _shows_dates(axis):
    return _comes_from(_converter(axis), "matplotlib.dates")


def _shows_categories(axis):
    return _comes_from(_converter(axis), "matplotlib.category")


def _shows_periods(axis):
    return type(_converter(axis)).__name__ == "PeriodConverter"


def _has_own_labels(axis):
    """Whether the code has put texts at places of its choice."""
    ticker = sys.modules["matplotlib.ticker"]
    return isinstance(axis.get_major_locator(), ticker.FixedLocator) and not isinstance(
        axis.get_major_formatter(), (ticker.ScalarFormatter, ticker.LogFormatter)
    )


def _labels_at(axis, places):
    return [str(text) for text in axis.get_major_formatter().format_ticks(places)]


def _places(axis, most=MAX_TICKS):
    return list(axis.get_majorticklocs())[:most]


def _are_names(places, labels):
    """Whether texts that are no numbers stand at 0, 1, 2, ..."""

    def is_number(text):
        try:
            float(text.replace("\N{MINUS SIGN}", "-"))
        except ValueError:
            return False
        return True

    return (
        bool(places)
        and all(place == i for i, place in enumerate(places))
        and not any(is_number(label) for label in labels)
    )


def scale(axis):
    if _shows_dates(axis):
        return "datetime"
    if _shows_categories(axis):
        return "categorical"
    name = axis.get_scale()
    if name == "linear" and _has_own_labels(axis):
        places = _places(axis)
        if _are_names(places, _labels_at(axis, places)):
            return "categorical"
    return name


def coordinates(axis, values):
    """Values of points in the direction of the axis."""
    if _shows_periods(axis):
        return [plain(_period(axis, value)) for value in values]
    return plain_list(values)


def _period(axis, value):
    """pandas puts periods on an axis by their numbers, and bars of a group beside them."""
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.Period) or value is pandas.NaT:
        return value
    return pandas.Period(ordinal=round(value), freq=axis.get_major_locator().freq)


def _date(place):
    return sys.modules["matplotlib.dates"].num2date(place)


def _each(function, places):
    """Of places that are on the axis, which masked ones and NaN are not."""
    return [None if place is None else function(place) for place in plain_list(places)]


def values_at(axis, places):
    """Places on the axis in the form that its data has: numbers, dates or names."""
    if _shows_periods(axis):
        return _each(lambda place: plain(_period(axis, place)), places)
    if _shows_dates(axis):
        return _each(lambda place: _date(place).replace(tzinfo=None).isoformat(), places)
    if _shows_categories(axis) and all(float(place).is_integer() for place in places):
        return _labels_at(axis, places)
    return plain_list(places)


def ticks(axis):
    """Places and texts. Dates say here that they are in UTC, and categories are counted."""
    places = _places(axis)
    if _shows_periods(axis):
        values = values_at(axis, places)
    elif _shows_dates(axis):
        values = [_date(place).isoformat() for place in places]
    else:
        values = plain_list(places)
    return values, _labels_at(axis, places)


def label(axis):
    return str(axis.get_label_text()) or None


def unit(text):
    found = _UNIT.search(text or "")
    return found.group(1) if found else None


def _place_text(place):
    """A date at midnight is a day; a whole number has no fraction."""
    if isinstance(place, str):
        return place[: -len("T00:00:00")] if place.endswith("T00:00:00") else place
    return "%.12g" % place if place is not None else ""


def _nearest(sorted_places, place):
    """The index of the nearest one."""
    after = bisect.bisect_left(sorted_places, place)
    around = [i for i in (after - 1, after) if 0 <= i < len(sorted_places)]
    return min(around, key=lambda i: abs(sorted_places[i] - place))


def names_at(axis, places, distance):
    """What bars and boxes at these places are called.

    Where the code set texts of its own, a bar has the nearest one, unless that is more than half
    the distance between two bars away.
    """
    if _shows_categories(axis):
        return _labels_at(axis, places)
    names = [_place_text(place) for place in values_at(axis, places)]
    if _has_own_labels(axis):
        labelled = sorted(_places(axis, MAX_POINTS))
        texts = _labels_at(axis, labelled)
        for i, place in enumerate(places if labelled else ()):
            nearest = _nearest(labelled, place)
            if abs(labelled[nearest] - place) <= distance / 2:
                names[i] = texts[nearest]
    return names
