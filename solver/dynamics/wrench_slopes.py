"""How the wrench that a motion needs changes with the motion, for all of Newton's steps that bring both together."""

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
class WrenchSlopes:
    """Slopes of what is left of a measured wrench, root axes, about the root's origin, in N frames.

    A motion q that is led aside to q (+) d, with tangent coordinates d(t), needs another wrench, and what was measured
    is written in other axes about another point. The change of what is needed, less that of what was measured, is
    ``place`` d + ``rate`` d' + ``acceleration`` d''.

    Attributes:
        place, rate, acceleration: (N, 6, nv) each.
    """

    place: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray


def wrench_slopes(rig: Rig, motion: Motion, measured: np.ndarray) -> WrenchSlopes:
    """Slopes by the rig's prior.

    Args:
        rig: whose inertials are those of its prior.
        motion: N frames.
        measured: (N, 6) wrench on the body, world axes, about the world origin.
    """
    model, data = rig.model, data_of(rig.model)
    turning = _turning(rig)
    count = len(motion)
    place, rate, acceleration = (np.empty((count, ROOT_NV, model.nv)) for _ in range(3))
    for frame, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a)):
        by_q, by_v, by_a = pin.computeRNEADerivatives(model, data, q, v, a)
        root = data.oMi[1]
        own = root.actInv(pin.Force(measured[frame]))
        slope_q, slope_v, slope_a = (
            np.array(by_q[:ROOT_NV]),
            np.array(by_v[:ROOT_NV]),
            _upper(np.array(by_a[:ROOT_NV])),
        )
        # d/dt of a tangent vector that moves along with the velocity v: d' + [v, d]
        carried, bent = _bracket(turning, v), _bracket(turning, a)
        place[frame] = slope_q + slope_v @ carried + slope_a @ bent
        rate[frame] = slope_v + slope_a @ carried
        acceleration[frame] = slope_a
        place[frame, FORCE, MOMENT] -= skew(own.linear)
        place[frame, MOMENT, FORCE] -= skew(own.linear)
        place[frame, MOMENT, MOMENT] -= skew(own.angular)
    return WrenchSlopes(place, rate, acceleration)


def _upper(rows: np.ndarray) -> np.ndarray:
    """The first rows of a symmetric matrix of which only the upper triangle is filled in."""
    square = rows[:, :ROOT_NV]
    rows[:, :ROOT_NV] = np.triu(square) + np.triu(square, 1).T
    return rows


def _turning(rig: Rig) -> list[slice]:
    """Tangent coordinates of every spherical joint."""
    return [
        slice(joint.idx_v, joint.idx_v + 3) for joint in list(rig.model.joints)[2:] if joint.nv == 3 and joint.nq == 4
    ]


def _bracket(turning: list[slice], rate: np.ndarray) -> np.ndarray:
    """Matrix (nv, nv) of the Lie bracket [rate, .] in the tangent spaces of root and joints."""
    result = np.zeros((len(rate), len(rate)))
    result[FORCE, FORCE] = result[MOMENT, MOMENT] = skew(rate[MOMENT])
    result[FORCE, MOMENT] = skew(rate[FORCE])
    for own in turning:
        result[own, own] = skew(rate[own])
    return result
