"""How far each link goes with its own markers, learnt from the plates.

Joints of a rig are rigid, so that what the skin of a thigh does enters the pelvis and all that it carries; its own
markers, which are left aside of the tracked pelvis, tell by how much. Along each of its own axes a link is therefore
taken to lie aside by a share of what its markers do on average: 1 where they are right and the joints are not, 0 where
they are skin that swings. Every share multiplies forces that are known beforehand, with the prior's masses, so that the
shares follow from what is left unexplained by linear least squares; markers of other people are fastened elsewhere, and
the shares are learnt anew for each.
"""

from __future__ import annotations

import numpy as np

from ...dynamics import link_motions
from ...rig import Rig
from ...signals import GRAVITY
from ...trial import Trial
from ..blocks import AXES

PRIOR_STD = 1.0
"""Standard deviation of a share before anything is learnt: a link goes with its markers about as likely as not."""
DIRECTIONS = 3


def has_marker_displacements(trial: Trial) -> bool:
    """Whether a trial's markers can show how far its links go with them."""
    return trial.marker_displacements is not None and trial.preset is not None


def skin_compliance_wrenches(rig: Rig, trial: Trial) -> np.ndarray:
    """Wrench (N, 3 L, 6) that each share of 1 adds, link by link its x, y and z; world axes, about the world origin.

    A link of mass m at c that lies aside by s weighs and pulls there: m s'' and c x m s'' + s x m (c'' - g).
    That the link's axes turn meanwhile is left out of s''.
    """
    assert trial.marker_displacements is not None
    shifts, links = trial.marker_displacements(slice(0, len(trial.motion))), link_motions(rig, trial.motion)
    accelerations = links.to_world(links.acceleration)
    upwards = np.array([0.0, 0.0, GRAVITY])
    result = np.empty((len(trial.motion), len(rig.links), DIRECTIONS, AXES))
    for link, (mass, com) in enumerate(zip(rig.prior.masses, rig.prior.coms)):
        turn = links.rotation[:, :, link].transpose(2, 0, 1)
        place, pushed = links.position[:, link].T + turn @ com, accelerations[:, link].T + upwards
        for axis in range(DIRECTIONS):
            own = turn[:, :, axis]
            # frames n, components c
            aside, gained = (
                np.einsum("nc,nc->n", own, part[:, link])[:, None] * own
                for part in (shifts.values, shifts.accelerations)
            )
            result[:, link, axis, :DIRECTIONS] = mass * gained
            result[:, link, axis, DIRECTIONS:] = mass * (np.cross(place, gained) + np.cross(aside, pushed))
    return result.reshape(len(result), -1, AXES)


def solve_shares(normal_matrix: np.ndarray, right_side: np.ndarray) -> np.ndarray:
    """Shares (E,) by their normal equations, each drawn towards 0 by `SPREAD` (E, E), (E,)."""
    return np.linalg.solve(normal_matrix + np.eye(len(normal_matrix)) / PRIOR_STD**2, right_side)
