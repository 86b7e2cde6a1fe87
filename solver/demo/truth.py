"""True inertials of simulations: a random, physically consistent change of the prior."""

from __future__ import annotations

import numpy as np

from ..skeleton.rig import Rig
from ..values.inertials import FIRST_MOMENT, MASS, InertialParameters, symmetric_entries

MASS_CHANGE = 0.25
"""Largest relative change of a link's mass."""
STRETCH = 0.12
"""Largest relative stretch of a link's mass distribution along each of its axes."""
SHIFT = 0.2
"""Largest shift of a link's centre of mass, in half sides of its bounding box."""


def perturb_inertials(rig: Rig, seed: int) -> InertialParameters:
    """Scale, stretch and shift the prior mass distribution of every link to get the true inertials of a simulation.

    Moving the points of a body by x -> A x + d and scaling their masses by s turns its pseudo-inertia P into
    s T P T' with T = [[A, d], [0, 1]], which is positive semi-definite again, so that such a body exists. The
    shift is limited so that the centre of mass stays inside the link's box; the total mass is that of the prior.
    """
    generator = np.random.default_rng(seed)
    count = len(rig.links)
    scales = 1.0 + MASS_CHANGE * generator.uniform(-1.0, 1.0, count)
    scales *= rig.prior.total_mass / float(scales @ rig.prior.masses)
    stretches = 1.0 + STRETCH * generator.uniform(-1.0, 1.0, (count, 3))
    shifts = SHIFT * generator.uniform(-1.0, 1.0, (count, 3)) * 0.5 * (rig.boxes[:, 1] - rig.boxes[:, 0])
    result = np.empty((count, 10))
    for index, prior in enumerate(rig.prior.pseudo_inertias):
        before = prior[:3, 3] / prior[3, 3]
        after = np.clip(before + shifts[index], rig.boxes[index, 0], rig.boxes[index, 1])
        stretch = np.diag(stretches[index])
        move = np.eye(4)
        move[:3, :3], move[:3, 3] = stretch, after - stretch @ before
        result[index] = _parameters(scales[index] * move @ prior @ move.T)
    return InertialParameters(rig.links, result)


def _parameters(pseudo: np.ndarray) -> np.ndarray:
    """The ten parameters (10,) of a pseudo-inertia (4, 4)."""
    result = np.empty(10)
    second = pseudo[:3, :3]
    result[MASS], result[FIRST_MOMENT] = pseudo[3, 3], pseudo[:3, 3]
    result[4:] = symmetric_entries(np.trace(second) * np.eye(3) - second)
    return result
