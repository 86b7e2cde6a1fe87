"""Link poses and Jacobians of a rig at single configurations."""

from __future__ import annotations

import numpy as np

from ..engine import PosedTree
from ..rig import Rig


class Workspace(PosedTree):
    """Poses and Jacobians of a rig's links at the last configuration.

    Args:
        rig: with L links.
        movable: the joint centres of this workspace's copy may be moved.
    """

    def __init__(self, rig: Rig, *, movable: bool = False) -> None:
        super().__init__(rig.model, movable=movable)
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
