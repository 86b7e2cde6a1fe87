"""Derivatives of the limits of a trajectory by flat coordinates, velocities and accelerations, with solved legs.

- Limits by force depend on the required wrench, the centre of mass and joint torques, whose derivatives are those of
  inverse dynamics (`feasibility.load_derivatives`).
- Limits of joint angles and speeds depend on their own coordinate.
- Others, mainly distances of links, depend on the posture: finite differences of batches of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dynamics.coordinates import joint_coordinates, static_motion, to_manifold
from ..dynamics.mechanics import com_and_jacobian, inverse_dynamics_derivatives
from ..feasibility.check_definition import Check, SmoothLimit
from ..feasibility.check_input import CheckInput
from ..feasibility.load_derivatives import (
    COM,
    TORQUE,
    WRENCH,
    contact_torque_derivatives,
    derivatives_by_loads,
    wrench_derivatives,
)
from ..skeleton.rig import ROOT_NV
from .flat_derivatives import STEPS, FlatDerivatives, LegDerivatives
from .limit_values import LimitValues, NearItems, TrajectoryChecks

BATCH_FRAMES = 4096
"""Frames evaluated at once."""
SAME_ANGLE = 1e-6
"""[rad] Joint coordinates that differ by less from the flat ones equal them: none is wrapped by a full turn."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Limits of one check whose derivatives are needed.

    Attributes:
        check: None for the regularity of legs.
        indices: (R,) among all rows.
        frames: (R,) index of the sample.
        items: (R,) index of the check's value.
    """

    check: Check | None
    indices: np.ndarray
    frames: np.ndarray
    items: np.ndarray

    def select(self, some: np.ndarray) -> _Rows:
        """Rows of a mask (R,)."""
        return _Rows(self.check, self.indices[some], self.frames[some], self.items[some])

    @property
    def depends_on(self) -> str:
        """What the check depends on."""
        return "posture" if self.check is None else self.check.depends_on

    @property
    def smooth_limit(self) -> SmoothLimit:
        """Of the check."""
        assert self.check is not None
        assert self.check.smooth_limit is not None
        return self.check.smooth_limit


def limit_derivatives(
    limits: TrajectoryChecks, times: np.ndarray, start: LimitValues, near: NearItems, selected: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `trajectory_limits.TrajectoryLimits.derivatives`."""
    rows, columns = np.nonzero(selected)
    derivatives = _DerivativeRows(limits, times, start, near, len(rows))
    for name in dict.fromkeys(start.names.tolist()):
        own = np.flatnonzero(start.names == name)
        places = np.flatnonzero((columns >= own[0]) & (columns <= own[-1]))
        check = next((check for check in limits.checks if check.name == name), None)
        derivatives.add(_Rows(check, places, rows[places], columns[places] - own[0]))
    return rows, columns, derivatives.compute()[:, :, limits.trajectory.free_columns].transpose(1, 0, 2)


class _DerivativeRows:
    """Derivatives (3, R, nv) of R limits at N instants by flat coordinates, filled in kind by kind."""

    def __init__(
        self, limits: TrajectoryChecks, times: np.ndarray, start: LimitValues, near: NearItems, count: int
    ) -> None:
        self._limits, self._times, self._near = limits, times, near
        self._rig = limits.trajectory.rig
        self._solved = np.stack(start.solved)
        self._derivatives = np.zeros((3, count, self._rig.nv))
        self._legs: list[_Rows] = []
        self._joints: list[_Rows] = []
        self._postures: list[_Rows] = []
        self._forces: list[_Rows] = []

    def add(self, rows: _Rows) -> None:
        """Add the rows of a check."""
        if not len(rows.indices):
            return
        if rows.check is None:
            self._legs.append(rows)
        elif rows.smooth_limit.joint_derivatives is not None:
            own = self._is_flat_coordinate(rows)
            self._joints.append(rows.select(own))
            self._postures.append(rows.select(~own))
        else:
            (self._forces if rows.depends_on == "force" else self._postures).append(rows)

    def compute(self) -> np.ndarray:
        """Derivatives (3, R, nv) of all rows."""
        self._differentiate_joints()
        self._differentiate_forces()
        following = [leg.solved for leg in self._limits.trajectory.solved_legs]
        leg_angles = [rows.select(np.isin(rows.items, np.concatenate([*following, [-1]]))) for rows in self._joints
               if rows.depends_on == "posture"]  # fmt: skip
        dynamic = [rows for rows in self._joints if rows.depends_on != "posture"] + self._forces
        every = [rows for rows in (*leg_angles, *dynamic, *self._postures, *self._legs) if len(rows.indices)]
        if every:
            self._add_leg_motion(np.unique(np.concatenate([rows.frames for rows in every])), leg_angles, dynamic)
        return self._derivatives

    def _is_flat_coordinate(self, rows: _Rows) -> np.ndarray:
        """(R,) True for speeds, and where a joint's coordinate equals its flat coordinate."""
        if rows.depends_on != "posture":
            return np.ones(len(rows.indices), bool)
        y = self._solved[0]
        turned = np.abs(joint_coordinates(self._rig, static_motion(self._rig, y).q) - y[:, ROOT_NV:]) > SAME_ANGLE
        return np.asarray(~turned[rows.frames, rows.items])

    def _add_leg_motion(self, frames: np.ndarray, leg_angles: Sequence[_Rows], dynamic: Sequence[_Rows]) -> None:
        """Add the motion of solved legs at frames (M,) to leg angles, to rows by tangent coordinates, and to others."""
        trajectory, solved = self._limits.trajectory, self._solved[:, frames]
        feet = trajectory.foot_poses(self._times[frames])
        followed, regular = trajectory.leg_derivatives(
            (solved[0], solved[1], solved[2]), feet, positions_only=not dynamic
        )
        if dynamic:
            flat = FlatDerivatives(self._rig, solved, followed)
            for rows in dynamic:
                at = np.searchsorted(frames, rows.frames)
                tangent = self._derivatives[:, rows.indices, None]
                self._derivatives[:, rows.indices] = flat.to_flat_joints(tangent, at)[:, :, 0]
        for rows in (*leg_angles, *dynamic):
            at = np.searchsorted(frames, rows.frames)
            independent = self._derivatives[:, rows.indices, None]
            self._derivatives[:, rows.indices] = followed.at_frames(at).apply(independent)[:, :, 0]
        for rows in self._legs:
            at = np.searchsorted(frames, rows.frames)
            self._derivatives[0, rows.indices[:, None], followed.leading_columns] = regular[at, rows.items]
        for rows in self._postures:
            self._difference_postures(rows, followed.at_frames(np.searchsorted(frames, rows.frames)))

    def _differentiate_joints(self) -> None:
        """Angles, by flat coordinates, and speeds, by tangent coordinates."""
        for rows in self._joints:
            assert rows.smooth_limit.joint_derivatives is not None
            seen, at = np.unique(rows.frames, return_inverse=True)
            derivatives = rows.smooth_limit.joint_derivatives(self._rig, to_manifold(self._rig, *self._solved[:, seen]))
            order = 0 if rows.depends_on == "posture" else 1
            values = derivatives[at.reshape(-1), rows.items] / rows.smooth_limit.scale
            self._derivatives[order, rows.indices, ROOT_NV + rows.items] = values

    def _differentiate_forces(self) -> None:
        """Limits by force, by tangent coordinates."""
        if not self._forces:
            return
        frames = np.unique(np.concatenate([rows.frames for rows in self._forces]))
        phases = self._limits.trajectory.schedule.index_at(self._times[frames])
        for number in np.unique(phases):
            some = frames[phases == number]
            own = [rows.select(np.isin(rows.frames, some)) for rows in self._forces]
            self._differentiate_phase(int(number), some, [rows for rows in own if len(rows.indices)])

    def _differentiate_phase(self, number: int, frames: np.ndarray, kinds: Sequence[_Rows]) -> None:
        limits, rig = self._limits, self._rig
        curves = to_manifold(rig, *self._solved[:, frames])
        body, ground = limits.body, limits.trajectory.schedule.ground
        state = body.mechanics.compute_state(curves.q, curves.v, curves.a)
        inputs = CheckInput.from_state(body, limits.phases[number], ground, curves, state)
        _, own, axes = inverse_dynamics_derivatives(rig, curves.q, curves.v, curves.a)
        needed = wrench_derivatives(state, own, axes[:, :, :ROOT_NV])
        torques, centre = own[:, :, ROOT_NV:], None
        for rows in kinds:
            check = rows.check
            assert check is not None
            items, item = np.unique(rows.items, return_inverse=True)
            at = np.searchsorted(frames, rows.frames)

            def values(found: CheckInput, check: Check = check, items: np.ndarray = items) -> np.ndarray:
                return self._near.smooth_margins(check, found)[:, items]

            by = derivatives_by_loads(inputs, values)[at, item.reshape(-1)]
            result = (by[:, None, WRENCH] @ needed[:, at])[:, :, 0]
            if by[:, COM].any():
                centre = com_and_jacobian(rig, curves.q)[1] if centre is None else centre
                result[0] += (by[:, None, COM] @ centre[at])[:, 0]
            if by[:, TORQUE].any():
                moved = torques[:, at, rows.items]
                for column, link in enumerate(inputs.planted.links):
                    carried = contact_torque_derivatives(rig, axes, link, inputs.loads[:, column])[:, ROOT_NV:]
                    moved[0] -= carried[at, rows.items]
                result += by[:, TORQUE, None] * moved
            self._derivatives[:, rows.indices] = result / rows.smooth_limit.scale

    def _difference_postures(self, rows: _Rows, followed: LegDerivatives) -> None:
        """Finite differences of postures; solved legs move by their derivatives."""
        if not len(rows.indices):
            return
        assert rows.check is not None
        seen, first, at = np.unique(rows.frames, return_index=True, return_inverse=True)
        base, times, leg_derivatives = self._solved[0, seen], self._times[seen], followed.derivatives[0, first]
        before = self._limits.posture_margins(rows.check, times, base, self._near)
        moved = self._limits.trajectory.free_columns
        per_batch = max(1, BATCH_FRAMES // len(seen))
        for start in range(0, len(moved), per_batch):
            some = moved[start : start + per_batch]
            y = np.tile(base, (len(some), 1, 1))
            for shifted, column in zip(y, some):
                shifted[:, column] += STEPS[0]
                for leading in np.flatnonzero(followed.leading_columns == column):
                    shifted[:, followed.leg_columns] += STEPS[0] * leg_derivatives[:, :, leading]
            after = self._limits.posture_margins(
                rows.check, np.tile(times, len(some)), y.reshape(-1, y.shape[2]), self._near
            )
            wanted = after.reshape(len(some), *before.shape)[:, at.reshape(-1), rows.items]
            change = (wanted - before[at.reshape(-1), rows.items]) / STEPS[0]
            self._derivatives[0, rows.indices[:, None], some] = change.T / rows.smooth_limit.scale
