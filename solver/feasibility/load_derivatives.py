"""Joint torques and contact loads of a motion, and their first derivatives, for optimisations.

Pinocchio computes the derivatives of inverse dynamics. Foot loads follow from the required wrench. Their derivatives
are those by its six components, times the derivatives of the wrench. A foot's wrench acts on the joints above it
through their axes, which rotate with the joints between them and the root. The same axes give the derivatives of the
heights of soles in the air.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..base.so3 import skew
from ..dynamics.coordinates import Curves
from ..dynamics.mechanics import DynamicState, carried_axes, inverse_dynamics_derivatives, moving_coordinates
from ..skeleton.rig import ROOT_NV, Rig
from .check_input import CheckedBody, CheckInput, PlantedPhase
from .checks.hand_speed import HAND_SPEED, hand_links

RELATIVE_STEP = 1e-6
"""Finite-difference step: of forces over the weight, of moments over weight times body size, of positions over size."""
WRENCH, COM, TORQUE = slice(0, 6), slice(6, 9), 9
"""Variables of margins that depend on forces: required wrench, centre of mass, and the torque of one's own joint."""


@dataclass(frozen=True, slots=True)
class LinearisedLoads:
    """Loads of a motion of N frames, with their derivatives.

    Attributes:
        torques: (N, nv - 6) [N m] of the joints.
        zmp: (N, 2) [m] zero-moment point.
        other_margins: (N, C) smallest margins of the checks of loads, then heights of the corners of soles in the air,
            then margins of the speeds of the hands.
        sampling_margins: (C,) of these checks.
        derivatives: (3, N, nv - 4 + C, nv) of all of these by tangent coordinates, velocities and accelerations.
    """

    torques: np.ndarray
    zmp: np.ndarray
    other_margins: np.ndarray
    sampling_margins: np.ndarray
    derivatives: np.ndarray


@dataclass(frozen=True, slots=True)
class OtherLimits:
    """Limits besides those of torques and the zero-moment point.

    Attributes:
        load_margins: function that returns the smallest margins (N, c) of checks that depend on the loads alone.
        sampling_margins: (c,) of these checks.
        height_margins: function that returns the heights (N, L) [m] of the links; infinite for planted ones.
        height_sampling_margin: [m] of that check.
    """

    load_margins: Callable[[CheckInput], np.ndarray]
    sampling_margins: np.ndarray
    height_margins: Callable[[CheckInput], np.ndarray]
    height_sampling_margin: float


def linearise_loads(
    body: CheckedBody, planted: PlantedPhase, curves: Curves, other_limits: OtherLimits
) -> LinearisedLoads:
    """Loads of the frames of one phase on the floor at z = 0.

    Args:
        body: that moves.
        planted: contact phase.
        curves: N frames.
        other_limits: to linearise as well.
    """
    inputs = CheckInput.from_motion(body, planted, 0.0, curves)
    _, own, axes = inverse_dynamics_derivatives(body.rig, curves.q, curves.v, curves.a)
    wrench = wrench_derivatives(inputs.state, own, axes[:, :, :ROOT_NV])

    def values(shifted: CheckInput) -> np.ndarray:
        return np.concatenate([shifted.torques, shifted.zmp, other_limits.load_margins(shifted)], axis=1)

    derivatives = derivatives_by_loads(inputs, values, WRENCH.stop) @ wrench
    torques = derivatives[:, :, : body.rig.nv - ROOT_NV]
    torques += own[:, :, ROOT_NV:]
    for column, link in enumerate(planted.links):
        torques[0] -= contact_torque_derivatives(body.rig, axes, link, inputs.loads[:, column])[:, ROOT_NV:]
    heights, height_derivatives = _sole_heights(inputs, axes, other_limits.height_margins(inputs))
    speeds, speed_derivatives = _hand_speeds(inputs, axes)
    sampling_margins = np.concatenate(
        [
            other_limits.sampling_margins,
            np.full(heights.shape[1], other_limits.height_sampling_margin),
            np.full(speeds.shape[1], HAND_SPEED.sampling_margin),
        ]
    )
    margins = np.concatenate([other_limits.load_margins(inputs), heights, speeds], axis=1)
    derivatives = np.concatenate([derivatives, height_derivatives, speed_derivatives], axis=2)
    return LinearisedLoads(inputs.torques, inputs.zmp, margins, sampling_margins, derivatives)


def _sole_heights(inputs: CheckInput, axes: np.ndarray, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Heights (N, k) of the corners of soles in the air, and their derivatives (3, N, k, nv).

    The lowest corner has its link's margin (N, L), whichever point of the link is lowest.
    """
    rig, count = inputs.body.rig, len(inputs)
    heights, derivatives = [np.zeros((count, 0))], [np.zeros((3, count, 0, rig.nv))]
    for patch in rig.contacts:
        link = rig.index(patch.link)
        if not patch.sole or patch.link in inputs.planted.links or not np.isfinite(margins[:, link]).all():
            continue
        corners = patch.vertices @ inputs.state.rotation[:, link].swapaxes(1, 2) + inputs.state.position[:, link, None]
        height = corners[:, :, 2]
        heights.append(margins[:, link, None] + height - height.min(axis=1, keepdims=True))
        own = np.zeros((3, count, len(patch.vertices), rig.nv))
        x, y = corners[:, :, 0, None], corners[:, :, 1, None]
        own[0] = (axes[:, None, 2] + y * axes[:, None, 3] - x * axes[:, None, 4]) * moving_coordinates(rig, patch.link)
        derivatives.append(own)
    return np.concatenate(heights, axis=1), np.concatenate(derivatives, axis=2)


def _hand_speeds(inputs: CheckInput, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Margins (N, k) of the speeds of the hands, and their derivatives (3, N, k, nv) by the velocities alone.

    A change of the posture mainly rotates a hand's velocity, which does not change the speed.
    """
    rig = inputs.body.rig
    margins = HAND_SPEED.margins(inputs)
    assert isinstance(margins, np.ndarray)
    derivatives = np.zeros((3, *margins.shape, rig.nv))
    for column, link in enumerate(hand_links(rig)[: margins.shape[1]]):
        lever = skew(inputs.state.position[:, rig.index(link)])
        jacobian = (axes[:, :3] - lever @ axes[:, 3:]) * moving_coordinates(rig, link)
        velocity = np.einsum("nij,nj->ni", jacobian, inputs.curves.v)
        speed = np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), np.finfo(float).tiny)
        derivatives[1, :, column] = -np.einsum("ni,nij->nj", velocity / speed, jacobian)
    return margins, derivatives


def wrench_derivatives(state: DynamicState, generalised_forces: np.ndarray, root_axes: np.ndarray) -> np.ndarray:
    """Derivatives (3, N, 6, nv) of the required wrench, world axes, from those of inverse dynamics and the root's axes
    (N, 6, 6)."""
    count = len(state)
    rotation, lever = state.rotation[:, 0], skew(state.position[:, 0])
    world = np.zeros((count, 6, 6))
    world[:, :3, :3] = world[:, 3:, 3:] = rotation
    world[:, 3:, :3] = lever @ rotation
    result = world @ generalised_forces[:, :, :ROOT_NV]
    result[0, :, :, :ROOT_NV] += _moved_wrenches(root_axes, state.wrench)
    return result


def derivatives_by_loads(
    inputs: CheckInput, values: Callable[[CheckInput], np.ndarray], count: int = TORQUE + 1
) -> np.ndarray:
    """Derivatives (N, h, count) of values (N, h) by the first ``count`` variables of `WRENCH`, `COM` and `TORQUE`.

    The last one is by all torques at once, since each value depends on one torque at most.
    """
    frames, weight, size = len(inputs), inputs.body.weight, inputs.body.size
    steps = RELATIVE_STEP * np.array([*[weight] * 3, *[weight * size] * 3, *[size] * 3, weight * size])[:count]
    many = np.tile(np.arange(frames), count + 1)
    state = inputs.state.at_frames(many)
    wrench, com, tau = (np.array(part).reshape(count + 1, frames, -1) for part in (state.wrench, state.com, state.tau))
    for shift in range(count):
        if shift < WRENCH.stop:
            wrench[shift, :, shift] += steps[shift]
        elif shift < COM.stop:
            com[shift, :, shift - COM.start] += steps[shift]
        else:
            tau[shift] += steps[shift]
    wrench, com, tau = (part.reshape(len(many), -1) for part in (wrench, com, tau))
    curves = Curves(inputs.curves.q[many], inputs.curves.v[many], inputs.curves.a[many])
    shifted = replace(state, wrench=wrench, com=com, tau=tau)
    found = values(CheckInput.from_state(inputs.body, inputs.planted, inputs.ground, curves, shifted)).reshape(
        count + 1, frames, -1
    )
    return ((found[:count] - found[count]) / steps[:, None, None]).transpose(1, 2, 0)


def contact_torque_derivatives(rig: Rig, axes: np.ndarray, link: str, load: np.ndarray) -> np.ndarray:
    """Derivatives (N, nv, nv) by the coordinates of the generalised forces of a wrench (N, 6), world, on a link."""
    above, moves = carried_axes(rig, link)
    own = axes[:, :, above]
    result = np.zeros((len(axes), rig.nv, rig.nv))
    result[np.ix_(np.arange(len(axes)), above, above)] = -(own.swapaxes(1, 2) @ _moved_wrenches(own, load)) * moves
    return result


def _moved_wrenches(axes: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Changes (N, 6, k) of wrenches (N, 6) that move with twists (N, 6, k)."""
    force, moment = skew(wrench[:, :3]), skew(wrench[:, 3:])
    return np.concatenate([-force @ axes[:, 3:], -moment @ axes[:, 3:] - force @ axes[:, :3]], axis=1)
