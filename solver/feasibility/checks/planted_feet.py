"""Checks of foot placement: the feet are where the schedule plants them, bonnet2016 (17)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...base.so3 import dot, matrix_product
from ...contacts.rolling import SOLE, RollingSole
from ...contacts.schedule import Anchor
from ...scene.labels import format_length
from ...skeleton.rig import Rig
from ..check_definition import Check, CheckMessages, SmoothLimit
from ..check_input import CheckedBody, CheckInput
from .balance import all_patches_item
from .friction import patch_items

PLACEMENT_POINTS = 3
"""Points of each foot that (17) compares with those of the other foot. Derived: three points determine a placement."""
SLIP_POINTS = 4
"""Corners of each patch that optimisations limit. Derived: with three, a rectangle's fourth could move three times as
far."""
LEG_TOLERANCE = 1e-6
"""[m] Inverse kinematics of the legs leaves a sole this near to its anchor."""


def patch_points(rig: Rig, rotation: np.ndarray, position: np.ndarray, patch: str) -> np.ndarray:
    """Corners (N, V, 3) [m] of a patch, world, from link rotations (N, L, 3, 3) and positions (N, L, 3)."""
    contact = rig.patch(patch)
    link = rig.index(contact.link)
    rotations = rotation[:, link].transpose(1, 2, 0)[:, :, None]  # (3, 3, 1, N)
    corners = matrix_product(rotations, contact.vertices.T[:, None, :, None])[:, 0]
    corners += position[:, link].T[:, None]
    return corners.T


def touching_offsets(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchor: Anchor) -> np.ndarray:
    """Offsets (N, P, 3) [m] of what touches of a patch from where its anchor has it: corners, or ends of an edge."""
    if anchor.part == SOLE:
        return patch_points(rig, rotation, position, anchor.patch) - anchor.points(rig)
    sole, link = RollingSole.of(rig, anchor.patch), rig.index(rig.patch(anchor.patch).link)
    planted = sole.line(anchor.part) @ (anchor.rotation @ sole.axes).T + anchor.position
    return sole.touching_points(anchor.part, rotation[:, link], position[:, link]) - planted


def slip_distances(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor]) -> np.ndarray:
    """Largest distance (N, F) [m] of what touches of each planted patch from its anchored position."""
    offsets = [touching_offsets(rig, rotation, position, anchor) for anchor in anchors]
    return np.stack([np.sqrt(dot(each.T, each.T).max(axis=0)) for each in offsets], axis=1)


def slip_by_axis(
    rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor], allowed: float
) -> np.ndarray:
    """Margins (N, 24 F) [m] of the slip of every corner, in both directions of every axis.

    Unlike `slip_distances` they are smooth where a corner is in place. They keep four corners of each patch in a box.
    The box lies inside the ball of allowed slip, and its half width leaves room for a second patch, so that
    `placement_errors` is limited too.
    """
    limits = allowed * np.tile([np.sqrt(0.125), np.sqrt(0.125), np.sqrt(0.75)], SLIP_POINTS)
    rows = [np.zeros((len(rotation), 0))]
    for anchor in anchors:
        corners = touching_offsets(rig, rotation, position, anchor)
        offsets = corners[:, _evenly_spaced(corners.shape[1], SLIP_POINTS)].reshape(len(corners), 3 * SLIP_POINTS)
        rows += [limits - offsets, limits + offsets]
    return np.concatenate(rows, axis=1)


def placement_errors(rig: Rig, rotation: np.ndarray, position: np.ndarray, anchors: Sequence[Anchor]) -> np.ndarray:
    """Largest error (N,) [m] of (17): three points of one foot against those of the other, horizontally.

    Zero where fewer than two patches are planted. Of more than two, each is compared with the first.
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
    corners = touching_offsets(rig, rotation, position, anchor)[:, :, :2]
    return corners[:, _evenly_spaced(corners.shape[1])]


def _evenly_spaced(corners: int, count: int = PLACEMENT_POINTS) -> np.ndarray:
    return np.linspace(0, corners, count, endpoint=False).astype(int)


def _comfortable_slip(body: CheckedBody) -> float:
    return body.options.allowed_slip + body.options.tolerance


def _allowed_slip(body: CheckedBody) -> float:
    return body.options.allowed_slip


def _slip_margins(inputs: CheckInput) -> np.ndarray:
    state, anchors = inputs.state, inputs.planted.phase.anchors
    distances = slip_distances(inputs.body.rig, state.rotation, state.position, anchors)
    return inputs.expand_to_patches(inputs.body.options.allowed_slip - distances)


def _smooth_slip_margins(inputs: CheckInput) -> np.ndarray:
    """Soles by distance, since inverse kinematics of the legs keeps them in place; other patches axis by axis."""
    anchors, rig, state = inputs.planted.phase.anchors, inputs.body.rig, inputs.state
    others = [anchor for anchor in anchors if not rig.patch(anchor.patch).sole]
    soles = _slip_margins(inputs)[:, [k for k, patch in enumerate(rig.contacts) if patch.sole]]
    if not others:
        return soles
    rows = slip_by_axis(rig, state.rotation, state.position, others, inputs.body.options.allowed_slip)
    return np.concatenate([soles, rows], axis=1)


def _placement_margins(inputs: CheckInput) -> np.ndarray:
    anchors = inputs.planted.phase.anchors
    if len(anchors) < 2:
        return np.full((len(inputs), 1), np.inf)
    error = placement_errors(inputs.body.rig, inputs.state.rotation, inputs.state.position, anchors)
    return (inputs.body.options.allowed_slip - error)[:, None]


SLIP = Check(
    name="slip",
    unit="m",
    limit="allowed distance of each planted foot from its anchor",
    items=patch_items,
    margins=_slip_margins,
    comfortable_margin=_comfortable_slip,
    messages=CheckMessages(
        "planted feet", "{item} slides {far} too far from where it is planted", "{item} stays in place", format_length
    ),
    category="feet",
    depends_on="posture",
    applies_when="standing",
    report_below=-np.inf,
    smooth_limit=SmoothLimit(
        0.005, smooth_margins=_smooth_slip_margins, allowance=LEG_TOLERANCE, largest_margin=_allowed_slip
    ),
)
PLACEMENT = Check(
    name="placement",
    unit="m",
    limit="allowed error of the distance between planted feet",
    items=partial(all_patches_item, "feet"),
    margins=_placement_margins,
    comfortable_margin=_comfortable_slip,
    messages=CheckMessages(
        "feet's distance",
        "the planted feet are {far} too near or too far from each other",
        "the planted feet keep their distance",
        format_length,
    ),
    category="feet",
    depends_on="posture",
    applies_when="standing",
    report_below=-np.inf,
)
