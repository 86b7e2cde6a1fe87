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
from .differences import STEPS, shifted
from .legged_rig import LeggedRig


@dataclass(frozen=True, slots=True)
class _Chart:
    columns: slice  # of y and of v, k of them
    turn: np.ndarray  # (N, k, k) E
    speed: np.ndarray  # (N, k, k) V
    both: np.ndarray  # (N, k, k) 2 V - [v, E]
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


class FlatSlopes:
    """The way from slopes to slopes at N instants.

    Args:
        legged: who dances.
        rates: (3, N, D) coordinates, velocities and accelerations, legs solved.
        solved: sides of the solved legs.

    Attributes:
        legs: (3, N, 2 n, nv) slopes of the n coordinates of the solved legs, then of their speeds.
    """

    def __init__(self, legged: LeggedRig, rates: np.ndarray, solved: tuple[str, ...]) -> None:
        nv = legged.rig.nv
        self._charts = _charts(legged.rig, rates[:, :, :nv])
        legs = [legged.leg_columns[side] for side in solved]
        self._legs = np.concatenate([*legs, np.zeros(0, int)]).astype(int)
        frames, places = rates.shape[1], [(0, column) for column in range(ROOT_NV)]
        moved = shifted(rates, places).reshape(3, -1, rates.shape[2])
        found = np.stack(legged.legs_solved(moved[0], moved[1], moved[2], solved)[0])[:, :, self._legs]
        change = (found.reshape(3, ROOT_NV, frames, -1) - rates[:, None, :, self._legs]) / STEPS[0]
        self._followed = change.transpose(0, 2, 3, 1)
        place, rate, _ = self._followed
        self.legs = np.zeros((3, frames, 2 * len(self._legs), nv))
        angles, speeds = np.split(self.legs, 2, axis=2)
        angles[0, :, :, :ROOT_NV], speeds[0, :, :, :ROOT_NV], speeds[1, :, :, :ROOT_NV] = place, rate, place

    def of(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes (3, N, h, nv) by flat coordinates and their rates from those by tangent ones.

        Columns of solved legs are those of joints moved by themselves; the root's have them followed.
        """
        result = np.array(slopes)
        for chart in self._charts:
            own = slopes[..., chart.columns]
            result[0, ..., chart.columns] = own[0] @ chart.turn + own[1] @ chart.speed + own[2] @ chart.acceleration
            result[1, ..., chart.columns] = own[1] @ chart.turn + own[2] @ chart.both
            result[2, ..., chart.columns] = own[2] @ chart.turn
        place, rate, bend = self._followed
        legs = result[..., self._legs]
        result[0, ..., :ROOT_NV] += legs[0] @ place + legs[1] @ rate + legs[2] @ bend
        result[1, ..., :ROOT_NV] += legs[1] @ place + 2.0 * legs[2] @ rate
        result[2, ..., :ROOT_NV] += legs[2] @ place
        return result
