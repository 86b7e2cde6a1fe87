"""Typical sizes of inertial parameters, so that kilograms and kg m^2 can be compared."""

from __future__ import annotations

import numpy as np

from ..inertials import FIRST_MOMENT, INERTIA, MASS, InertialParameters
from ..rig import Rig

MIN_MASS_FRACTION = 1e-4
"""Least mass of a link, as a fraction of the mean, so that a massless link has a scale."""
MIN_LENGTH = 0.01
"""[m] least length of a link, so that a link whose box has no extent has a scale."""


def parameter_scale(rig: Rig, reference: InertialParameters) -> np.ndarray:
    """Typical size of each parameter (L, 10): m, m l, m l^2 with the link's prior mass m and box half diagonal l."""
    masses = np.maximum(reference.masses, MIN_MASS_FRACTION * reference.total_mass / len(rig.links))
    lengths = np.maximum(0.5 * np.linalg.norm(rig.boxes[:, 1] - rig.boxes[:, 0], axis=1), MIN_LENGTH)
    result = np.empty((len(rig.links), 10))
    result[:, MASS] = masses
    result[:, FIRST_MOMENT] = (masses * lengths)[:, None]
    result[:, INERTIA] = (masses * lengths**2)[:, None]
    return result
