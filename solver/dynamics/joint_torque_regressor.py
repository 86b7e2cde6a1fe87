"""Regressor of the joint torques: the equations of motion without those of the root."""

from __future__ import annotations

import numpy as np

from ..engine import FrameDynamics
from ..motion import Motion
from ..rig import ROOT_NV, Rig
from .mechanics import inverse_dynamics_derivatives


def torque_regressor(rig: Rig, motion: Motion) -> np.ndarray:
    """Regressor (N, nv - 6, 10 L) of the generalised forces of the joints, without contacts.

    Rows are in the order of `Limits`, [N m] for revolute and [N] for prismatic coordinates.
    """
    return FrameDynamics(rig.model).joint_force_regressor(motion.q, motion.v, motion.a)


def torques_and_derivatives(rig: Rig, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Generalised forces (N, nv - 6) of the joints without contacts, and their derivatives (3, N, nv - 6, nv - 6).

    Derivatives are by the joints' coordinates, velocities and accelerations.
    """
    forces, derivatives, _ = inverse_dynamics_derivatives(rig, motion.q, motion.v, motion.a)
    return forces[:, ROOT_NV:], derivatives[:, :, ROOT_NV:, ROOT_NV:]
