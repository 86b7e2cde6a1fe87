"""Whether planted soles turn on the floor: the yaw moment that friction holds, which bonnet2016 leaves out of (19).

Fast arms and legs turn the body about the vertical. A rectangular sole under sliding friction of a pyramid holds the
yaw moments between two bounds in closed form (Caron, Pham and Nakamura, Stability of surface contacts for humanoid
robots, ICRA 2015); the pyramid inside Coulomb's cone is taken, so that what is allowed is held in any direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

COUPLES = (0.0, 0.5, 1.0)
"""Shares of the yaw moment that two soles may hold by pushing sideways against each other; the best counts."""


def half_lengths(corners: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Half length and width (2,) [m] of the rectangle like a sole (V, 3) along its horizontal axes (2, 2).

    A rectangle has its own; corners of a rounder sole count with their root mean square.
    """
    flat = corners[:, :2] - corners[:, :2].mean(axis=0)
    return np.sqrt(((flat @ axes.T) ** 2).mean(axis=0))


def twist_margins(
    loads: np.ndarray, centres: np.ndarray, axes: np.ndarray, halves: np.ndarray, friction: float, weight: float
) -> np.ndarray:
    """Margin (N, F) of the yaw moment under each patch, see `twist_by_side`: of the side that it turns to."""
    sides = twist_by_side(loads, centres, axes, halves, friction, weight)
    return np.minimum(*np.split(sides, 2, axis=1))


def twist_by_side(
    loads: np.ndarray, centres: np.ndarray, axes: np.ndarray, halves: np.ndarray, friction: float, weight: float
) -> np.ndarray:
    """Margins (N, 2 F) of the yaw moment under each patch, over its lever (the half lengths' sum), as share of the
    weight: of turning to the left under every patch, then to the right.

    Args:
        loads: (N, F, 6) wrenches under the patches, world axes, about the world origin [N, N m].
        centres: (F, 3) [m] centres of the patches, world.
        axes: (F, 2, 2) horizontal axes of each patch.
        halves: (F, 2) [m] half lengths along them.
        friction: mu of Coulomb's cone.
        weight: [N].
    """
    force = loads[:, :, :3]
    moment = loads[:, :, 3:] - np.cross(centres, force)
    # frames n, patches f, world directions i, a patch's own axes a
    pushed = _Pushed(
        np.einsum("nfi,fai->nfa", force[:, :, :2], axes), force[:, :, 2],
        np.einsum("nfi,fai->nfa", moment[:, :, :2], axes), moment[:, :, 2],
    )  # fmt: skip
    mu = friction / np.sqrt(2.0)
    if loads.shape[1] != 2:
        return _margins(pushed, halves, mu, weight)
    between = centres[1, :2] - centres[0, :2]
    across = np.array([-between[1], between[0]]) / max(float(between @ between), 1e-12)
    # patches f, their axes a, world directions i
    sideways = np.einsum("fai,i->fa", axes, across) * np.array([[-1.0], [1.0]])
    tried = [_margins(pushed.coupled(share, sideways), halves, mu, weight) for share in COUPLES]
    best = np.argmax([margins.min(axis=1) for margins in tried], axis=0)
    return np.array(tried)[best, np.arange(len(loads))]


@dataclass(frozen=True, slots=True)
class _Pushed:
    """What soles are pushed with, each about its centre in its own axes.

    Attributes:
        flat: (N, F, 2) [N] horizontal force.
        normal: (N, F) [N] vertical force.
        tilt: (N, F, 2) [N m] moment about the horizontal axes.
        yaw: (N, F) [N m] moment about the vertical.
    """

    flat: np.ndarray
    normal: np.ndarray
    tilt: np.ndarray
    yaw: np.ndarray

    def coupled(self, share: float, sideways: np.ndarray) -> _Pushed:
        """With a share of both soles' yaw moment held by their sideways (F, 2) [1/m] forces on each other instead."""
        flat = self.flat + share * self.yaw.sum(axis=1)[:, None, None] * sideways
        return replace(self, flat=flat, yaw=(1.0 - share) * self.yaw)


def _margins(pushed: _Pushed, halves: np.ndarray, mu: float, weight: float) -> np.ndarray:
    """(N, 2 F) room of the yaw moment below its upper and above its lower bound, over the lever and the weight."""
    x, y = halves[:, 0], halves[:, 1]
    flat, tilt, most = pushed.flat, pushed.tilt, mu * (x + y) * pushed.normal
    low = -most + np.abs(y * flat[..., 0] - mu * tilt[..., 0]) + np.abs(x * flat[..., 1] - mu * tilt[..., 1])
    high = most - np.abs(y * flat[..., 0] + mu * tilt[..., 0]) - np.abs(x * flat[..., 1] + mu * tilt[..., 1])
    lever = weight * (x + y)
    return np.concatenate([(high - pushed.yaw) / lever, (pushed.yaw - low) / lever], axis=1)
