"""Detects quiet standing from the displacement of the body's mass.

The ground reaction force does not show it: a whole-body motion below 0.3 Hz changes it by 1 to 2 % of the body weight,
and so does the noise of a plate during quiet standing.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import link_motions
from ..skeleton.rig import Rig
from ..values.motion import Motion

STILL = 0.05
"""Largest root mean square displacement of the mass in quiet standing, as a fraction of the radius of gyration.

For an adult this is 2 cm, or a sway of one degree about the ankles. Postural sway with the noise of tracking is 2 to
9 mm (.005 to .02 in six recordings of quiet standing). Squats, walks and runs move the mass by 7 cm or more (.18), the
smallest slow whole-body motions of simulated people by 5 cm (.12)."""
FRAMES = 256
"""Largest number of frames used, evenly spaced."""


def is_still(rig: Rig, q: np.ndarray) -> bool:
    """Whether the mass of a body stays within `STILL` of its mean position; True without any frame.

    With a link's pose X_t (3, 4), its mean X over time and its pseudo-inertia P (4, 4), the squared displacements of
    the link's mass points, weighted by their masses, sum to tr((X_t - X) P (X_t - X)').

    Args:
        rig: with the mass distribution of its prior.
        q: (N, nq) configurations in order of time.
    """
    chosen = np.asarray(q, float)[np.unique(np.linspace(0, len(q) - 1, min(len(q), FRAMES)).astype(int))]
    if not len(chosen):
        return True
    none = np.zeros((len(chosen), rig.nv))
    links = link_motions(rig, Motion(np.arange(len(chosen), dtype=float), chosen, none, none))
    poses = np.concatenate([links.rotation, links.position[:, None]], axis=1)  # (3, 4, L, N)
    mean = poses.mean(axis=3)
    away, pseudo, mass = poses - mean[..., None], rig.prior.pseudo_inertias, rig.prior.total_mass
    # axes i of the world, columns a and b of a pose, links l, frames n
    moved = np.einsum("ialn,lab,ibln->", away, pseudo, away) / len(chosen) / mass
    com = np.einsum("ial,la->i", mean, pseudo[:, :, 3]) / mass
    size = np.einsum("ial,lab,ibl->", mean, pseudo, mean) / mass - com @ com
    return bool(moved <= STILL**2 * size)
