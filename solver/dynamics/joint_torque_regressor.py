"""Regressor of the joints' own rows of the equations of motion: the torques that joints need to carry their links."""

from __future__ import annotations

import numpy as np

from ..inertials import PER_LINK
from ..model import data_of
from ..motion import Motion
from ..pinocchio_loader import pin
from ..rig import ROOT_NV, Rig
from .mechanics import inverse_dynamics_derivatives


def torque_regressor(rig: Rig, motion: Motion) -> np.ndarray:
    """(N, nv - 6, 10 L): the generalised force of every joint but the root is this times phi, nothing being touched.

    Rows are in `Limits`' order, [N m] of turning coordinates and [N] of sliding ones.
    """
    model, data = rig.model, data_of(rig.model)
    result = np.empty((len(motion), model.nv - ROOT_NV, PER_LINK * len(rig.links)))
    for frame in range(len(motion)):
        rows = pin.computeJointTorqueRegressor(model, data, motion.q[frame], motion.v[frame], motion.a[frame])
        result[frame] = rows[ROOT_NV:]
    return result


def torques_and_derivatives(rig: Rig, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces (N, nv - 6) of the joints, nothing being touched, and their slopes (3, N, nv - 6, nv - 6).

    Slopes are by the joints' coordinates, their speeds and their accelerations.
    """
    forces, slopes, _ = inverse_dynamics_derivatives(rig, motion.q, motion.v, motion.a)
    return forces[:, ROOT_NV:], slopes[:, :, ROOT_NV:, ROOT_NV:]
