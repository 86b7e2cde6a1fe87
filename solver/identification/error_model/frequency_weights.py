"""Frequency weights: the fraction of a tracked motion that is used when forces are reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...arrays import Array, ArrayValue
from ...dynamics import link_motions
from ...errors import InvalidValue
from ...rig import Rig
from ...signals import GRAVITY
from ...so3 import cross
from ...trial import Trial
from ..blocks import AXES

HALF = 0.5
PRIOR_STD = 1.0
"""Standard deviation of a share around zero before any data."""


@dataclass(frozen=True, slots=True)
class FrequencyWeights(ArrayValue):
    """Fractions of a motion that explain the measured wrenches of some trials; they are applied to any other trial.

    See `weight_estimation` and `skin_compliance_wrenches` for how they are estimated.

    Attributes:
        bands: (C,) [Hz] upper ends of the frequency bands, ascending; the last is infinite.
        gains: (L, 6, C) fraction of each link's motion that is used, by wrench axis and band: 1 in the lowest band, and
            never larger in a higher band than in a lower one.
        shares: (L, 3) factors on the displacement of each link's own markers, along the link's axes; None if no trial
            has marker displacements.
    """

    bands: Annotated[np.ndarray, Array("B", finite=False)]
    gains: Annotated[np.ndarray, Array("R", AXES, "B")]
    shares: Annotated[np.ndarray | None, Array("R", 3)] = None

    def require_consistent(self) -> None:
        if not len(self.bands) or not np.isposinf(self.bands[-1]) or np.any(np.diff(self.bands[:-1]) <= 0.0):
            raise InvalidValue("upper ends of frequency bands must ascend, and the last must be infinite")

    @property
    def low_pass_weights(self) -> np.ndarray:
        """(L, 6, C) weights of the low-passes at the upper ends of the bands whose sum has these gains; they sum
        to 1."""
        return self.gains - np.concatenate([self.gains[:, :, 1:], np.zeros((*self.gains.shape[:2], 1))], axis=2)

    @property
    def cutoffs(self) -> np.ndarray:
        """(L, 6) [Hz] up to which at least half of each link's motion is used on each axis."""
        return np.asarray(self.bands[np.sum(self.gains >= HALF, axis=2) - 1])


@dataclass(frozen=True, slots=True)
class PairedWeights:
    """Frequency weights of the identified parameters and of the prior, each estimated from its own residuals.

    A comparison in which both use one set favours the parameters that the set was estimated for.

    Attributes:
        identified, prior: None: the motion is used as it was tracked.
    """

    identified: FrequencyWeights | None = None
    prior: FrequencyWeights | None = None


UNWEIGHTED = PairedWeights()


def has_marker_displacements(trial: Trial) -> bool:
    """Whether a trial has the marker displacements from which shares can be estimated."""
    return trial.marker_displacements is not None and trial.preset is not None


def skin_compliance_wrenches(rig: Rig, trial: Trial) -> np.ndarray:
    """Wrench (N, 3 L, 6) of each share equal to 1: links in order, x, y and z of each; world axes, about the world
    origin.

    Skin compliance: how far each link moves with its direction markers beyond the rigid joints.

    The joints of a rig are rigid, so that skin motion at a thigh enters the pelvis and all links that it carries. The
    markers of a link show by how much it deviates: a link is assumed to be displaced along each of its axes by a
    fraction (share) of the mean displacement of its markers. The share is 1 where the markers are right and the joints
    are wrong, and 0 where the markers move on the skin. The wrench of each displacement is known beforehand, with the
    prior's masses, so that the shares follow from the residual by linear least squares. They are estimated for each
    subject, because markers are attached differently.

    A link of mass m with its centre of mass at c that is displaced by s needs the force m s'' and the moment c x m s''
    + s x m (c'' - g). The rotation of the link's axes is neglected in s''.
    """
    assert trial.marker_displacements is not None
    displacements, links = trial.marker_displacements(slice(0, len(trial.motion))), link_motions(rig, trial.motion)
    rotation, masses = links.rotation, rig.prior.masses[:, None]
    # components i in the world and j in the link, links l, frames n
    position = links.position + np.einsum("ijln,lj->iln", rotation, rig.prior.coms)
    pull = links.to_world(links.acceleration) + np.array([0.0, 0.0, GRAVITY])[:, None, None]
    offset, acceleration = (
        rotation * (masses * np.einsum("nli,ijln->jln", part, rotation))
        for part in (displacements.values, displacements.accelerations)
    )
    moment = cross(position[:, None], acceleration) + cross(offset, pull[:, None])
    return np.concatenate([acceleration, moment]).transpose(3, 2, 1, 0).reshape(len(trial.motion), -1, AXES)


def solve_shares(normal_matrix: np.ndarray, right_side: np.ndarray) -> np.ndarray:
    """Shares (E,) from their normal equations (E, E), (E,), with a Gaussian prior of standard deviation `PRIOR_STD`."""
    return np.linalg.solve(normal_matrix + np.eye(len(normal_matrix)) / PRIOR_STD**2, right_side)
