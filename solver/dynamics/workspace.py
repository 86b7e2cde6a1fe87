"""Configurations of a rig: steps between them on its manifold, link poses and Jacobians at single ones."""

from __future__ import annotations

import numpy as np

from .. import engine
from ..skeleton.rig import Rig


class Workspace(engine.PosedTree):
    """Poses and Jacobians of a rig's links at the last configuration.

    Args:
        rig: with L links.
    """

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.model)
        self.rig = rig


def link_poses(rig: Rig, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes (L, 3, 3) and origins (L, 3) [m] of the links in the world at one configuration (nq,)."""
    workspace = Workspace(rig)
    workspace.update_positions(np.asarray(q, float))
    return workspace.rotations, workspace.positions


def contact_corners(rig: Rig, q: np.ndarray) -> list[np.ndarray]:
    """Corners (V, 3) [m] of each sole in the world at one configuration (nq,)."""
    turns, places = link_poses(rig, q)
    owners = ((patch.vertices, rig.index(patch.link)) for patch in rig.soles)
    return [vertices @ turns[link].T + places[link] for vertices, link in owners]


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
