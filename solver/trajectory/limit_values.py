"""What the checks of the table find along a trajectory that programmes hold, in their own units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..check_options import CheckOptions
from ..coordinates import Curves, static_motion
from ..dynamics.mechanics import DynamicState
from ..feasibility import check_table
from ..feasibility.check_definition import Check
from ..feasibility.check_input import CheckInput, PlantedPhase
from ..feasibility.checker import FrameChecker
from .near_items import NearItems
from .planted_feet import PlantedTrajectory, Rates

LEG_LIMIT = "leg"
"""Name of the limit by which legs stay regular, in no check; it has no unit."""


@dataclass(frozen=True, slots=True)
class LimitValues:
    """Limits at N samples.

    Attributes:
        names: (G,) of the limits.
        values: (N, G) what is left, in units of the checks' `SmoothLimit.scale`; infinite where a limit does not apply.
        solved: coordinates with the legs solved.
        regular: (N, legs) see `PlantedTrajectory.solve_legs`.
        means: (M,) what is left of limits on means over several samples.
    """

    names: np.ndarray
    values: np.ndarray
    solved: Rates
    regular: np.ndarray
    means: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def is_leg_limit(self) -> np.ndarray:
        """(G,) True for limits that the solved legs see to."""
        given = [
            check.name
            for check in check_table.CHECKS
            if check.smooth_limit is not None and check.smooth_limit.allowance
        ]
        return np.isin(self.names, [LEG_LIMIT, *given])

    @property
    def violation(self) -> float:
        """Sum of what is beyond the limits."""
        return float(np.maximum(-self.values, 0.0).sum() + np.maximum(-self.means, 0.0).sum())


class TrajectoryChecks:
    """A trajectory with everything prepared that its checks need.

    Args:
        trajectory: that is checked.
        options: of the checks.

    Attributes:
        checker: of every check.
        body: the rig prepared.
        phases: of the schedule, on the rig.
        checks: that programmes take.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions) -> None:
        self.trajectory, self.options = trajectory, options
        self.checker = FrameChecker(trajectory.rig, trajectory.schedule, options)
        self.body = self.checker.body
        self.phases = [PlantedPhase.from_phase(trajectory.rig, phase, options) for phase in trajectory.schedule.phases]
        self.checks = [check for check in check_table.CHECKS if check.smooth_limit is not None]
        self._widths = {check.name: self._width(check) for check in self.checks}

    def posture_margins(self, check: Check, times: np.ndarray, y: np.ndarray, near: NearItems) -> np.ndarray:
        """Values (N, k) by a check of postures, in its unit, of flat coordinates (N, nv) at instants (N,) [s].

        Of links that are near each other the distance of their capsules.
        """
        curves = static_motion(self.trajectory.rig, y)

        def found(cut: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[cut], curves.v[cut], curves.a[cut])
            state = self.body.mechanics.compute_poses(own.q)
            return [near.smooth_margins(check, self._check_input(phase, own, state, forces=False))]

        return self._by_phase(times, found, [check])[0]

    def all_margins(self, times: np.ndarray, curves: Curves, near: NearItems) -> list[np.ndarray]:
        """Values (N, k) of frames by every check that programmes take, in its unit; exact distances of links."""

        def found(cut: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[cut], curves.v[cut], curves.a[cut])
            inputs = self._check_input(phase, own, self.body.mechanics.compute_state(own.q, own.v, own.a), forces=True)
            return [
                near.exact_distances[c.name][cut] if c.name in near.exact_distances else near.smooth_margins(c, inputs)
                for c in self.checks
            ]

        return self._by_phase(times, found, self.checks)

    def _check_input(self, phase: PlantedPhase, curves: Curves, state: DynamicState, *, forces: bool) -> CheckInput:
        return CheckInput.from_state(self.body, phase, self.trajectory.schedule.ground, curves, state, forces=forces)

    def _by_phase(
        self, times: np.ndarray, found: Callable[[np.ndarray, PlantedPhase], list[np.ndarray]], checks: Sequence[Check]
    ) -> list[np.ndarray]:
        """Values of checks, phase by phase; infinite where a phase has fewer than another."""
        phases = self.trajectory.schedule.index_at(times)
        cuts = [np.flatnonzero(phases == number) for number in np.unique(phases)]
        pieces = [found(cut, self.phases[phases[cut[0]]]) for cut in cuts]
        parts = []
        for place, check in enumerate(checks):
            widest = max([self._widths[check.name], *(own[place].shape[1] for own in pieces)])
            values = np.full((len(times), widest), np.inf)
            for cut, own in zip(cuts, pieces):
                values[cut, : own[place].shape[1]] = own[place]
            parts.append(values)
        return parts

    def _width(self, check: Check) -> int:
        """The largest number of values in any phase, which batches of other phases have as well."""
        smooth = check.smooth_limit.smooth_margins if check.smooth_limit is not None else None
        if smooth is None:
            return 0
        nothing = Curves(
            *(np.zeros((0, n)) for n in (self.trajectory.rig.model.nq, *[self.trajectory.rig.model.nv] * 2))
        )
        phases = [CheckInput.from_motion(self.body, phase, 0.0, nothing) for phase in self.phases]
        return max((smooth(inputs).shape[1] for inputs in phases if check.applies_to(inputs)), default=0)
