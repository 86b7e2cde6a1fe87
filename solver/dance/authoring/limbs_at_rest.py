"""Where a repair begins besides the motion as given: limbs that are deep in other links are at rest meanwhile.

The shortest way out of a deep overlap is not the way past it: a forearm pushed out of a pelvis may end in the thigh
below and stay there, for every way that goes on is deeper first. From a limb that hangs at rest the least displacement
is sought from outside.
"""

from __future__ import annotations

import numpy as np

from ...arrays import stretches
from ...coordinates import joint_places
from ...feasibility.margins import Checks
from ...rig import ROOT_NV
from ...trajectory.displacement import Program
from ...trajectory.natural import clear_posture, limbs_between, natural_posture

DEEP = 0.02
"""[m] An overlap as deep as that may keep a limb: a smaller one is left by the nearest way."""
AROUND = 0.3
"""[s] before and after an overlap in which a limb goes to rest and comes back."""


def limbs_at_rest(program: Program, checks: Checks) -> np.ndarray | None:
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
    for margin in (m for m in checks.margins if m.check.about == "touch" and (m.smallest[inside] < -DEEP).any()):
        for item, links in enumerate(margin.links):
            if len(links) != 2:
                continue
            depth = -margin.values[:, item]
            moved = limbs_between(rig, *(rig.index(link) for link in links))
            for start, stop in stretches(inside & (depth > 0.0)):
                if depth[start:stop].max() < DEEP:
                    continue
                fade = _fade(program.times, checks.times[start], checks.times[stop - 1])
                for link in moved:
                    fades[link] = np.maximum(fades.get(link, 0.0), fade)
    if not fades:
        return None
    given = program.given
    legs = np.concatenate([[], *(ROOT_NV + leg.columns for leg in trajectory.solved)]).astype(int)
    still = (*range(ROOT_NV), *legs.tolist())
    rest = clear_posture(rig, program.limits.options, tuple(natural_posture(rig).tolist()), still)
    added, places = np.zeros_like(given), joint_places(rig)
    for link, fade in fades.items():
        own = np.setdiff1d(np.arange(rig.nv)[places[link][2]], still)
        added[:, own] = fade[:, None] * (rest[own] - given[:, own])
    return program.nearest(added) if added.any() else None


def _fade(times: np.ndarray, start: float, stop: float) -> np.ndarray:
    """(N,) one from start to stop, smoothly zero `AROUND` before and after."""
    share = np.interp(times, [start - AROUND, start, stop, stop + AROUND], [0.0, 1.0, 1.0, 0.0])
    return share**2 * (3.0 - 2.0 * share)
