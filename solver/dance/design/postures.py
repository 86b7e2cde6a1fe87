"""Static postures that excite mass and centres of mass: bonnet2016 (14).

Instead of one nonlinear program over sixty postures at once, many postures are drawn that satisfy every constraint by
construction or by check. The best set among them is found by exchange, until no exchange of one posture for another
improves the criterion. Every chosen posture is feasible, and the choice is a local optimum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics.coordinates import coordinate_lengths, coordinate_names
from ...identification.base_parameters import BaseParameters
from ...identification.excitation.excitation import base_regressor
from ...identification.excitation.gram_matrices import GramMatrices
from ...skeleton.rig import ROOT_NV
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import SegmentChecker
from ...trajectory.transition_problem import to_motion
from .named_poses import PoseVariations

MAX_TILT = 0.35
"""[rad] Largest drawn root rotation about each axis."""
LOWEST_ROOT = 0.22
"""Fraction of the leg's length by which the root is lower than with straight legs, at most."""
HIGHEST_ROOT = 0.03
POLYGON_FRACTION = 0.7
"""Fraction of the shrunk support polygon from which the goals of the centre of mass are drawn."""
BATCH = 96
RANGE_FRACTION = 0.96
"""Fraction of the joint ranges from which angles are drawn."""
UNKNOWN_RANGE, UNKNOWN_SLIDE = 0.8, 0.1
"""[rad, m] Range to each side of home of a joint without known limits."""
MIN_FAILURES = 200
"""Number of postures that must all fail the same item before the search gives up."""
MAX_REASONS = 3
MAX_EXCHANGE_PASSES = 3
"""Most passes of exchange over all chosen postures."""


@dataclass(frozen=True, slots=True)
class PosturePool:
    """Feasible postures in one stance.

    Attributes:
        footing: of the stance.
        y: (P, D) flat coordinates.
        pose_indices: (P,) index of the named pose of each; all zero without named poses.
    """

    footing: Footing
    y: np.ndarray
    pose_indices: np.ndarray

    def select(self, kept: np.ndarray) -> PosturePool:
        """The pool of some of them, by a mask."""
        return PosturePool(self.footing, self.y[kept], self.pose_indices[kept])


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """Which postures are drawn, and how many.

    Attributes:
        count: least number of feasible postures.
        seed: of the draws.
        variations: of named poses, to draw from; None: any postures.
        max_draws: largest number of draws.
    """

    count: int
    seed: int
    variations: PoseVariations | None = None
    max_draws: int = 12000


def draw_posture_pool(
    legged: LeggedRig,
    checker: SegmentChecker,
    footing: Footing,
    home: np.ndarray,
    draw: DrawOptions,
) -> PosturePool:
    """Draw feasible postures in a stance about its home (D,).

    Raises:
        InvalidValue: none of the draws was feasible, with what failed most often.
    """
    generator = np.random.default_rng(draw.seed)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    found, drawn, troubles, ranges = 0, 0, _FailureCounts(), list[str]()
    while drawn < draw.max_draws and (found < draw.count or _lacks_pose(draw, kept, drawn)):
        y, of = _draw_postures(legged, footing, home, generator, BATCH), np.zeros(BATCH, int)
        if draw.variations is not None:
            height = y[:, 2]
            y, of = draw.variations.draw(generator, BATCH)
            y[:, 2] = height
        drawn += BATCH
        y, good = legged.balance(y, _draw_com_goals(footing, generator, BATCH), footing.solved)
        legs = np.concatenate([legged.leg_columns[side] for side in footing.solved])
        beyond = (y[:, legs] < legged.lower[legs]) | (y[:, legs] > legged.upper[legs])
        reach = good & ~beyond.any(axis=1)
        if not found and good.any():
            ranges = ranges or _describe_leg_ranges(legged, legs, y[good][:, legs])
            troubles.count(ranges, beyond[good])
        y, of = y[reach], of[reach]
        if not len(y):
            if troubles.always_fails:
                break
            continue
        _, curves, _ = legged.solve_static(y, footing.solved)
        checks = checker.checks(np.arange(float(len(y))), curves, footing.anchors)
        holds = checker.worst_of(checks) >= 0.0
        if not found and not holds.any():
            for margin in checks.margins:
                least = checker.sampling_factor * margin.check.sampling_margin - margin.tolerance
                troubles.count([f"{margin.name} ({item})" for item in margin.items], margin.values < least)
            if troubles.always_fails:
                break
        kept.append((y[holds], of[holds]))
        found += int(holds.sum())
    if not found:
        what = "postures" if draw.variations is None else f"variations of {', '.join(draw.variations.names)}"
        reasons = troubles.summary or "its legs do not reach, or its centre of mass cannot be brought over its feet"
        raise InvalidValue(
            f"rig {legged.rig.name!r}: none of {drawn} {what} in configuration {footing.configuration!r} keeps all "
            f"limits: {reasons}"
        )
    return PosturePool(footing, *(np.concatenate(parts) for parts in zip(*kept)))


def _lacks_pose(draw: DrawOptions, kept: list[tuple[np.ndarray, np.ndarray]], drawn: int) -> bool:
    """Whether some named pose has no feasible variation yet, and has not been tried often enough to give up."""
    if draw.variations is None:
        return False
    known = {int(k) for _, of in kept for k in of}
    return len(known) < len(draw.variations.names) and drawn < MIN_FAILURES * len(draw.variations.names)


class _FailureCounts:
    """Failures of the postures drawn so far, none of which is feasible: judged and failing ones, by item."""

    def __init__(self) -> None:
        self._counts: dict[str, np.ndarray] = {}

    def count(self, items: Iterable[str], failing: np.ndarray) -> None:
        """Count postures (N, k) that fail each of k items."""
        for item, own in zip(items, failing.T):
            self._counts[item] = self._counts.get(item, 0) + np.array([len(own), own.sum()])

    @property
    def always_fails(self) -> bool:
        """Whether the same item fails in all of many postures."""
        return any(failing == judged >= MIN_FAILURES for judged, failing in self._counts.values())

    @property
    def summary(self) -> str:
        """The items that fail most often, as text."""
        often = [(item, *counts) for item, counts in self._counts.items() if counts[1]]
        often.sort(key=lambda entry: (-entry[2] / entry[1], -entry[2], entry[0]))
        return "; ".join(
            f"{item} fails in {'every one' if failing == judged else f'{failing} of {judged}'}"
            for item, judged, failing in often[:MAX_REASONS]
        )


def _describe_leg_ranges(legged: LeggedRig, columns: np.ndarray, y: np.ndarray) -> list[str]:
    """Range of each leg coordinate, in columns (k,), and that which postures (N, k) on planted feet require."""
    result = []
    ends = zip(legged.lower[columns], legged.upper[columns], y.min(axis=0), y.max(axis=0))
    for column, own in zip(columns - ROOT_NV, ends):
        slides = coordinate_lengths(legged.rig)[column]
        unit, scale, digits = ("m", 1.0, 2) if slides else ("deg", 180.0 / np.pi, 0)
        lower, upper, low, high = (f"{scale * end + 0.0:.{digits}f}" for end in own)
        needed = f"goes from {lower} to {upper} {unit}, postures here from {low} to {high} {unit}"
        result.append(f"range of a leg's joint ({coordinate_names(legged.rig)[column]}: {needed})")
    return result


def _draw_postures(
    legged: LeggedRig, footing: Footing, home: np.ndarray, generator: np.random.Generator, count: int
) -> np.ndarray:
    y = np.tile(home, (count, 1))
    legs = [columns for side, columns in legged.swing_leg_columns.items() if side not in footing.solved]
    columns = np.concatenate([legged.trunk, *legs])
    # a joint without a known range stays near home
    lengths = coordinate_lengths(legged.rig)[columns - ROOT_NV]
    near, far = np.where(lengths, UNKNOWN_SLIDE, UNKNOWN_RANGE), np.where(lengths, np.inf, np.pi)
    lower, upper = legged.lower[columns], legged.upper[columns]
    lower = np.where(np.isfinite(lower), np.maximum(lower, -far), home[columns] - near)
    upper = np.where(np.isfinite(upper), np.minimum(upper, far), home[columns] + near)
    middle, half = 0.5 * (lower + upper), 0.5 * RANGE_FRACTION * (upper - lower)
    share = generator.uniform(-1.0, 1.0, (count, len(columns)))
    # a random fraction of the way from home keeps some postures near it, where collisions are rare
    way = generator.uniform(0.3, 1.0, (count, 1))
    y[:, columns] = (1.0 - way) * y[:, columns] + way * (middle + half * share)
    tilted = way * generator.uniform(-MAX_TILT, MAX_TILT, (count, 3))
    y[:, 3:ROOT_NV] = np.where(legged.root_free[3:], tilted, home[3:ROOT_NV])
    height = legged.straight_height - legged.rig.leg_length * generator.uniform(HIGHEST_ROOT, LOWEST_ROOT, count)
    y[:, 2] = height
    return y


def _draw_com_goals(footing: Footing, generator: np.random.Generator, count: int) -> np.ndarray:
    """Goals (count, 2) [m] of the centre of mass in the inner part of the support polygon."""
    corners = footing.polygon.vertices
    weights = generator.dirichlet(np.ones(len(corners)), count)
    return footing.polygon.centre + POLYGON_FRACTION * (weights @ corners - footing.polygon.centre)


def choose_postures(
    legged: LeggedRig,
    pools: list[PosturePool],
    numbers: list[int],
    structure: BaseParameters,
    weights: np.ndarray,
    seed: int,
) -> tuple[list[np.ndarray], float]:
    """Choose the best postures of each pool, (14): indices per pool, and the criterion of all of them.

    Args:
        legged: rig of the postures.
        pools: one per group.
        numbers: postures to choose in each.
        structure: base parameters.
        weights: (L,) M_i of (12).
        seed: of the random first choice; on HOAP-3 and a person, four of them ended in the same postures.
    """
    objective = GramMatrices(structure, weights, "static")
    matrices = []
    for pool in pools:
        motion = to_motion(legged.solve_static(pool.y, pool.footing.solved)[1])
        matrices.append(objective.row_matrices(base_regressor(legged.rig, motion, structure)))
    generator = np.random.default_rng(seed)
    chosen = [generator.permutation(len(pool.y))[:number] for pool, number in zip(pools, numbers)]
    total = np.sum([g[c].sum(axis=0) for g, c in zip(matrices, chosen)], axis=0)
    value = float(objective.value(total))
    for _ in range(MAX_EXCHANGE_PASSES):
        before = value
        for group, own in zip(matrices, chosen):
            for place in range(len(own)):
                without = total - group[own[place]]
                values = objective.value(without + group)
                values[np.delete(own, place)] = np.inf
                new = int(np.argmin(values))
                if values[new] < value * (1.0 - 1e-9):
                    own[place], total, value = new, without + group[new], float(values[new])
        if value > before * (1.0 - 1e-3):
            break
    return chosen, value
