"""Repair an authored dance with the least displacement: planted feet, zero-moment point, limits and fixed keys hold.

In a jump nothing touches the floor between two stances. Its initial guess is ballistic (`trajectory.ballistic`), and
free fall of the whole body is a limit like any other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...base.progress import Progress, silent
from ...base.so3 import conjugate, product, quaternion_log
from ...base.threads import one_blas_thread
from ...feasibility import CheckOptions, Checks, check_motion, coordinate_names, joint_coordinates
from ...feasibility.check_results import Failure
from ...feasibility.checker import CheckCache, FrameChecker
from ...options.authoring import RepairOptions
from ...scene.summary import Status
from ...skeleton.rig import Rig
from ...trajectory.ballistic import find_flights, make_flights_ballistic
from ...trajectory.curve import FlatCurve, sample_times
from ...trajectory.displacement import (
    VIOLATION_TOLERANCE,
    Displacement,
    DisplacementProblem,
    Window,
    displacement_weights,
)
from ...trajectory.limit_values import LimitValues
from ...trajectory.planted_feet import PlantedTrajectory
from ...trajectory.root_constraints import constrain_root
from ...trajectory.trajectory_limits import TrajectoryLimits
from ...values.motion import Motion
from .authored_dance import AuthoredDance, Keyframe, Samples
from .displaced_trajectory import DisplacedTrajectory, evaluate_displaced, select_frames
from .limbs_at_rest import rest_overlapping_limbs

UNCHANGED: Final = "unchanged"
REPAIRED: Final = "repaired"
IMPROVED: Final = "improved"
FAILED: Final = "failed"
STATUSES: tuple[Status, ...] = (UNCHANGED, REPAIRED, IMPROVED, FAILED)
"""Feasible as given; feasible after the repair; less fails; nothing improved. Checked at the verification rate."""
VERIFICATION_FACTOR = 10
KNOT_REFINEMENT = 0.75
"""Factor on the knot spacing in each further pass where limits could not be kept."""
FIRST_RATE_FACTOR = 0.5
"""Factor on the sampling rate in the first pass; the next pass adds samples where the checks found failures between."""
WINDOW_MARGIN = 1.0
"""[s] Part of the trajectory before and after a failure that may move."""
FIRST_DROP, MAX_DROPS = 0.001, 6
"""[m] Distance by which the root is first lowered, and how often the distance is doubled at most."""
REACH_TOLERANCE = 1e-3
RESTART_VIOLATION = 1.0
"""Violation, in units of the limits, above which the first search is repeated with overlapping limbs at rest."""
STORED_RATE, FLIGHT_MARGIN = 100.0, 0.5
"""[1/s] Rate of the stored samples away from flights, and [s] before and after a flight within which all samples are
stored: legs push off and land there, and the knots of the repair are closest."""
OVERLAP_TOLERANCE = 1e-4
"""[m] Tolerance when a repair must not make overlaps deeper."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a dance that continues before and after it: both ends keep position, velocity and acceleration.

    Attributes:
        part: the part's keys and contacts.
        curve: its motion.
    """

    part: AuthoredDance
    curve: FlatCurve


@dataclass(frozen=True, slots=True)
class MoveSizes:
    """How far a repair moved the dance.

    Attributes:
        names: K names: the root's position [m] and rotation [rad], then the joint coordinates [rad].
        largest, rms: (K,).
    """

    names: tuple[str, ...]
    largest: np.ndarray
    rms: np.ndarray


@dataclass(frozen=True, slots=True)
class KeyConflict:
    """A key that cannot be kept, with the failure there."""

    key: Keyframe
    failure: Failure

    def __str__(self) -> str:
        return f"{self.key}: {self.failure.description}"


@dataclass(frozen=True, slots=True)
class RepairedDance:
    """A repaired dance.

    Attributes:
        motion: at the requested rate; as given if nothing better was found.
        dance: the dance with its keys on the repaired motion, and its samples.
        moved: how far it moved from the given dance.
        iterations: number of quadratic programs solved.
        before, after: checks of the given and of the repaired motion at the verification rate.
        status: one of `STATUSES`.
        conflicts: fixed keys that cannot be kept.
        limit_reached: the search ended at its limit of programs or time.
        rejected_steps: what was wrong with solutions of programs that were rejected.
    """

    motion: Motion
    dance: AuthoredDance
    moved: MoveSizes
    iterations: int
    before: Checks
    after: Checks
    status: Status
    conflicts: tuple[KeyConflict, ...] = ()
    limit_reached: bool = False
    rejected_steps: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether every check holds at the verification rate."""
        return self.after.feasible

    @property
    def violation(self) -> float:
        """Violation of all checks in units of their comfortable margins, averaged over frames."""
        return _total_violation(self.after)


def repair_dance(
    dance: AuthoredDance | Excerpt,
    checks: CheckOptions | None = None,
    options: RepairOptions | None = None,
    *,
    rate: float = 100.0,
    progress: Progress = silent,
) -> RepairedDance:
    """The nearest dance that keeps every limit, or the nearest one found that violates the limits less.

    Only the trajectory around failures moves. Fixed keys are kept up to rounding; a key whose own posture fails is
    reported.

    Args:
        dance: whose schedule says where the feet are planted.
        checks: that must hold; by default those stored with the dance.
        options: of the search.
        rate: [1/s] of the returned motion.
        progress: receives the progress.

    Raises:
        InvalidValue: a rig without feet, legs of fewer than five joints, a support polygon without area.
        Cancelled: raised by ``progress``.
    """
    with one_blas_thread():  # with two threads, waiting took as long as the work
        return _find_nearest_dance(dance, checks, RepairOptions() if options is None else options, rate, progress)


def _find_nearest_dance(
    dance: AuthoredDance | Excerpt, checks: CheckOptions | None, options: RepairOptions, rate: float, progress: Progress
) -> RepairedDance:
    keyed, given = (dance.part, dance.curve) if isinstance(dance, Excerpt) else (dance, dance.curve())
    keyed = keyed.with_checks(checks)
    checks = keyed.checks
    rig, schedule = keyed.rig, keyed.schedule
    until = time.monotonic() + options.seconds
    fine, shown = (sample_times(keyed.start, keyed.stop, r) for r in (VERIFICATION_FACTOR * options.rate, rate))
    progress(0.0, "checking the dance as given")
    checker, memory = FrameChecker(rig, schedule, checks), CheckCache()
    as_given = given.motion(rig, fine)
    before = checker.check_frames(as_given, memory)
    as_shown = select_frames(as_given, shown) or given.motion(rig, shown)
    if before.feasible:
        return RepairedDance(as_shown, keyed, _measure_moves(rig, as_shown, as_shown), 0, before, before, UNCHANGED)
    fixed = [key for key in keyed.keys if key.role == "fixed"]
    troubles = _infeasible_keys(keyed, fixed, checks)
    given = constrain_root(rig, given, schedule, [(key.time, key.q) for key in fixed])
    given = make_flights_ballistic(rig, given, schedule, checks, [(key.time, key.q) for key in fixed])
    trajectory = PlantedTrajectory(rig, given, schedule, [(key.time, key.q) for key in fixed])
    weights = displacement_weights(rig, given.at(fine[:1])[0][0], trajectory.free_columns, options.joint_cost)
    done: list[Displacement] = []
    flaws: list[str] = []
    also = np.zeros(0)
    course = DisplacedTrajectory(trajectory, as_given)
    begun, iterations = course.apply(done), 0
    after = before if begun is as_given else checker.check_frames(begun, memory)
    best, best_after, best_motion = done, after, begun

    def is_spent(programs: int) -> bool:
        return programs >= options.programs or time.monotonic() >= until

    rounds = 1 if troubles else options.passes
    for number in range(rounds):
        if after.feasible or is_spent(iterations):
            break
        limits = TrajectoryLimits(trajectory, checks, 1.0 + number)
        windows = _find_windows(dance, after, [d.window for d in done], WINDOW_MARGIN * (1.0 + number))
        also, earlier, done = np.union1d(also, _worst_times(after)), done, []
        for place, window in enumerate(windows):
            share = (number + place / len(windows)) / rounds
            progress(share, f"pass {number + 1}: {window.start:.1f} to {window.stop:.1f} s")
            stiff = [d for d in earlier if d.violation > VIOLATION_TOLERANCE and _is_within(d.window, window)]
            flights = tuple(find_flights(schedule, window.start, window.stop))
            finer = KNOT_REFINEMENT**number if stiff and not flights else 1.0
            sampling = options.rate / finer * (FIRST_RATE_FACTOR if number == 0 and not flights else 1.0)
            spacing = finer * options.spacing
            program = DisplacementProblem(
                trajectory, limits, window, spacing, sampling, weights, also, options.smoothing_time, flights
            )
            steps = int(min(options.iterations, max(options.programs - iterations, 0)))
            found = _find_displacement(program, [d for d in earlier if _is_within(d.window, window)], steps, until)
            iterations += found.iterations
            if number == 0 and found.violation > RESTART_VIOLATION and not is_spent(iterations):
                found, tried = _retry_with_resting_limbs(program, before, found, steps, until)
                iterations += tried
            flaws += [f"{window.start:.1f} to {window.stop:.1f} s, {flaw}" for flaw in found.solver_failures]
            done.append(found)
        found_motion = course.apply(done)
        after = checker.check_frames(found_motion, memory)
        if _total_violation(after) <= _total_violation(best_after) and _largest_overlap(after) <= max(
            _largest_overlap(before), OVERLAP_TOLERANCE
        ):
            best, best_after, best_motion = done, after, found_motion
    done, after = best, best_after
    progress(1.0, "repaired" if after.feasible else "not every failure could be repaired")
    status: Status = (
        REPAIRED if after.feasible else IMPROVED if _total_violation(after) < _total_violation(before) else FAILED
    )
    hurried = not after.feasible and is_spent(iterations)
    if status == FAILED:  # the given motion is kept, because nothing better was found
        motion, moved, after = as_shown, _measure_moves(rig, as_given, as_given), before
    else:
        motion = select_frames(best_motion, shown) or DisplacedTrajectory(trajectory, as_shown).apply(done)
        moved = _measure_moves(rig, as_given, best_motion)
        keyed = _update_keys(keyed, trajectory, done, motion)
    troubles = [*troubles, *_failures_at_keys(fixed, after, troubles)]
    return RepairedDance(
        motion, keyed, moved, iterations, before, after, status, tuple(troubles), hurried, tuple(flaws)
    )


def _find_displacement(
    program: DisplacementProblem, earlier: Sequence[Displacement], steps: int, until: float
) -> Displacement:
    """Search from where an earlier search ended, with the root lowered until the legs reach."""
    first = program.zero_displacement
    for displacement in earlier:
        first = first + program.project_displacement(displacement)
    drop, stretched = FIRST_DROP, _reach_violation(program.evaluate_limits(first))
    for _ in range(MAX_DROPS):
        if stretched < REACH_TOLERANCE:
            break
        trial = first + program.lower_root(drop)
        now = _reach_violation(program.evaluate_limits(trial))
        if now < stretched:
            first, stretched = trial, now
        drop *= 2.0
    return program.solve(first, steps, until)


def _retry_with_resting_limbs(
    program: DisplacementProblem, before: Checks, found: Displacement, steps: int, until: float
) -> tuple[Displacement, int]:
    """The better of a displacement and one found from limbs at rest, and the number of programs of the latter."""
    begun = rest_overlapping_limbs(program, before)
    if begun is None:
        return found, 0
    other = program.solve(begun, steps, until)
    return (other if other.violation < found.violation else found), other.iterations


def _is_within(inner: Window, outer: Window) -> bool:
    return inner.start >= outer.start and inner.stop <= outer.stop


def _reach_violation(values: LimitValues) -> float:
    """How far the legs are from reaching their feet, in units of the limits."""
    return float(np.maximum(-values.values[:, values.is_leg_limit], 0.0).sum())


def _worst_times(checks: Checks) -> np.ndarray:
    """Times [s] at which each failing check fails most, in every run of failing frames."""
    times = []
    for margin in checks.margins:
        left = margin.smallest
        for start, stop in checks.failed_ranges:
            at = start + int(np.argmin(left[start:stop]))
            times += [checks.times[at]] if left[at] < -margin.tolerance else []
    return np.array(times)


def _total_violation(checks: Checks) -> float:
    """Violation of all checks in units of their comfortable margins, averaged over frames."""
    return float(np.sum([m.total_violation / m.scale for m in checks.margins])) / len(checks)


def _largest_overlap(checks: Checks) -> float:
    """[m] Largest overlap of links with each other or the floor, beyond the clearance."""
    return max([0.0, *(-float(m.smallest.min()) for m in checks.margins if m.check.category == "touch")])


def _find_windows(
    dance: AuthoredDance | Excerpt, checks: Checks, known: Sequence[Window], around: float
) -> list[Window]:
    """Windows around failures, and windows displaced before."""
    keyed, ends_move = (dance.part, False) if isinstance(dance, Excerpt) else (dance, True)
    times = checks.times
    spans = [(times[i] - around, times[j - 1] + around) for i, j in checks.failed_ranges]
    spans += [(w.start, w.stop) for w in known]
    merged: list[list[float]] = []
    for start, stop in sorted((max(a, keyed.start), min(b, keyed.stop)) for a, b in spans):
        if merged and start <= merged[-1][1] + 0.25 * around:
            merged[-1][1] = max(merged[-1][1], stop)
        else:
            merged.append([start, stop])
    return [_window(keyed, start, stop, ends_move) for start, stop in merged]


def _window(keyed: AuthoredDance, start: float, stop: float, ends_move: bool) -> Window:
    opens, closes = ends_move and start <= keyed.start, ends_move and stop >= keyed.stop
    held = [t for t, moves in ((start, opens), (stop, closes)) if not moves]  # a closed end does not move
    inside = [key for key in keyed.keys if start <= key.time <= stop and key.time not in held]
    roles = {role: tuple(key.time for key in inside if key.role == role) for role in ("fixed", "preferred")}
    return Window(start, stop, opens, closes, roles["fixed"], roles["preferred"])


def _infeasible_keys(keyed: AuthoredDance, fixed: Sequence[Keyframe], options: CheckOptions) -> list[KeyConflict]:
    """Fixed keys whose static posture fails."""
    found = []
    for key in fixed:
        still = np.zeros((1, keyed.rig.nv))
        posture = Motion(np.array([key.time]), key.q[None], still, still)
        checks = check_motion(keyed.rig, posture, keyed.schedule, options)
        found += [KeyConflict(key, f) for f in checks.first_failures if f.check.fails_at_rest]
    return found


def _failures_at_keys(fixed: Sequence[Keyframe], after: Checks, known: Sequence[KeyConflict]) -> list[KeyConflict]:
    """Remaining failures at the times of fixed keys."""
    known_failures = {(id(t.key), t.failure.check.name) for t in known}
    result = []
    for key in fixed:
        frame = int(np.argmin(np.abs(after.times - key.time)))
        for margin in after.margins:
            if margin.failed[frame] and (id(key), margin.name) not in known_failures:
                result.append(KeyConflict(key, margin.worst(frame, float(after.times[frame]))))
    return result


def _update_keys(
    keyed: AuthoredDance, trajectory: PlantedTrajectory, done: Sequence[Displacement], motion: Motion
) -> AuthoredDance:
    times = np.array([key.time for key in keyed.keys])
    keys = keyed.keys
    if len(times):
        passed = evaluate_displaced(trajectory, done, times).q
        keys = tuple(k if k.role == "fixed" else replace(k, q=q) for k, q in zip(keys, passed))
    held = _stored_samples(motion, keyed.flights)
    return replace(keyed, keys=keys, samples=Samples(motion.times[held], motion.q[held]))


def _stored_samples(motion: Motion, flights: Sequence[tuple[float, float]]) -> np.ndarray:
    """(N,) Mask of the samples that are stored: all of them; with flights, `STORED_RATE` a second away from flights."""
    if not flights:
        return np.ones(len(motion), bool)
    every = 1
    while motion.rate >= 2 * every * STORED_RATE:
        every *= 2
    number, times = np.arange(len(motion)), motion.times
    held = (number % every == 0) | (number == len(motion) - 1)
    for start, stop in flights:
        held |= (times > start - FLIGHT_MARGIN) & (times < stop + FLIGHT_MARGIN)
    return np.asarray(held)


def _measure_moves(rig: Rig, given: Motion, repaired: Motion) -> MoveSizes:
    differ = (given.q != repaired.q).any(axis=1)
    before, after = given.q[differ], repaired.q[differ]
    shift = np.linalg.norm(after[:, :3] - before[:, :3], axis=1)
    turn = np.linalg.norm(quaternion_log(product(conjugate(before[:, 3:7]), after[:, 3:7])), axis=1)
    all_moves = np.abs(np.column_stack([shift, turn, joint_coordinates(rig, after) - joint_coordinates(rig, before)]))
    names = ("root position", "root rotation", *coordinate_names(rig))
    return MoveSizes(names, all_moves.max(axis=0, initial=0.0), np.sqrt((all_moves**2).sum(axis=0) / len(given)))
