"""Data of a figure in JSON: numbers as floats, dates in ISO form, everything else as text."""

import datetime
import math
import numbers
import sys


def _number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def _date(value):
    return value.isoformat() if value == value else None  # NaT is not equal to itself


def _numpy_dates(array):
    """Whole seconds have no fraction; a year that datetime does not know keeps numpy's form."""
    numpy = sys.modules["numpy"]
    dates = array.astype("datetime64[us]").tolist()
    for i, date in enumerate(dates):
        if isinstance(date, datetime.datetime):
            dates[i] = date.isoformat()
        elif date is not None:
            dates[i] = None if numpy.isnat(array[i]) else str(array[i])
    return dates


def _period(value):
    """A span of time in pandas is where it begins."""
    return _date(value.start_time) if hasattr(value, "start_time") else None


def plain(value):
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return _date(value)
    numpy = sys.modules["numpy"]
    if value is None or value is numpy.ma.masked:
        return None
    if isinstance(value, numpy.datetime64):
        return _numpy_dates(numpy.array([value]))[0]
    if isinstance(value, (numbers.Real, numpy.bool_)) or hasattr(value, "__float__"):
        return _number(value)
    if type(value).__name__ == "Period" and type(value).__module__.startswith("pandas"):
        return _period(value)
    return str(value)


def plain_list(values):
    """Of any sequence that matplotlib takes, quickly when it is an array of numbers."""
    numpy = sys.modules["numpy"]
    array = values if isinstance(values, numpy.ndarray) else numpy.asarray(values)
    if array.ndim != 1:
        array = array.ravel()
    if array.dtype.kind == "M":
        return _numpy_dates(array)
    if array.dtype.kind == "c":
        array = array.real  # which is what is drawn
    if array.dtype.kind not in "biuf":
        return [plain(value) for value in array]
    array = array.astype(float)
    if isinstance(array, numpy.ma.MaskedArray):
        array = array.filled(numpy.nan)
    floats = array.tolist()
    if not numpy.isfinite(array).all():
        floats = [value if math.isfinite(value) else None for value in floats]
    return floats
