"""Limits of a trajectory to first order in its coordinates, speeds and accelerations, its legs following.

Limits by forces change with the wrench that a motion needs, its centre of mass and its joints' torques, and these with
the motion as the derivatives of inverse dynamics say (`feasibility.load_slopes`). Joints' angles and speeds are their
own. What is left, distances of links above all, depends on postures: differences of whole batches of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..coordinates import at_rest, joint_coordinates, to_manifold
from ..dynamics.mechanics import centre_of_mass_slopes, inverse_dynamics_slopes
from ..feasibility.definition import Check, Programme
from ..feasibility.load_slopes import CENTRE, OWN, PUSHED, carried_slopes, needed_slopes, slopes_by_forces
from ..feasibility.situation import Situation
from ..rig import ROOT_NV
from .differences import STEPS
from .flat_slopes import FlatSlopes, Followed
from .limited import Limited, Values
from .near_items import NearItems

BATCH = 4096
"""Frames evaluated at once."""
SAME = 1e-6
"""[rad] Joint coordinates nearer to the planned ones are these: none is turned by more than half a turn."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Values of one check whose slopes are wanted.

    Attributes:
        check: whose; None: of how regular legs are.
        places: (R,) where they stand among all.
        frames: (R,) at which instant.
        items: (R,) which of the check's values.
    """

    check: Check | None
    places: np.ndarray
    frames: np.ndarray
    items: np.ndarray

    def part(self, some: np.ndarray) -> _Rows:
        """Those of a mask (R,)."""
        return _Rows(self.check, self.places[some], self.frames[some], self.items[some])

    @property
    def depends(self) -> str:
        """What the check depends on."""
        return "posture" if self.check is None else self.check.depends

    @property
    def programme(self) -> Programme:
        """How programmes take the check."""
        assert self.check is not None
        assert self.check.programme is not None
        return self.check.programme


def limit_slopes(
    limits: Limited, times: np.ndarray, start: Values, near: NearItems, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `limits.TrajectoryLimits.derivatives`."""
    rows, columns = np.nonzero(wanted)
    slopes = _Slopes(limits, times, start, near, len(rows))
    for name in dict.fromkeys(start.names.tolist()):
        own = np.flatnonzero(start.names == name)
        places = np.flatnonzero((columns >= own[0]) & (columns <= own[-1]))
        check = next((check for check in limits.checks if check.name == name), None)
        slopes.take(_Rows(check, places, rows[places], columns[places] - own[0]))
    return rows, columns, slopes.found()[:, :, limits.trajectory.moved].transpose(1, 0, 2)


class _Slopes:
    """Slopes (3, R, nv) of R limits at N instants by flat coordinates, filled in kind by kind."""

    def __init__(self, limits: Limited, times: np.ndarray, start: Values, near: NearItems, count: int) -> None:
        self._limits, self._times, self._near = limits, times, near
        self._rig = limits.trajectory.rig
        self._solved = np.stack(start.solved)
        self._slopes = np.zeros((3, count, self._rig.nv))
        self._legs: list[_Rows] = []
        self._joints: list[_Rows] = []
        self._postures: list[_Rows] = []
        self._forces: list[_Rows] = []

    def take(self, rows: _Rows) -> None:
        """Note what is wanted of a check."""
        if not len(rows.places):
            return
        if rows.check is None:
            self._legs.append(rows)
        elif rows.programme.own is not None:
            own = self._are_planned(rows)
            self._joints.append(rows.part(own))
            self._postures.append(rows.part(~own))
        else:
            (self._forces if rows.depends == "force" else self._postures).append(rows)

    def found(self) -> np.ndarray:
        """All of them."""
        self._by_joints()
        self._by_forces()
        following = [leg.solved for leg in self._limits.trajectory.solved]
        led = [rows.part(np.isin(rows.items, np.concatenate([*following, [-1]]))) for rows in self._joints
               if rows.depends == "posture"]  # fmt: skip
        moving = [rows for rows in self._joints if rows.depends != "posture"] + self._forces
        every = [rows for rows in (*led, *moving, *self._postures, *self._legs) if len(rows.places)]
        if every:
            self._follow(np.unique(np.concatenate([rows.frames for rows in every])), led, moving)
        return self._slopes

    def _are_planned(self, rows: _Rows) -> np.ndarray:
        """(R,) True for speeds, and where a joint's coordinate is the one that is planned."""
        if rows.depends != "posture":
            return np.ones(len(rows.places), bool)
        y = self._solved[0]
        turned = np.abs(joint_coordinates(self._rig, at_rest(self._rig, y).q) - y[:, ROOT_NV:]) > SAME
        return np.asarray(~turned[rows.frames, rows.items])

    def _follow(self, seen: np.ndarray, led: Sequence[_Rows], moving: Sequence[_Rows]) -> None:
        """Let legs follow, at instants (M,): angles of theirs, what is by tangent coordinates so far, and the rest."""
        trajectory, solved = self._limits.trajectory, self._solved[:, seen]
        feet = trajectory.feet_at(self._times[seen])
        followed, regular = trajectory.followed((solved[0], solved[1], solved[2]), feet, still=not moving)
        if moving:
            flat = FlatSlopes(self._rig, solved, followed)
            for rows in moving:
                at = np.searchsorted(seen, rows.frames)
                self._slopes[:, rows.places] = flat.charted(self._slopes[:, rows.places, None], at)[:, :, 0]
        for rows in (*led, *moving):
            at = np.searchsorted(seen, rows.frames)
            self._slopes[:, rows.places] = followed.chosen(at).of(self._slopes[:, rows.places, None])[:, :, 0]
        for rows in self._legs:
            at = np.searchsorted(seen, rows.frames)
            self._slopes[0, rows.places[:, None], followed.leading] = regular[at, rows.items]
        for rows in self._postures:
            self._by_places(rows, followed.chosen(np.searchsorted(seen, rows.frames)))

    def _by_joints(self) -> None:
        """Of angles, and by tangent coordinates of speeds."""
        for rows in self._joints:
            assert rows.programme.own is not None
            seen, at = np.unique(rows.frames, return_inverse=True)
            slopes = rows.programme.own(self._rig, to_manifold(self._rig, *self._solved[:, seen]))
            order = 0 if rows.depends == "posture" else 1
            values = slopes[at.reshape(-1), rows.items] / rows.programme.scale
            self._slopes[order, rows.places, ROOT_NV + rows.items] = values

    def _by_forces(self) -> None:
        """By tangent coordinates, through what floor and joints must give."""
        if not self._forces:
            return
        frames = np.unique(np.concatenate([rows.frames for rows in self._forces]))
        phases = self._limits.trajectory.schedule.index_at(self._times[frames])
        for number in np.unique(phases):
            some = frames[phases == number]
            own = [rows.part(np.isin(rows.frames, some)) for rows in self._forces]
            self._in_phase(int(number), some, [rows for rows in own if len(rows.places)])

    def _in_phase(self, number: int, frames: np.ndarray, kinds: Sequence[_Rows]) -> None:
        limits, rig = self._limits, self._rig
        curves = to_manifold(rig, *self._solved[:, frames])
        body, ground = limits.body, limits.trajectory.schedule.ground
        state = body.mechanics.state(curves.q, curves.v, curves.a)
        now = Situation.of_state(body, limits.phases[number], ground, curves, state)
        _, own, axes = inverse_dynamics_slopes(rig, curves.q, curves.v, curves.a)
        needed = needed_slopes(state, own, axes[:, :, :ROOT_NV])
        torques, centre = own[:, :, ROOT_NV:], None
        for rows in kinds:
            check = rows.check
            assert check is not None
            items, item = np.unique(rows.items, return_inverse=True)
            at = np.searchsorted(frames, rows.frames)

            def values(found: Situation, check: Check = check, items: np.ndarray = items) -> np.ndarray:
                return self._near.margins(check, found)[:, items]

            by = slopes_by_forces(now, values)[at, item.reshape(-1)]
            result = (by[:, None, PUSHED] @ needed[:, at])[:, :, 0]
            if by[:, CENTRE].any():
                centre = centre_of_mass_slopes(rig, curves.q)[1] if centre is None else centre
                result[0] += (by[:, None, CENTRE] @ centre[at])[:, 0]
            if by[:, OWN].any():
                moved = torques[:, at, rows.items]
                for column, link in enumerate(now.planted.links):
                    carried = carried_slopes(rig, axes, link, now.loads[:, column])[:, ROOT_NV:]
                    moved[0] -= carried[at, rows.items]
                result += by[:, OWN, None] * moved
            self._slopes[:, rows.places] = result / rows.programme.scale

    def _by_places(self, rows: _Rows, followed: Followed) -> None:
        """Differences of postures, of which those of the legs follow by their slopes."""
        if not len(rows.places):
            return
        assert rows.check is not None
        seen, first, at = np.unique(rows.frames, return_index=True, return_inverse=True)
        base, times, led = self._solved[0, seen], self._times[seen], followed.change[0, first]
        before = self._limits.placed(rows.check, times, base, self._near)
        moved = self._limits.trajectory.moved
        per_batch = max(1, BATCH // len(seen))
        for start in range(0, len(moved), per_batch):
            some = moved[start : start + per_batch]
            y = np.tile(base, (len(some), 1, 1))
            for shifted, column in zip(y, some):
                shifted[:, column] += STEPS[0]
                for leading in np.flatnonzero(followed.leading == column):
                    shifted[:, followed.legs] += STEPS[0] * led[:, :, leading]
            after = self._limits.placed(rows.check, np.tile(times, len(some)), y.reshape(-1, y.shape[2]), self._near)
            wanted = after.reshape(len(some), *before.shape)[:, at.reshape(-1), rows.items]
            change = (wanted - before[at.reshape(-1), rows.items]) / STEPS[0]
            self._slopes[0, rows.places[:, None], some] = change.T / rows.programme.scale
