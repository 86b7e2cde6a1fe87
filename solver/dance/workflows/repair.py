"""Repair an authored dance by moving it as little as possible, and say why a jump cannot be made feasible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...base.errors import InvalidValue, checked
from ...base.progress import PartialProgress, Progress, silent
from ...dynamics.coordinates import coordinate_lengths, coordinate_names
from ...feasibility import Check, CheckOptions, Checks
from ...feasibility.messages import describe_unsupported, format_check_table, plural_names
from ...formats.text_table import format_table
from ...options.authoring import RepairOptions
from ...scene.flight_arc import FlightArc
from ...scene.labels import display_name, format_angle, format_length, join_names
from ...skeleton.rig import GRAVITY, ROOT_NV, Rig
from ...trajectory.ballistic import FLIGHT_WINDOW, find_flights
from ...trajectory.legged_rig import LeggedRig
from ..authoring import repair as authoring
from ..authoring.authored_dance import EXACT_FLIGHT_RATE, AuthoredDance
from ..authoring.complete import CompletedDance
from ..authoring.easing import ease_ends
from ..authoring.repair import MoveSizes, RepairedDance
from .edited_dance import EditedDance
from .loading import load_authored_with_notes, require_support
from .summaries import Conclusion, summarise_authored

SHOWN_MOVES = 8
MIN_RATE = 100.0
"""[1/s] Least rate of the repaired motion's samples."""
VISIBLE_MOVE = 5e-5
"""[m, rad] A smaller move is not reported beside others."""
RECORDING_REMEDY = "A recorded run, or a body carried by a chair or a box, can be retargeted, not repaired"
"""Advice for a recording, which has no contact strips."""
LIMITED_PROGRAMS = 4
"""Most quadratic programs if a jump exceeds the legs' speed: only the nearest motion is searched."""
JUMP_NOTE = "the search was short, because legs cannot extend fast enough for a jump"
LIMIT_NOTE = "the search ended at its limit of programs or time; a higher limit may repair more"
SPEED_TOLERANCE = 0.02
"""Fraction of the take-off speed that may be missing without a note: twice that of weight in free fall."""
LEG_SHARE = 0.5
"""Least fraction of the take-off speed that the legs must provide; swinging arms and trunk provide the rest."""
DEEPEST_SQUAT, SQUAT_DEPTHS = 0.6, 61
"""Deepest squat that is checked, as a fraction of the leg's length, and the number of depths."""


@checked
def repair(
    dance: AuthoredDance | str | Path,
    checks: CheckOptions | None = None,
    options: RepairOptions | None = None,
    *,
    rate: float = MIN_RATE,
    progress: Progress = silent,
) -> EditedDance:
    """Repair an authored dance: planted feet stay, every check holds, and fixed keys are kept.

    A start or end that is too abrupt for balance is eased. What cannot be repaired is reported: which fixed key
    prevents it, why, and by how much.

    Args:
        dance: authored dance, or its file (.json, .timeline.npz); or the file of a motion (.motion.npz); the
            contacts of a recording are found.
        checks: that must hold; by default those stored with the dance.
        options: of the search.
        rate: [1/s] of the repaired motion's samples, at least `MIN_RATE`; higher with jumps.
        progress: receives the progress; may cancel.

    Raises:
        InputError: not an authored dance, or a damaged file.
        InvalidValue: contacts are missing.

    Example:
        >>> answer = solver.repair("keyed.json")  # doctest: +SKIP
        >>> print(answer.message)  # doctest: +SKIP
        >>> answer.write("repaired")  # doctest: +SKIP
    """
    keyed, found = (dance, ()) if isinstance(dance, AuthoredDance) else load_authored_with_notes(dance)
    keyed = keyed.with_checks(checks)
    try:
        require_support(keyed, accept_jumps=False)
    except InvalidValue as error:
        raise error if keyed.keys else InvalidValue(f"{error}. {RECORDING_REMEDY}") from None
    notes = list(found)
    keyed, gentle = ease_ends(keyed, keyed.checks)
    notes += [f"it {note}" for note in gentle]
    options = options or RepairOptions()
    limited = jumps_exceed_leg_speed(keyed)
    if limited:
        options = replace(options, programs=min(options.programs, LIMITED_PROGRAMS))
    result = authoring.repair_dance(keyed, keyed.checks, options, rate=max(keyed.sampling_rate(rate, EXACT_FLIGHT_RATE),
        MIN_RATE),
                              progress=PartialProgress(progress, 0.0, 0.95))  # fmt: skip
    notes += [JUMP_NOTE if limited else LIMIT_NOTE] * result.limit_reached
    notes += [f"a search step was rejected, {flaw}" for flaw in result.rejected_steps]
    thrown = find_flights(keyed.schedule)  # all of them are short enough for jumps
    troubles = [
        *describe_unsupported(keyed.schedule, result.after, thrown),
        *explain_infeasible_jumps(result),
        *describe_conflicts(result),
    ]
    message = describe_repair(keyed.rig, result, troubles) + ("; its start or end was eased" if gentle else "")
    said = Conclusion("repair", result.status, message, troubles, notes)
    summary = summarise_authored(said, result.dance, result.after, result.moved)
    return EditedDance(result.dance, result.after, summary, format_repair_report(said, result), result)


def describe_repair(rig: Rig, result: RepairedDance, problems: list[str]) -> str:
    """The result in one sentence."""
    if result.status == authoring.UNCHANGED:
        return "Nothing to repair: every check holds"
    failed, left = ({f.check.name for f in checks.first_failures} for checks in (result.before, result.after))
    repaired = plural_names(f.check for f in result.before.first_failures if f.check.name not in left)
    if result.feasible:
        return f"Repaired ({join_names(repaired)}): moved at most {describe_moves(rig, result.moved)}"
    why = problems[0] if problems else describe_remaining(result)
    if result.status == authoring.FAILED:
        return f"Not repaired: {why}"
    counted = f"{len(repaired)} of {len(failed)} checks hold again" if repaired else "less fails than before"
    if fresh := len(left - failed):
        counted += f", but {fresh} that held {'do' if fresh > 1 else 'does'} not"
    return f"Only partly repaired, {counted}: {why}"


def describe_remaining(result: RepairedDance) -> str:
    """What fails most after the repair."""
    return str(result.after.worst_failures[0])


def describe_moves(rig: Rig, moved: MoveSizes) -> str:
    """The largest displacement and the largest rotation with its joint: ``"4.1 cm and 6.0 deg (left knee)"``."""
    sliding = np.array([True, False, *coordinate_lengths(rig)])
    shift = float(np.where(sliding, moved.largest, 0.0).max())
    turn = int(np.argmax(np.where(sliding, -1.0, moved.largest)))
    name = "the body" if turn == 1 else display_name(moved.names[turn])
    said = [format_length(shift)] if shift > VISIBLE_MOVE else []
    if moved.largest[turn] > VISIBLE_MOVE or not said:
        said.append(f"{format_angle(moved.largest[turn])} ({name})")
    return " and ".join(said)


def describe_conflicts(result: RepairedDance | CompletedDance) -> list[str]:
    """Keys that cannot be kept, with a remedy each: a repair may move preferred keys, a completion moves neither."""
    remedies = {"fixed": "mark it as preferred", "preferred": "repair the dance first"}
    advice = {True: "change its posture", False: "move more gently there"}
    return [f"{it}; {advice[it.failure.check.fails_at_rest]} or {remedies[it.key.role]}" for it in result.conflicts]


def format_repair_report(conclusion: Conclusion, result: RepairedDance | CompletedDance) -> str:
    """The report, plain text."""
    moved = result.moved
    order = [k for k in np.argsort(-moved.rms)[:SHOWN_MOVES] if moved.largest[k] > VISIBLE_MOVE]
    rows = [(display_name(moved.names[k]), f"{moved.largest[k]:.4f}", f"{moved.rms[k]:.4f}") for k in order]
    parts = [
        conclusion.message,
        "",
        format_check_table(result.after),
        "",
        f"{result.status} in {result.iterations} steps",
        *(["", "moved most [m, rad]", format_table(("", "at most", "rms"), rows)] if rows else []),
        *(f"problem: {trouble}" for trouble in conclusion.problems),
        *(f"note: {note}" for note in (*conclusion.notes, *result.after.notes)),
    ]
    return "\n".join(parts)


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
    return float(arc.velocity[2]), float(np.polynomial.Polynomial.fit(times, heights, 2).deriv()(times[-1]))


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
