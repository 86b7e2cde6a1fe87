"""Converts derivatives by tangent coordinates to derivatives by flat coordinates, with solved legs.

A function of one instant depends on tangent coordinates, velocities and accelerations. These depend on the flat
coordinates y and their rates by the charts of root and spherical joints; the joints of a solved leg depend on the root.
With the tangent d = E dy, the joints of a leg x = g(root) and their Jacobian G,

    dv = E dy' + V dy,   da = E dy'' + (2 V - [v, E]) dy' + A dy,
    dx' = G dr' + G' dr,   dx'' = G dr'' + 2 G' dr' + G'' dr,

where V, A, G, G' and G'' are finite differences by the root and the spherical joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.so3 import Exponential, skew
from ..dynamics.coordinates import rotation_columns, to_manifold
from ..skeleton.rig import ROOT_NV, Rig
from .legged_rig import LeggedRig

STEPS = np.array([1e-6, 1e-5, 1e-4])
"""Finite-difference steps of coordinates, velocities and accelerations."""


def shift_coordinates(rates: np.ndarray, shifts: Sequence[tuple[int, int]]) -> np.ndarray:
    """Copies (3, P, N, D) of rates (3, N, D), each with one entry, (order of the rate, column of y), shifted."""
    result = np.tile(np.asarray(rates)[:, None], (1, len(shifts), 1, 1))
    for number, (order, column) in enumerate(shifts):
        result[order, number, :, column] += STEPS[order]
    return result


@dataclass(frozen=True, slots=True)
class _Chart:
    columns: slice  # of y and of v, k of them
    rotation: np.ndarray  # (N, k, k) E
    speed: np.ndarray  # (N, k, k) V
    coriolis: np.ndarray  # (N, k, k) 2 V - [v, E]
    acceleration: np.ndarray  # (N, k, k) A


def _charts(rig: Rig, rates: np.ndarray) -> list[_Chart]:
    """Charts of the root and of spherical joints at coordinates with rates (3, N, nv)."""
    turns = rotation_columns(rig)
    start = to_manifold(rig, *rates)
    changes = []
    for axis in range(3):  # all at once, since they are independent
        y = np.array(rates[0])
        y[:, [columns.start + axis for columns in turns]] += STEPS[0]
        moved = to_manifold(rig, y, rates[1], rates[2])
        changes.append(((moved.v - start.v) / STEPS[0], (moved.a - start.a) / STEPS[0]))
    speeds, accelerations = (np.stack(each, axis=2) for each in zip(*changes))  # (N, nv, 3)
    result = []
    for columns in turns:
        vectors, rate = Exponential(rates[0][:, columns]), skew(start.v[:, columns])
        turn, speed, acceleration = vectors.right_jacobian, speeds[:, columns], accelerations[:, columns]
        if columns.start < ROOT_NV:  # together with its position
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
    """Derivatives of solved leg joints by the coordinates that they depend on, at N instants.

    Attributes:
        leg_columns: (n,) columns of y of the solved joints.
        leading_columns: (k,) columns that they depend on.
        derivatives: (3, N, n, k) of the joints' coordinates, velocities and accelerations by the leading coordinates.
    """

    leg_columns: np.ndarray
    leading_columns: np.ndarray
    derivatives: np.ndarray

    def apply(self, derivatives: np.ndarray) -> np.ndarray:
        """Derivatives (3, N, h, nv) with solved legs from derivatives by independent joints."""
        place, rate, bend = self.derivatives
        legs, result = derivatives[..., self.leg_columns], np.array(derivatives)
        result[0][..., self.leading_columns] += legs[0] @ place + legs[1] @ rate + legs[2] @ bend
        result[1][..., self.leading_columns] += legs[1] @ place + 2.0 * legs[2] @ rate
        result[2][..., self.leading_columns] += legs[2] @ place
        return result

    def at_frames(self, frames: np.ndarray) -> LegDerivatives:
        """At selected instants, which may be repeated."""
        return LegDerivatives(self.leg_columns, self.leading_columns, self.derivatives[:, frames])


def leg_derivatives_by_root(legged: LeggedRig, rates: np.ndarray, solved: tuple[str, ...]) -> LegDerivatives:
    """Derivatives of the legs of some sides by the root, at coordinates with rates (3, N, D) and solved legs."""
    legs = np.concatenate([*(legged.leg_columns[side] for side in solved), np.zeros(0, int)]).astype(int)
    frames, places = rates.shape[1], [(0, column) for column in range(ROOT_NV)]
    moved = shift_coordinates(rates, places).reshape(3, -1, rates.shape[2])
    found = np.stack(legged.solve_legs(moved[0], moved[1], moved[2], solved)[0])[:, :, legs]
    change = (found.reshape(3, ROOT_NV, frames, -1) - rates[:, None, :, legs]) / STEPS[0]
    return LegDerivatives(legs, np.arange(ROOT_NV), change.transpose(0, 2, 3, 1))


class FlatDerivatives:
    """Converts derivatives at N instants.

    Args:
        rig: of the motion.
        rates: (3, N, D) coordinates, velocities and accelerations with solved legs; columns beyond nv are ignored.
        followed: derivatives of the legs.
    """

    def __init__(self, rig: Rig, rates: np.ndarray, followed: LegDerivatives) -> None:
        self._nv = rig.nv
        self._charts = _charts(rig, rates[:, :, : rig.nv])
        self._legs = followed

    @property
    def leg_rows(self) -> np.ndarray:
        """(3, N, 2 n, nv) derivatives of the n coordinates of the solved legs, then of their velocities."""
        (place, rate, _), leading = self._legs.derivatives, self._legs.leading_columns
        result = np.zeros((3, len(place), 2 * place.shape[1], self._nv))
        angles, speeds = np.split(result, 2, axis=2)
        angles[0][..., leading], speeds[0][..., leading], speeds[1][..., leading] = place, rate, place
        return result

    def to_flat(self, derivatives: np.ndarray) -> np.ndarray:
        """Derivatives (3, N, h, nv) by flat coordinates and their rates from those by tangent coordinates.

        Columns of solved legs are those of independent joints; the root's columns include the motion of the legs.
        """
        return self._legs.apply(self.to_flat_joints(derivatives))

    def to_flat_joints(self, derivatives: np.ndarray, frames: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The same with all joints independent, at all or selected instants."""
        result = np.array(derivatives)
        for chart in self._charts:
            own, turn = derivatives[..., chart.columns], chart.rotation[frames]
            moved = own[0] @ turn + own[1] @ chart.speed[frames] + own[2] @ chart.acceleration[frames]
            result[0, ..., chart.columns] = moved
            result[1, ..., chart.columns] = own[1] @ turn + own[2] @ chart.coriolis[frames]
            result[2, ..., chart.columns] = own[2] @ turn
        return result
