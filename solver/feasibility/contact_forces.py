"""Zero-moment point, the load each foot carries, friction, yaw moment and torques: bonnet2016 (1), (2), (16), (19)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..contacts.support import SupportPolygon
from ..dynamics.mechanics import DynamicState, contact_joint_forces
from ..skeleton.rig import ROOT_NV, Rig

MIN_LOAD = 0.01
"""Smallest vertical force, over the weight, with which a zero-moment point is computed."""

TURNING = slice(5, 13)
"""Of `cone_rows`."""
HORIZONTAL_TOLERANCE = 1e-3
"""An axis with a smaller vertical component is horizontal."""


def zero_moment_point(
    wrench: np.ndarray, ground: float | np.ndarray, weight: float, reference: np.ndarray | None = None
) -> np.ndarray:
    """Point (N, 2) [m] on the ground about which the wrench has no horizontal moment, (1).

    Args:
        wrench: (N, 6) world axes, about the world origin [N, N m].
        ground: [m] height of the floor, or (N,) heights.
        weight: [N] of the body; vertical forces below `MIN_LOAD` of it count as that much.
        reference: (2,) [m] zero-moment point of a body without vertical force; the world's origin by default.
    """
    vertical = bounded_vertical_force(wrench, weight)
    point = np.zeros(2) if reference is None else reference
    tilting = np.stack([ground * wrench[:, 0] - wrench[:, 4], ground * wrench[:, 1] + wrench[:, 3]], axis=1)
    return point + (tilting - wrench[:, 2:3] * point) / vertical[:, None]


def bounded_vertical_force(wrench: np.ndarray, weight: float) -> np.ndarray:
    """Vertical force (N,) [N] of wrenches (N, 6), at least `MIN_LOAD` of the weight, for zero-moment points."""
    return np.maximum(wrench[:, 2], MIN_LOAD * weight)


def load_shares(
    zmp: np.ndarray, centres: np.ndarray, rule: str = "distance", outlines: Sequence[SupportPolygon] = ()
) -> np.ndarray:
    """Share of the load (N, F) that each of F planted patches carries; every row sums to one.

    - ``"distance"``: (2) as intended, F_right = F_0 d_left / (d_left + d_right), so that the nearer foot carries more
      (as printed, the farther one would). For F patches, shares are inverse to the distances.
    - ``"soles"``: (2) with the distances from the soles. A foot carries nothing while the ZMP is in another sole, so
      that the load is continuous when a foot touches or leaves the floor.

    Args:
        zmp: (N, 2) [m].
        centres: (F, 2) [m] centres of the patches.
        rule: as in `CheckOptions.distribution`.
        outlines: of the patches, for the rule ``"soles"``.
    """
    count = len(centres)
    if count == 1:
        return np.ones((len(zmp), 1))
    if rule == "soles":
        distances = np.stack([np.maximum(-sole.margin(zmp), 0.0) for sole in outlines], axis=1)
    else:
        distances = np.linalg.norm(zmp[:, None] - centres, axis=2)
    others = np.stack([np.delete(distances, k, axis=1).prod(axis=1) for k in range(count)], axis=1)
    total = others.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, others / np.where(total > 0.0, total, 1.0), 1.0 / count)


def foot_wrenches(wrench: np.ndarray, shares: np.ndarray, centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Wrench (N, F, 6) under each patch, world axes about the world origin; they add up to the total.

    1. Each patch pushes at its centre with its share of the force.
    2. Part of the remaining yaw moment is produced by horizontal forces between the patches, as of springs with
       stiffness proportional to the load, all rotated by one angle about their centre.
    3. The remaining moment is distributed by the same shares, so that all centres of pressure have the same offset
       from their patch's centre.

    Args:
        wrench: (N, 6) total, world axes, about the world origin.
        shares: (N, F).
        centres: (F, 3) [m] centres of the patches, world.
        sizes: (F,) [m] of the patches: levers of their yaw moments.
    """
    force = shares[:, :, None] * wrench[:, None, :3]
    yaw = wrench[:, 5] - np.cross(centres, force)[:, :, 2].sum(axis=1)
    arms = centres[None, :, :2] - (shares @ centres[:, :2])[:, None]
    reach = (arms**2).sum(axis=2) + sizes**2
    turned = yaw / (shares * reach).sum(axis=1)
    pushed = (shares * turned[:, None])[:, :, None] * arms
    force[:, :, 0] -= pushed[:, :, 1]
    force[:, :, 1] += pushed[:, :, 0]
    moment = np.cross(centres, force)
    left_over = wrench[:, 3:] - moment.sum(axis=1)
    return np.concatenate([force, moment + shares[:, :, None] * left_over[:, None]], axis=2)


def joint_torques(rig: Rig, state: DynamicState, links: Sequence[str], wrenches: np.ndarray) -> np.ndarray:
    """Joint torques (N, nv - 6) [N m] of the lower rows of (1), with wrenches (N, F, 6) acting on F links."""
    torques = state.tau[:, ROOT_NV:].copy()
    for column, link in enumerate(links):
        columns, forces = contact_joint_forces(rig, state, link, wrenches[:, column])
        torques[:, columns] -= forces
    return torques


def surface_axes(corners: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Horizontal axes (2, 2), one per row, of a planted patch: a horizontal axis of its link, else the longest side.

    Args:
        corners: (V, 3) [m] of the patch, world.
        rotation: (3, 3) axes of its link, world.
    """
    level = np.flatnonzero(np.abs(rotation[2]) < HORIZONTAL_TOLERANCE)
    flat = corners[:, :2] - corners[:, :2].mean(axis=0)
    along = rotation[:2, level[0]] if len(level) else np.linalg.svd(flat)[2][0]
    along = along / np.linalg.norm(along)
    return np.array([along, [-along[1], along[0]]])


def friction_margins_by_side(loads: np.ndarray, axes: np.ndarray, friction: float, weight: float) -> np.ndarray:
    """Margins (N, 4 F) of (19), mu F_z - |F_x| and mu F_z - |F_y| over the weight, of every patch; linear in the loads.

    They are forwards, to the left, backwards and to the right. (19) is printed with mu on the wrong side.

    Args:
        loads: (N, F, 6) wrenches under the patches.
        axes: (F, 2, 2) horizontal axes of each patch.
        friction: mu.
        weight: [N] of the body.
    """
    # frames n, patches f, world directions i, a patch's own axes a
    tangential = np.einsum("nfi,fai->naf", loads[:, :, :2], axes)
    holds = friction * loads[:, None, :, 2]
    sides = np.concatenate([holds - tangential, holds + tangential], axis=1)
    return sides.reshape(len(loads), 4 * len(axes)) / weight


def half_lengths(corners: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Half length and half width (2,) [m] of a sole (V, 3) along its horizontal axes (2, 2).

    They are the root mean square of its corners, which is exact for a rectangle.
    """
    flat = corners[:, :2] - corners[:, :2].mean(axis=0)
    return np.sqrt(((flat @ axes.T) ** 2).mean(axis=0))


def yaw_margins_by_side(
    loads: np.ndarray, centres: np.ndarray, axes: np.ndarray, half_sizes: np.ndarray, friction: float, weight: float
) -> np.ndarray:
    """Margins (N, 8 F) of the yaw moment under each patch, linear in the loads: four to the left of every patch, then
    four to the right.

    The moment is divided by the sum of the half lengths and by the weight. Fast motions of arms and legs produce yaw
    moments. The bounds for a rectangular sole with a friction pyramid have a closed form (Caron, Pham and Nakamura,
    Stability of surface contacts for humanoid robots, ICRA 2015). The pyramid lies inside Coulomb's cone, so that the
    bounds hold in any direction. Yaw moments produced by horizontal forces between two soles are part of their loads
    already (`contact_forces.foot_wrenches`).

    Args:
        loads: (N, F, 6) wrenches under the patches, world axes, about the world origin [N, N m].
        centres: (F, 3) [m] centres of the patches, world.
        axes: (F, 2, 2) horizontal axes of each patch.
        half_sizes: (F, 2) [m] half lengths along them.
        friction: mu of Coulomb's cone.
        weight: [N].
    """
    about = np.concatenate([loads[:, :, :3], loads[:, :, 3:] - np.cross(centres, loads[:, :, :3])], axis=2)
    rows = [
        cone_rows(own, halves, friction)[TURNING] / (weight * halves.sum()) for own, halves in zip(axes, half_sizes)
    ]
    sides = np.einsum("fki,nfi->nkf", np.array(rows).reshape(len(axes), TURNING.stop - TURNING.start, 6), about)
    return sides.reshape(len(loads), sides.shape[1] * len(axes))


def cone_rows(axes: np.ndarray, half_lengths: np.ndarray, friction: float) -> np.ndarray:
    """(13, 6) times a wrench about the centre of a patch: it pushes (1), does not slide (4) and does not turn (8)."""
    up, pushed = np.eye(6)[2], np.zeros((2, 6))
    pushed[:, :2] = axes
    tilted, yaw = np.zeros((2, 6)), np.eye(6)[5]
    tilted[:, 3:5] = axes
    rows = [up, *(friction * up + sign * way for way in pushed for sign in (1.0, -1.0))]
    mu, (x, y) = friction / np.sqrt(2.0), half_lengths
    most = mu * (x + y) * up
    for turn, one, other in product((1.0, -1.0), repeat=3):
        first, second = y * pushed[0] + turn * mu * tilted[0], x * pushed[1] + turn * mu * tilted[1]
        rows.append(most - turn * yaw - one * first - other * second)
    return np.array(rows)
