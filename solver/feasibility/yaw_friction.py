"""Yaw moment that friction under a planted sole can resist; bonnet2016 (19) does not include it.

Fast motions of arms and legs produce yaw moments. The bounds for a rectangular sole with a friction pyramid have a
closed form (Caron, Pham and Nakamura, Stability of surface contacts for humanoid robots, ICRA 2015). The pyramid lies
inside Coulomb's cone, so that the bounds hold in any direction. Yaw moments produced by horizontal forces between two
soles are part of their loads already (`contact_forces.foot_wrenches`).
"""

from __future__ import annotations

import numpy as np


def half_lengths(corners: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Half length and half width (2,) [m] of a sole (V, 3) along its horizontal axes (2, 2).

    They are the root mean square of its corners, which is exact for a rectangle.
    """
    flat = corners[:, :2] - corners[:, :2].mean(axis=0)
    return np.sqrt(((flat @ axes.T) ** 2).mean(axis=0))


def yaw_margins(
    loads: np.ndarray, centres: np.ndarray, axes: np.ndarray, half_sizes: np.ndarray, friction: float, weight: float
) -> np.ndarray:
    """Margin (N, F) of the yaw moment under each patch: the smaller one of `yaw_margins_by_side`."""
    sides = yaw_margins_by_side(loads, centres, axes, half_sizes, friction, weight)
    return np.minimum(*np.split(sides, 2, axis=1))


def yaw_margins_by_side(
    loads: np.ndarray, centres: np.ndarray, axes: np.ndarray, half_sizes: np.ndarray, friction: float, weight: float
) -> np.ndarray:
    """Margins (N, 2 F) of the yaw moment under each patch: to the left for every patch, then to the right.

    The moment is divided by the sum of the half lengths and by the weight.

    Args:
        loads: (N, F, 6) wrenches under the patches, world axes, about the world origin [N, N m].
        centres: (F, 3) [m] centres of the patches, world.
        axes: (F, 2, 2) horizontal axes of each patch.
        half_sizes: (F, 2) [m] half lengths along them.
        friction: mu of Coulomb's cone.
        weight: [N].
    """
    moment = loads[:, :, 3:] - np.cross(centres, loads[:, :, :3])
    # frames n, patches f, world directions i, a patch's own axes a
    flat = np.einsum("nfi,fai->nfa", loads[:, :, :2], axes)
    tilt = np.einsum("nfi,fai->nfa", moment[:, :, :2], axes)
    x, y, mu = half_sizes[:, 0], half_sizes[:, 1], friction / np.sqrt(2.0)
    most = mu * (x + y) * loads[:, :, 2]
    low = -most + np.abs(y * flat[..., 0] - mu * tilt[..., 0]) + np.abs(x * flat[..., 1] - mu * tilt[..., 1])
    high = most - np.abs(y * flat[..., 0] + mu * tilt[..., 0]) - np.abs(x * flat[..., 1] + mu * tilt[..., 1])
    lever, yaw = weight * (x + y), moment[:, :, 2]
    return np.concatenate([(high - yaw) / lever, (yaw - low) / lever], axis=1)
