"""A jump that a repair could not make possible: by how much its push or its joints are too weak, a sentence each."""

from __future__ import annotations

import numpy as np

from ...coordinates import coordinate_names
from ...feasibility import Checks
from ...rig import Rig
from ...scene.flight_arc import FlightArc
from ...scene.words import spoken
from ...trajectory.ballistic import AROUND, airborne_spans
from ..authoring.repair import Repair

SHORT = 0.02
"""Share of the speed that a take-off may lack before a word is said: what a flight may lack of its weight, doubled."""
TORQUE = "joint torque"


def too_weak(result: Repair) -> list[str]:
    """Of every jump that is not possible yet: the take-off that it needs, and what the nearest motion found has.

    The speed upwards that is needed is that of the parabola from stance to stance; what was reached is the centre of
    mass's in the last instants on the floor.

    Args:
        result: of a repair; nothing is said of one whose motion is as it was given.
    """
    if result.feasible or result.after is result.before:
        return []
    said = [_sentence(result.keyed.rig, result.after, a, b) for a, b in airborne_spans(result.keyed.schedule)]
    return [sentence for sentence in said if sentence]


def _sentence(rig: Rig, checks: Checks, take_off: float, landing: float) -> str:
    """Of one jump; empty where it is fast enough and strong enough."""
    needed, reached = take_off_speeds(checks, take_off, landing)
    joint, used, limit = _hardest(rig, checks, take_off - AROUND, landing + AROUND)
    slow, weak = reached < (1.0 - SHORT) * needed, bool(joint)
    if not (slow or weak):
        return ""
    has = f"the nearest motion that was found leaves it at {max(reached, 0.0):.2f} m/s" if slow else ""
    asks = f"asks {spoken(joint)} for {used / limit:.2f} times its torque ({used:.3g} of {limit:.3g} N m)"
    has = f"{has} and {asks}" if slow and weak else has if slow else f"the nearest motion that was found {asks}"
    remedy = f"shorten its flight to {(landing - take_off) * reached / needed:.2f} s" if slow and reached > 0.0 else (
        "shorten its flight"
    )  # fmt: skip
    return (
        f"the jump from {take_off:.2f} to {landing:.2f} s must leave the floor at {needed:.2f} m/s upwards; "
        f"{has}: {remedy}"
    )


def take_off_speeds(checks: Checks, take_off: float, landing: float) -> tuple[float, float]:
    """Speed upwards [m/s] at which a flight must begin, and that of the centre of mass just before.

    Args:
        checks: of the motion, in frames through take-off and landing.
        take_off, landing: [s].
    """
    first, last = (int(np.searchsorted(checks.times, t - 1e-9)) for t in (take_off, landing))
    times, heights = checks.times[first - 2 : first + 1], checks.com[first - 2 : first + 1, 2]
    arc = FlightArc(float(checks.times[first]), float(checks.times[last]), checks.com[first], checks.com[last])
    through = np.polynomial.Polynomial.fit(times, heights, 2)
    return float(arc.velocity[2]), float(through.deriv()(times[-1]))


def _hardest(rig: Rig, checks: Checks, start: float, stop: float) -> tuple[str, float, float]:
    """The joint that is farthest beyond its torque in a span [s]: its name, what it needs and what it has [N m].

    Without a name where none is.
    """
    margin = checks.margin(TORQUE)
    left = np.where(((checks.times >= start) & (checks.times <= stop))[:, None], margin.values, np.inf)
    frame, column = (int(k) for k in np.unravel_index(int(left.argmin()), left.shape))
    if left[frame, column] >= -margin.tolerance:
        return "", 0.0, 1.0
    place = coordinate_names(rig).index(margin.items[column])
    return margin.items[column], float(abs(checks.torques[frame, place])), float(rig.limits.torque[place])
