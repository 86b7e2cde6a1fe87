"""The file of what is not known of a result's inertials: for whoever weighs them against other evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from ..formats.codec import FileKind
from ..inertials import PER_LINK


@dataclass(frozen=True, slots=True)
class InertialCovariance:
    """Covariance of the inertial parameters of all links together.

    Attributes:
        links: L names.
        root: (M, L, 10) changes of the parameters, SI, whose squares sum to their covariance.
    """

    links: tuple[str, ...]
    root: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(str(link) for link in self.links))
        object.__setattr__(self, "root", frozen("covariance root", self.root, (None, len(self.links), PER_LINK)))


COVARIANCE = FileKind(InertialCovariance, "exciting dance covariance", remedy="Identify again")
"""The file of a covariance, an archive."""
