"""What a check is: what it evaluates, how its margins compare with those of others, and how results are described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..dynamics.coordinates import Curves
from ..scene.labels import display_name
from ..skeleton.rig import Rig
from .check_input import CheckedBody, CheckInput

COMFORTABLE_SHARE = 0.1
"""A margin of this share of a limit, of this angle [rad] or of this share of the sole's length is comfortable."""


@dataclass(frozen=True, slots=True)
class CheckItems:
    """What a check evaluates.

    Attributes:
        names: (K,).
        links: (K,) links to colour when an item fails.
    """

    names: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class NearMargins:
    """Margins of the items that are near enough to be measured: for checks of many pairs.

    Attributes:
        indices: (k,) of the check's items.
        values: (N, k).
        far_margin: lower bound for every item that is not listed.
    """

    indices: np.ndarray
    values: np.ndarray
    far_margin: float


def smallest_margins(margins: np.ndarray | NearMargins) -> np.ndarray:
    """The smallest margin (N,) of each frame, of all items (N, K) or of the near ones."""
    if isinstance(margins, NearMargins):
        return np.asarray(margins.values.min(axis=1, initial=margins.far_margin))
    return np.asarray(margins.min(axis=1))


@dataclass(frozen=True, slots=True)
class CheckMessages:
    """How results of a check are described.

    Attributes:
        plural: what is evaluated, ``"joint torques"``.
        failure: message for a failure, with ``{item}`` and ``{far}``, the distance beyond the limit.
        satisfied: message for a satisfied limit; ``{far}`` is the distance to it.
        format_value: number and unit of a margin.
    """

    plural: str
    failure: str
    satisfied: str
    format_value: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class SmoothLimit:
    """How optimisations take a check as a smooth limit.

    Attributes:
        scale: [the check's unit] one unit of violation, so that violations of different checks can be added.
        smooth_margins: (N, k) to use instead of the check's margins where those have kinks.
        near_only: for checks of many items: ``"pairs"`` uses the capsule distances of near pairs, ``"links"`` the
            margins of low links.
        allowance: [the check's unit] violation that is tolerated because inverse kinematics removes it.
        largest_margin: [the check's unit] largest possible margin. A limit that has it, less the allowance, is kept by
            the solved legs and needs no row. None: there is no largest margin.
        joint_derivatives: (N, K) derivative of each margin by its joint coordinate, or by its speed; for checks of
            single joints.
    """

    scale: float
    smooth_margins: Callable[[CheckInput], np.ndarray] | None = None
    near_only: Literal["", "pairs", "links"] = ""
    allowance: float = 0.0
    largest_margin: Callable[[CheckedBody], float] | None = None
    joint_derivatives: Callable[[Rig, Curves], np.ndarray] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One row of `check_table.CHECKS`. No other file names a check.

    Attributes:
        name: ``"joint torque"``.
        unit: of its margins.
        limit: what the margins are distances to, for the documentation.
        messages: how results are described.
        items: what it evaluates on a body.
        margins: (N, K) margin of each item, negative beyond the limit; or those of near items.
        comfortable_margin: a margin this large is comfortable. Margins of different checks are compared in this unit.
        category: overlays and attribution distinguish ``"joints"``, ``"balance"``, ``"feet"``, ``"body"`` and
            ``"touch"``.
        depends_on: ``"posture"`` alone (it can fail at rest), also ``"speed"``, or also ``"force"``. Margins by force
            depend on the torque of their own joint, on the required wrench and what follows from it, and on the centre
            of mass.
        applies_when: contact state in which it applies.
        needs_contacts: it applies only if a contact schedule is given.
        report_below: [unit] a satisfied limit is reported if its margin is smaller.
        no_items_label: label of the result if no item is near enough to be measured.
        sampling_margin: [unit] what a coarse sample keeps beyond the limit, so that the frames between samples keep it.
        smooth_limit: how optimisations take it; None: they ignore it.
        limits_transitions: the search for exciting transitions keeps its smallest margin, besides the joint limits. Its
            derivatives are by the loads of the feet.
    """

    name: str
    unit: str
    limit: str
    messages: CheckMessages
    items: Callable[[CheckedBody], CheckItems]
    margins: Callable[[CheckInput], np.ndarray | NearMargins]
    comfortable_margin: Callable[[CheckedBody], float]
    category: Literal["joints", "balance", "feet", "body", "touch"]
    depends_on: Literal["posture", "speed", "force"]
    applies_when: Literal["always", "standing", "airborne"] = "always"
    needs_contacts: bool = True
    report_below: float = np.inf
    no_items_label: str = ""
    sampling_margin: float = 0.0
    smooth_limit: SmoothLimit | None = None
    limits_transitions: bool = False

    @property
    def fails_at_rest(self) -> bool:
        """A posture alone can fail it, so that a slower motion does not help."""
        return self.depends_on == "posture"

    @property
    def eases_when_slower(self) -> bool:
        """A slower motion brings it towards its value at rest."""
        return self.depends_on == "force" and self.applies_when != "airborne"

    def applies_to(self, inputs: CheckInput) -> bool:
        """Whether it applies in the contact phase of the frames."""
        return self.applies_when == "always" or (self.applies_when == "airborne") == inputs.airborne

    def describe(self, item: str, margin: float, failed: bool) -> str:
        """``"joint torque of right ankle is 12 % beyond its limit"``."""
        message = self.messages.failure if failed else self.messages.satisfied
        return message.format(item=display_name(item), far=self.messages.format_value(abs(margin)))


def comfortable_share(_: CheckedBody) -> float:
    """`COMFORTABLE_SHARE`, whatever the body."""
    return COMFORTABLE_SHARE
