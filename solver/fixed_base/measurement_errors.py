"""Likely causes of measurements that the motion of a fixed-base robot cannot explain.

Every reading of a trial is fitted by consistent inertials near the prior and by drives whose rotor inertia and friction
are not negative. With B nearly independent blocks of time, residuals r and pseudo-inertias 1 + X relative to the prior,
the reduced residual is

    B mean(sum_rows (r / s)^2) + 2 sum_links (tr X - log det(1 + X)) / (2 PRIOR_STD)^2,

twice the negative logarithm of the posterior density. The scale s of a row is the smallest residual that any reading
leaves in it, in the unit of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from ..base.errors import BackendError
from ..identification.body_coordinates import BodyCoordinates
from ..identification.entropic import RowSides, compute_divergence, minimise
from ..qp import Rows
from ..signals.hypotheses import HypothesisScore, compare_residuals, exchange, find_best, read_angles
from ..signals.pooling import BLOCK, LEAST_BLOCKS, MOST_BLOCKS
from ..values.inertials import PER_LINK
from ..values.joints import ROOT_NV
from ..values.motion import Motion
from .robot import COUPLED, DRIVES, TORQUES, FixedBaseRobot, coupled_columns

PRIOR_STD = 0.5
"""Relative standard deviation of a link's mass. Chosen on public models of TX40 and UR10e, which are less wrong."""
FRAMES = 200
"""Frames at which readings are compared. Chosen on runs of TX40 and UR10e, where 400 give the same causes."""
MIN_GAIN = 40.0
"""Decrease of the reduced residual from which on a reading is certain. Chosen on five runs of TX40 and UR10e without
faults, where wrong readings decrease it by 7 at most."""
START_SCALE, MIN_SCALE = 0.1, 1e-3
"""Scale of a row with which the readings are compared first, and the smallest one, relative to its root mean square."""
UNEXPLAINED, MAX_UNEXPLAINED = 0.1, 0.5
"""Fractions of a row's mean square from which on its residual is suspicious, and from which on a note names it.
Measured on TX40 and UR10e: at most 0.02, and 0.29 at TX40's coupled wrist."""
MAX_COUPLED_RATIO = 0.7
"""Largest ratio of the residuals at which joints count as coupled. Measured on the training run of TX40: 0.24 for its
coupled wrist, 0.93 for the next pair."""
MAX_SUSPECTS, COMPARED = 6, 8
"""Rows that are tried one by one and in pairs, those with the largest residuals; and readings that are compared with
the final scales, the best with the first ones."""
CURRENTS = "currents, counts, or before a gear"
GAINS = (
    {1e3: "in N mm, not N m", 1e-3: "in kN m, not N m"}
    | {10.0**k: f"about {10**k} times too large: {CURRENTS}" for k in (1, 2, 4)}
    | {10.0**-k: f"about {10**k} times too small: {CURRENTS}" for k in (1, 2, 4)}
)
"""Units of the measurements that are tried. Chosen on simulated faults of TX40 and UR10e: powers of ten are enough."""
MIN_TIME_OFFSET, MAX_TIME_OFFSET, TIME_OFFSET_STEP, MIN_OVERLAP = 0.1, 1.0, 0.05, 0.5
"""[s] by which measurements may be late or early, and the fraction of the trial that must still have some."""
MAX_EFFORT, MIN_BEYOND = 1.5, 0.01
"""Measurements above this multiple of the effort limit for more than this fraction of the time contradict it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Equations of a trial under a hypothesis: design x = target, up to noise.

    Attributes:
        cause: in words, with the remedy.
        design: (N, R, K) columns of the drives, of further terms without prior, and of the inertials.
        predicted: (N, R) by the prior, without drives.
        target: (N, R) the measurements without the error.
        used: (N,) frames with measurements.
        order: (R,) row of the file that holds each row.
        unit: unit of the file in SI units.
    """

    cause: str
    design: np.ndarray
    predicted: np.ndarray
    target: np.ndarray
    used: np.ndarray
    order: np.ndarray
    unit: float = 1.0


class TrialReadings:
    """The readings of a trial, and how well each explains it.

    Args:
        robot: whose prior is one that bodies can have.
        motion: of the trial, filtered.
        measured: (N, R) with the same filter.
        y: (N, n) the moving joints' coordinates [rad, m].
    """

    def __init__(self, robot: FixedBaseRobot, motion: Motion, measured: np.ndarray, y: np.ndarray) -> None:
        chosen = np.unique(np.linspace(0, len(motion) - 1, FRAMES).round().astype(int))
        speeds = [values[chosen][:, ROOT_NV:][:, robot.is_moving] for values in (motion.v, motion.a)]
        self.robot, self.curves = robot, (y[chosen], *speeds)
        self.all_times, self.all_measured = np.asarray(motion.times), measured
        self.times, self.measured = self.all_times[chosen], measured[chosen]
        self.blocks = float(np.clip(np.ptp(self.times) / BLOCK, LEAST_BLOCKS, MOST_BLOCKS))
        self.sizes = np.sqrt(np.maximum((self.measured**2).mean(axis=0), np.finfo(float).tiny))
        self.bodies = BodyCoordinates.from_reference(robot.rig.prior)
        self.as_recorded = self.read("as recorded")

    def read(self, cause: str, factor: np.ndarray | float = 1.0, order: np.ndarray | slice = slice(None)) -> Reading:
        """The measurements as recorded, with angles multiplied by factors and in another order of the joints."""
        curves = [factor * values[:, order] for values in self.curves]
        rows = self.robot.regressor(self.robot.motion(self.times, *curves))
        drives = self.robot.drive_columns
        inertial = rows[:, :, drives:]
        scaled = self.bodies.transform_columns(inertial.reshape(-1, inertial.shape[2])).reshape(inertial.shape)
        design = np.concatenate([rows[:, :, :drives], scaled], axis=2)
        everywhere, same = np.ones(len(self.times), bool), np.arange(self.measured.shape[1])
        return Reading(cause, design, inertial @ self.robot.rig.prior.vector, self.measured, everywhere, same)

    def fit(self, reading: Reading, scales: np.ndarray, quick: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Squared residuals (N,) with the prior's part, and mean squared residuals (R,) by row and unit of the file.

        Args:
            reading: whose parameters are fitted.
            scales: (R,) of the rows, in the file's order and unit.
            quick: replace the divergence from the prior by its second order.
        """
        scale, used = scales[reading.order] / reading.unit, reading.used
        weights = np.sqrt(self.blocks / used.sum()) / scale
        missing = reading.target - reading.predicted
        columns = reading.design.shape[2]
        inertial = columns - PER_LINK * len(self.bodies.blocks)
        no_rows = RowSides.of_rows(Rows.none(columns - inertial))
        rows = (reading.design[used] * weights[:, None]).reshape(-1, columns)
        hessian, gradient = rows.T @ rows, -(rows.T @ (missing[used] * weights).ravel())
        hessian[np.diag_indices(columns)] += np.finfo(float).eps * np.trace(hessian)  # columns that are not excited
        bounded = np.arange(columns) < min(len(DRIVES) * len(self.robot.names), self.robot.drive_columns)
        bounded &= np.arange(columns) % len(DRIVES) != len(DRIVES) - 1  # offsets have either sign
        strengths = np.full(len(self.bodies.blocks), 0.25 / PRIOR_STD**2)
        free, x = np.arange(columns) < inertial, np.zeros(columns)
        bodies = slice(inertial, None)
        while True:  # friction that would be negative is zero
            response = np.linalg.solve(
                hessian[np.ix_(free, free)], np.column_stack([gradient[free], hessian[free, bodies]])
            )
            across = hessian[bodies, free]
            reduced = hessian[bodies, bodies] - across @ response[:, 1:]
            slope = gradient[bodies] - across @ response[:, 0]
            own = -np.linalg.solve(reduced + strengths[0] * np.eye(len(slope)), slope)
            if not quick:
                try:
                    own = minimise(reduced, slope, strengths, no_rows, np.zeros(len(slope))).x
                except (np.linalg.LinAlgError, BackendError):  # no body comes near: the prior is as good as any
                    own = np.zeros(len(slope))
            x[:] = 0.0
            x[bodies] = own
            x[free] = -(response[:, 0] + response[:, 1:] @ own)
            if not (negative := bounded & (x < 0.0)).any():
                break
            free &= ~negative
        residual = missing - reading.design @ x
        cost = strengths[0] * x[bodies] @ x[bodies] if quick else 2.0 * compute_divergence(strengths, x[bodies])
        square = self.blocks * ((residual / scale) ** 2).sum(axis=1) + cost
        by_row = np.empty(len(scales))
        by_row[reading.order] = (residual[used] ** 2).mean(axis=0) * reading.unit**2
        return square, by_row

    def find_cause(self, names: Sequence[str]) -> tuple[str, float] | None:
        """What is probably wrong with measurements that are not explained as recorded, in words, and how far that
        reduces the residual; None if they are explained.

        Args:
            names: of the measured rows.
        """
        start = START_SCALE * self.sizes
        square, residuals = self.fit(self.as_recorded, start)
        unexplained = residuals / self.sizes**2
        cost = float(square.mean() - (self.blocks * residuals / start**2).sum())
        beyond = self._exceeds_effort(self.as_recorded)
        if unexplained.max() < UNEXPLAINED and cost < MIN_GAIN and not beyond.any():
            return None
        readings = self.list_readings(names, np.argsort(-unexplained)[:MAX_SUSPECTS].tolist())
        found = self.find_best([r for r in readings if not (self._exceeds_effort(r) & ~beyond).any()])
        if found is not None:
            return found[0], found[1].ratio
        worst = int(np.argmax(beyond if beyond.any() else unexplained))
        if beyond.any():
            most = np.abs(self.measured[:, worst]).max()
            return f"the measurements of {names[worst]} reach {most:.3g}, beyond its effort limit", 1.0
        if unexplained[worst] < MAX_UNEXPLAINED:
            return None
        share = 100.0 * unexplained[worst]
        return f"the motion does not explain {share:.0f} % of the mean square measured at {names[worst]}", 1.0

    def find_best(self, readings: Sequence[Reading]) -> tuple[str, HypothesisScore] | None:
        """The reading that explains the trial best, if it is certain."""
        start = START_SCALE * self.sizes
        fits = [self.fit(reading, start, quick=True) for reading in (self.as_recorded, *readings)]
        scales = np.maximum(np.sqrt(np.min([by_row for _, by_row in fits], axis=0)), MIN_SCALE * self.sizes)
        best = np.argsort([float(found[r.used].mean()) for r, (found, _) in zip(readings, fits[1:])])[:COMPARED]
        as_it_is, _ = self.fit(self.as_recorded, scales)
        return find_best(
            (r.cause, compare_residuals(self.times, (as_it_is, r.used), (self.fit(r, scales)[0], r.used), MIN_GAIN))
            for r in (readings[k] for k in best)
        )

    def find_coupled_drives(self) -> tuple[str, str, int] | None:
        """Neighbouring joints that one drive moves, if that explains measurements that are not explained otherwise."""
        robot = self.robot
        _, residuals = self.fit(self.as_recorded, START_SCALE * self.sizes)
        if not robot.drive_columns or (residuals / self.sizes**2).max() < UNEXPLAINED:
            return None
        place, pairs = robot.drive_columns, {}
        for one, sign in product(range(len(robot.names) - 1), (1, -1)):
            columns = coupled_columns(self.curves[1], self.curves[2], one, one + 1, sign)
            pair = robot.names[one], robot.names[one + 1], sign
            if pair[:2] in {known[:2] for known in robot.coupled}:
                continue
            design = np.insert(self.as_recorded.design, [place] * len(COUPLED), columns, axis=2)
            pairs[str(pair)] = pair, replace(self.as_recorded, cause=str(pair), design=design)
        found = self.find_best([reading for _, reading in pairs.values()]) if pairs else None
        return pairs[found[0]][0] if found is not None and found[1].ratio < MAX_COUPLED_RATIO else None

    def _exceeds_effort(self, reading: Reading) -> np.ndarray:
        """(R,) True for joints whose measurements are beyond the limits of the robot's file."""
        if self.robot.measured != TORQUES:
            return np.zeros(len(self.sizes), bool)
        limits = MAX_EFFORT * self.robot.rig.limits.torque[self.robot.is_moving]
        return np.asarray((np.abs(reading.target) > limits).mean(axis=0) > MIN_BEYOND)

    def list_readings(self, names: Sequence[str], suspects: Sequence[int]) -> Iterator[Reading]:
        """Readings of what may be wrong with the measurements, then with the angles."""
        as_recorded, measured = self.as_recorded, self.measured
        rows = as_recorded.order
        yield replace(as_recorded, cause="all measurements have the wrong sign", target=-measured)
        for k in suspects:
            sign = np.where(rows == k, -1.0, 1.0)
            cause = f"the measurements of {names[k]} have the wrong sign"
            yield replace(as_recorded, cause=cause, target=sign * measured)
        for pair in combinations(suspects, 2):
            order = exchange(rows, *pair)
            cause = f"the measurements of {names[pair[0]]} and {names[pair[1]]} are exchanged"
            yield replace(as_recorded, cause=cause, target=measured[:, order], order=order)
        for gain, unit in GAINS.items():
            yield replace(as_recorded, cause=f"the measurements are {unit}", target=measured / gain, unit=gain)
        sizes = np.arange(MIN_TIME_OFFSET, MAX_TIME_OFFSET + TIME_OFFSET_STEP, TIME_OFFSET_STEP)
        for seconds in (*sizes, *-sizes):
            at = self.times + seconds
            used = (at >= self.all_times[0]) & (at <= self.all_times[-1])
            if used.mean() > MIN_OVERLAP:
                moved = np.column_stack([np.interp(at, self.all_times, values) for values in self.all_measured.T])
                cause = f"the measurements are {abs(seconds):.2f} s too {'late' if seconds > 0.0 else 'early'}"
                yield replace(as_recorded, cause=cause, target=moved, used=used)
        if not self.robot.drive_columns and self.robot.measured == TORQUES:
            drives = replace(self.robot, drives=True)
            columns = drives.regressor(drives.motion(self.times, *self.curves))[:, :, : drives.drive_columns]
            friction = columns[:, :, np.arange(columns.shape[2]) % len(DRIVES) != len(DRIVES) - 1]
            cause = "the measurements contain the drives' friction and rotors: leave out --no-drives"
            yield replace(as_recorded, cause=cause, design=np.concatenate([friction, as_recorded.design], axis=2))
            constants = np.broadcast_to(np.eye(len(rows)), (*measured.shape, len(rows)))
            mean = (measured - as_recorded.predicted).mean(axis=0)
            worst = int(np.argmax(np.abs(mean) / self.sizes))
            cause = f"the measurements contain constants ({names[worst]}: about {mean[worst]:.3g} N m)"
            yield replace(as_recorded, cause=cause, design=np.concatenate([constants, as_recorded.design], axis=2))
        joints = self.robot.names
        chosen = suspects if self.robot.measured == TORQUES else range(min(MAX_SUSPECTS, len(joints)))
        for cause, factors, order in read_angles(joints, chosen):
            yield self.read(cause, factors, order)
