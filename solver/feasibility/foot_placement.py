"""Do the feet stand where the schedule plants them: bonnet2016 (17)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..contacts.schedule import Anchor
from ..dynamics.kinematics import product
from ..rig import Rig
from ..so3 import dot

PLACEMENT_POINTS = 3
"""Points of each foot that (17) ties to the other's."""
SLIP_POINTS = 4
"""Corners of each patch that programmes hold; of three, a rectangle's fourth could move thrice as far."""


def patch_points(rig: Rig, rotation: np.ndarray, position: np.ndarray, patch: str) -> np.ndarray:
    """Corners (N, V, 3) [m] of a patch, world, from link rotations (N, L, 3, 3) and positions (N, L, 3)."""
    contact = rig.patch(patch)
    link = rig.index(contact.link)
    turn = rotation[:, link].transpose(1, 2, 0)[:, :, None]  # (3, 3, 1, N)
    corners = product(turn, contact.vertices.T[:, None, :, None])[:, 0]
    corners += position[:, link].T[:, None]
    return corners.T


def slip_distances(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor]) -> np.ndarray:
    """Largest distance (N, F) [m] of a corner of each planted patch from where it is anchored."""
    moved = [patch_points(rig, rotation, position, anchor.patch) - anchor.points(rig) for anchor in anchors]
    return np.stack([np.sqrt(dot(each.T, each.T).max(axis=0)) for each in moved], axis=1)


def slip_by_axis(
    rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor], allowed: float
) -> np.ndarray:
    """What is left (N, 24 F) [m], corner by corner and both ways along each axis, of the slip that is allowed.

    Smooth where `slip` has a corner, in place; of four corners of each patch, within a box inside the allowed ball of
    which half the width is left to another patch: `placement` is held to as much.
    """
    room = allowed * np.tile([np.sqrt(0.125), np.sqrt(0.125), np.sqrt(0.75)], SLIP_POINTS)
    rows = [np.zeros((len(rotation), 0))]
    for anchor in anchors:
        corners = patch_points(rig, rotation, position, anchor.patch) - anchor.points(rig)
        moved = corners[:, _evenly_spaced(corners.shape[1], SLIP_POINTS)].reshape(len(corners), 3 * SLIP_POINTS)
        rows += [room - moved, room + moved]
    return np.concatenate(rows, axis=1)


def placement_errors(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor]) -> np.ndarray:
    """Largest error (N,) [m] of (17): three points of one foot against those of the other, horizontally.

    Zero where fewer than two patches are planted; of more than two the first is held against each other one.
    """
    error = np.zeros(len(rotation))
    if len(anchors) < 2:
        return error
    first_error = _placement_points(rig, rotation, position, anchors[0])
    for anchor in anchors[1:]:
        relative = _placement_points(rig, rotation, position, anchor) - first_error
        error = np.maximum(error, np.hypot(relative[..., 0], relative[..., 1]).max(axis=1))
    return error


def _placement_points(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchor: Anchor) -> np.ndarray:
    corners = patch_points(rig, rotation, position, anchor.patch)[:, :, :2] - anchor.points(rig)[:, :2]
    return corners[:, _evenly_spaced(corners.shape[1])]


def _evenly_spaced(corners: int, count: int = PLACEMENT_POINTS) -> np.ndarray:
    return np.linspace(0, corners, count, endpoint=False).astype(int)
