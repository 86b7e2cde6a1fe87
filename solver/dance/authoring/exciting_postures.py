"""Exciting postures for free keys, each near its key, drawn and chosen as bonnet2016's optimal postures, (14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...base.errors import InvalidValue
from ...base.progress import Progress
from ...contacts.schedule import Phase
from ...contacts.support import support_polygon
from ...dynamics.coordinates import to_flat
from ...feasibility import CheckOptions
from ...identification.base_parameters import base_parameters
from ...options.authoring import CompleteOptions
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import SegmentChecker
from ...values.person import SIDES
from ..design.postures import DrawOptions, choose_postures, draw_posture_pool
from .authored_dance import AuthoredDance, Keyframe

SAME_POSTURE = 1e-4
"""Consecutive keys whose configurations differ by less are one posture that is held."""


@dataclass(frozen=True, slots=True)
class PostureBlend:
    """Postures between a key's interpolated posture and an exciting one.

    Attributes:
        legged: the rig.
        interpolated, exciting: (D,) flat coordinates.
        solved: sides of the legs that inverse kinematics solves.
    """

    legged: LeggedRig
    interpolated: np.ndarray
    exciting: np.ndarray
    solved: tuple[str, ...]

    def at(self, share: float) -> np.ndarray:
        """Configuration (nq,) at a fraction of the way."""
        nv = self.legged.rig.nv
        y = self.interpolated.copy()
        y[:nv] += share * (self.exciting[:nv] - self.interpolated[:nv])
        return self.legged.solve_static(y[None], self.solved)[1].q[0]


def find_exciting_postures(
    keyed: AuthoredDance,
    interpolated: Mapping[float, np.ndarray],
    checks: CheckOptions,
    options: CompleteOptions,
    progress: Progress,
) -> tuple[dict[float, PostureBlend], list[str]]:
    """The exciting posture of each free key by its time, and a note for each key without one.

    Args:
        keyed: the dance.
        interpolated: interpolated configuration (nq,) of each free key, by its time [s].
        checks: that a posture must pass.
        options: how postures are drawn and chosen.
        progress: receives the progress.
    """
    legged, checker = LeggedRig(keyed.rig, shrink=checks.shrink), SegmentChecker(keyed.rig, checks, sampling_factor=1.0)
    result: dict[float, PostureBlend] = {}
    notes: list[str] = []
    postures = _group_held_keys(keyed, list(interpolated))
    phases = keyed.schedule.index_at(np.array([keys[0].time for keys in postures]))
    numbers = np.unique(phases)
    for place, number in enumerate(numbers):
        progress(place / len(numbers), "drawing exciting postures")
        own = [postures[k] for k in np.flatnonzero(phases == number)]
        try:
            result |= _assign_exciting_postures(
                legged, checker, keyed.schedule.phases[number], own, interpolated, options
            )
        except InvalidValue as error:
            notes += [f"{key} is filled by interpolation: {error}" for keys in own for key in keys]
    return result, notes


def _group_held_keys(keyed: AuthoredDance, times: Sequence[float]) -> list[list[Keyframe]]:
    """The keys at times, in groups of one posture: both ends of a hold are one group."""
    result: list[list[Keyframe]] = []
    before: Keyframe | None = None
    for key in keyed.keys:
        if key.time in times:
            held = before is not None and before.time in times and np.abs(key.q - before.q).max() < SAME_POSTURE
            if held and keyed.schedule.phase_at(key.time) is keyed.schedule.phase_at(result[-1][0].time):
                result[-1].append(key)
            else:
                result.append([key])
        before = key
    return result


def _assign_exciting_postures(
    legged: LeggedRig,
    checker: SegmentChecker,
    phase: Phase,
    postures: Sequence[Sequence[Keyframe]],
    interpolated: Mapping[float, np.ndarray],
    options: CompleteOptions,
) -> dict[float, PostureBlend]:
    """Exciting postures of one contact phase, each assigned to the key nearest to it."""
    if phase.airborne:
        raise InvalidValue("no foot is on the floor there")
    if others := phase.besides_soles(legged.rig):
        raise InvalidValue(f"{', '.join(others)} carry the body there; exciting postures are found for feet only")
    rig, nv = legged.rig, legged.rig.nv
    sides = {patch: side for side, patch in rig.sides.items()}
    loaded = [sides[patch] for patch in phase.loaded]
    solved = tuple(side for side in SIDES if side in loaded)
    polygon = support_polygon(rig, phase.anchors, legged.shrink)
    footing = Footing("both" if len(solved) > 1 else solved[0], phase.anchors, solved, polygon)
    places = np.zeros((len(postures), legged.size))
    places[:, :nv] = [to_flat(rig, interpolated[keys[0].time]) for keys in postures]
    places = legged.with_feet(places, phase.anchors)
    home, good = legged.balance(places[:1], polygon.centre[None], solved)
    if not good[0]:
        raise InvalidValue("the legs do not reach from there")
    wanted = max(options.pool, 2 * len(postures))
    pool = draw_posture_pool(legged, checker, footing, home[0], DrawOptions(wanted, options.seed))
    count = min(len(postures), len(pool.y))
    chosen = choose_postures(legged, [pool], [count], base_parameters(rig), rig.masses, options.seed)[0][0]
    far = np.linalg.norm(places[:, None, :nv] - pool.y[None, chosen, :nv], axis=2)
    result = {}
    for row, column in zip(*linear_sum_assignment(far)):
        for key in postures[row]:
            own = places[row].copy()
            own[:nv] = to_flat(rig, interpolated[key.time])
            result[key.time] = PostureBlend(legged, own, pool.y[chosen[column]], solved)
    return result
