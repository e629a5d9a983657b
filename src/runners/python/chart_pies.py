"""Pies: their wedges, with angles in degrees."""

from stepbox_runner import chart_names

DECIMALS = 3  # of an angle: matplotlib adds up parts of the circle in single precision


def pies(parts, room):
    elements = [
        {
            "label": chart_names.label(wedge),
            "angle": round(abs(float(wedge.theta2) - float(wedge.theta1)), DECIMALS),
            "radius": float(wedge.r),
        }
        for wedge in parts.wedges
        if room.take(1)
    ]
    return {"type": "pie", "elements": elements}
