"""What a motion asks of joints and floor, and how that changes with it to first order: what programmes hold.

Inverse dynamics by Pinocchio's derivatives. What the feet carry follows from the wrench that the motion needs, so its
slopes are by the wrench's six components, times those of the wrench; a foot's wrench acts on the joints above it by
their axes, which turn with the joints between them and the root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..coordinates import Curves
from ..dynamics.mechanics import State, inverse_dynamics_slopes, moved_axes
from ..rig import ROOT_NV, Rig
from ..so3 import skew
from .situation import Body, PlantedPhase, Situation

STEP = 1e-6
"""Difference of a wrench's components, as a share of the weight, and of the weight at the body's size."""


@dataclass(frozen=True, slots=True)
class Loads:
    """What a motion of N frames asks for, with its derivatives.

    Attributes:
        torques: (N, nv - 6) [N m] of the joints.
        zmp: (N, 2) [m] zero-moment point.
        others: (N, C) least margins of checks of the loads.
        slopes: (3, N, nv - 4 + C, nv) of all of these by tangent coordinates, their speeds and accelerations.
    """

    torques: np.ndarray
    zmp: np.ndarray
    others: np.ndarray
    slopes: np.ndarray


def loads_of(
    body: Body, planted: PlantedPhase, curves: Curves, others: Callable[[Situation], np.ndarray]
) -> Loads:  # fmt: skip
    """Loads of frames of one phase on the floor.

    Args:
        body: that moves.
        planted: what stands.
        curves: N frames.
        others: (N, C) of a situation, which depend on its loads alone.
    """
    now = Situation.of(body, planted, 0.0, curves)
    _, own, axes = inverse_dynamics_slopes(body.rig, curves.q, curves.v, curves.a)
    wrench = _wrench_slopes(now.state, own, axes[:, :, :ROOT_NV])
    by_wrench = _by_wrench(now, others)
    slopes = by_wrench @ wrench
    torques = slopes[:, :, : body.rig.nv - ROOT_NV]
    torques += own[:, :, ROOT_NV:]
    for column, link in enumerate(planted.links):
        torques[0] -= _carried(body.rig, axes, link, now.loads[:, column])[:, ROOT_NV:]
    return Loads(now.torques, now.zmp, others(now), slopes)


def _wrench_slopes(state: State, own: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Slopes (3, N, 6, nv), world, of the needed wrench from inverse dynamics' and the root's axes (N, 6, 6)."""
    count = len(state)
    turn, place = state.rotation[:, 0], skew(state.position[:, 0])
    world = np.zeros((count, 6, 6))
    world[:, :3, :3] = world[:, 3:, 3:] = turn
    world[:, 3:, :3] = place @ turn
    result = world @ own[:, :, :ROOT_NV]
    result[0, :, :, :ROOT_NV] += _turned(root, state.wrench)
    return result


def _by_wrench(now: Situation, others: Callable[[Situation], np.ndarray]) -> np.ndarray:
    """Slopes (N, h, 6) of torques, zero-moment points and others by the wrench that the motion needs."""
    count, weight = len(now), now.body.weight
    steps = STEP * weight * np.array([1.0, 1.0, 1.0, now.body.size, now.body.size, now.body.size])
    many = np.tile(np.arange(count), 7)
    state = now.state.chosen(many)
    wrench = state.wrench.reshape(7, count, 6)
    for axis in range(6):
        wrench[axis, :, axis] += steps[axis]
    curves = Curves(now.curves.q[many], now.curves.v[many], now.curves.a[many])
    found = Situation.of_state(now.body, now.planted, now.ground, curves, replace(state, wrench=wrench.reshape(-1, 6)))
    values = np.concatenate([found.torques, found.zmp, others(found)], axis=1).reshape(7, count, -1)
    return ((values[:6] - values[6]) / steps[:, None, None]).transpose(1, 2, 0)


def _carried(rig: Rig, axes: np.ndarray, link: str, load: np.ndarray) -> np.ndarray:
    """Slopes (N, nv, nv) by the coordinates of the generalised forces of a wrench (N, 6), world, on a link, by axes."""
    above, moves = moved_axes(rig, link)
    own = axes[:, :, above]
    result = np.zeros((len(axes), rig.nv, rig.nv))
    result[np.ix_(np.arange(len(axes)), above, above)] = -(own.swapaxes(1, 2) @ _turned(own, load)) * moves
    return result


def _turned(axes: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Changes (N, 6, k) of wrenches (N, 6) moved along twists (N, 6, k)."""
    force, moment = skew(wrench[:, :3]), skew(wrench[:, 3:])
    return np.concatenate([-force @ axes[:, 3:], -moment @ axes[:, 3:] - force @ axes[:, :3]], axis=1)
