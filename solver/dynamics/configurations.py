"""Steps between configurations of a rig on its manifold, as tangent vectors."""

from __future__ import annotations

import numpy as np

from .. import engine
from ..rig import Rig


def integrate(rig: Rig, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Configuration (nq,) reached from one (nq,) by a constant velocity times a duration (nv,).

    Arrays of N configurations, of N steps or of both give (N, nq).
    """
    return engine.integrate(rig.model, q, step)


def difference(rig: Rig, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The step (nv,) from one configuration (nq,) to another: the inverse of `integrate`.

    Arrays of N configurations on either side or both give (N, nv).
    """
    return engine.difference(rig.model, start, stop)
