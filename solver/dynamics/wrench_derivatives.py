"""Derivatives of the residual of a measured wrench by changes of the motion, for Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import data_of
from ..motion import Motion
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig
from ..so3 import skew

FORCE, MOMENT = slice(0, 3), slice(3, 6)


@dataclass(frozen=True, slots=True)
class WrenchDerivatives:
    """Derivatives of the residual of a measured wrench, root axes, about the root's origin, in N frames.

    A motion that is changed from q to q (+) d, with tangent coordinates d(t), requires another wrench, and the measured
    one is expressed in other axes about another point. The change of the required minus that of the measured wrench is
    ``place`` d + ``rate`` d' + ``acceleration`` d''.

    Attributes:
        position, rate, acceleration: (N, 6, nv) each.
    """

    position: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray


def wrench_residual_derivatives(rig: Rig, motion: Motion, measured: np.ndarray) -> WrenchDerivatives:
    """Derivatives with the rig's prior.

    Args:
        rig: with its prior.
        motion: N frames.
        measured: (N, 6) wrench on the body, world axes, about the world origin.
    """
    model, data = rig.model, data_of(rig.model)
    count = len(motion)
    slope_q, slope_v, slope_a = (np.empty((count, ROOT_NV, model.nv)) for _ in range(3))
    own = np.empty((count, ROOT_NV))
    for frame, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a)):
        by_q, by_v, by_a = pin.computeRNEADerivatives(model, data, q, v, a)
        own[frame] = data.oMi[1].actInv(pin.Force(measured[frame])).vector
        slope_q[frame], slope_v[frame], slope_a[frame] = by_q[:ROOT_NV], by_v[:ROOT_NV], by_a[:ROOT_NV]
    _fill_lower_triangle(slope_a)
    # d/dt of a tangent vector that moves along with the velocity v: d' + [v, d]
    turning = _spherical_columns(rig)
    place = slope_q + _lie_bracket_rows(slope_v, turning, motion.v) + _lie_bracket_rows(slope_a, turning, motion.a)
    rate = slope_v + _lie_bracket_rows(slope_a, turning, motion.v)
    force, moment = skew(own[:, FORCE]), skew(own[:, MOMENT])
    place[:, FORCE, MOMENT] -= force
    place[:, MOMENT, FORCE] -= force
    place[:, MOMENT, MOMENT] -= moment
    return WrenchDerivatives(place, rate, slope_a)


def _fill_lower_triangle(rows: np.ndarray) -> None:
    """Complete the first rows (N, 6, nv) of symmetric matrices with filled upper triangles."""
    low, high = np.tril_indices(ROOT_NV, -1)
    rows[:, low, high] = rows[:, high, low]


def _spherical_columns(rig: Rig) -> list[slice]:
    """Tangent coordinates of every spherical joint."""
    return [
        slice(joint.idx_v, joint.idx_v + 3) for joint in list(rig.model.joints)[2:] if joint.nv == 3 and joint.nq == 4
    ]


def _lie_bracket_rows(rows: np.ndarray, turning: list[slice], rate: np.ndarray) -> np.ndarray:
    """Rows (N, 6, nv) times the Lie brackets [rate, .] in the tangent spaces of root and joints; rate (N, nv)."""
    result = np.zeros_like(rows)
    turn = skew(rate[:, MOMENT])
    result[:, :, FORCE] = rows[:, :, FORCE] @ turn
    result[:, :, MOMENT] = rows[:, :, FORCE] @ skew(rate[:, FORCE]) + rows[:, :, MOMENT] @ turn
    for own in turning:
        result[:, :, own] = rows[:, :, own] @ skew(rate[:, own])
    return result
