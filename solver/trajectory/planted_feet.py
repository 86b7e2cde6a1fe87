"""Trajectory of a dance: curves of root and joints, with feet that stay where the contact schedule plants them.

Legs that carry load at some time are solved by inverse kinematics, so that planted soles stay in place whatever moves
the root. In the air such a foot follows its own path, modified at both ends so that its acceleration is continuous with
that at the anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, PPoly, make_interp_spline

from ..base.so3 import exp, log, nearest_rotation_vector, unwrap
from ..contacts.rolling import SOLE, RollingSole
from ..contacts.rolling_stances import axes_pitch, flatten_pitch, roll_on_anchor, stance_heading
from ..contacts.schedule import SAME_TIME, Anchor, Phase, Schedule, join_spans
from ..dynamics import Workspace
from ..dynamics.coordinates import to_manifold
from ..dynamics.foot_motion import Rates
from ..dynamics.legs import FOOT_SIZE, Leg, build_legs, coupled_coordinates
from ..skeleton.rig import ROOT_NV, Rig
from ..values.motion import Motion
from .curve import DEGREE, FlatCurve, polynomial_through_states, sample_times
from .flat_derivatives import STEPS, LegDerivatives, shift_coordinates
from .root_constraints import free_root_coordinates

SWING_RATE = 100.0
"""[1/s] at which the path of a foot in the air is sampled."""
BLEND_TIME = 0.4
"""[s] in which a foot in the air changes from its anchor to its own path, and from that to the next anchor."""


@dataclass(slots=True)
class _Run:
    """Consecutive phases in which a patch stays on one anchor, and those of them in which it is flat."""

    start: float
    stop: float
    anchor: Anchor
    flat: list[Phase]


@dataclass(frozen=True, slots=True)
class _Stance:
    """An interval in which a foot is on its anchor but for deviations of fixed keys within the tolerance."""

    start: float
    stop: float
    path: PPoly | BSpline  # (6,) foot coordinates over time, on the anchor
    deviation: PPoly

    def pose(self, times: np.ndarray | float, order: int) -> np.ndarray:
        """Foot coordinates (..., 6), or a derivative."""
        return np.asarray(self.path(times, order) + self.deviation(times, order))


class FootPath:
    """Pose of one foot over time: position [m] and rotation vector, world.

    Args:
        rig, leg: of the foot.
        curve: of the dance; gives the path of the foot in the air.
        schedule: of the contacts.
        fixed: (time, q) of postures to be met exactly, even if their foot is slightly off its anchor.
    """

    def __init__(
        self, rig: Rig, leg: Leg, curve: FlatCurve, schedule: Schedule, fixed: Sequence[tuple[float, np.ndarray]]
    ) -> None:
        self._link, self._workspace = rig.index(leg.link), Workspace(rig)
        runs = _stance_intervals(schedule, leg.patch)
        self.planted = bool(runs)
        own = [(time, self._pose(q)) for time, q in fixed]
        self._stances = [_build_stance(run, self._rolling_path(rig, curve, run), own) for run in runs]
        self._swings: list[tuple[float, float, BSpline, PPoly]] = []
        if self.planted:
            self._build_swings(rig, curve, schedule)

    def at(self, times: np.ndarray) -> Rates:
        """Foot coordinates (N, 6) with derivatives."""
        result = np.zeros((3, len(times), FOOT_SIZE))
        for start, stop, own, bend in self._swings:
            inside = (times >= start - SAME_TIME) & (times <= stop + SAME_TIME)  # stances below take precedence
            at = np.clip(times[inside], start, stop)
            for order in range(3):
                result[order, inside] = own(at, order) + bend(at, order)
        for span in self._stances:
            inside = (times >= span.start - SAME_TIME) & (times <= span.stop + SAME_TIME)
            at = np.clip(times[inside], span.start, span.stop)
            for order in range(3):
                result[order, inside] = span.pose(at, order)
        return result[0], result[1], result[2]

    def _pose(self, q: np.ndarray) -> np.ndarray:
        self._workspace.update_positions(q)
        return np.concatenate([self._workspace.positions[self._link], log(self._workspace.rotations[self._link])])

    def _own_samples(self, rig: Rig, curve: FlatCurve, start: float, stop: float) -> tuple[np.ndarray, np.ndarray]:
        """Times (N,) [s] and foot coordinates (N, 6) as the curve moves the foot."""
        times = sample_times(start, stop, SWING_RATE)
        times = times if len(times) > DEGREE else np.linspace(start, stop, DEGREE + 1)
        poses = np.array([self._pose(q) for q in to_manifold(rig, *curve.at(times)).q])
        poses[:, 3:] = unwrap(poses[:, 3:])
        return times, poses

    def _rolling_path(self, rig: Rig, curve: FlatCurve, run: _Run) -> PPoly | BSpline:
        """Foot coordinates (6,) over time of a foot on its anchor: it rolls there with the curve's pitch, made level in
        the spans in which it is flat.
        """
        place = np.concatenate([run.anchor.position, log(run.anchor.rotation)])
        flat = join_spans(run.flat)
        if flat == [(run.start, run.stop)]:
            return PPoly(place[None, None], [run.start, run.stop])
        sole, (times, poses) = RollingSole.of(rig, run.anchor.patch), self._own_samples(rig, curve, run.start, run.stop)
        axes = exp(poses[:, 3:]) @ sole.axes
        pitch, level = axes_pitch(axes), np.array([any(a <= t <= b for a, b in flat) for t in times])
        if sole.parts(pitch[level]).any():
            pitch -= np.median(pitch[level])
            pitch = flatten_pitch(pitch, 2.0 * float(np.abs(pitch[level]).max()))  # which leaves 4 % there
        stance = roll_on_anchor(sole, run.anchor, pitch, stance_heading(axes)[0])
        turns = log(stance.axes @ sole.axes.T)
        turns[0] = nearest_rotation_vector(turns[0], place[3:])
        return make_interp_spline(times, np.concatenate([stance.positions, unwrap(turns)], axis=1), k=DEGREE)

    def _build_swings(self, rig: Rig, curve: FlatCurve, schedule: Schedule) -> None:
        edges = [schedule.start, *(t for span in self._stances for t in (span.start, span.stop)), schedule.stop]
        for number, (start, stop) in enumerate(zip(edges[::2], edges[1::2])):
            start, stop = max(start, curve.start), min(stop, curve.stop)
            if stop - start <= SAME_TIME:
                continue
            own = make_interp_spline(*self._own_samples(rig, curve, start, stop), k=DEGREE)
            before = self._stances[number - 1] if number > 0 else None
            after = self._stances[number] if number < len(self._stances) else None
            if schedule.phase_at(0.5 * (start + stop)).airborne:  # without contact, jerk of the legs moves the body
                bend = _blend_polynomial(
                    (start, stop), _end_offsets(own, before, start, 3), _end_offsets(own, after, stop, 3)
                )
            else:
                ends, none = (
                    [_end_offsets(own, before, start, 3), _end_offsets(own, after, stop, 3)],
                    [np.zeros(FOOT_SIZE)] * 3,
                )
                soft = min(BLEND_TIME, 0.4 * (stop - start))
                bend = polynomial_through_states(
                    [start, start + soft, stop - soft, stop], [ends[0], none, none, ends[1]]
                )
            self._swings.append((start, stop, own, bend))


def _blend_polynomial(span: tuple[float, float], first: list[np.ndarray], last: list[np.ndarray]) -> PPoly:
    """A polynomial (6,) with given derivatives up to the second at both ends of an interval, and zero in its middle."""
    bridge = polynomial_through_states(list(span), [first, last])
    duration = span[1] - span[0]
    # t^3 (T - t)^3 changes neither end
    bump = np.array([-1.0, 3.0 * duration, -3.0 * duration**2, duration**3, 0.0, 0.0, 0.0]) * (2.0 / duration) ** 6
    coefficients = np.concatenate([np.zeros((7 - len(bridge.c), 1, FOOT_SIZE)), bridge.c])
    coefficients -= bump[:, None, None] * bridge(0.5 * (span[0] + span[1]))
    return PPoly(coefficients, bridge.x)


def _end_offsets(own: BSpline, standing: _Stance | None, time: float, orders: int) -> list[np.ndarray]:
    """Offset of the stance from a foot's own path, with derivatives; zero without a stance."""
    if standing is None:
        return [np.zeros(FOOT_SIZE)] * orders
    return [standing.pose(time, order) - own(time, order) for order in range(orders)]


def _stance_intervals(schedule: Schedule, patch: str) -> list[_Run]:
    """Intervals in which a patch stays on one anchor, whichever part of it touches."""
    result: list[_Run] = []
    for phase in schedule.phases:
        for anchor in phase.anchors:
            if anchor.patch != patch:
                continue
            last = result[-1] if result else None
            if last is None or abs(last.stop - phase.start) > SAME_TIME or not last.anchor.is_same_place(anchor):
                last = _Run(phase.start, phase.stop, anchor, [])
                result.append(last)
            last.stop = phase.stop
            last.flat += [phase] * (anchor.part == SOLE)
    return result


def _build_stance(run: _Run, path: PPoly | BSpline, fixed: Sequence[tuple[float, np.ndarray]]) -> _Stance:
    zeros = np.zeros(FOOT_SIZE)
    offsets = {run.start: zeros, run.stop: zeros}
    for time, pose in fixed:
        if run.start - SAME_TIME <= time <= run.stop + SAME_TIME:
            place = path(np.clip(time, run.start, run.stop))
            pose = np.concatenate([pose[:3], nearest_rotation_vector(pose[3:], place[3:])])
            near = [t for t in offsets if abs(t - time) <= SAME_TIME]
            offsets[near[0] if near else time] = pose - place
    times = sorted(offsets)
    bend = polynomial_through_states(times, [[offsets[t], zeros, zeros] for t in times])
    return _Stance(run.start, run.stop, path, bend)


class PlantedTrajectory:
    """Converts flat coordinates to a motion whose feet follow the schedule.

    Args:
        rig: with five or more joint coordinates in each leg.
        curve: of the dance as given.
        schedule: of the contacts.
        fixed: (time, q) of postures to be met exactly.

    Attributes:
        free_columns: (n,) columns of flat coordinates that may change. Excluded are those of solved legs, of coupled
            joints of legs, and those of the root that legs of five joints fix (`free_root_coordinates`).
        moves_legs: (n,) True for those that change the solved legs: the root's, and those of a leg's joints beyond six.
        solved_legs: legs solved by inverse kinematics.
    """

    def __init__(
        self, rig: Rig, curve: FlatCurve, schedule: Schedule, fixed: Sequence[tuple[float, np.ndarray]] = ()
    ) -> None:
        self.rig, self.curve, self.schedule = rig, curve, schedule
        both, coupled = build_legs(rig), coupled_coordinates(rig)
        paths = [(leg, FootPath(rig, leg, curve, schedule, fixed)) for leg in both]
        self._paths = [(leg, path) for leg, path in paths if path.planted]
        self.solved_legs = [leg for leg, _ in self._paths]
        taken = [ROOT_NV + leg.solved for leg in self.solved_legs]
        taken += [ROOT_NV + leg.columns[coupled[leg.columns]] for leg in both]
        if any(len(leg.solved) < FOOT_SIZE for leg in self.solved_legs):
            taken.append(np.flatnonzero(~np.array(free_root_coordinates(rig))))
        self.free_columns = np.setdiff1d(np.arange(rig.nv), np.concatenate([[], *taken]).astype(int))
        legs_too = np.concatenate([np.arange(ROOT_NV), *(ROOT_NV + leg.columns for leg in self.solved_legs)])
        self.moves_legs = np.isin(self.free_columns, legs_too)

    def foot_poses(self, times: np.ndarray) -> list[Rates]:
        """Poses of the feet of the solved legs, with derivatives."""
        return [path.at(times) for _, path in self._paths]

    def solve_legs(self, rates: Rates, feet: Sequence[Rates]) -> tuple[Rates, np.ndarray]:
        """Coordinates (N, nv) with solved legs, and the regularity (N, legs) of the legs, see `Leg.regularity`."""
        return self._for_each_leg(rates, feet, lambda leg, own, foot: leg.follow_foot(own, foot, approach=True))

    def update_legs(
        self, rates: Rates, feet: Sequence[Rates], *, positions_only: bool = False
    ) -> tuple[Rates, np.ndarray]:
        """`solve_legs` after the other coordinates of a solution changed by a finite-difference step.

        ``positions_only``: derivatives of the legs are not updated.
        """
        return self._for_each_leg(
            rates, feet, lambda leg, own, foot: leg.update(own, foot, positions_only=positions_only)
        )

    def _for_each_leg(
        self, rates: Rates, feet: Sequence[Rates], solve: Callable[[Leg, Rates, Rates], object]
    ) -> tuple[Rates, np.ndarray]:
        """Coordinates after a function solved each leg in place, and the regularity of the legs."""
        y, dy, ddy = (np.array(part, float) for part in rates)
        own = (y, dy, ddy)
        regular = np.ones((len(y), len(self.solved_legs)))
        for number, (leg, foot) in enumerate(zip(self.solved_legs, feet)):
            solve(leg, own, foot)
            regular[:, number] = leg.regularity(y[:, ROOT_NV + leg.columns])
        return own, regular

    def leg_derivatives(
        self, solved: Rates, feet: Sequence[Rates], *, positions_only: bool = False
    ) -> tuple[LegDerivatives, np.ndarray]:
        """Derivatives of the solved legs by the columns that move them, and (N, legs, k) of their regularity.

        Args:
            solved: coordinates (N, nv) with solved legs.
            feet: poses of their feet.
            positions_only: derivatives of the legs' velocities and accelerations are not needed.
        """
        leading, legs = (
            self.free_columns[self.moves_legs],
            np.concatenate([*(ROOT_NV + leg.solved for leg in self.solved_legs), []]),
        )
        rates, count, columns = np.stack(solved), len(leading), legs.astype(int)
        if not len(columns):
            none = np.zeros((3, len(solved[0]), 0, count))
            return LegDerivatives(columns, leading, none), none[0]
        y, dy, ddy = shift_coordinates(rates, [(0, int(column)) for column in leading]).reshape(3, -1, rates.shape[2])
        stacked = [[np.tile(part, (count, 1)) for part in foot] for foot in feet]
        after, regular = self.update_legs(
            (y, dy, ddy), [(p, r, b) for p, r, b in stacked], positions_only=positions_only
        )
        change = np.stack(after)[:, :, columns].reshape(3, count, -1, len(columns)) - rates[:, None, :, columns]
        before = np.stack([leg.regularity(solved[0][:, ROOT_NV + leg.columns]) for leg in self.solved_legs], axis=1)
        derivatives = (regular.reshape(count, *before.shape) - before) / STEPS[0]
        return LegDerivatives(columns, leading, change.transpose(0, 2, 3, 1) / STEPS[0]), derivatives.transpose(1, 2, 0)

    def motion(self, times: np.ndarray, rates: Rates | None = None) -> Motion:
        """The motion at times (N,) [s] of given coordinates, or of the curve."""
        solved, _ = self.solve_legs(self.curve.at(times) if rates is None else rates, self.foot_poses(times))
        return to_manifold(self.rig, *solved).motion(times)
