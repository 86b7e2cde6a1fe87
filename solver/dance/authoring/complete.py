"""Fill the free postures of a keyed dance: the calm way between the others, or postures that excite.

Exciting postures are drawn and chosen as bonnet2016's optimal ones, (14), with what the other keys already excite
counted in; each then takes the place that lies nearest to it. What comes out is repaired, fixed keys untouched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...contacts.schedule import Phase, patch_sides
from ...contacts.support import support_polygon
from ...coordinates import to_flat
from ...dynamics.legs import SIDES
from ...errors import InvalidValue
from ...feasibility import CheckOptions
from ...identification.base_parameters import BaseParameters, base_parameters
from ...identification.excitation.excitation import emphasised
from ...progress import Part, Progress, silent
from ...trajectory.curve import FlatCurve
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import SegmentChecker
from ..design.postures import choose, draw_pool
from .keys import Keyed, Keyframe
from .repair import Repair, RepairOptions, repair


@dataclass(frozen=True, slots=True)
class CompleteOptions:
    """How to fill free keys.

    Attributes:
        exciting: choose postures that excite; else the calm way between the other keys.
        pool: feasible postures drawn for each footing.
        starts: of the choice among them.
        share: of the way from the calm posture to the exciting one, in (0, 1].
        seed: of the draws: the same seed fills the same way.
    """

    exciting: bool = True
    pool: int = 60
    starts: int = 2
    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise InvalidValue(f"the share of the way to an exciting posture lies in (0, 1], not {self.share:g}")


@dataclass(frozen=True, slots=True)
class Completed:
    """A dance whose free keys are filled.

    Attributes:
        repair: of the filled dance; its ``keyed`` is the result.
        filled: times [s] of the keys filled.
        notes: keys that could only be filled the calm way, and why.
    """

    repair: Repair
    filled: tuple[float, ...]
    notes: tuple[str, ...] = ()


def complete(
    keyed: Keyed,
    checks: CheckOptions | None = None,
    options: CompleteOptions | None = None,
    repairing: RepairOptions | None = None,
    *,
    rate: float = 100.0,
    progress: Progress = silent,
) -> Completed:
    """Fill the free keys and repair what results.

    Args:
        keyed: with fixed or preferred keys at its first and last time; samples are left aside.
        checks: what must hold; by default what the dance carries.
        options: how to fill.
        repairing: options of the repair.
        rate: [1/s] of the motion returned.
        progress: told how far it is.

    Raises:
        InvalidValue: no free key, or a free key at an end.
    """
    keyed = keyed.held_to(checks)
    checks = keyed.checks
    options = CompleteOptions() if options is None else options
    bound = [key for key in keyed.keys if key.role != "free"]
    free = [key for key in keyed.keys if key.role == "free"]
    if not free:
        raise InvalidValue(f"dance {keyed.name!r} has no free key to fill")
    if len(bound) < 2 or bound[0] is not keyed.keys[0] or bound[-1] is not keyed.keys[-1]:
        raise InvalidValue("the first and the last key must be fixed or preferred: what is free lies between them")
    times = np.array([key.time for key in bound])
    curve = FlatCurve.through_keys(keyed.rig, times, [key.q for key in bound], keyed.interpolation)
    calm = curve.motion(keyed.rig, np.array([key.time for key in free])).q
    filled = [replace(key, q=q) for key, q in zip(free, calm)]
    notes: list[str] = []
    if options.exciting:
        filled, notes = _exciting(keyed, filled, checks, options, Part(progress, 0.0, 0.5))
    keys = sorted([*bound, *filled], key=lambda key: key.time)
    whole = replace(keyed, keys=tuple(keys), samples=None)
    done = repair(whole, checks, repairing, rate=rate, progress=Part(progress, 0.5, 1.0))
    return Completed(done, tuple(key.time for key in free), tuple(notes))


def _exciting(
    keyed: Keyed, calm: list[Keyframe], checks: CheckOptions, options: CompleteOptions, progress: Progress
) -> tuple[list[Keyframe], list[str]]:
    rig = keyed.rig
    legged, checker = LeggedRig(rig, shrink=checks.shrink), SegmentChecker(rig, checks, slack=1.0)
    structure, weights = base_parameters(rig), emphasised(rig)
    result, notes = list(calm), []
    phases = keyed.schedule.index_at(np.array([key.time for key in calm]))
    for place, number in enumerate(np.unique(phases)):
        progress(place / len(np.unique(phases)), "drawing exciting postures")
        own = np.flatnonzero(phases == number)
        try:
            phase = keyed.schedule.phases[number]
            found = _postures(legged, checker, phase, [calm[k] for k in own], structure, weights, options)
        except InvalidValue as error:
            notes += [f"{calm[k]} is filled the calm way: {error}" for k in own]
            continue
        for k, q in zip(own, found):
            result[k] = replace(calm[k], q=q)
    return result, notes


def _postures(
    legged: LeggedRig, checker: SegmentChecker, phase: Phase, calm: list[Keyframe], structure: BaseParameters,
    weights: np.ndarray, options: CompleteOptions,
) -> list[np.ndarray]:  # fmt: skip
    """Exciting configurations for keys of one phase, each near its key."""
    if phase.airborne:
        raise InvalidValue("nothing stands there")
    rig, nv = legged.rig, legged.rig.model.nv
    sides = {patch: side for side, patch in patch_sides(rig).items()}
    loaded = [sides[patch] for patch in phase.loaded]
    solved = tuple(side for side in SIDES if side in loaded)
    polygon = support_polygon(rig, phase.anchors, legged.shrink)
    footing = Footing("both" if len(solved) > 1 else solved[0], phase.anchors, solved, polygon)
    places = np.zeros((len(calm), legged.size))
    places[:, :nv] = [to_flat(rig, key.q) for key in calm]
    places = legged.with_feet(places, phase.anchors)
    home, good = legged.balanced(places[:1], polygon.centre[None], solved)
    if not good[0]:
        raise InvalidValue("the legs do not reach from there")
    pool = draw_pool(legged, checker, footing, home[0], structure, max(options.pool, 2 * len(calm)), options.seed)
    count = min(len(calm), len(pool.y))
    chosen = choose([pool], [count], structure, weights, options.seed, options.starts)[0][0]
    far = np.linalg.norm(places[:, None, :nv] - pool.y[None, chosen, :nv], axis=2)
    rows, columns = linear_sum_assignment(far)
    y = places.copy()
    y[rows, :nv] += options.share * (pool.y[chosen[columns], :nv] - places[rows, :nv])
    _, curves, _ = legged.still(y, solved)
    return list(curves.q)
