"""Where a repair begins besides the motion as given: limbs that are deep in other links are at rest meanwhile.

The shortest way out of a deep overlap is not the way past it: a forearm pushed out of a pelvis may end in the thigh
below and stay there, for every way that goes on is deeper first. From a limb that hangs at rest the least displacement
is sought from outside.
"""

from __future__ import annotations

import numpy as np

from ...arrays import true_runs
from ...coordinates import joint_slices
from ...feasibility.check_results import Checks
from ...rig import ROOT_NV
from ...trajectory.displacement import DisplacementProblem
from ...trajectory.natural_posture import clear_arms, limb_joints_between, natural_posture

DEEP_OVERLAP = 0.02
"""[m] An overlap as deep as that may keep a limb: a smaller one is left by the nearest way."""
FADE_DURATION = 0.3
"""[s] before and after an overlap in which a limb goes to rest and comes back."""


def rest_overlapping_limbs(program: DisplacementProblem, checks: Checks) -> np.ndarray | None:
    """The displacement (m, n) of a programme by which limbs that overlap deeply in a motion are at rest meanwhile.

    Args:
        program: of a part of the motion.
        checks: of the whole motion, as given.

    Returns:
        None where nothing is that deep, or only links that no limb moves.
    """
    trajectory, window = program.trajectory, program.window
    rig = trajectory.rig
    inside = (checks.times >= window.start) & (checks.times <= window.stop)
    fades: dict[int, np.ndarray] = {}
    for margin in (
        m for m in checks.margins if m.check.category == "touch" and (m.smallest[inside] < -DEEP_OVERLAP).any()
    ):
        for item, links in enumerate(margin.links):
            if len(links) != 2:
                continue
            depth = -margin.values[:, item]
            moved = limb_joints_between(rig, *(rig.index(link) for link in links))
            for start, stop in true_runs(inside & (depth > 0.0)):
                if depth[start:stop].max() < DEEP_OVERLAP:
                    continue
                fade = _fade(program.times, checks.times[start], checks.times[stop - 1])
                for link in moved:
                    fades[link] = np.maximum(fades.get(link, 0.0), fade)
    if not fades:
        return None
    given = program.given_coordinates
    legs = np.concatenate([[], *(ROOT_NV + leg.columns for leg in trajectory.solved_legs)]).astype(int)
    still = (*range(ROOT_NV), *legs.tolist())
    rest = clear_arms(rig, program.limits.options, tuple(natural_posture(rig).tolist()), still)
    added, places = np.zeros_like(given), joint_slices(rig)
    for link, fade in fades.items():
        own = np.setdiff1d(np.arange(rig.nv)[places[link][2]], still)
        added[:, own] = fade[:, None] * (rest[own] - given[:, own])
    return program.project(added) if added.any() else None


def _fade(times: np.ndarray, start: float, stop: float) -> np.ndarray:
    """(N,) one from start to stop, smoothly zero `AROUND` before and after."""
    share = np.interp(times, [start - FADE_DURATION, start, stop, stop + FADE_DURATION], [0.0, 1.0, 1.0, 0.0])
    return share**2 * (3.0 - 2.0 * share)
