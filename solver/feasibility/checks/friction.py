"""Checks of each foot's load: it neither slides nor turns on the floor, and does not pull, bonnet2016 (19)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...scene.labels import format_percent
from ..check_definition import Check, CheckItems, CheckMessages, SmoothLimit, comfortable_share
from ..check_input import CheckedBody, CheckInput
from ..contact_forces import friction_margins_by_side, yaw_margins_by_side


def patch_items(body: CheckedBody) -> CheckItems:
    """Every contact patch."""
    return CheckItems(body.rig.patches, tuple((patch.link,) for patch in body.rig.contacts))


def _friction_margins_by_side(inputs: CheckInput) -> np.ndarray:
    body = inputs.body
    return friction_margins_by_side(inputs.loads, inputs.planted.axes, body.options.friction, body.weight)


def _yaw_margins_by_side(inputs: CheckInput) -> np.ndarray:
    body, planted = inputs.body, inputs.planted
    return yaw_margins_by_side(
        inputs.loads, planted.centres, planted.axes, planted.half_lengths, body.options.friction, body.weight
    )


def _least_margins(by_side: Callable[[CheckInput], np.ndarray], inputs: CheckInput) -> np.ndarray:
    """The smallest margin of every patch (N, P), from margins (N, k F) of k sides of every loaded patch."""
    sides = by_side(inputs).reshape(len(inputs.loads), -1, inputs.loads.shape[1])
    return inputs.expand_to_patches(sides.min(axis=1))


def _pressing_margins(inputs: CheckInput) -> np.ndarray:
    distribution = inputs.planted.load_distribution
    pressing = inputs.loads[:, :, 2] if distribution is None else distribution.edge_loads(inputs.loads)
    return inputs.expand_to_patches(pressing / inputs.body.weight)


FRICTION = Check(
    name="friction",
    unit="of the weight",
    limit="friction coefficient times the vertical force of each foot",
    items=patch_items,
    margins=partial(_least_margins, _friction_margins_by_side),
    comfortable_margin=comfortable_share,
    messages=CheckMessages(
        "friction",
        "{item} lacks friction for {far} of the weight",
        "{item} has friction for {far} of the weight to spare",
        format_percent,
    ),
    category="feet",
    depends_on="force",
    applies_when="standing",
    sampling_margin=0.02,
    smooth_limit=SmoothLimit(0.1, smooth_margins=_friction_margins_by_side),
    limits_transitions=True,
)
TWIST = Check(
    name="twist",
    unit="of the weight",
    limit="yaw moment that friction under each foot resists",
    items=patch_items,
    margins=partial(_least_margins, _yaw_margins_by_side),
    comfortable_margin=comfortable_share,
    messages=CheckMessages(
        "turning feet",
        "{item} would turn on the floor: friction for {far} of the weight is missing",
        "{item} does not turn on the floor: friction for {far} of the weight to spare",
        format_percent,
    ),
    category="feet",
    depends_on="force",
    applies_when="standing",
    sampling_margin=0.005,
    smooth_limit=SmoothLimit(0.1, smooth_margins=_yaw_margins_by_side),
    limits_transitions=True,
)
UNILATERAL = Check(
    name="unilateral",
    unit="of the weight",
    limit="no vertical force of a foot pulls",
    items=patch_items,
    margins=_pressing_margins,
    comfortable_margin=comfortable_share,
    messages=CheckMessages(
        "weight on each foot",
        "{item} would have to pull on the floor with {far} of the weight",
        "{item} presses on the floor with {far} of the weight",
        format_percent,
    ),
    category="feet",
    depends_on="force",
    applies_when="standing",
    sampling_margin=0.02,
    smooth_limit=SmoothLimit(0.1),
)
