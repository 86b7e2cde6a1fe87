"""The covariance of a result's inertial parameters, and its file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from ..inertials import PER_LINK
from ..storage.codec import FileKind


@dataclass(frozen=True, slots=True)
class InertialCovariance:
    """Covariance of the inertial parameters of all links together.

    Attributes:
        links: L names.
        root: (M, L, 10) square root of the covariance, SI: the covariance is the sum of its M outer products.
    """

    links: tuple[str, ...]
    root: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(str(link) for link in self.links))
        object.__setattr__(self, "root", frozen("covariance root", self.root, (None, len(self.links), PER_LINK)))


COVARIANCE = FileKind(InertialCovariance, "exciting dance covariance", remedy="Identify again")
"""The file of a covariance, an archive."""
