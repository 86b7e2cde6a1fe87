"""What the checks of the table find along a trajectory that programmes hold, in their own units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..check_options import CheckOptions
from ..coordinates import Curves, at_rest
from ..dynamics.mechanics import State
from ..feasibility import table
from ..feasibility.check import FrameChecker
from ..feasibility.definition import Check
from ..feasibility.situation import PlantedPhase, Situation
from .near_items import NearItems
from .planted_feet import PlantedTrajectory, Rates

LEG = "leg"
"""Name of the limit by which legs stay regular, in no check; it has no unit."""


@dataclass(frozen=True, slots=True)
class Values:
    """Limits at N samples.

    Attributes:
        names: (G,) of the limits.
        values: (N, G) what is left, in units of the checks' `Programme.scale`; infinite where a limit does not apply.
        solved: coordinates with the legs solved.
        regular: (N, legs) see `PlantedTrajectory.with_legs`.
        means: (M,) what is left of limits on means over several samples.
    """

    names: np.ndarray
    values: np.ndarray
    solved: Rates
    regular: np.ndarray
    means: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def of_legs(self) -> np.ndarray:
        """(G,) True for limits that the solved legs see to."""
        given = [check.name for check in table.CHECKS if check.programme is not None and check.programme.give]
        return np.isin(self.names, [LEG, *given])

    @property
    def violation(self) -> float:
        """Sum of what is beyond the limits."""
        return float(np.maximum(-self.values, 0.0).sum() + np.maximum(-self.means, 0.0).sum())


class Limited:
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
        self.phases = [PlantedPhase.of(trajectory.rig, phase, options) for phase in trajectory.schedule.phases]
        self.checks = [check for check in table.CHECKS if check.programme is not None]
        self._widths = {check.name: self._width(check) for check in self.checks}

    def placed(self, check: Check, times: np.ndarray, y: np.ndarray, near: NearItems) -> np.ndarray:
        """Values (N, k) by a check of postures, in its unit, of flat coordinates (N, nv) at instants (N,) [s].

        Of links that are near each other the distance of their capsules.
        """
        curves = at_rest(self.trajectory.rig, y)

        def found(cut: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[cut], curves.v[cut], curves.a[cut])
            state = self.body.mechanics.poses(own.q)
            return [near.margins(check, self._situation(phase, own, state, forces=False))]

        return self._by_phase(times, found, [check])[0]

    def parts(self, times: np.ndarray, curves: Curves, near: NearItems) -> list[np.ndarray]:
        """Values (N, k) of frames by every check that programmes take, in its unit; exact distances of links."""

        def found(cut: np.ndarray, phase: PlantedPhase) -> list[np.ndarray]:
            own = Curves(curves.q[cut], curves.v[cut], curves.a[cut])
            now = self._situation(phase, own, self.body.mechanics.state(own.q, own.v, own.a), forces=True)
            return [near.true[c.name][cut] if c.name in near.true else near.margins(c, now) for c in self.checks]

        return self._by_phase(times, found, self.checks)

    def _situation(self, phase: PlantedPhase, curves: Curves, state: State, *, forces: bool) -> Situation:
        return Situation.of_state(self.body, phase, self.trajectory.schedule.ground, curves, state, forces=forces)

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
        smooth = check.programme.smooth if check.programme is not None else None
        if smooth is None:
            return 0
        nothing = Curves(
            *(np.zeros((0, n)) for n in (self.trajectory.rig.model.nq, *[self.trajectory.rig.model.nv] * 2))
        )
        phases = [Situation.of(self.body, phase, 0.0, nothing) for phase in self.phases]
        return max((smooth(now).shape[1] for now in phases if check.applies(now)), default=0)
