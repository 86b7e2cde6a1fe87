"""All limits of a trajectory as smooth margins at samples, with derivatives by coordinates, velocities, accelerations.

Every limit depends on one instant. Its derivative by the control values of a spline is therefore its derivative by
(y, y', y'') at that instant (`limit_derivatives`) times the spline's basis.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..dynamics.coordinates import to_manifold
from ..feasibility.check_definition import Check
from ..feasibility.check_results import Checks
from ..options.checks import CheckOptions
from .curve import sample_times
from .limit_derivatives import limit_derivatives
from .limit_values import LEG_LIMIT, LimitValues, NearItems, TrajectoryChecks
from .planted_feet import PlantedTrajectory, Rates

MIN_REGULARITY = 0.5
"""Regularity that a solved leg keeps: half the bend of `Leg.bent_posture`."""
FADE_TIME = 0.04
"""[s] after take-off and before landing in which sampling margins fade."""
BORDER_OFFSET = 1e-6
"""[s] The end of a phase is sampled this much earlier too, where the limits of that phase apply."""


class TrajectoryLimits(TrajectoryChecks):
    """Evaluates the limits of a trajectory.

    Args:
        trajectory: to evaluate.
        options: of the checks.
        sampling_factor: multiple of the checks' sampling margins to keep.
    """

    def __init__(self, trajectory: PlantedTrajectory, options: CheckOptions, sampling_factor: float) -> None:
        super().__init__(trajectory, options)
        self.sampling_factor = sampling_factor
        both = zip(trajectory.schedule.phases, trajectory.schedule.phases[1:])
        self._flights = np.array([one.stop for one, other in both if one.airborne != other.airborne])

    def sample_times(
        self, start: float, stop: float, rate: float, extra: np.ndarray, flight_times: np.ndarray | None = None
    ) -> np.ndarray:
        """Sample times (N,) [s] from start to stop: evenly spaced, extra ones, and just before the end of each phase.

        ``flight_times``, if given, replace the evenly spaced ones in the air, where limits on momentum apply between
        knots. At take-off and landing only the limits of the flight apply: all contact forces are zero there, which is
        the apex of the friction cones, where they have no derivative.
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
        """Results of all checks with these coordinates."""
        return self.checker.check_frames(self.trajectory.motion(times, rates))

    def values(self, times: np.ndarray, rates: Rates, near: Checks | None = None) -> LimitValues:
        """Margins of all limits at samples; collisions only of pairs that are near in checks of the same samples."""
        items = NearItems(self.trajectory.rig, near)
        solved, regular = self.trajectory.solve_legs(rates, self.trajectory.foot_poses(times))
        names: list[str] = []
        columns = []
        parts = self.all_margins(times, to_manifold(self.trajectory.rig, *solved), items)
        for check, values in zip(self.checks, parts):
            limit = check.smooth_limit
            assert limit is not None
            if check.name in items.exact_distances:  # exact distances, with the derivatives of the capsules
                values = np.where(values < self.options.reach, values, np.inf)
            kept = self.sampling_factor * check.sampling_margin * self.sampling_share(check, times)[:, None]
            columns.append((values - (kept - limit.allowance)) / limit.scale)
            names += [check.name] * values.shape[1]
        columns.append(regular - MIN_REGULARITY)
        names += [LEG_LIMIT] * regular.shape[1]
        return LimitValues(np.array(names), np.concatenate(columns, axis=1), solved, regular)

    def derivatives(
        self, times: np.ndarray, start: LimitValues, near: Checks | None, selected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of selected limits: sample (R,), limit (R,) and derivatives (R, 3, n) by the free columns.

        They are by the coordinates, velocities and accelerations in the trajectory's `free_columns`. Limits that the
        solved legs keep with the largest possible margin have no derivative and are omitted.

        Args:
            times: (N,) [s].
            start: from `values`.
            near: as for `values`.
            selected: (N, G) limits.
        """
        return limit_derivatives(
            self, times, start, NearItems(self.trajectory.rig, near), selected & ~self._is_fully_kept(start)
        )

    def sampling_share(self, check: Check, times: np.ndarray) -> np.ndarray:
        """(N,) share of a check's sampling margin: zero at take-off and landing, where the contact force vanishes."""
        if check.applies_when != "standing" or check.depends_on != "force" or not len(self._flights):
            return np.ones(len(times))
        return np.minimum(np.abs(times[:, None] - self._flights).min(axis=1) / FADE_TIME, 1.0)

    def _is_fully_kept(self, start: LimitValues) -> np.ndarray:
        """(N, G) True for limits with their largest possible margin, which the solved legs keep."""
        most = np.full(len(start.names), np.inf)
        for check in self.checks:
            assert check.smooth_limit is not None
            if check.smooth_limit.largest_margin is not None:
                left = check.smooth_limit.largest_margin(self.body) - self.sampling_factor * check.sampling_margin
                most[start.names == check.name] = left / check.smooth_limit.scale
        return np.asarray(start.values >= most)
