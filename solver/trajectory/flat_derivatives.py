"""From slopes by tangent coordinates to slopes by the flat ones that a dance is planned in, its legs solved.

What acts instant by instant changes with tangent coordinates, speeds and accelerations; these change with the flat
coordinates y and their rates by the charts of root and spherical joints, and those of a solved leg's joints with the
root's. With the tangent d = E dy and the joints of a leg x = g(root), G its Jacobian,

    dv = E dy' + V dy,   da = E dy'' + (2 V - [v, E]) dy' + A dy,
    dx' = G dr' + G' dr,   dx'' = G dr'' + 2 G' dr' + G'' dr,

where V, A, G, G' and G'' are found by shifting the root and the spherical joints alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates import rotation_columns, to_manifold
from ..rig import ROOT_NV, Rig
from ..so3 import Exponential, skew
from .finite_differences import STEPS, shift_coordinates
from .legged_rig import LeggedRig


@dataclass(frozen=True, slots=True)
class _Chart:
    columns: slice  # of y and of v, k of them
    rotation: np.ndarray  # (N, k, k) E
    speed: np.ndarray  # (N, k, k) V
    coriolis: np.ndarray  # (N, k, k) 2 V - [v, E]
    acceleration: np.ndarray  # (N, k, k) A


def _charts(rig: Rig, rates: np.ndarray) -> list[_Chart]:
    """Of the root, and of spherical joints, at coordinates with rates (3, N, nv)."""
    turns = rotation_columns(rig)
    start = to_manifold(rig, *rates)
    changes = []
    for axis in range(3):  # of all at once: none changes another's
        y = np.array(rates[0])
        y[:, [columns.start + axis for columns in turns]] += STEPS[0]
        moved = to_manifold(rig, y, rates[1], rates[2])
        changes.append(((moved.v - start.v) / STEPS[0], (moved.a - start.a) / STEPS[0]))
    speeds, accelerations = (np.stack(each, axis=2) for each in zip(*changes))  # (N, nv, 3)
    result = []
    for columns in turns:
        vectors, rate = Exponential(rates[0][:, columns]), skew(start.v[:, columns])
        turn, speed, acceleration = vectors.right_jacobian, speeds[:, columns], accelerations[:, columns]
        if columns.start < ROOT_NV:  # its place goes along
            columns, none = slice(ROOT_NV), np.zeros((len(turn), ROOT_NV, 3))
            whole, drift = np.zeros((2, len(turn), ROOT_NV, ROOT_NV))
            whole[:, :3, :3], whole[:, 3:, 3:] = vectors.matrix.swapaxes(1, 2), turn
            drift[:, :3, :3] = drift[:, 3:, 3:] = rate
            drift[:, :3, 3:] = skew(start.v[:, :3])
            speed = np.concatenate([none, speeds[:, columns]], axis=2)
            acceleration = np.concatenate([none, accelerations[:, columns]], axis=2)
            turn, rate = whole, drift
        result.append(_Chart(columns, turn, speed, 2.0 * speed - rate @ turn, acceleration))
    return result


@dataclass(frozen=True, slots=True)
class LegDerivatives:
    """How joints that are solved for follow the coordinates that lead them, at N instants.

    Attributes:
        leg_columns: (n,) columns of y that follow.
        leading_columns: (k,) columns that lead.
        derivatives: (3, N, n, k) of the legs' coordinates, speeds and accelerations by the places of those.
    """

    leg_columns: np.ndarray
    leading_columns: np.ndarray
    derivatives: np.ndarray

    def apply(self, derivatives: np.ndarray) -> np.ndarray:
        """Slopes (3, N, h, nv) by flat coordinates, legs followed, from those by every joint moved by itself."""
        place, rate, bend = self.derivatives
        legs, result = derivatives[..., self.leg_columns], np.array(derivatives)
        result[0][..., self.leading_columns] += legs[0] @ place + legs[1] @ rate + legs[2] @ bend
        result[1][..., self.leading_columns] += legs[1] @ place + 2.0 * legs[2] @ rate
        result[2][..., self.leading_columns] += legs[2] @ place
        return result

    def at_frames(self, frames: np.ndarray) -> LegDerivatives:
        """At some of the instants, any of them more than once."""
        return LegDerivatives(self.leg_columns, self.leading_columns, self.derivatives[:, frames])


def leg_derivatives_by_root(legged: LeggedRig, rates: np.ndarray, solved: tuple[str, ...]) -> LegDerivatives:
    """How the legs of some sides follow the root, at coordinates with rates (3, N, D), legs solved."""
    legs = np.concatenate([*(legged.leg_columns[side] for side in solved), np.zeros(0, int)]).astype(int)
    frames, places = rates.shape[1], [(0, column) for column in range(ROOT_NV)]
    moved = shift_coordinates(rates, places).reshape(3, -1, rates.shape[2])
    found = np.stack(legged.solve_legs(moved[0], moved[1], moved[2], solved)[0])[:, :, legs]
    change = (found.reshape(3, ROOT_NV, frames, -1) - rates[:, None, :, legs]) / STEPS[0]
    return LegDerivatives(legs, np.arange(ROOT_NV), change.transpose(0, 2, 3, 1))


class FlatDerivatives:
    """The way from slopes to slopes at N instants.

    Args:
        rig: who dances.
        rates: (3, N, D) coordinates, velocities and accelerations, legs solved; beyond the rig's nv they do not count.
        followed: how the legs are solved.
    """

    def __init__(self, rig: Rig, rates: np.ndarray, followed: LegDerivatives) -> None:
        self._nv = rig.nv
        self._charts = _charts(rig, rates[:, :, : rig.nv])
        self._legs = followed

    @property
    def leg_rows(self) -> np.ndarray:
        """(3, N, 2 n, nv) slopes of the n coordinates of the solved legs, then of their speeds."""
        (place, rate, _), leading = self._legs.derivatives, self._legs.leading_columns
        result = np.zeros((3, len(place), 2 * place.shape[1], self._nv))
        angles, speeds = np.split(result, 2, axis=2)
        angles[0][..., leading], speeds[0][..., leading], speeds[1][..., leading] = place, rate, place
        return result

    def to_flat(self, derivatives: np.ndarray) -> np.ndarray:
        """Slopes (3, N, h, nv) by flat coordinates and their rates from those by tangent ones.

        Columns of solved legs are those of joints moved by themselves; the root's have them followed.
        """
        return self._legs.apply(self.to_flat_joints(derivatives))

    def to_flat_joints(self, derivatives: np.ndarray, frames: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The same of every joint moved by itself, legs too; at some of the instants, if they are not all."""
        result = np.array(derivatives)
        for chart in self._charts:
            own, turn = derivatives[..., chart.columns], chart.rotation[frames]
            moved = own[0] @ turn + own[1] @ chart.speed[frames] + own[2] @ chart.acceleration[frames]
            result[0, ..., chart.columns] = moved
            result[1, ..., chart.columns] = own[1] @ turn + own[2] @ chart.coriolis[frames]
            result[2, ..., chart.columns] = own[2] @ turn
        return result
