"""What is left between markers and a tracked body, link by link: which way a link's own markers would move it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import frozen
from .tasks import PositionTask


@dataclass(frozen=True, slots=True)
class LinkResiduals:
    """How the markers of each link pull at it, over time.

    Attributes:
        sums: (N, L, 3) [m] measured less modelled places of the link's markers, summed, world axes.
        weights: (N, L) a number: how many markers that is, those near their gaps counting less.
    """

    sums: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", frozen("pulls of markers", self.sums, (None, None, 3)))
        object.__setattr__(self, "weights", frozen("weights of markers", self.weights, self.sums.shape[:2]))

    @staticmethod
    def from_residuals(
        links: int, task: PositionTask, residuals: np.ndarray, weight_factors: np.ndarray | None
    ) -> LinkResiduals:
        """Pulls at ``links`` links.

        Args:
            links: of the rig, L.
            task: its points, P.
            residuals: (N, P, 3) [m] measured less modelled places of the points, world; NaN where not measured.
            weight_factors: (N, P) of its weight that each point keeps near its gaps; all of it by default.
        """
        seen = np.isfinite(residuals).all(axis=2)
        weights = np.where(seen, task.weights * (1.0 if weight_factors is None else weight_factors), 0.0)
        owners = (task.links == np.arange(links)[:, None]).astype(float)
        sums = np.empty((len(residuals), links, 3))
        for axis in range(3):
            sums[:, :, axis] = (weights * np.where(seen, residuals[:, :, axis], 0.0)) @ owners.T
        return LinkResiduals(sums, weights @ owners.T)
