"""Shift the root of a motion so that the centre of pressure stays under the feet."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_banded

from ..dynamics import com_trajectory, ground_wrench
from ..motion import Motion
from ..rig import GRAVITY, Rig


def centre_of_pressure(rig: Rig, motion: Motion) -> np.ndarray:
    """Centre of pressure (N, 2) [m] on the plane z = 0 of a body with the rig's prior."""
    wrench = ground_wrench(rig, motion, rig.prior)
    return np.column_stack([-wrench[:, 4], wrench[:, 3]]) / wrench[:, 2:3]


def rebalancing_shift(rig: Rig, motion: Motion, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Horizontal shift of the whole body (N, 2) [m] that brings the centre of pressure into a box.

    A body whose centre of mass at height z is shifted by s moves its centre of pressure by s - (z / g) s''. The s for
    a required move is the solution of this two-point problem with s = 0 at both ends.

    Args:
        rig: that moves.
        motion: to correct, evenly spaced.
        low, high: (N, 2) [m] corners of the box at each time, world.
    """
    pressure = centre_of_pressure(rig, motion)
    wanted = np.clip(pressure, low, high) - pressure
    height = float(com_trajectory(rig, motion, rig.prior)[:, 2].mean())
    stiffness = height / GRAVITY * motion.rate**2
    count = len(motion)
    bands = np.empty((3, count))
    bands[0], bands[1], bands[2] = -stiffness, 1.0 + 2.0 * stiffness, -stiffness
    bands[0, :2], bands[2, -2:] = 0.0, 0.0
    bands[1, [0, -1]] = 1.0
    wanted[[0, -1]] = 0.0
    return solve_banded((1, 1), bands, wanted)
