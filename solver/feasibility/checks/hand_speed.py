"""Check of the speed of the hands, for comfort."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...dynamics import link_motions
from ...scene.labels import format_length
from ...skeleton.rig import Rig
from ..check_definition import Check, CheckItems, CheckMessages
from ..check_input import CheckedBody, CheckInput


@lru_cache(maxsize=64)
def hand_links(rig: Rig) -> tuple[str, ...]:
    """Last links of the limbs that are mirrored and do not end in a sole."""
    legs = {link for patch in rig.soles for link in rig.path(rig.index(patch.link))}
    below = rig.descendants[sorted(legs)].any(axis=0) if legs else np.zeros(len(rig.links), bool)
    ends = rig.descendants.sum(axis=1) == rig.descendants.sum(axis=1).min()
    paired = {link for pair in rig.pairs for link in pair}
    return tuple(link for k, link in enumerate(rig.links) if ends[k] and not below[k] and link in paired)


def _format_speed(speed: float) -> str:
    return f"{format_length(speed)}/s"


def _items(body: CheckedBody) -> CheckItems:
    hands = hand_links(body.rig) if np.isfinite(body.options.hand_speed) else ()
    return CheckItems(hands, tuple((hand,) for hand in hands))


def _margins(inputs: CheckInput) -> np.ndarray:
    body = inputs.body
    if not np.isfinite(body.options.hand_speed):
        return np.zeros((len(inputs), 0))
    moved = link_motions(body.rig, inputs.motion)
    hands = [body.rig.index(hand) for hand in hand_links(body.rig)]
    return body.options.hand_speed - np.linalg.norm(moved.velocity[:, hands], axis=0).T


HAND_SPEED = Check(
    name="hand speed",
    unit="m/s",
    limit="largest speed of the hands, if there is one",
    items=_items,
    margins=_margins,
    comfortable_margin=lambda body: 0.1 * body.options.hand_speed,
    messages=CheckMessages(
        "speeds of the hands", "{item} is {far} faster than allowed", "{item} could be {far} faster", _format_speed
    ),
    category="joints",
    depends_on="speed",
    needs_contacts=False,
    sampling_margin=0.02,
)
