"""Links that give way: flesh carries the markers of a segment aside from its bone, all of them together.

Each link may lie beside where its joints hold it, frame by frame, against a stiffness of so many markers. The best
place for given joints is the pull of its markers over all that holds it, so that it is eliminated frame by frame and
the joints' equations stay as large as they were: what all markers of a link do together counts less, what they do
against each other as before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...rig import Rig
from ..kinematics import Kinematics
from ..tasks import PositionTask, TargetSample


@dataclass(frozen=True, slots=True)
class Pulls:
    """What the markers of each link want together, in N frames.

    Attributes:
        weights: (N, K) of the K links' markers that are seen.
        forces: (N, K, 3) [m] their weighted residuals, world.
        slopes: (N, K, 3, nv) how their weighted places move.
    """

    weights: np.ndarray
    forces: np.ndarray
    slopes: np.ndarray


class SoftLinks:
    """The links of a rig that carry points, and how far they give way."""

    def __init__(self, rig: Rig, points: PositionTask, stiffness: float) -> None:
        self.points, self.stiffness = points, stiffness
        self._kinematics = Kinematics(rig)
        self.links = np.unique(points.links)
        self._selector = (self.links[:, None] == points.links).astype(float)
        self._rows = np.searchsorted(self.links, points.links)

    def pulls(self, q: np.ndarray, samples: list[TargetSample]) -> Pulls:
        """Of frames at configurations (N, nq)."""
        kinematics, points = self._kinematics, self.points
        weights = np.empty((len(q), len(self.links)))
        forces = np.empty((*weights.shape, 3))
        slopes = np.empty((*forces.shape, kinematics.jacobian.shape[1]))
        for k, sample in enumerate(samples):
            assert sample.positions is not None
            kinematics.update(q[k])
            places = kinematics.points(points.links, points.offsets)
            rest = sample.positions - places
            seen = np.isfinite(rest[:, 0])
            own = np.where(seen, points.weights if sample.shares is None else points.weights * sample.shares, 0.0)
            weights[k] = self._selector @ own
            forces[k] = self._selector @ (own[:, None] * np.where(seen[:, None], rest, 0.0))
            middles = (self._selector @ (own[:, None] * places)) / np.maximum(weights[k], 1e-9)[:, None]
            slopes[k] = kinematics.point_jacobians(self.links, middles)
        slopes *= weights[:, :, None, None]
        return Pulls(weights, forces, slopes)

    def released(self, hessian: np.ndarray, gradient: np.ndarray, pulls: Pulls) -> None:
        """Eliminate the links' shifts from J'WJ (N, nv, nv) and J'Wr (N, nv), in place."""
        frames, freedoms = gradient.shape
        slopes = pulls.slopes.reshape(frames, -1, freedoms)
        given = np.repeat(1.0 / (pulls.weights + self.stiffness), 3, axis=1)
        across = (slopes * given[:, :, None]).swapaxes(1, 2)
        hessian -= across @ slopes
        gradient -= (across @ pulls.forces.reshape(frames, -1, 1))[:, :, 0]

    def shifts(self, pulls: Pulls) -> np.ndarray:
        """(N, K, 3) [m] by which the links lie beside their joints, world."""
        return pulls.forces / (pulls.weights + self.stiffness)[:, :, None]

    def of_points(self, shifts: np.ndarray) -> np.ndarray:
        """(N, P, 3) [m] by which the points do."""
        return shifts[:, self._rows]

    def of_links(self, shifts: np.ndarray, count: int) -> np.ndarray:
        """(N, L, 3) [m] of all links of a rig; one without points stays where its joints hold it."""
        result = np.zeros((len(shifts), count, 3))
        result[:, self.links] = shifts
        return result
