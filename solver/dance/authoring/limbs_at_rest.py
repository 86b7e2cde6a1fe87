"""A second initial guess of a repair: limbs that deeply overlap other links are at rest during the overlap.

The shortest way out of a deep overlap can lead to a local minimum: a forearm pushed out of a pelvis may end in the
thigh below it, because every way onwards increases the overlap first. Starting with the limb at rest, the search
approaches the given motion from outside the overlap.
"""

from __future__ import annotations

import numpy as np

from ...base.arrays import true_runs
from ...dynamics.coordinates import joint_slices
from ...feasibility.check_results import Checks
from ...skeleton.rig import ROOT_NV
from ...trajectory.displacement import DisplacementProblem
from ...trajectory.natural_posture import clear_arms, limb_joints_between, natural_posture

DEEP_OVERLAP = 0.02
"""[m] Depth from which an overlap counts as deep; the search leaves a smaller one by the nearest way."""
FADE_DURATION = 0.3
"""[s] before and after an overlap in which a limb goes to rest and comes back."""


def rest_overlapping_limbs(program: DisplacementProblem, checks: Checks) -> np.ndarray | None:
    """The displacement (m, n) that brings deeply overlapping limbs to rest during the overlap.

    Args:
        program: of a time window of the motion.
        checks: of the whole motion, as given.

    Returns:
        None where no overlap is that deep, or no limb can move the links.
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
    """(N,) one from start to stop, smoothly zero `FADE_DURATION` before and after."""
    share = np.interp(times, [start - FADE_DURATION, start, stop, stop + FADE_DURATION], [0.0, 1.0, 1.0, 0.0])
    return share**2 * (3.0 - 2.0 * share)
