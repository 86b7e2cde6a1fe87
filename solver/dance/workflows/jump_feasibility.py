"""Why a repair could not make a jump feasible: how much speed at take-off or joint torque is missing."""

from __future__ import annotations

import numpy as np

from ...coordinates import coordinate_names
from ...feasibility import Check, Checks
from ...rig import GRAVITY, ROOT_NV, Rig
from ...scene.flight_arc import FlightArc
from ...scene.labels import display_name
from ...trajectory.ballistic import FLIGHT_WINDOW, find_flights
from ...trajectory.legged_rig import LeggedRig
from ..authoring.authored_dance import AuthoredDance
from ..authoring.repair import RepairedDance

SPEED_TOLERANCE = 0.02
"""Fraction of the take-off speed that may be missing without a note: twice that of weight in free fall."""
LEG_SHARE = 0.5
"""Least fraction of the take-off speed that the legs must provide; swinging arms and trunk provide the rest."""
DEEPEST_SQUAT, SQUAT_DEPTHS = 0.6, 61
"""Deepest squat that is checked, as a fraction of the leg's length, and the number of depths."""


def jumps_exceed_leg_speed(keyed: AuthoredDance) -> bool:
    """Whether some jump needs legs to extend faster than their speed limits allow; see `fastest_com_rise`."""
    flights = find_flights(keyed.schedule)
    if not flights:
        return False
    fastest, _ = fastest_com_rise(keyed.rig, keyed.checks.shrink)
    return any(fastest < LEG_SHARE * 0.5 * GRAVITY * (landing - take_off) for take_off, landing in flights)


def explain_infeasible_jumps(result: RepairedDance) -> list[str]:
    """Explain each jump that is not feasible: the required take-off speed, and what limits it; a sentence each.

    The required upward speed is that of the parabola from stance to stance. Legs that cannot extend that fast are
    reported first, because more torque does not help them. Otherwise the speed of the centre of mass in the last
    instants on the floor is reported if it is too low, and the joint with the largest torque violation if strength
    is what fails.

    Args:
        result: of a repair. If the repair kept the given motion, only speed limits of legs are reported, because no
            repaired motion shows what is reached.
    """
    if result.feasible:
        return []
    flights = find_flights(result.dance.schedule)
    rig, checks, found = result.dance.rig, result.after, result.after is not result.before
    rise = fastest_com_rise(rig, result.dance.checks.shrink) if flights else (np.inf, "")
    return [sentence for flight in flights if (sentence := _describe_jump(rig, checks, flight, rise, found=found))]


def _describe_jump(
    rig: Rig, checks: Checks, flight: tuple[float, float], rise: tuple[float, str], *, found: bool
) -> str:
    """Explanation of one jump; empty if the motion is fast enough and strong enough."""
    (take_off, landing), (fastest, slowest) = flight, rise
    needed, reached = take_off_speeds(checks, take_off, landing)
    said = f"the jump from {take_off:.2f} to {landing:.2f} s must leave the floor at {needed:.2f} m/s upwards; "
    if fastest < LEG_SHARE * needed:
        limited = f"the speed limit of {display_name(slowest)} lets its legs raise it at {fastest:.2f} m/s at most"
        return f"{said}{limited}: shorten its flight"
    if not found:
        return ""
    joint, used, limit = _most_overloaded_joint(rig, checks, take_off - FLIGHT_WINDOW, landing + FLIGHT_WINDOW)
    slow = reached < (1.0 - SPEED_TOLERANCE) * needed
    weak = joint and (slow or _is_strength_check(checks.worst_failures[0].check))
    overload = f"requires {used / limit:.2f} times the torque of {display_name(joint)} ({used:.3g} of {limit:.3g} N m)"
    has = [f"leaves it at {max(reached, 0.0):.2f} m/s"] * slow + [overload] * bool(weak)
    return f"{said}the nearest motion that was found {' and '.join(has)}: shorten its flight" if has else ""


def fastest_com_rise(rig: Rig, shrink: float) -> tuple[float, str]:
    """Largest speed [m/s] at which legs with flat soles can raise the centre of mass, and the joint that limits it.

    It is the maximum over all depths of a squat with every leg joint within its range and speed; trunk and arms rest.

    Args:
        rig: with two legs.
        shrink: fraction by which the support polygon shrinks.
    """
    legged = LeggedRig(rig, shrink=shrink)
    footing = legged.get_footing("both")
    y = np.tile(legged.home_posture(footing), (SQUAT_DEPTHS, 1))
    y[:, 2] -= np.linspace(0.0, DEEPEST_SQUAT * rig.leg_length, SQUAT_DEPTHS)
    y, curves, good = legged.solve_static(y, footing.solved)
    columns = np.concatenate(list(legged.leg_columns.values()))
    good &= ((y >= legged.lower) & (y <= legged.upper))[:, columns].all(axis=1)
    both = good[1:] & good[:-1]
    if not both.any():
        return np.inf, ""
    turned, raised = (np.abs(np.diff(x, axis=0))[both] for x in (y[:, columns], legged.compute_com(curves)[:, 2]))
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.nan_to_num(legged.speed[columns] * raised[:, None] / turned, nan=np.inf, posinf=np.inf)
    best = int(speeds.min(axis=1).argmax())
    return float(speeds[best].min()), coordinate_names(rig)[int(columns[speeds[best].argmin()]) - ROOT_NV]


def take_off_speeds(checks: Checks, take_off: float, landing: float) -> tuple[float, float]:
    """Required upward speed [m/s] at take-off, and the speed of the centre of mass just before it.

    Args:
        checks: of the motion, with frames at take-off and landing.
        take_off, landing: [s] times.
    """
    first, last = (int(np.searchsorted(checks.times, t - 1e-9)) for t in (take_off, landing))
    times, heights = checks.times[first - 2 : first + 1], checks.com[first - 2 : first + 1, 2]
    arc = FlightArc(float(checks.times[first]), float(checks.times[last]), checks.com[first], checks.com[last])
    through = np.polynomial.Polynomial.fit(times, heights, 2)
    return float(arc.velocity[2]), float(through.deriv()(times[-1]))


def _is_torque_check(check: Check) -> bool:
    """Whether a check is that of joint torques."""
    return check.category == "joints" and check.depends_on == "force"


def _is_strength_check(check: Check) -> bool:
    """Whether a jump that fails this check most lacks strength: joint torque, or free fall in flight."""
    return _is_torque_check(check) or check.applies_when == "airborne"


def _most_overloaded_joint(rig: Rig, checks: Checks, start: float, stop: float) -> tuple[str, float, float]:
    """The joint with the largest torque violation in a span [s]: name, required torque and limit [N m].

    The name is empty without a violation.
    """
    margin = next(margin for margin in checks.margins if _is_torque_check(margin.check))
    left = np.where(((checks.times >= start) & (checks.times <= stop))[:, None], margin.values, np.inf)
    frame, column = (int(k) for k in np.unravel_index(int(left.argmin()), left.shape))
    if left[frame, column] >= -margin.tolerance:
        return "", 0.0, 1.0
    place = coordinate_names(rig).index(margin.items[column])
    return margin.items[column], float(abs(checks.torques[frame, place])), float(rig.limits.torque[place])
