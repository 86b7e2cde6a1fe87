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

from ..contacts.rolling import SOLE
from ..contacts.schedule import SAME_TIME, Anchor, Schedule
from ..coordinates import to_manifold
from ..dynamics import Workspace
from ..dynamics.foot_motion import Rates
from ..dynamics.legs import FOOT_SIZE, Leg, build_legs, coupled_coordinates
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from ..so3 import log, nearest_rotation_vector, unwrap
from .curve import DEGREE, FlatCurve, polynomial_through_states, sample_times
from .flat_derivatives import STEPS, LegDerivatives, shift_coordinates
from .root_constraints import free_root_coordinates

SWING_RATE = 100.0
"""[1/s] at which the path of a foot in the air is sampled."""
BLEND_TIME = 0.4
"""[s] in which a foot in the air changes from its anchor to its own path, and from that to the next anchor."""


@dataclass(frozen=True, slots=True)
class _Stance:
    """An interval in which a foot rolls, or stays in place but for deviations of fixed keys within the tolerance."""

    start: float
    stop: float
    pose: PPoly | BSpline  # (6,) foot coordinates over time


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
        self._stances = [
            _Stance(start, stop, self._own_path(rig, curve, start, stop))
            if rolls
            else _build_stance(anchor, start, stop, own)
            for start, stop, anchor, rolls in runs
        ]
        self._swings: list[tuple[float, float, BSpline, PPoly | None]] = []
        if self.planted:
            self._build_swings(rig, curve, schedule)

    def at(self, times: np.ndarray) -> Rates:
        """Foot coordinates (N, 6) with derivatives."""
        result = np.zeros((3, len(times), FOOT_SIZE))
        for start, stop, own, bend in self._swings:
            inside = (times >= start - SAME_TIME) & (times <= stop + SAME_TIME)  # stances below take precedence
            at = np.clip(times[inside], start, stop)
            for order in range(3):
                result[order, inside] = own(at, order)
                if bend is not None:
                    result[order, inside] += bend(at, order)
        for span in self._stances:
            inside = (times >= span.start - SAME_TIME) & (times <= span.stop + SAME_TIME)
            at = np.clip(times[inside], span.start, span.stop)
            for order in range(3):
                result[order, inside] = span.pose(at, order)
        return result[0], result[1], result[2]

    def _pose(self, q: np.ndarray) -> np.ndarray:
        self._workspace.update_positions(q)
        return np.concatenate([self._workspace.positions[self._link], log(self._workspace.rotations[self._link])])

    def _own_path(self, rig: Rig, curve: FlatCurve, start: float, stop: float) -> BSpline:
        """Foot coordinates (6,) over time as the curve moves the foot."""
        times = sample_times(start, stop, SWING_RATE)
        times = times if len(times) > DEGREE else np.linspace(start, stop, DEGREE + 1)
        poses = np.array([self._pose(q) for q in to_manifold(rig, *curve.at(times)).q])
        poses[:, 3:] = unwrap(poses[:, 3:])
        return make_interp_spline(times, poses, k=DEGREE)

    def _build_swings(self, rig: Rig, curve: FlatCurve, schedule: Schedule) -> None:
        edges = [schedule.start, *(t for span in self._stances for t in (span.start, span.stop)), schedule.stop]
        for number, (start, stop) in enumerate(zip(edges[::2], edges[1::2])):
            start, stop = max(start, curve.start), min(stop, curve.stop)
            if stop - start <= SAME_TIME:
                continue
            own = self._own_path(rig, curve, start, stop)
            before = self._stances[number - 1].pose if number > 0 else None
            after = self._stances[number].pose if number < len(self._stances) else None
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


def _end_offsets(own: BSpline, standing: PPoly | BSpline | None, time: float, orders: int) -> list[np.ndarray]:
    """Offset of the stance from a foot's own path, with derivatives; zero without a stance."""
    if standing is None:
        return [np.zeros(FOOT_SIZE)] * orders
    return [standing(time, order) - own(time, order) for order in range(orders)]


def _stance_intervals(schedule: Schedule, patch: str) -> list[tuple[float, float, Anchor, bool]]:
    """Intervals in which a patch stays on one anchor, and whether it rolls there; neighbouring phases with the same
    anchor are merged.
    """
    result: list[tuple[float, float, Anchor, bool]] = []
    for phase in schedule.phases:
        for anchor in phase.anchors:
            if anchor.patch != patch:
                continue
            last, rolls = result[-1] if result else None, anchor.part != SOLE
            if last is not None and abs(last[1] - phase.start) <= SAME_TIME and last[2].is_same_place(anchor):
                result[-1] = (last[0], phase.stop, last[2], last[3] or rolls)
            else:
                result.append((phase.start, phase.stop, anchor, rolls))
    return result


def _build_stance(anchor: Anchor, start: float, stop: float, fixed: Sequence[tuple[float, np.ndarray]]) -> _Stance:
    place = np.concatenate([anchor.position, log(anchor.rotation)])
    states = {start: place, stop: place}
    for time, pose in fixed:
        if start - SAME_TIME <= time <= stop + SAME_TIME:
            pose = np.concatenate([pose[:3], nearest_rotation_vector(pose[3:], place[3:])])
            near = [t for t in states if abs(t - time) <= SAME_TIME]
            states[near[0] if near else time] = pose
    times = sorted(states)
    zeros = np.zeros(FOOT_SIZE)
    return _Stance(start, stop, polynomial_through_states(times, [[states[t], zeros, zeros] for t in times]))


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
