"""Weighted least squares over a rig's tree, solved by the algorithms of its dynamics.

The cost of point targets w_p |J_p x - u_p|^2 and orientation targets w_l |J_l x - u_l|^2 has the normal matrix J'WJ of
a body whose links carry point masses w_p and moments of inertia w_l 1: the cost is a kinetic energy. The
composite-rigid-body algorithm gives the matrix, and the articulated-body algorithm solves the equations without
building it, in time proportional to the number of links. Weights of the coordinates are rotor inertias.
"""

from __future__ import annotations

import numpy as np

from ..engine import LoadedTree
from ..skeleton.rig import Rig

WEIGHT_SUMS = 10
"""Columns of weights summed by link, link axes: w, w o (3), and w (o'o 1 - oo') as xx xy yy xz yz zz, where the
weights of orientations join the diagonal. By definition."""
DIAGONAL_COLUMNS = (4, 6, 9)
"""Columns of xx, yy, zz. By definition."""
WRENCH_SIZE = 6
"""By definition."""


class WeightedTree(LoadedTree):
    """Solves (J'WJ + D) x = J'f + t at a configuration, with f as the forces on the links (L, 6)."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.model)
        self.rig = rig

    def set_weights(self, sums: np.ndarray) -> None:
        """Set weights summed by link (L, 10), columns as in `WEIGHT_SUMS`."""
        self.set_inertias(self.to_inertias(sums))

    @staticmethod
    def to_inertias(sums: np.ndarray) -> np.ndarray:
        """Mass, centre of mass, and moments of inertia about it (L, 10) from weights summed by link (L, 10)."""
        mass = sums[:, 0]
        centres = sums[:, 1:4] / np.where(mass > 0.0, mass, 1.0)[:, None]
        x, y, z = centres.T
        own = (
            sums[:, 4:]
            - mass[:, None] * np.array([y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y]).T
        )
        return np.hstack([mass[:, None], centres, own])

    set_regularisation = LoadedTree.set_rotor_inertias
    """Set D, the diagonal (nv,)."""
    solve = LoadedTree.accelerations
    """x (nv,) for a configuration and t (nv,), without building the matrix."""
    hessian = LoadedTree.mass_matrix
    """J'WJ + D (nv, nv) at a configuration."""

    def gradient(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """J'f + t (nv,)."""
        return torques + self.generalised_forces(q)
