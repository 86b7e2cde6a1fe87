"""Check of flight: a body without contact falls freely."""

from __future__ import annotations

import numpy as np

from ...scene.labels import format_percent
from ..check_definition import Check, CheckItems, CheckMessages, SmoothLimit
from ..check_input import CheckedBody, CheckInput

FLIGHT_END_SHARE = 0.0005
"""Share of the allowed missing wrench that optimisations leave a flight at its ends: there the floor's force begins."""


def _root_item(body: CheckedBody) -> CheckItems:
    return CheckItems(("ballistic motion",), (body.rig.links[:1],))


def _comfortable_flight(body: CheckedBody) -> float:
    return body.options.flight + body.options.tolerance


def _missing_wrench(inputs: CheckInput) -> np.ndarray:
    """Force and moment about the centre of mass (N, 6) that no contact provides.

    The force is a fraction of the weight, the moment one of the weight times the body's size.
    """
    force, body = inputs.state.wrench[:, :3], inputs.body
    moment = inputs.state.wrench[:, 3:] - np.cross(inputs.state.com, force)
    return np.concatenate([force, moment / body.size], axis=1) / body.weight


def _flight_margins(inputs: CheckInput) -> np.ndarray:
    missing = np.linalg.norm(_missing_wrench(inputs).reshape(-1, 2, 3), axis=2).max(axis=1)
    return (inputs.body.options.flight - missing)[:, None]


def _flight_margins_by_axis(inputs: CheckInput) -> np.ndarray:
    missing = _missing_wrench(inputs)
    return FLIGHT_END_SHARE * inputs.body.options.flight - np.concatenate([missing, -missing], axis=1)


FLIGHT = Check(
    name="flight",
    unit="of the weight",
    limit="share of the weight that may be missing while airborne",
    items=_root_item,
    margins=_flight_margins,
    comfortable_margin=_comfortable_flight,
    messages=CheckMessages(
        "flight",
        "nothing carries the body ({far} of its weight missing)",
        "the body flies freely",
        format_percent,
    ),
    category="body",
    depends_on="force",
    applies_when="airborne",
    report_below=-np.inf,
    smooth_limit=SmoothLimit(0.1, smooth_margins=_flight_margins_by_axis),
)
