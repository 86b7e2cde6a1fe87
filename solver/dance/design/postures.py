"""Static postures that excite mass and centres of mass: bonnet2016 (14).

Instead of one nonlinear programme over sixty postures at once, many postures are drawn that satisfy every constraint
by construction or by check, and the best set among them is chosen by exchange until no exchange of one posture for
another improves the criterion. Nothing infeasible can enter, and every start ends in a local optimum of the choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...coordinates import Curves, coordinate_lengths, coordinate_names
from ...errors import InvalidValue
from ...feasibility.margins import Checks
from ...identification.base_parameters import BaseParameters
from ...identification.excitation.excitation import base_rows
from ...identification.excitation.gram_matrices import GramMatrices
from ...motion import Motion
from ...rig import ROOT_NV
from ...trajectory.legged_rig import Footing, LeggedRig
from ...trajectory.segment import SegmentChecker
from .named_poses import Motifs

TILT = 0.35
"""[rad] largest root rotation about each axis that is drawn."""
LOWEST = 0.22
"""Share of the leg's length by which the root may be lower than with straight legs."""
HIGHEST = 0.03
WITHIN = 0.7
"""Share of the (shrunk) support polygon from which the goals of the centre of mass are drawn."""
BATCH = 96
INSIDE = 0.96
"""Share of the joint ranges that is drawn from."""
UNKNOWN_RANGE, UNKNOWN_SLIDE = 0.8, 0.1
"""[rad, m] to each side of home that a joint is drawn from whose range is not known."""
HOPELESS = 200
"""Postures all of which must fail the same before it is taken for failing always."""
SAID = 3
RANGE = "range of a leg's joint"
"""What a leg fails whose foot can be reached by leaving it only."""
PASSES = 3
"""Over all chosen postures at most, in each start of the choice."""


@dataclass(frozen=True, slots=True)
class PosturePool:
    """Feasible postures on one footing.

    Attributes:
        footing: where they stand.
        y: (P, D) flat coordinates.
        curves: P frames at rest.
        rows: (P, 6, B) of W_b.
        drawn: how many were tried.
        motifs: (P,) number of the named pose of each; all zero where none is named.
    """

    footing: Footing
    y: np.ndarray
    curves: Curves
    rows: np.ndarray
    drawn: int
    motifs: np.ndarray

    def only(self, kept: np.ndarray) -> PosturePool:
        """Some of them."""
        curves = Curves(self.curves.q[kept], self.curves.v[kept], self.curves.a[kept])
        return PosturePool(self.footing, self.y[kept], curves, self.rows[kept], self.drawn, self.motifs[kept])

    def first(self, number: int, generator: np.random.Generator) -> np.ndarray:
        """So many of them at random, (number,) indices; of named poses each in turn."""
        order = generator.permutation(len(self.y))
        motifs = self.motifs[order]
        turn = np.array([int((motifs[:place] == own).sum()) for place, own in enumerate(motifs)], int)
        return order[np.argsort(turn, kind="stable")][:number]


@dataclass(frozen=True, slots=True)
class Draw:
    """What postures are drawn, and how many.

    Attributes:
        wanted: feasible ones, at least.
        seed: of the draws.
        motifs: poses whose variations alone are drawn; None: any postures.
        most: draws, whatever they give.
    """

    wanted: int
    seed: int
    motifs: Motifs | None = None
    most: int = 12000


def draw_pool(
    legged: LeggedRig,
    checker: SegmentChecker,
    footing: Footing,
    home: np.ndarray,
    structure: BaseParameters,
    draw: Draw,
) -> PosturePool:
    """Feasible postures on a footing, drawn about its home (D,).

    Raises:
        InvalidValue: none of the draws was feasible, with what failed most often.
    """
    generator = np.random.default_rng(draw.seed)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    found, drawn, troubles = 0, 0, _Troubles()
    while drawn < draw.most and (found < draw.wanted or _missing(draw, kept, drawn)):
        y, of = _draw(legged, footing, home, generator, BATCH), np.zeros(BATCH, int)
        if draw.motifs is not None:
            height = y[:, 2]
            y, of = draw.motifs.drawn(generator, BATCH)
            y[:, 2] = height
        drawn += BATCH
        y, good = legged.balanced(y, _goals(footing, generator, BATCH), footing.solved)
        legs = np.concatenate([legged.leg_columns[side] for side in footing.solved])
        beyond = (y[:, legs] < legged.lower[legs]) | (y[:, legs] > legged.upper[legs])
        reach = good & ~beyond.any(axis=1)
        if not found:
            troubles.legs(legged, legs, y[good][:, legs])
        y, of = y[reach], of[reach]
        if not len(y):
            if troubles.hopeless:
                break
            continue
        _, curves, _ = legged.still(y, footing.solved)
        checks = checker.checks(np.arange(float(len(y))), curves, footing.anchors)
        holds = checker.worst(checks) >= 0.0
        if not found and not holds.any():
            troubles.add(checks, checker.slack)
            if troubles.hopeless:
                break
        kept.append((y[holds], of[holds]))
        found += int(holds.sum())
    if not found:
        what = "postures" if draw.motifs is None else f"variations of {', '.join(draw.motifs.names)}"
        reasons = troubles.said or "its legs do not reach, or its centre of mass cannot be brought over its feet"
        raise InvalidValue(
            f"rig {legged.rig.name!r}: none of {drawn} {what} in configuration {footing.configuration!r} keeps all "
            f"limits: {reasons}"
        )
    y, of = (np.concatenate(parts) for parts in zip(*kept))
    _, curves, _ = legged.still(y, footing.solved)
    rows = base_rows(legged.rig, Motion(np.arange(float(len(y))), curves.q, curves.v, curves.a), structure)
    return PosturePool(footing, y, curves, rows, drawn, of)


def _missing(draw: Draw, kept: list[tuple[np.ndarray, np.ndarray]], drawn: int) -> bool:
    """Whether some named pose has no variation yet, and was not tried often enough to give it up."""
    if draw.motifs is None:
        return False
    known = {int(k) for _, of in kept for k in of}
    return len(known) < len(draw.motifs.names) and drawn < HOPELESS * len(draw.motifs.names)


@dataclass
class _Troubles:
    """What the postures drawn so far, none of them feasible, fail.

    Attributes:
        counts: frames looked at, and those that fail, by check and item.
        needed: of the coordinates of legs.
    """

    counts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    needed: dict[str, _Ends] = field(default_factory=dict)

    def legs(self, legged: LeggedRig, columns: np.ndarray, y: np.ndarray) -> None:
        """Count the coordinates (N, k) of legs, columns (k,), that are beyond their ranges under feet that stand."""
        if not len(y):
            return
        names, lengths = coordinate_names(legged.rig), coordinate_lengths(legged.rig)
        lower, upper = legged.lower[columns], legged.upper[columns]
        beyond = (y < lower) | (y > upper)
        for k, column in enumerate(columns - ROOT_NV):
            name = names[column]
            self._count((RANGE, name), len(y), int(beyond[:, k].sum()))
            known = self.needed.get(name)
            low, high = (np.inf, -np.inf) if known is None else (known.low, known.high)
            unit = "m" if lengths[column] else "deg"
            self.needed[name] = _Ends(unit, lower[k], upper[k], min(low, y[:, k].min()), max(high, y[:, k].max()))

    def add(self, checks: Checks, slack: float) -> None:
        """Count every item of every check that is refused, with a multiple of each check's slack kept."""
        for margin in checks.margins:
            least = slack * margin.check.slack - margin.tolerance
            for item, count in zip(margin.items, (margin.values < least).sum(axis=0)):
                self._count((margin.name, item), len(checks), int(count))

    def _count(self, what: tuple[str, str], frames: int, failing: int) -> None:
        before = self.counts.get(what, (0, 0))
        self.counts[what] = before[0] + frames, before[1] + failing

    @property
    def hopeless(self) -> bool:
        """Many postures, and the same thing fails in all of them."""
        return any(failing == frames >= HOPELESS for frames, failing in self.counts.values())

    @property
    def said(self) -> str:
        """What fails most often."""
        often = [(what, *counts) for what, counts in self.counts.items() if counts[1]]
        often.sort(key=lambda entry: (-entry[2] / entry[1], -entry[2], entry[0]))
        return "; ".join(
            f"{name} ({item}{f': {self.needed[item]}' if name == RANGE else ''}) fails in "
            f"{'every one' if failing == frames else f'{failing} of {frames}'}"
            for (name, item), frames, failing in often[:SAID]
        )


@dataclass(frozen=True, slots=True)
class _Ends:
    """[rad, m] A leg's coordinate: its range, and from where to where feet that stand would take it."""

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


def _draw(
    legged: LeggedRig, footing: Footing, home: np.ndarray, generator: np.random.Generator, count: int
) -> np.ndarray:
    y = np.tile(home, (count, 1))
    free = [legged.trunk]
    free += [columns for side, columns in legged.raised_columns.items() if side not in footing.solved]
    columns = np.concatenate(free)
    # where the file states no range nobody knows where a joint ends: it stays near home
    lengths = coordinate_lengths(legged.rig)[columns - ROOT_NV]
    near, far = np.where(lengths, UNKNOWN_SLIDE, UNKNOWN_RANGE), np.where(lengths, np.inf, np.pi)
    lower, upper = legged.lower[columns], legged.upper[columns]
    lower = np.where(np.isfinite(lower), np.maximum(lower, -far), home[columns] - near)
    upper = np.where(np.isfinite(upper), np.minimum(upper, far), home[columns] + near)
    middle, half = 0.5 * (lower + upper), 0.5 * INSIDE * (upper - lower)
    share = generator.uniform(-1.0, 1.0, (count, len(columns)))
    # a random part of the way from home keeps some postures near it, where collisions are rare
    way = generator.uniform(0.3, 1.0, (count, 1))
    y[:, columns] = (1.0 - way) * y[:, columns] + way * (middle + half * share)
    tilted = way * generator.uniform(-TILT, TILT, (count, 3))
    y[:, 3:ROOT_NV] = np.where(legged.root_free[3:], tilted, home[3:ROOT_NV])
    height = legged.straight_height - legged.rig.leg_length * generator.uniform(HIGHEST, LOWEST, count)
    y[:, 2] = height
    return y


def _goals(footing: Footing, generator: np.random.Generator, count: int) -> np.ndarray:
    """Points (count, 2) [m] in the inner part of the support polygon."""
    corners = footing.polygon.vertices
    weights = generator.dirichlet(np.ones(len(corners)), count)
    return footing.polygon.centre + WITHIN * (weights @ corners - footing.polygon.centre)


def choose(
    pools: list[PosturePool],
    numbers: list[int],
    structure: BaseParameters,
    weights: np.ndarray,
    seed: int,
    starts: int,
) -> tuple[list[np.ndarray], float]:
    """The best postures of each pool, (14): indices per pool and the criterion of them all.

    A variation of a named pose is exchanged for others of the same pose only, so that each is danced.

    Args:
        pools: one per group.
        numbers: postures to choose in each.
        structure: base parameters.
        weights: (L,) M_i of (12).
        seed: of the random starts.
        starts: multi-start: the best of so many exchanges from random choices.
    """
    objective = GramMatrices(structure, weights, "static")
    matrices = [objective.of_rows(pool.rows) for pool in pools]
    best: tuple[list[np.ndarray], float] = ([], np.inf)
    for start in range(starts):
        generator = np.random.default_rng([seed, start])
        chosen = [pool.first(number, generator) for pool, number in zip(pools, numbers)]
        total = np.sum([g[c].sum(axis=0) for g, c in zip(matrices, chosen)], axis=0)
        value = float(objective.value(total))
        for _ in range(PASSES):
            before = value
            for pool, group, own in zip(pools, matrices, chosen):
                for place in range(len(own)):
                    without = total - group[own[place]]
                    values = objective.value(without + group)
                    values[np.delete(own, place)] = np.inf
                    values[pool.motifs != pool.motifs[own[place]]] = np.inf
                    new = int(np.argmin(values))
                    if values[new] < value * (1.0 - 1e-9):
                        own[place], total, value = new, without + group[new], float(values[new])
            if value > before * (1.0 - 1e-3):
                break
        if value < best[1]:
            best = ([c.copy() for c in chosen], value)
    return best
