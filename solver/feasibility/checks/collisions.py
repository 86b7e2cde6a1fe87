"""Checks of collisions: links touch neither each other nor the floor, bonnet2016 III.D."""

from __future__ import annotations

import numpy as np

from ...contacts.rolling import RollingSole
from ...scene.labels import format_length
from ..check_definition import Check, CheckItems, CheckMessages, NearMargins, SmoothLimit
from ..check_input import CheckedBody, CheckInput

COMFORTABLE_DISTANCE = 0.01
"""A distance of this share of the body's size is comfortable."""
FLOOR_REPORT_HEIGHT = 0.01
"""[m] Links that are higher above the floor are not reported while the check is satisfied."""


def _comfortable_distance(body: CheckedBody) -> float:
    return min(body.options.reach, COMFORTABLE_DISTANCE * body.size)


def _pair_items(body: CheckedBody) -> CheckItems:
    return CheckItems(tuple(f"{one} and {other}" for one, other in body.detector.pairs), body.detector.pairs)


def _link_items(body: CheckedBody) -> CheckItems:
    return CheckItems(body.rig.links, tuple((link,) for link in body.rig.links))


def _collision_margins(inputs: CheckInput) -> NearMargins:
    options, state = inputs.body.options, inputs.state
    near = inputs.body.detector.find_near_pairs(inputs.curves.q, state.rotation, state.position)
    pairs, columns = np.unique(near.pairs, return_inverse=True)
    values = np.full((len(inputs), len(pairs)), options.reach)
    np.minimum.at(values, (near.frames, columns.reshape(-1)), near.distances)
    return NearMargins(pairs, values - options.clearance, options.reach - options.clearance)


def _floor_margins(inputs: CheckInput) -> np.ndarray:
    rig, swing = inputs.body.rig, inputs.body.options.foot_clearance
    heights = inputs.body.detector.floor_distances(inputs.state.rotation, inputs.state.position, inputs.ground)
    for patch in rig.contacts:
        if patch.toes:  # shapes of feet are rigid, their toes are not
            link, sole = rig.index(patch.link), RollingSole.of(rig, patch.name)
            points = sole.lowest_points(inputs.state.rotation[:, link], inputs.state.position[:, link])
            heights[:, link] = points[:, :, 2].min(axis=1) - inputs.ground
    planted = {rig.index(link) for link in inputs.planted.links}
    heights[:, sorted(planted)] = np.inf
    if swing:
        standing = set(planted)  # with the toes of planted feet
        for link, parent in enumerate(rig.parents):
            if parent in standing:
                standing.add(link)
        heights[:, sorted({rig.index(patch.link) for patch in rig.contacts} - standing)] -= swing
    return heights


SELF_COLLISION = Check(
    name="self-collision",
    unit="m",
    limit="clearance between links that are not neighbours",
    items=_pair_items,
    margins=_collision_margins,
    comfortable_margin=_comfortable_distance,
    messages=CheckMessages("collisions", "{item} overlap by {far}", "{item} are {far} apart", format_length),
    category="touch",
    depends_on="posture",
    needs_contacts=False,
    no_items_label="no pair within reach",
    sampling_margin=0.002,
    smooth_limit=SmoothLimit(0.02, near_only="pairs"),
)
FLOOR = Check(
    name="floor",
    unit="m",
    limit="floor; feet in the air also clear it by the swing height",
    items=_link_items,
    margins=_floor_margins,
    comfortable_margin=_comfortable_distance,
    messages=CheckMessages(
        "height above the floor", "{item} is {far} below the floor", "{item} is {far} above the floor", format_length
    ),
    category="touch",
    depends_on="posture",
    report_below=FLOOR_REPORT_HEIGHT,
    smooth_limit=SmoothLimit(0.02, near_only="links"),
)
