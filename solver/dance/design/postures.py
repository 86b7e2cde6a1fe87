"""Static postures that excite mass and centres of mass: bonnet2016 (14).

Instead of one nonlinear program over sixty postures at once, many postures are drawn that satisfy every constraint by
construction or by check. The best set among them is found by exchange, until no exchange of one posture for another
improves the criterion. Every chosen posture is feasible, and the choice is a local optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...base.errors import InvalidValue
from ...dynamics.coordinates import coordinate_lengths, coordinate_names
from ...feasibility.check_results import Checks
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
LEG_RANGE = "range of a leg's joint"
"""Reported name of the check that a leg's joint ranges let it reach its foot."""
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

    def draw_first_choice(self, number: int, generator: np.random.Generator) -> np.ndarray:
        """Indices (number,) of randomly drawn postures; of each named pose in turn."""
        order = generator.permutation(len(self.y))
        motifs = self.pose_indices[order]
        turn = np.array([int((motifs[:place] == own).sum()) for place, own in enumerate(motifs)], int)
        return order[np.argsort(turn, kind="stable")][:number]


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
    found, drawn, troubles = 0, 0, _FailureCounts()
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
        if not found:
            troubles.count_legs(legged, legs, y[good][:, legs])
        y, of = y[reach], of[reach]
        if not len(y):
            if troubles.always_fails:
                break
            continue
        _, curves, _ = legged.solve_static(y, footing.solved)
        checks = checker.checks(np.arange(float(len(y))), curves, footing.anchors)
        holds = checker.worst_of(checks) >= 0.0
        if not found and not holds.any():
            troubles.count_checks(checks, checker.sampling_factor)
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


@dataclass
class _FailureCounts:
    """Failures of the postures drawn so far, none of which is feasible.

    Attributes:
        counts: numbers of checked and of failing postures, by check and item.
        leg_ranges: ranges of leg coordinates, by name.
    """

    counts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    leg_ranges: dict[str, _LegRange] = field(default_factory=dict)

    def count_legs(self, legged: LeggedRig, columns: np.ndarray, y: np.ndarray) -> None:
        """Count leg coordinates (N, k), in columns (k,), that leave their ranges with the feet planted."""
        if not len(y):
            return
        names, lengths = coordinate_names(legged.rig), coordinate_lengths(legged.rig)
        lower, upper = legged.lower[columns], legged.upper[columns]
        beyond = (y < lower) | (y > upper)
        for k, column in enumerate(columns - ROOT_NV):
            name = names[column]
            self._count((LEG_RANGE, name), len(y), int(beyond[:, k].sum()))
            known = self.leg_ranges.get(name)
            low, high = (np.inf, -np.inf) if known is None else (known.low, known.high)
            unit = "m" if lengths[column] else "deg"
            self.leg_ranges[name] = _LegRange(
                unit, lower[k], upper[k], min(low, y[:, k].min()), max(high, y[:, k].max())
            )

    def count_checks(self, checks: Checks, slack: float) -> None:
        """Count every item of every check that fails with a multiple of the check's slack."""
        for margin in checks.margins:
            least = slack * margin.check.sampling_margin - margin.tolerance
            for item, count in zip(margin.items, (margin.values < least).sum(axis=0)):
                self._count((margin.name, item), len(checks), int(count))

    def _count(self, what: tuple[str, str], frames: int, failing: int) -> None:
        before = self.counts.get(what, (0, 0))
        self.counts[what] = before[0] + frames, before[1] + failing

    @property
    def always_fails(self) -> bool:
        """Whether the same item fails in all of many postures."""
        return any(failing == frames >= MIN_FAILURES for frames, failing in self.counts.values())

    @property
    def summary(self) -> str:
        """The items that fail most often, as text."""
        often = [(what, *counts) for what, counts in self.counts.items() if counts[1]]
        often.sort(key=lambda entry: (-entry[2] / entry[1], -entry[2], entry[0]))
        return "; ".join(
            f"{name} ({item}{f': {self.leg_ranges[item]}' if name == LEG_RANGE else ''}) fails in "
            f"{'every one' if failing == frames else f'{failing} of {frames}'}"
            for (name, item), frames, failing in often[:MAX_REASONS]
        )


@dataclass(frozen=True, slots=True)
class _LegRange:
    """[rad, m] Range of a leg's coordinate, and the range that planted feet require."""

    unit: str
    lower: float
    upper: float
    low: float
    high: float

    def __str__(self) -> str:
        scale, digits = (1.0, 2) if self.unit == "m" else (180.0 / np.pi, 0)
        lower, upper, low, high = (
            f"{scale * end + 0.0:.{digits}f}" for end in (self.lower, self.upper, self.low, self.high)
        )
        return f"goes from {lower} to {upper} {self.unit}, postures here from {low} to {high} {self.unit}"


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

    A variation of a named pose is exchanged for variations of the same pose only, so that each pose is danced.

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
    chosen = [pool.draw_first_choice(number, generator) for pool, number in zip(pools, numbers)]
    total = np.sum([g[c].sum(axis=0) for g, c in zip(matrices, chosen)], axis=0)
    value = float(objective.value(total))
    for _ in range(MAX_EXCHANGE_PASSES):
        before = value
        for pool, group, own in zip(pools, matrices, chosen):
            for place in range(len(own)):
                without = total - group[own[place]]
                values = objective.value(without + group)
                values[np.delete(own, place)] = np.inf
                values[pool.pose_indices != pool.pose_indices[own[place]]] = np.inf
                new = int(np.argmin(values))
                if values[new] < value * (1.0 - 1e-9):
                    own[place], total, value = new, without + group[new], float(values[new])
        if value > before * (1.0 - 1e-3):
            break
    return chosen, value
