"""What a motion asks of joints and floor, and how that changes with it to first order: what programmes hold.

Inverse dynamics by Pinocchio's derivatives. What the feet carry follows from the wrench that the motion needs, so its
slopes are by the wrench's six components, times those of the wrench; a foot's wrench acts on the joints above it by
their axes, which turn with the joints between them and the root. The same axes say how soles in the air rise and sink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..coordinates import Curves
from ..dynamics.mechanics import DynamicState, carried_axes, inverse_dynamics_derivatives, moving_coordinates
from ..rig import ROOT_NV, Rig
from ..so3 import skew
from .check_input import Body, CheckInput, PlantedPhase

RELATIVE_STEP = 1e-6
"""Difference of a wrench's components, as a share of the weight, and of the weight at the body's size; of places, as a
share of that size."""
WRENCH, COM, TORQUE = slice(0, 6), slice(6, 9), 9
"""What margins by forces depend on: the wrench needed, the centre of mass, and a joint's own torque."""


@dataclass(frozen=True, slots=True)
class LinearisedLoads:
    """What a motion of N frames asks for, with its derivatives.

    Attributes:
        torques: (N, nv - 6) [N m] of the joints.
        zmp: (N, 2) [m] zero-moment point.
        other_margins: (N, C) least margins of checks of the loads, then those above the floor of the corners of soles
            in the air.
        sampling_margins: (C,) of these checks.
        derivatives: (3, N, nv - 4 + C, nv) of all of these by tangent coordinates, their speeds and accelerations.
    """

    torques: np.ndarray
    zmp: np.ndarray
    other_margins: np.ndarray
    sampling_margins: np.ndarray
    derivatives: np.ndarray


@dataclass(frozen=True, slots=True)
class OtherLimits:
    """Checks that are held beside torques and the zero-moment point.

    Attributes:
        load_margins: (N, c) least margins of a situation, which depend on its loads alone.
        sampling_margins: (c,) of their checks.
        height_margins: (N, L) margins of a situation's links above the floor; infinite for those that stand.
        height_sampling_margin: [m] of that check.
    """

    load_margins: Callable[[CheckInput], np.ndarray]
    sampling_margins: np.ndarray
    height_margins: Callable[[CheckInput], np.ndarray]
    height_sampling_margin: float


def linearise_loads(body: Body, planted: PlantedPhase, curves: Curves, other_limits: OtherLimits) -> LinearisedLoads:
    """Loads of frames of one phase on the floor.

    Args:
        body: that moves.
        planted: what stands.
        curves: N frames.
        other_limits: held besides.
    """
    now = CheckInput.from_motion(body, planted, 0.0, curves)
    _, own, axes = inverse_dynamics_derivatives(body.rig, curves.q, curves.v, curves.a)
    wrench = wrench_derivatives(now.state, own, axes[:, :, :ROOT_NV])

    def values(found: CheckInput) -> np.ndarray:
        return np.concatenate([found.torques, found.zmp, other_limits.load_margins(found)], axis=1)

    slopes = derivatives_by_loads(now, values, WRENCH.stop) @ wrench
    torques = slopes[:, :, : body.rig.nv - ROOT_NV]
    torques += own[:, :, ROOT_NV:]
    for column, link in enumerate(planted.links):
        torques[0] -= contact_torque_derivatives(body.rig, axes, link, now.loads[:, column])[:, ROOT_NV:]
    heights, rising = _sole_heights(now, axes, other_limits.height_margins(now))
    slack = np.concatenate(
        [other_limits.sampling_margins, np.full(heights.shape[1], other_limits.height_sampling_margin)]
    )
    margins = np.concatenate([other_limits.load_margins(now), heights], axis=1)
    return LinearisedLoads(now.torques, now.zmp, margins, slack, np.concatenate([slopes, rising], axis=2))


def _sole_heights(now: CheckInput, axes: np.ndarray, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Margins (N, k) above the floor of the corners of soles in the air, and their slopes (3, N, k, nv).

    The lowest corner is given its link's margin (N, L), whatever of the link is lowest.
    """
    rig, count = now.body.rig, len(now)
    found, slopes = [np.zeros((count, 0))], [np.zeros((3, count, 0, rig.nv))]
    for patch in rig.contacts:
        link = rig.index(patch.link)
        if not patch.sole or patch.link in now.planted.links or not np.isfinite(margins[:, link]).all():
            continue
        corners = patch.vertices @ now.state.rotation[:, link].swapaxes(1, 2) + now.state.position[:, link, None]
        height = corners[:, :, 2]
        found.append(margins[:, link, None] + height - height.min(axis=1, keepdims=True))
        own = np.zeros((3, count, len(patch.vertices), rig.nv))
        x, y = corners[:, :, 0, None], corners[:, :, 1, None]
        own[0] = (axes[:, None, 2] + y * axes[:, None, 3] - x * axes[:, None, 4]) * moving_coordinates(rig, patch.link)
        slopes.append(own)
    return np.concatenate(found, axis=1), np.concatenate(slopes, axis=2)


def wrench_derivatives(state: DynamicState, generalised_forces: np.ndarray, root_axes: np.ndarray) -> np.ndarray:
    """Slopes (3, N, 6, nv), world, of the needed wrench from inverse dynamics' and the root's axes (N, 6, 6)."""
    count = len(state)
    turn, place = state.rotation[:, 0], skew(state.position[:, 0])
    world = np.zeros((count, 6, 6))
    world[:, :3, :3] = world[:, 3:, 3:] = turn
    world[:, 3:, :3] = place @ turn
    result = world @ generalised_forces[:, :, :ROOT_NV]
    result[0, :, :, :ROOT_NV] += _moved_wrenches(root_axes, state.wrench)
    return result


def derivatives_by_loads(
    now: CheckInput, values: Callable[[CheckInput], np.ndarray], count: int = TORQUE + 1
) -> np.ndarray:
    """Slopes (N, h, count) of values (N, h) by what they depend on: the first `PUSHED` of it, and `CENTRE` and
    `TORQUE`.

    The last is by all torques, which each value may depend on one of.
    """
    frames, weight, size = len(now), now.body.weight, now.body.size
    steps = RELATIVE_STEP * np.array([*[weight] * 3, *[weight * size] * 3, *[size] * 3, weight * size])[:count]
    many = np.tile(np.arange(frames), count + 1)
    state = now.state.at_frames(many)
    wrench, com, tau = (np.array(part).reshape(count + 1, frames, -1) for part in (state.wrench, state.com, state.tau))
    for shift in range(count):
        if shift < WRENCH.stop:
            wrench[shift, :, shift] += steps[shift]
        elif shift < COM.stop:
            com[shift, :, shift - COM.start] += steps[shift]
        else:
            tau[shift] += steps[shift]
    wrench, com, tau = (part.reshape(len(many), -1) for part in (wrench, com, tau))
    curves = Curves(now.curves.q[many], now.curves.v[many], now.curves.a[many])
    shifted = replace(state, wrench=wrench, com=com, tau=tau)
    found = values(CheckInput.from_state(now.body, now.planted, now.ground, curves, shifted)).reshape(
        count + 1, frames, -1
    )
    return ((found[:count] - found[count]) / steps[:, None, None]).transpose(1, 2, 0)


def contact_torque_derivatives(rig: Rig, axes: np.ndarray, link: str, load: np.ndarray) -> np.ndarray:
    """Slopes (N, nv, nv) by the coordinates of the generalised forces of a wrench (N, 6), world, on a link, by axes."""
    above, moves = carried_axes(rig, link)
    own = axes[:, :, above]
    result = np.zeros((len(axes), rig.nv, rig.nv))
    result[np.ix_(np.arange(len(axes)), above, above)] = -(own.swapaxes(1, 2) @ _moved_wrenches(own, load)) * moves
    return result


def _moved_wrenches(axes: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Changes (N, 6, k) of wrenches (N, 6) moved along twists (N, 6, k)."""
    force, moment = skew(wrench[:, :3]), skew(wrench[:, 3:])
    return np.concatenate([-force @ axes[:, 3:], -moment @ axes[:, 3:] - force @ axes[:, :3]], axis=1)
