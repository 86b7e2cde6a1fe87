"""The covariance of a result's inertial parameters, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..arrays import Array, ArrayValue, Names
from ..inertials import PER_LINK
from ..storage.codec import FileKind


@dataclass(frozen=True, slots=True)
class InertialCovariance(ArrayValue):
    """Covariance of the inertial parameters of all links together.

    Attributes:
        links: L names.
        root: (M, L, 10) square root of the covariance, SI: the covariance is the sum of its M outer products.
    """

    links: Annotated[tuple[str, ...], Names("L")]
    root: Annotated[np.ndarray, Array(None, "L", PER_LINK)]


COVARIANCE = FileKind(InertialCovariance, "exciting dance covariance", remedy="Identify again")
"""The file of a covariance, an archive."""
