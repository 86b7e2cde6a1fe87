"""Every limit of a trajectory as one smooth number per sample, with derivatives by positions and their two rates.

All limits act instant by instant, so that the derivative of a limit by any spline's control values is its derivative
by (y, y', y'') at that instant times the spline's basis there. The former are differences of whole batches of frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates import Curves, to_manifold
from ..dynamics.mechanics import Mechanics, State
from ..feasibility.balance import zero_moment_point
from ..feasibility.capsules import CapsulePairs
from ..feasibility.check import FrameChecker
from ..feasibility.collisions import CollisionDetector
from ..feasibility.ground import PlantedPhase, ground_margins
from ..feasibility.joints import angle_margins, speed_margins, torque_margins
from ..feasibility.margins import Checks
from ..feasibility.options import CheckOptions
from ..rig import ROOT_NV, Rig
from .planted_feet import PlantedTrajectory, Rates
from .segment import SLACK

STEPS = (1e-6, 1e-5, 1e-4)
"""Differences of coordinates, speeds and accelerations."""
BATCH = 4096
"""Frames evaluated at once."""
BENT = 0.5
"""Regularity a solved leg should keep: half the bend of `Leg.bent`."""
SCALES = {
    "joint angle": 0.1, "joint speed": 0.2, "joint torque": 0.1, "zmp": 0.02, "friction": 0.1, "twist": 0.1,
    "unilateral": 0.1, "slip": 0.005, "leg": 1.0, "self-collision": 0.02, "floor": 0.02,
}  # fmt: skip
"""What counts as one unit of each limit, so that they can be added up."""
STANDS = 1e-6
"""[m] A sole this near its anchor stands on it."""
BEFORE = 1e-6
"""[s] A border of two phases is sampled so much before it as well, where the earlier one's limits hold."""


@dataclass(frozen=True, slots=True)
class Values:
    """Limits at N samples.

    Attributes:
        names: (G,) of the limits.
        values: (N, G) what is left, in units of `SCALES`; infinite where a limit does not apply.
        solved: coordinates with the legs solved.
        regular: (N, legs) see `PlantedTrajectory.with_legs`.
    """

    names: np.ndarray
    values: np.ndarray
    solved: Rates
    regular: np.ndarray

    @property
    def violation(self) -> float:
        """Sum of what is beyond the limits."""
        return float(np.maximum(-self.values, 0.0).sum())


class TrajectoryLimits:
    """Evaluates the limits of a trajectory.

    Args:
        trajectory: whose.
        options: of the checks.
        slack: multiple of `SLACK` to keep beyond each limit.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions, slack: float) -> None:
        rig = trajectory.rig
        self.trajectory, self.options, self.slack = trajectory, options, slack
        self._mechanics = Mechanics(rig)
        self._detector = CollisionDetector(rig, options)
        self._checker = FrameChecker(rig, trajectory.schedule, options)
        self._phases = [PlantedPhase.of(rig, phase, options) for phase in trajectory.schedule.phases]
        self._weight = rig.prior.total_mass * float(np.linalg.norm(rig.model.gravity.linear))
        self._corners = max((len(p.polygon.vertices) for p in self._phases if p.polygon is not None), default=0)

    def samples(self, start: float, stop: float, rate: float, also: np.ndarray) -> np.ndarray:
        """Times (N,) from start to stop, others also given and those just before the borders of phases among them."""
        even = np.linspace(start, stop, max(4, int(np.ceil((stop - start) * rate)) + 1))
        borders = [p.stop for p in self.trajectory.schedule.phases[:-1] if start < p.stop < stop]
        also = also[(also > start) & (also < stop)]
        found = np.unique(np.concatenate([even, borders, np.array(borders) - BEFORE, also]))
        return found[np.diff(found, prepend=-np.inf) > 1e-7]

    def check(self, times: np.ndarray, rates: Rates) -> Checks:
        """The checks of a trajectory with these coordinates."""
        return self._checker.check_frames(self.trajectory.motion(times, rates))

    def values(self, times: np.ndarray, rates: Rates, near: Checks | None = None) -> Values:
        """Limits at samples; collisions only of pairs that a check of the same samples found near."""
        evaluated = _Evaluation(self, times, near)
        return evaluated.values(rates)

    def derivatives(
        self, times: np.ndarray, rates: Rates, near: Checks | None, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the derivative for the wanted (N, G) limits: sample (R,), limit (R,) and slopes (R, 3, moved).

        The three are by the coordinates, speeds and accelerations in the trajectory's ``moved`` columns.
        """
        frames = np.flatnonzero(wanted.any(axis=1))
        rows, limits = np.nonzero(wanted)
        slopes = np.zeros((len(rows), 3, len(self.trajectory.moved)))
        place = np.zeros(len(times), int)
        place[frames] = np.arange(len(frames))
        at, part = times[frames], tuple(r[frames] for r in rates)
        evaluation = _Evaluation(self, at, near, frames)
        start = evaluation.values((part[0], part[1], part[2]))
        per_batch = max(1, BATCH // max(len(frames), 1))
        for steering in (True, False):
            directions = [(o, k) for o in range(3) for k in np.flatnonzero(self.trajectory.steering == steering)]
            for first in range(0, len(directions), per_batch):
                some = directions[first : first + per_batch]
                shifted = [np.tile(r, (len(some), 1)) for r in start.solved]
                for number, (order, k) in enumerate(some):
                    cut = slice(number * len(frames), (number + 1) * len(frames))
                    shifted[order][cut, self.trajectory.moved[k]] += STEPS[order]
                found = evaluation.repeated(
                    len(some), (shifted[0], shifted[1], shifted[2]), None if steering else start
                )
                for number, (order, k) in enumerate(some):
                    with np.errstate(invalid="ignore"):
                        change = (found[number] - start.values)[place[rows], limits]
                    slopes[:, order, k] = change / STEPS[order]
        return rows, limits, np.where(np.isfinite(slopes), slopes, 0.0)

    def parts(self, times: np.ndarray, curves: Curves, near: _Near) -> list[tuple[str, np.ndarray]]:
        """Each limit's name and values (N, k) of frames, in physical units."""
        rig, count = self.trajectory.rig, len(times)
        patches = len(rig.contacts)
        parts = {
            "joint angle": angle_margins(rig, curves.q),
            "joint speed": speed_margins(rig, curves.v),
            "joint torque": np.full((count, rig.model.nv - ROOT_NV), np.inf),
            "zmp": np.full((count, self._corners), np.inf),
            "friction": np.full((count, patches), np.inf),
            "twist": np.full((count, patches), np.inf),
            "unilateral": np.full((count, patches), np.inf),
            "slip": np.full((count, patches), np.inf),
            "self-collision": np.full((count, len(near.pairs)), np.inf),
            "floor": np.full((count, len(near.links)), np.inf),
        }
        phases = self.trajectory.schedule.index_at(times)
        ground = self.trajectory.schedule.ground
        for number in np.unique(phases):
            cut = np.flatnonzero(phases == number)
            phase = self._phases[number]
            state = self._mechanics.state(curves.q[cut], curves.v[cut], curves.a[cut])
            margins = ground_margins(rig, state, phase, self.options, ground, self._weight, 1.0)
            parts["joint torque"][cut] = torque_margins(rig, margins.torques)
            if phase.polygon is not None:
                zmp = zero_moment_point(state.wrench, ground, self._weight)
                edges = phase.polygon.edge_distances(zmp)
                parts["zmp"][cut, : edges.shape[1]] = edges
            for name in ("friction", "twist", "unilateral", "slip"):
                parts[name][cut] = getattr(margins, name)
            self._contacts(parts, cut, state, phase, near, ground)
        return list(parts.items())

    def _contacts(
        self, parts: dict[str, np.ndarray], cut: np.ndarray, state: State, phase: PlantedPhase, near: _Near,
        ground: float,
    ) -> None:  # fmt: skip
        if near.capsules is not None:
            parts["self-collision"][cut] = near.capsules.distances(state.rotation, state.position)
        if near.links:
            heights = self._detector.floor_distances(state.rotation, state.position, ground)
            heights[:, [self.trajectory.rig.index(link) for link in phase.links]] = np.inf
            parts["floor"][cut] = heights[:, [self.trajectory.rig.index(link) for link in near.links]]


class _Near:
    """Pairs and links near enough to touch, and how far coal's distances are from the capsules'."""

    def __init__(self, rig: Rig, near: Checks | None) -> None:
        self.pairs: tuple[tuple[str, str], ...] = ()
        self.links: tuple[str, ...] = ()
        self.capsules: CapsulePairs | None = None
        self.true = np.zeros((0, 0))
        if near is None:
            return
        collision, floor = near.margin("self-collision"), near.margin("floor")
        found = [k for k, pair in enumerate(collision.links) if len(pair) == 2]
        if found:
            wanted = [(collision.links[k][0], collision.links[k][1]) for k in found]
            self.capsules = CapsulePairs(rig, wanted)
            self.pairs = self.capsules.pairs
            order = {frozenset(pair): k for pair, k in zip(wanted, found)}
            self.true = collision.values[:, [order[frozenset(pair)] for pair in self.pairs]]
        low = floor.values.min(axis=0) < SCALES["floor"]
        self.links = tuple(link for link, is_low in zip(floor.items, low) if is_low)


class _Evaluation:
    """Limits of one set of samples, evaluated again and again."""

    def __init__(
        self, limits: TrajectoryLimits, times: np.ndarray, near: Checks | None, frames: np.ndarray | None = None
    ) -> None:
        self._limits, self._times = limits, times
        self._feet = limits.trajectory.feet_at(times)
        self._near = _Near(limits.trajectory.rig, near)
        self._true = self._near.true if frames is None or not self._near.pairs else self._near.true[frames]
        self._offset: np.ndarray | None = None

    def values(self, rates: Rates) -> Values:
        """At the samples."""
        solved, regular = self._limits.trajectory.with_legs(rates, self._feet)
        names, values = self._scaled(self._times, solved, regular, 1)
        return Values(names, values, solved, regular)

    def repeated(self, count: int, rates: Rates, same_legs: Values | None) -> np.ndarray:
        """(count, N, G) of coordinates stacked count times; with the legs as given where they are known to stay."""
        if same_legs is not None:
            regular = np.tile(same_legs.regular, (count, 1))
        else:
            feet = [tuple(np.tile(part, (count, 1)) for part in foot) for foot in self._feet]
            rates, regular = self._limits.trajectory.with_legs(rates, [(f[0], f[1], f[2]) for f in feet])
        values = self._scaled(np.tile(self._times, count), rates, regular, count)[1]
        return values.reshape(count, len(self._times), -1)

    def _scaled(
        self, times: np.ndarray, solved: Rates, regular: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        names, columns = [], []
        curves = to_manifold(self._limits.trajectory.rig, *solved)
        for name, values in [*self._limits.parts(times, curves, self._near), ("leg", regular - BENT)]:
            if name == "self-collision" and values.shape[1]:
                if self._offset is None:  # coal's distance, with the capsules' derivative
                    self._offset = np.where(self._true < self._limits.options.reach, self._true - values, np.inf)
                values = values + np.tile(self._offset, (count, 1))
            spare = self._limits.slack * SLACK.get(name, 0.0) if name != "slip" else -STANDS
            columns.append((values - spare) / SCALES[name])
            names += [name] * values.shape[1]
        return np.array(names), np.concatenate(columns, axis=1)


__all__ = ["TrajectoryLimits", "Values"]
