"""What a check is: what it measures, how its margins compare with others', and how it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..coordinates import Curves
from ..rig import Rig
from ..scene.labels import display_name
from .check_input import Body, CheckInput


@dataclass(frozen=True, slots=True)
class CheckItems:
    """Things that a check looks at.

    Attributes:
        names: (K,).
        links: (K,) links to colour when an item fails.
    """

    names: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class NearMargins:
    """Margins of the items that are near enough to be measured.

    Attributes:
        indices: (k,) which of the check's items.
        values: (N, k).
        far_margin: what every item that is not listed has at least.
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
    """How people speak of a check.

    Attributes:
        plural: what it looks at, ``"joint torques"``.
        failure: the sentence of a failure, of ``{item}`` and ``{far}``, how far beyond the limit.
        satisfied: the same of a margin that is kept, ``{far}`` from the limit.
        format_value: the size of a margin.
    """

    plural: str
    failure: str
    satisfied: str
    format_value: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class SmoothLimit:
    """How programmes take a check as a smooth limit.

    Attributes:
        scale: [the check's unit] what counts as one, so that limits can be added up.
        smooth_margins: (N, k) instead of the check's margins, where those have corners.
        near_only: of a check of `NearMargins` items or of many: distances of the capsules of near ``"pairs"``, or the
            margins of low ``"links"`` alone.
        allowance: [the check's unit] what it may be missed by, because something else sees to it.
        largest_margin: [the check's unit] all that may be left; where that is, but for what is given, no motion takes
            from it that the solved legs follow. None: there is no such number.
        joint_derivatives: (N, K) slope of each joint coordinate's margin by that coordinate alone, or by its speed,
            where the margins are of joints and of nothing else.
    """

    scale: float
    smooth_margins: Callable[[CheckInput], np.ndarray] | None = None
    near_only: Literal["", "pairs", "links"] = ""
    allowance: float = 0.0
    largest_margin: Callable[[Body], float] | None = None
    joint_derivatives: Callable[[Rig, Curves], np.ndarray] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One row of `table.CHECKS`; nothing else in the package names a check.

    Attributes:
        name: ``"joint torque"``.
        unit: of its margins.
        messages: how it is said.
        items: what it looks at on a body.
        margins: (N, K) what is left of each item, negative beyond the limit; or those of the `NearMargins` items.
        comfortable_margin: a margin this large is comfortable: by it margins of different checks are compared.
        category: what fails: drawings tell ``"joints"``, ``"balance"`` and ``"touch"`` apart.
        depends_on: on the posture alone (it can fail standing still), on speeds too, or on forces too: then on torques,
            each on its own, on the wrench that the motion needs, what follows from it, and the centre of mass.
        applies_when: the contacts with which it applies.
        needs_contacts: it must be known which patch stands where.
        report_below: [unit] a larger margin that is kept is not worth a word.
        no_items_label: named where no item is near enough to be measured.
        sampling_margin: [unit] what a coarse sample keeps beyond the limit, so that the frames between samples keep it.
        smooth_limit: how programmes take it; None: not at all.
        limits_transitions: the search of exciting transitions keeps its least margin beside the joints' limits; its
            slopes are by what the feet carry.
    """

    name: str
    unit: str
    messages: CheckMessages
    items: Callable[[Body], CheckItems]
    margins: Callable[[CheckInput], np.ndarray | NearMargins]
    comfortable_margin: Callable[[Body], float]
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
        """A posture alone can fail it, and going slower does not help."""
        return self.depends_on == "posture"

    @property
    def eases_when_slower(self) -> bool:
        """Dancing more slowly brings it towards what it is at rest."""
        return self.depends_on == "force" and self.applies_when != "airborne"

    def applies_to(self, inputs: CheckInput) -> bool:
        """Whether the phase asks it."""
        return self.applies_when == "always" or (self.applies_when == "airborne") == inputs.airborne

    def describe(self, item: str, margin: float, failed: bool) -> str:
        """``"joint torque of right ankle is 12 % beyond its limit"``."""
        words = self.messages.failure if failed else self.messages.satisfied
        return words.format(item=display_name(item), far=self.messages.format_value(abs(margin)))
