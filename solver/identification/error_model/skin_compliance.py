"""Skin compliance: how far each link moves with its direction markers beyond the rigid joints.

The joints of a rig are rigid, so that skin motion at a thigh enters the pelvis and all links that it carries. The
markers of a link show by how much it deviates: a link is assumed to be displaced along each of its axes by a fraction
(share) of the mean displacement of its markers. The share is 1 where the markers are right and the joints are wrong,
and 0 where the markers move on the skin. The wrench of each displacement is known beforehand, with the prior's masses,
so that the shares follow from the residual by linear least squares. They are estimated for each subject, because
markers are attached differently.
"""

from __future__ import annotations

import numpy as np

from ...dynamics import link_motions
from ...rig import Rig
from ...signals import GRAVITY
from ...so3 import cross
from ...trial import Trial
from ..blocks import AXES

PRIOR_STD = 1.0
"""Standard deviation of a share around zero before any data."""


def has_marker_displacements(trial: Trial) -> bool:
    """Whether a trial has the marker displacements from which shares can be estimated."""
    return trial.marker_displacements is not None and trial.preset is not None


def skin_compliance_wrenches(rig: Rig, trial: Trial) -> np.ndarray:
    """Wrench (N, 3 L, 6) of each share equal to 1: links in order, x, y and z of each; world axes, about the world
    origin.

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
