"""Values of the smooth limits of all checks along a trajectory, for optimisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..dynamics.coordinates import Curves, static_motion
from ..dynamics.mechanics import DynamicState
from ..feasibility import check_table
from ..feasibility.capsules import CapsulePairs
from ..feasibility.check_definition import Check
from ..feasibility.check_input import CheckInput, PlantedPhase
from ..feasibility.check_results import Checks, Margin
from ..feasibility.checker import FrameChecker
from ..options.checks import CheckOptions
from ..skeleton.rig import Rig
from .planted_feet import PlantedTrajectory, Rates

LEG_LIMIT = "leg"
"""Name of the limit that keeps legs from stretching. It belongs to no check and has no unit."""


@dataclass(frozen=True, slots=True)
class LimitValues:
    """Margins of G limits at N samples.

    Attributes:
        names: (G,) name of the check of each limit.
        values: (N, G) margins over `SmoothLimit.scale`; infinite where a limit does not apply.
        solved: coordinates with the legs solved.
        regular: (N, legs) see `PlantedTrajectory.solve_legs`.
        means: (M,) margins of limits on means over several samples.
    """

    names: np.ndarray
    values: np.ndarray
    solved: Rates
    regular: np.ndarray
    means: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def is_leg_limit(self) -> np.ndarray:
        """(G,) True for limits that the inverse kinematics of the legs keeps."""
        by_legs = [c.name for c in check_table.CHECKS if c.smooth_limit is not None and c.smooth_limit.allowance]
        return np.isin(self.names, [LEG_LIMIT, *by_legs])

    @property
    def violation(self) -> float:
        """Sum of all violations."""
        return float(np.maximum(-self.values, 0.0).sum() + np.maximum(-self.means, 0.0).sum())


class NearItems:
    """Pairs and links that are near enough to collide at the samples of a trajectory; others are ignored.

    Args:
        rig: of the trajectory.
        near: results of the checks at the samples; None: nothing is near.

    Attributes:
        exact_distances: by check, distances (N, P) [m] of its near pairs, less the clearance.
    """

    def __init__(self, rig: Rig, near: Checks | None) -> None:
        self._pairs: dict[str, CapsulePairs] = {}
        self._links: dict[str, list[int]] = {}
        self.exact_distances: dict[str, np.ndarray] = {}
        for margin in () if near is None else near.margins:
            limit = margin.check.smooth_limit
            if limit is not None and limit.near_only == "pairs":
                self._add_pairs(rig, margin)
            elif limit is not None and limit.near_only == "links":
                low = margin.values.min(axis=0) < limit.scale
                self._links[margin.name] = [k for k, is_low in enumerate(low) if is_low]

    def _add_pairs(self, rig: Rig, margin: Margin) -> None:
        columns = [k for k, pair in enumerate(margin.links) if len(pair) == 2]
        if not columns:
            return
        pairs = [(margin.links[k][0], margin.links[k][1]) for k in columns]
        capsules = CapsulePairs(rig, pairs)
        column_by_pair = {frozenset(pair): k for pair, k in zip(pairs, columns)}
        order = [column_by_pair[frozenset(pair)] for pair in capsules.pairs]
        self._pairs[margin.name] = capsules
        self.exact_distances[margin.name] = margin.values[:, order]

    def smooth_margins(self, check: Check, inputs: CheckInput) -> np.ndarray:
        """Smooth margins (N, k) of a check; of near items only if it has many."""
        limit = check.smooth_limit
        assert limit is not None
        if limit.near_only == "pairs":
            capsules = self._pairs.get(check.name)
            if capsules is None:
                return np.zeros((len(inputs), 0))
            return capsules.distances(inputs.state.rotation, inputs.state.position)
        if not check.applies_to(inputs):
            return np.full((len(inputs), len(check.items(inputs.body).names)), np.inf)
        if limit.near_only == "links" and not self._links.get(check.name):
            return np.zeros((len(inputs), 0))
        values = (limit.smooth_margins or check.margins)(inputs)
        assert isinstance(values, np.ndarray)
        return values[:, self._links[check.name]] if limit.near_only == "links" else values


class TrajectoryChecks:
    """Evaluates the checks along a trajectory.

    Args:
        trajectory: to check.
        options: of the checks.

    Attributes:
        checker: of all checks.
        body: the checker's.
        phases: of the contact schedule, on the rig.
        checks: those with a smooth limit.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions) -> None:
        self.trajectory, self.options = trajectory, options
        self.checker = FrameChecker(trajectory.rig, trajectory.schedule, options)
        self.body = self.checker.body
        self.phases = [PlantedPhase.from_phase(trajectory.rig, phase, options) for phase in trajectory.schedule.phases]
        self.checks = [check for check in check_table.CHECKS if check.smooth_limit is not None]
        self._widths = {check.name: self._width(check) for check in self.checks}

    def posture_margins(self, check: Check, times: np.ndarray, y: np.ndarray, near: NearItems) -> np.ndarray:
        """Margins (N, k) of a check that depends on the posture alone, in its unit.

        Distances of near links are those of their capsules.

        Args:
            check: to evaluate.
            times: (N,) [s].
            y: (N, nv) flat coordinates.
            near: items.
        """
        curves = static_motion(self.trajectory.rig, y)

        def evaluate(frames: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[frames], curves.v[frames], curves.a[frames])
            state = self.body.mechanics.compute_poses(own.q)
            return [near.smooth_margins(check, self._check_input(phase, own, state, forces=False))]

        return self._by_phase(times, evaluate, [check])[0]

    def all_margins(self, times: np.ndarray, curves: Curves, near: NearItems) -> list[np.ndarray]:
        """Margins (N, k) of every check with a smooth limit, in its unit; exact distances of near links."""

        def evaluate(frames: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[frames], curves.v[frames], curves.a[frames])
            inputs = self._check_input(phase, own, self.body.mechanics.compute_state(own.q, own.v, own.a), forces=True)
            exact = near.exact_distances
            return [
                exact[check.name][frames] if check.name in exact else near.smooth_margins(check, inputs)
                for check in self.checks
            ]

        return self._by_phase(times, evaluate, self.checks)

    def _check_input(self, phase: PlantedPhase, curves: Curves, state: DynamicState, *, forces: bool) -> CheckInput:
        return CheckInput.from_state(self.body, phase, self.trajectory.schedule.ground, curves, state, forces=forces)

    def _by_phase(
        self,
        times: np.ndarray,
        evaluate: Callable[[np.ndarray, PlantedPhase], list[np.ndarray]],
        checks: Sequence[Check],
    ) -> list[np.ndarray]:
        """Values of checks, evaluated phase by phase; infinite where a phase has fewer values than another."""
        phases = self.trajectory.schedule.index_at(times)
        frames_by_phase = [np.flatnonzero(phases == number) for number in np.unique(phases)]
        pieces = [evaluate(frames, self.phases[phases[frames[0]]]) for frames in frames_by_phase]
        result = []
        for index, check in enumerate(checks):
            width = max([self._widths[check.name], *(piece[index].shape[1] for piece in pieces)])
            values = np.full((len(times), width), np.inf)
            for frames, piece in zip(frames_by_phase, pieces):
                values[frames, : piece[index].shape[1]] = piece[index]
            result.append(values)
        return result

    def _width(self, check: Check) -> int:
        """Largest number of values in any phase, so that batches of all phases have the same width."""
        smooth = check.smooth_limit.smooth_margins if check.smooth_limit is not None else None
        if smooth is None:
            return 0
        rig = self.trajectory.rig
        no_frames = Curves(*(np.zeros((0, size)) for size in (rig.nq, rig.nv, rig.nv)))
        phases = [CheckInput.from_motion(self.body, phase, 0.0, no_frames) for phase in self.phases]
        return max((smooth(inputs).shape[1] for inputs in phases if check.applies_to(inputs)), default=0)
