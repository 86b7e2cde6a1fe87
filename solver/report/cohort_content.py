"""Content of a cohort's page as plain values: built from the subjects' own reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, abbreviate
from ..base.errors import InvalidValue
from ..signals.pooling import TWO_SIDED_STDS
from ..skeleton.rig import GRAVITY
from ..storage.codec import FileKind
from ..values.inertials import MASS
from .content import Content
from .tables import finite_mean

NO_ERRORS = np.full(6, np.nan)
"""Of the six axes of a wrench, where none is known. By definition."""


@dataclass(frozen=True, slots=True, repr=False)
class CohortMember(ArrayValue):
    """One subject that was identified.

    Attributes:
        name: of the folder.
        subject: the person, in words.
        mass, mass_half_width: [kg] body mass and half of its 95 % interval; NaN if it was not estimated.
        links: L names.
        identified, prior: (L,) [kg] masses.
        std: (L,) [kg] standard deviations of the identification; NaN if there are none.
        rmse: (6,) [N, N m] of the reconstructed wrench on trials not used, mean of trials; NaN if there are none.
        ratio: (6,) RMSE identified over prior, each with its own frequency weights, on trials not used, mean of trials.
        ratio_used: (6,) the same on the trials used.
        marker_error: [m] RMSE over markers and frames, mean of trials; NaN if no markers were tracked.
        trials: names of those with motion and forces.
        warnings: plain sentences.
        is_new: False if the result of an earlier run was reused.
        prior_rmse, unweighted_rmse: (6,) [N, N m] as ``rmse``, of the prior with and without frequency weights.
    """

    name: str
    subject: str
    mass: float
    mass_half_width: float
    links: Annotated[tuple[str, ...], Names("L")]
    identified: Annotated[np.ndarray, Array("L", finite=False)]
    prior: Annotated[np.ndarray, Array("L", finite=False)]
    std: Annotated[np.ndarray, Array("L", finite=False)]
    rmse: Annotated[np.ndarray, Array(6, finite=False)]
    ratio: Annotated[np.ndarray, Array(6, finite=False)]
    ratio_used: Annotated[np.ndarray, Array(6, finite=False)]
    marker_error: float
    trials: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    is_new: bool = True
    prior_rmse: Annotated[np.ndarray, Array(6, finite=False)] = field(default_factory=lambda: NO_ERRORS)
    unweighted_rmse: Annotated[np.ndarray, Array(6, finite=False)] = field(default_factory=lambda: NO_ERRORS)

    @property
    def force_in_body_weights(self) -> float:
        """RMSE of the force on trials not used, mean over three axes, as a fraction of the body weight."""
        return float(np.mean(self.rmse[:3])) / (self.mass * GRAVITY)

    @property
    def mean_ratio(self) -> float:
        """RMSE ratio on trials not used, mean of the axes that have one."""
        return float(finite_mean(self.ratio))

    @property
    def mean_ratio_used(self) -> float:
        """The same on the trials used."""
        return float(finite_mean(self.ratio_used))


@dataclass(frozen=True, slots=True)
class FailedSubject:
    """One subject without a result, and the reason in a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Cohort:
    """Results of a cohort.

    Attributes:
        title: of the page.
        members: subjects that were identified, in order of their names.
        failed: subjects that were not.
        methods: rows (title, text) that apply to all.
    """

    title: str
    members: tuple[CohortMember, ...]
    failed: tuple[FailedSubject, ...] = ()
    methods: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        lines = [f"Cohort {self.title!r}: {len(self.members)} subjects identified, {len(self.failed)} failed"]
        lines += [f"  {abbreviate([member.name for member in self.members])}"] if self.members else []
        return "\n".join([*lines, *(f"  {item.name}: {item.reason}" for item in self.failed)])

    def member(self, name: str) -> CohortMember:
        """One subject.

        Raises:
            InvalidValue: none of that name was identified.
        """
        for member in self.members:
            if member.name == name:
                return member
        identified = ", ".join(m.name for m in self.members) or "none"
        raise InvalidValue(f"no subject {name!r} was identified; identified: {identified}")


def build_member(name: str, content: Content, *, is_new: bool) -> CohortMember:
    """Build one subject's part of the cohort's page from its own report's content."""
    unseen, seen = ([c for c in content.comparisons if c.used == used] for used in (False, True))
    return CohortMember(
        name=name,
        subject=content.subject,
        mass=content.mass,
        mass_half_width=content.mass_half_width,
        links=content.identified.links,
        identified=content.identified.masses,
        prior=content.prior.masses,
        std=content.half_widths[:, MASS] / TWO_SIDED_STDS,
        rmse=_mean(c.identified.rmse for c in unseen),
        prior_rmse=_mean(c.prior.rmse for c in unseen),
        unweighted_rmse=_mean(c.unweighted_prior.rmse for c in unseen),
        ratio=_mean(c.ratio for c in unseen),
        ratio_used=_mean(c.ratio for c in seen),
        marker_error=float(np.mean([t.total for t in content.tracking])) if content.tracking else float("nan"),
        trials=tuple(signals.trial for signals in content.signals),
        warnings=content.warnings,
        is_new=is_new,
    )


def _mean(rows: Iterable[np.ndarray]) -> np.ndarray:
    """Mean over trials; NaN without any."""
    return np.mean([*rows] or [NO_ERRORS], axis=0)


COHORT = FileKind(Cohort, "exciting dance cohort", remedy="Run cohort again: unchanged subjects are reused")
"""The file from which a program reads the figures of the cohort's page."""
