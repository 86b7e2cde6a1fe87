"""Balance a keyed motion by moving it as little as possible: planted feet, zero-moment point, limits, fixed keys.

A jump, a span between two stances in which nothing touches the floor, begins ballistic (`trajectory.ballistic`) and is
held to free fall of the whole body like every other limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...errors import InvalidValue
from ...feasibility import CheckOptions, Checks, check_motion, coordinate_names, joint_coordinates
from ...feasibility.cache import CheckCache
from ...feasibility.check_results import Failure
from ...feasibility.checker import FrameChecker
from ...motion import Motion
from ...progress import Progress, silent
from ...rig import Rig
from ...scene.summary import Status
from ...so3 import conjugate, product, quaternion_log
from ...threads import one_blas_thread
from ...trajectory.ballistic import find_flights, make_flights_ballistic
from ...trajectory.curve import FlatCurve, sample_times
from ...trajectory.displacement import SMOOTHING_TIME, VIOLATION_TOLERANCE, Displacement, DisplacementProblem, Window
from ...trajectory.displacement_weights import displacement_weights
from ...trajectory.limit_values import LimitValues
from ...trajectory.planted_feet import PlantedTrajectory
from ...trajectory.root_constraints import constrain_root
from ...trajectory.trajectory_limits import TrajectoryLimits
from .authored_dance import AuthoredDance, Keyframe, Samples
from .displaced_trajectory import DisplacedTrajectory, evaluate_displaced, select_frames
from .limbs_at_rest import rest_overlapping_limbs

UNCHANGED: Final = "unchanged"
REPAIRED: Final = "repaired"
IMPROVED: Final = "improved"
FAILED: Final = "failed"
STATUSES: tuple[Status, ...] = (UNCHANGED, REPAIRED, IMPROVED, FAILED)
"""Feasible as given; feasible now; some failures are gone; none are. "
            "Verified at `VERIFICATION_FACTOR` times the sampling."""
VERIFICATION_FACTOR = 10
KNOT_REFINEMENT = 0.75
"""Spacing of the knots from one round to the next where the limits could not be kept."""
FIRST_RATE_FACTOR = 0.5
"""Of the sampling, in the first round: what the checks find between its samples, the next round samples besides."""
WINDOW_MARGIN = 1.0
"""[s] of the trajectory before and after a failure that may move."""
FIRST_DROP, MAX_DROPS = 0.001, 6
"""[m] by which the root is first lowered; then by twice as much, and so on so many times."""
REACH_TOLERANCE = 1e-3
RESTART_VIOLATION = 1.0
"""Units of the limits beyond which a first search of a motion with deep overlaps is made a second time from outside."""
STORED_RATE, FLIGHT_MARGIN = 100.0, 0.5
"""[1/s] of samples that hold a motion where nobody flies, and [s] before and after a flight within which all do: there
legs push off and land, so that the knots of what is repaired are closest."""
OVERLAP_TOLERANCE = 1e-4
"""[m] Links overlap no deeper than before, but for what counts as none."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """How to repair.

    Attributes:
        rate: [1/s] of the samples within the optimisation; the result is verified at `VERIFICATION_FACTOR` times this.
        spacing: [s] between the knots of the displacement.
        iterations: most quadratic programmes per window and round.
        passes: each next one keeps more beyond the limits and moves more of the trajectory; only one where a
            fixed key is impossible by itself.
        joint_cost: ratio, squared, by which a joint's move is dearer than the same visible move of the root.
        smoothing_time: [s] moves that change within this time cost twice: longer is smoother, and moves more.
        max_programs: a number: most quadratic programmes in all; the best so far is the result.
        time_limit: [s] after which no further step of the search is begun. What was found in time depends on the
            machine.
    """

    rate: float = 50.0
    spacing: float = 0.1
    iterations: int = 10
    passes: int = 6
    joint_cost: float = 3.0
    smoothing_time: float = SMOOTHING_TIME
    max_programs: float = np.inf
    time_limit: float = np.inf

    def __post_init__(self) -> None:
        if not (self.time_limit > 0.0 and 0.0 < self.rate < np.inf and 0.0 < self.spacing < np.inf):
            raise InvalidValue("patience, rate and spacing of a repair must be positive")
        if min(self.iterations, self.passes) < 1 or not (self.max_programs >= 1 and 0.0 < self.joint_cost < np.inf):
            raise InvalidValue("a repair needs a step, a round, a programme and a positive preference")
        if not 0.0 <= self.smoothing_time < np.inf:
            raise InvalidValue(f"moves cannot be even over {self.smoothing_time:g} s")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a dance that goes on before and after it: both ends stay in place, speed and acceleration.

    Attributes:
        part: the part's keys and contacts.
        curve: its motion.
    """

    part: AuthoredDance
    curve: FlatCurve


@dataclass(frozen=True, slots=True)
class MoveSizes:
    """How far the repair moved the dance.

    Attributes:
        names: K: the root's position [m] and rotation [rad], then the joint coordinates [rad].
        largest, rms: (K,).
    """

    names: tuple[str, ...]
    largest: np.ndarray
    rms: np.ndarray

    @property
    def most_moved(self) -> str:
        """The joint moved most."""
        return self.names[int(np.argmax(self.rms))]


@dataclass(frozen=True, slots=True)
class KeyConflict:
    """Why a fixed key cannot be kept: which, what fails there, by how much."""

    key: Keyframe
    failure: Failure

    def __str__(self) -> str:
        return f"{self.key}: {self.failure.description}"


@dataclass(frozen=True, slots=True)
class RepairedDance:
    """A repaired dance.

    Attributes:
        motion: at the rate asked for; as given where nothing better was found.
        dance: the dance with its keys where the repaired motion passes, and its samples.
        moved: from the dance as given.
        iterations: quadratic programmes solved.
        before, after: checks of the given and of the repaired motion at the fine sampling.
        status: one of `STATUSES`.
        conflicts: fixed keys that stand in the way.
        limit_reached: the search ended at its limit of effort.
        rejected_steps: of programmes whose solutions were bad, and not used.
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
        """Every check holds at the fine sampling."""
        return self.after.feasible

    @property
    def violation(self) -> float:
        """How much fails, in the checks' comfortable margins, over all frames."""
        return _total_violation(self.after)


def repair(
    dance: AuthoredDance | Excerpt,
    checks: CheckOptions | None = None,
    options: RepairOptions | None = None,
    *,
    rate: float = 100.0,
    progress: Progress = silent,
) -> RepairedDance:
    """The nearest dance that keeps every limit, or the nearest found that breaks fewer.

    Only the trajectory around failures moves. Fixed keys stay to rounding; a key whose own posture fails is reported.

    Args:
        dance: its schedule says where the feet are planted.
        checks: what must hold; by default what the dance carries.
        options: of the search.
        rate: [1/s] of the motion returned.
        progress: told how far it is.

    Raises:
        InvalidValue: a rig without feet, legs of fewer than five joints, a support polygon without area.
        Cancelled: raised by ``progress``.
    """
    with one_blas_thread():  # of two, the second's waiting took as long as the work
        return _repair(dance, checks, RepairOptions() if options is None else options, rate, progress)


def _repair(
    dance: AuthoredDance | Excerpt, checks: CheckOptions | None, options: RepairOptions, rate: float, progress: Progress
) -> RepairedDance:
    keyed, given = (dance.part, dance.curve) if isinstance(dance, Excerpt) else (dance, dance.curve())
    keyed = keyed.with_checks(checks)
    checks = keyed.checks
    rig, schedule = keyed.rig, keyed.schedule
    until = time.monotonic() + options.time_limit
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

    def spent(programmes: int) -> bool:
        return programmes >= options.max_programs or time.monotonic() >= until

    rounds = 1 if troubles else options.passes
    for number in range(rounds):
        if after.feasible or spent(iterations):
            break
        limits = TrajectoryLimits(trajectory, checks, 1.0 + number)
        windows = _find_windows(dance, after, [d.window for d in done], WINDOW_MARGIN * (1.0 + number))
        also, earlier, done = np.union1d(also, _worst_times(after)), done, []
        for place, window in enumerate(windows):
            share = (number + place / len(windows)) / rounds
            progress(share, f"round {number + 1}: {window.start:.1f} to {window.stop:.1f} s")
            stiff = [d for d in earlier if d.violation > VIOLATION_TOLERANCE and _is_within(d.window, window)]
            flights = tuple(find_flights(schedule, window.start, window.stop))
            finer = KNOT_REFINEMENT**number if stiff and not flights else 1.0
            sampling = options.rate / finer * (FIRST_RATE_FACTOR if number == 0 and not flights else 1.0)
            spacing = finer * options.spacing
            program = DisplacementProblem(
                trajectory, limits, window, spacing, sampling, weights, also, options.smoothing_time, flights
            )
            steps = int(min(options.iterations, max(options.max_programs - iterations, 0)))
            found = _find_displacement(program, [d for d in earlier if _is_within(d.window, window)], steps, until)
            iterations += found.iterations
            if number == 0 and found.violation > RESTART_VIOLATION and not spent(iterations):
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
    hurried = not after.feasible and spent(iterations)
    if status == FAILED:  # it stays as given: nothing that was found is better
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
    """The search, begun where an earlier one ended, and with the root so low that the legs reach."""
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
    """The better of what was found and what is found from limbs at rest, and the programmes that the latter took."""
    begun = rest_overlapping_limbs(program, before)
    if begun is None:
        return found, 0
    other = program.solve(begun, steps, until)
    return (other if other.violation < found.violation else found), other.iterations


def _is_within(inner: Window, outer: Window) -> bool:
    return inner.start >= outer.start and inner.stop <= outer.stop


def _reach_violation(values: LimitValues) -> float:
    """How far legs are from reaching, in the limits' units."""
    return float(np.maximum(-values.values[:, values.is_leg_limit], 0.0).sum())


def _worst_times(checks: Checks) -> np.ndarray:
    """The instants at which each failing check fails most, in every run of failing frames."""
    times = []
    for margin in checks.margins:
        left = margin.smallest
        for start, stop in checks.failed_ranges:
            at = start + int(np.argmin(left[start:stop]))
            times += [checks.times[at]] if left[at] < -margin.tolerance else []
    return np.array(times)


def _total_violation(checks: Checks) -> float:
    """How much fails, in the checks' comfortable margins, over all frames."""
    return float(np.sum([m.total_violation / m.scale for m in checks.margins])) / len(checks)


def _largest_overlap(checks: Checks) -> float:
    """[m] by which links overlap each other or the floor at most, beyond the clearance."""
    return max([0.0, *(-float(m.smallest.min()) for m in checks.margins if m.check.category == "touch")])


def _find_windows(
    dance: AuthoredDance | Excerpt, checks: Checks, known: Sequence[Window], around: float
) -> list[Window]:
    """Spans around failures, and those displaced before."""
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
    held = [t for t, moves in ((start, opens), (stop, closes)) if not moves]  # a closed end keeps still by itself
    inside = [key for key in keyed.keys if start <= key.time <= stop and key.time not in held]
    roles = {role: tuple(key.time for key in inside if key.role == role) for role in ("fixed", "preferred")}
    return Window(start, stop, opens, closes, roles["fixed"], roles["preferred"])


def _infeasible_keys(keyed: AuthoredDance, fixed: Sequence[Keyframe], options: CheckOptions) -> list[KeyConflict]:
    """Fixed keys whose posture fails by itself."""
    found = []
    for key in fixed:
        still = np.zeros((1, keyed.rig.model.nv))
        posture = Motion(np.array([key.time]), key.q[None], still, still)
        checks = check_motion(keyed.rig, posture, keyed.schedule, options)
        found += [KeyConflict(key, f) for f in checks.first_failures if f.check.fails_at_rest]
    return found


def _failures_at_keys(fixed: Sequence[Keyframe], after: Checks, known: Sequence[KeyConflict]) -> list[KeyConflict]:
    """Failures that are left at the very instants of fixed keys."""
    told = {(id(t.key), t.failure.check.name) for t in known}
    result = []
    for key in fixed:
        frame = int(np.argmin(np.abs(after.times - key.time)))
        for margin in after.margins:
            if margin.failed[frame] and (id(key), margin.name) not in told:
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
    """(N,) samples that hold a motion: all of them; of one that flies, away from flights, only `HELD` a second."""
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
    joints = joint_coordinates(rig, after) - joint_coordinates(rig, before)
    all_moves = np.abs(np.column_stack([shift, turn, joints]))
    names = ("root position", "root rotation", *coordinate_names(rig))
    return MoveSizes(names, all_moves.max(axis=0, initial=0.0), np.sqrt((all_moves**2).sum(axis=0) / len(given)))
