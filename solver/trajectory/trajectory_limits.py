"""Every limit of a trajectory as one smooth number per sample, with derivatives by positions and their two rates.

All limits act instant by instant, so that the derivative of a limit by any spline's control values is its derivative
by (y, y', y'') at that instant (`limit_derivatives`) times the spline's basis there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..check_options import CheckOptions
from ..coordinates import to_manifold
from ..feasibility.check_definition import Check
from ..feasibility.check_results import Checks
from .curve import sample_times
from .limit_derivatives import limit_derivatives
from .limit_values import LEG_LIMIT, LimitValues, TrajectoryChecks
from .near_items import NearItems
from .planted_feet import PlantedTrajectory, Rates

MIN_REGULARITY = 0.5
"""Regularity a solved leg should keep: half the bend of `Leg.bent_posture`."""
FADE_TIME = 0.04
"""[s] from take-off, and to landing, within which slack fades."""
BORDER_OFFSET = 1e-6
"""[s] A border of two phases is sampled so much before it as well, where the earlier one's limits hold."""


class TrajectoryLimits(TrajectoryChecks):
    """Evaluates the limits of a trajectory.

    Args:
        trajectory: whose.
        options: of the checks.
        sampling_factor: multiple of the checks' slack to keep beyond each limit.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions, slack: float) -> None:
        super().__init__(trajectory, options)
        self.sampling_factor = slack
        both = zip(trajectory.schedule.phases, trajectory.schedule.phases[1:])
        self._flights = np.array([one.stop for one, other in both if one.airborne != other.airborne])

    def sample_times(
        self, start: float, stop: float, rate: float, extra: np.ndarray, flight_times: np.ndarray | None = None
    ) -> np.ndarray:
        """Times (N,) from start to stop, others also given and those just before the borders of phases among them.

        Instants ``flown``, if given, stand for the even ones in the air: momentum keeps the sum of what a flight lacks.

        Where a flight begins or ends only its own limits are asked. They make every force zero, and there the standing
        phase's cones have their apex, where no derivative holds.
        """
        even = sample_times(start, stop, max(rate, 3.0 / (stop - start)))
        phases = self.trajectory.schedule.phases
        if flight_times is not None:
            even = even[~np.array([phases[k].airborne for k in self.trajectory.schedule.index_at(even)])]
            extra = np.concatenate([extra, flight_times])
        both = [(a, b) for a, b in pairwise(phases) if start < a.stop < stop]
        borders = np.array([a.stop for a, _ in both])
        extra = extra[(extra > start) & (extra < stop)]
        found = np.unique(np.concatenate([even, borders, borders - BORDER_OFFSET, extra]))
        apex = [a.stop - BORDER_OFFSET * b.airborne for a, b in both if a.airborne != b.airborne]
        found = found[(np.abs(found[:, None] - np.array(apex)) > 0.1 * BORDER_OFFSET).all(axis=1)]
        return found[np.diff(found, prepend=-np.inf) > 1e-7]

    def check(self, times: np.ndarray, rates: Rates) -> Checks:
        """The checks of a trajectory with these coordinates."""
        return self.checker.check_frames(self.trajectory.motion(times, rates))

    def values(self, times: np.ndarray, rates: Rates, near: Checks | None = None) -> LimitValues:
        """Limits at samples; collisions only of pairs that a check of the same samples found near."""
        items = NearItems(self.trajectory.rig, near)
        solved, regular = self.trajectory.solve_legs(rates, self.trajectory.foot_poses(times))
        names: list[str] = []
        columns = []
        parts = self.all_margins(times, to_manifold(self.trajectory.rig, *solved), items)
        for check, values in zip(self.checks, parts):
            programme = check.smooth_limit
            assert programme is not None
            if check.name in items.exact_distances:  # the exact distance, with the capsules' derivative
                values = np.where(values < self.options.reach, values, np.inf)
            slack = self.sampling_factor * check.sampling_margin * self.sampling_share(check, times)[:, None]
            columns.append((values - (slack - programme.allowance)) / programme.scale)
            names += [check.name] * values.shape[1]
        columns.append(regular - MIN_REGULARITY)
        names += [LEG_LIMIT] * regular.shape[1]
        return LimitValues(np.array(names), np.concatenate(columns, axis=1), solved, regular)

    def derivatives(
        self, times: np.ndarray, start: LimitValues, near: Checks | None, selected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the derivative for the wanted (N, G) limits: sample (R,), limit (R,) and slopes (R, 3, moved).

        The three are by the coordinates, speeds and accelerations in the trajectory's ``moved`` columns. Limits that
        the solved legs keep as far as they can be kept have none: they are left out.

        Args:
            times: (N,) [s].
            start: what `values` found there.
            near: as it was given.
            selected: which limits.
        """
        return limit_derivatives(
            self, times, start, NearItems(self.trajectory.rig, near), selected & ~self._is_fully_kept(start)
        )

    def sampling_share(self, check: Check, times: np.ndarray) -> np.ndarray:
        """(N,) share of a check's slack: none where the body takes off and lands, for there the floor's force ends."""
        if check.applies_when != "standing" or check.depends_on != "force" or not len(self._flights):
            return np.ones(len(times))
        return np.minimum(np.abs(times[:, None] - self._flights).min(axis=1) / FADE_TIME, 1.0)

    def _is_fully_kept(self, start: LimitValues) -> np.ndarray:
        """(N, G) True for limits of which the solved legs leave all that there may be."""
        most = np.full(len(start.names), np.inf)
        for check in self.checks:
            assert check.smooth_limit is not None
            if check.smooth_limit.largest_margin is not None:
                left = check.smooth_limit.largest_margin(self.body) - self.sampling_factor * check.sampling_margin
                most[start.names == check.name] = left / check.smooth_limit.scale
        return np.asarray(start.values >= most)
