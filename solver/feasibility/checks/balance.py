"""Check of balance: the zero-moment point lies in the support polygon, bonnet2016 (16)."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...scene.labels import format_length
from ..check_definition import COMFORTABLE_SHARE, Check, CheckItems, CheckMessages, SmoothLimit
from ..check_input import CheckedBody, CheckInput
from ..contact_forces import bounded_vertical_force


def all_patches_item(name: str, body: CheckedBody) -> CheckItems:
    """One item under a name, with the links of all contact patches."""
    return CheckItems((name,), (tuple(patch.link for patch in body.rig.contacts),))


def _comfortable_zmp(body: CheckedBody) -> float:
    return COMFORTABLE_SHARE * body.sole_length


def _zmp_margins(inputs: CheckInput) -> np.ndarray:
    assert inputs.planted.polygon is not None
    return inputs.planted.polygon.margin(inputs.zmp)[:, None] - inputs.body.options.balance_reserve


def _zmp_margins_by_edge(inputs: CheckInput) -> np.ndarray:
    """Distances from the edges times the vertical force over the weight.

    They stay linear in the wrench where the vertical force is small.
    """
    assert inputs.planted.polygon is not None
    weight = inputs.body.weight
    inside = inputs.planted.polygon.edge_distances(inputs.zmp) - inputs.body.options.balance_reserve
    return inside * (bounded_vertical_force(inputs.state.wrench, weight) / weight)[:, None]


ZMP = Check(
    name="zmp",
    unit="m",
    limit="edges of the shrunk support polygon, less the balance reserve",
    items=partial(all_patches_item, "support polygon"),
    margins=_zmp_margins,
    comfortable_margin=_comfortable_zmp,
    messages=CheckMessages(
        "balance",
        "the zero-moment point is {far} outside the support polygon",
        "the zero-moment point is {far} inside the support polygon",
        format_length,
    ),
    category="balance",
    depends_on="force",
    applies_when="standing",
    sampling_margin=0.001,
    smooth_limit=SmoothLimit(0.02, smooth_margins=_zmp_margins_by_edge),
    limits_transitions=True,
)
