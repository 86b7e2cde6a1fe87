"""What a check is: what it measures, how its margins compare with others', and how it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..coordinates import Curves
from ..rig import Rig
from ..scene.words import spoken
from .situation import Body, Situation


@dataclass(frozen=True, slots=True)
class Items:
    """Things that a check looks at.

    Attributes:
        names: (K,).
        links: (K,) links to colour when an item fails.
    """

    names: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Near:
    """Margins of the items that are near enough to be measured.

    Attributes:
        columns: (k,) which of the check's items.
        values: (N, k).
        others: what every item that is not listed has at least.
    """

    columns: np.ndarray
    values: np.ndarray
    others: float


def least_of(margins: np.ndarray | Near) -> np.ndarray:
    """The smallest margin (N,) of each frame, of all items (N, K) or of the near ones."""
    if isinstance(margins, Near):
        return np.asarray(margins.values.min(axis=1, initial=margins.others))
    return np.asarray(margins.min(axis=1))


@dataclass(frozen=True, slots=True)
class Words:
    """How people speak of a check.

    Attributes:
        plural: what it looks at, ``"joint torques"``.
        fails: the sentence of a failure, of ``{item}`` and ``{far}``, how far beyond the limit.
        holds: the same of a margin that is kept, ``{far}`` from the limit.
        number: the size of a margin.
    """

    plural: str
    fails: str
    holds: str
    number: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Programme:
    """How programmes take a check as a smooth limit.

    Attributes:
        scale: [the check's unit] what counts as one, so that limits can be added up.
        smooth: (N, k) instead of the check's margins, where those have corners.
        nearby: of a check of `Near` items or of many: distances of the capsules of near ``"pairs"``, or the margins of
            low ``"links"`` alone.
        give: [the check's unit] what it may be missed by, because something else sees to it.
        most: [the check's unit] all that may be left; where that is, but for what is given, no motion takes from it
            that the solved legs follow. None: there is no such number.
        own: (N, K) slope of each joint coordinate's margin by that coordinate alone, or by its speed, where the margins
            are of joints and of nothing else.
    """

    scale: float
    smooth: Callable[[Situation], np.ndarray] | None = None
    nearby: Literal["", "pairs", "links"] = ""
    give: float = 0.0
    most: Callable[[Body], float] | None = None
    own: Callable[[Rig, Curves], np.ndarray] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One row of `table.CHECKS`; nothing else in the package names a check.

    Attributes:
        name: ``"joint torque"``.
        unit: of its margins.
        words: how it is said.
        items: what it looks at on a body.
        margins: (N, K) what is left of each item, negative beyond the limit; or those of the `Near` items.
        comfortable: a margin this large is comfortable: by it margins of different checks are compared.
        about: what fails: drawings tell ``"joints"``, ``"balance"`` and ``"touch"`` apart.
        depends: on the posture alone (it can fail standing still), on speeds too, or on forces too: then on torques,
            each on its own, on the wrench that the motion needs, what follows from it, and the centre of mass.
        when: the contacts with which it applies.
        needs_contacts: it must be known which patch stands where.
        news: [unit] a larger margin that is kept is not worth a word.
        none_near: named where no item is near enough to be measured.
        slack: [unit] what a coarse sample keeps beyond the limit, so that the frames between samples keep it.
        programme: how programmes take it; None: not at all.
        transitions: the search of exciting transitions keeps its least margin beside the joints' limits; its slopes are
            by what the feet carry.
    """

    name: str
    unit: str
    words: Words
    items: Callable[[Body], Items]
    margins: Callable[[Situation], np.ndarray | Near]
    comfortable: Callable[[Body], float]
    about: Literal["joints", "balance", "feet", "body", "touch"]
    depends: Literal["posture", "speed", "force"]
    when: Literal["always", "standing", "airborne"] = "always"
    needs_contacts: bool = True
    news: float = np.inf
    none_near: str = ""
    slack: float = 0.0
    programme: Programme | None = None
    transitions: bool = False

    @property
    def static(self) -> bool:
        """A posture alone can fail it, and going slower does not help."""
        return self.depends == "posture"

    @property
    def eased(self) -> bool:
        """Dancing more slowly brings it towards what it is at rest."""
        return self.depends == "force" and self.when != "airborne"

    def applies(self, situation: Situation) -> bool:
        """Whether the phase asks it."""
        return self.when == "always" or (self.when == "airborne") == situation.airborne

    def said(self, item: str, margin: float, failed: bool) -> str:
        """``"joint torque of right ankle is 12 % beyond its limit"``."""
        words = self.words.fails if failed else self.words.holds
        return words.format(item=spoken(item), far=self.words.number(abs(margin)))
