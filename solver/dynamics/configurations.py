"""Steps between configurations of a rig on its manifold, as tangent vectors."""

from __future__ import annotations

import numpy as np

from ..pinocchio_loader import pin
from ..rig import Rig


def integrate(rig: Rig, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Configuration (nq,) reached from one (nq,) by a constant velocity times a duration (nv,).

    Arrays of N configurations, of N steps or of both give (N, nq).
    """
    if np.ndim(q) == 1 == np.ndim(step):
        return pin.integrate(rig.model, q, step)
    starts, steps = _broadcast_rows(q, step)
    model = rig.model
    return np.array([pin.integrate(model, *pair) for pair in zip(starts, steps)]).reshape(-1, model.nq)


def difference(rig: Rig, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The step (nv,) from one configuration (nq,) to another: the inverse of `integrate`.

    Arrays of N configurations on either side or both give (N, nv).
    """
    if np.ndim(start) == 1 == np.ndim(stop):
        return pin.difference(rig.model, start, stop)
    starts, stops = _broadcast_rows(start, stop)
    model = rig.model
    return np.array([pin.difference(model, *pair) for pair in zip(starts, stops)]).reshape(-1, model.nv)


def _broadcast_rows(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both; a single row is repeated."""
    count = max(len(x) for x in (left, right) if np.ndim(x) == 2)
    return (np.broadcast_to(left, (count, np.shape(left)[-1])), np.broadcast_to(right, (count, np.shape(right)[-1])))
