"""Hypotheses about errors in recorded forces, and how much better each explains the motion than the file as it is.

Level axes that are rotated or reflected in place are checked in `plate_axes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...base.file_arrays import iterate_slices
from ...signals.hypotheses import HypothesisScore, compare_residuals
from ...skeleton.rig import GRAVITY
from ...values.wrenches import LEAST_LOAD, Wrenches
from .trial_wrenches import ForceMotionPair

MAX_RESIDUAL = 0.3
"""Residuals are limited to this fraction of the weight, so that an unmeasured support or a hard landing decides
nothing."""
MOMENT_ARM = 0.15
"""[m] Scale of moments relative to forces: most of a foot's length."""
MAX_RATIO_OWN_FRAMES = 0.75
"""Largest ratio of the residuals at which a hypothesis that covers other frames is accepted."""
MIN_IMPROVEMENT = 0.05
"""Smallest improvement, root mean square relative to the weight: less is within the error of any body model."""


@dataclass(frozen=True, slots=True)
class SquaredResidual:
    """Squared residuals relative to the weight, by frame.

    Attributes:
        square: (N,) of force and moment together; NaN where forces are missing.
        is_explained: (N,) whether the force residual is below `MAX_RESIDUAL`.
    """

    square: np.ndarray
    is_explained: np.ndarray

    @staticmethod
    def from_wrenches(predicted: np.ndarray, measured: np.ndarray, origin: np.ndarray, mass: float) -> SquaredResidual:
        """From wrenches (N, 6), predicted about an origin (N, 3) [m] and measured about the world's, possibly NaN."""
        weight = mass * GRAVITY
        force = predicted[:, :3] - measured[:, :3]
        moment = predicted[:, 3:] - (measured[:, 3:] - np.cross(origin, measured[:, :3]))
        one = np.minimum(np.linalg.norm(force, axis=1) / weight, MAX_RESIDUAL)
        two = np.minimum(np.linalg.norm(moment, axis=1) / (weight * MOMENT_ARM), MAX_RESIDUAL)
        return SquaredResidual(one**2 + np.nan_to_num(two) ** 2, one < MAX_RESIDUAL)


def evaluate(times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual) -> HypothesisScore:
    """Compare a hypothesis with the file as it is, over the frames (times (N,) [s]) that either of them explains."""
    known = (
        np.isfinite(as_it_is.square)
        & np.isfinite(hypothesis.square)
        & (as_it_is.is_explained | hypothesis.is_explained)
    )
    return compare_residuals(times, (as_it_is.square, known), (hypothesis.square, known), MIN_IMPROVEMENT**2)


def evaluate_on_own_frames(
    times: np.ndarray, as_it_is: SquaredResidual, hypothesis: SquaredResidual
) -> HypothesisScore:
    """As `evaluate`, for a hypothesis with forces in other frames: each over all of its own frames."""
    known = [np.isfinite(side.square) for side in (as_it_is, hypothesis)]
    found = compare_residuals(times, (as_it_is.square, known[0]), (hypothesis.square, known[1]), MIN_IMPROVEMENT**2)
    return found if found.ratio < MAX_RATIO_OWN_FRAMES else replace(found, is_certain=False)


@dataclass(frozen=True, slots=True)
class PlateForces:
    """Wrenches as plates deliver them: force, centre of pressure and free moment.

    Attributes:
        force: (N, K, 3) [N].
        centre_of_pressure: (N, K, 3) [m] on the floor; the origin where the plate carries nothing.
        free_moment: (N, K) [N m].
    """

    force: np.ndarray
    centre_of_pressure: np.ndarray
    free_moment: np.ndarray

    @staticmethod
    def from_wrenches(wrenches: Wrenches) -> PlateForces:
        """From wrenches without missing samples."""
        return PlateForces(
            wrenches.values[:, :, :3], np.nan_to_num(wrenches.centres_of_pressure()), wrenches.free_moments
        )

    def total(self) -> np.ndarray:
        """Their sum (N, 6), world axes, about the world origin."""
        moment = np.cross(self.centre_of_pressure, self.force)
        moment[:, :, 2] += self.free_moment
        return np.concatenate([self.force, moment], axis=2).sum(axis=1)


Change = Callable[[PlateForces, np.ndarray], PlateForces]
"""Changes forces of plates, given the mean centre of pressure (K, 3) [m] of each plate."""


def find_mean_centres(wrenches: Wrenches) -> np.ndarray:
    """Mean centre of pressure (K, 3) [m] of each plate while it carries something; the origin if it never does."""
    sums, counts = np.zeros((len(wrenches.frames), 3)), np.zeros((len(wrenches.frames), 1))
    for own in iterate_slices(len(wrenches)):
        forces = PlateForces.from_wrenches(wrenches.part(own.start, own.stop))
        carries = (forces.force[:, :, 2] > LEAST_LOAD)[:, :, None]
        sums += (forces.centre_of_pressure * carries).sum(axis=0)
        counts += carries.sum(axis=0)
    return sums / np.maximum(counts, 1.0)


def _scale(axes: Sequence[float], lever: float, free: float) -> Change:
    """Multiply forces and centres of pressure by axis, then centres of pressure, and free moments by these factors."""
    return lambda p, _: PlateForces(p.force * axes, lever * p.centre_of_pressure * axes, free * p.free_moment)


def _scale_moments(factor: float, plate: int | None = None) -> Change:
    """Multiply centres of pressure and free moments of one plate, or of all."""

    def scale(p: PlateForces, _: np.ndarray) -> PlateForces:
        factors = np.full(p.force.shape[1], factor)
        if plate is not None:
            factors[np.arange(len(factors)) != plate] = 1.0
        return PlateForces(p.force, p.centre_of_pressure * factors[:, None], p.free_moment * factors)

    return scale


def _exchange_plates(one: int, two: int) -> Change:
    """Exchange the mean centres of pressure of two plates."""

    def exchange(p: PlateForces, middle: np.ndarray) -> PlateForces:
        point = p.centre_of_pressure.copy()
        point[:, one] += middle[two] - middle[one]
        point[:, two] += middle[one] - middle[two]
        return PlateForces(p.force, point, p.free_moment)

    return exchange


def compute_changed_total(change: Change, wrenches: Wrenches, centres: np.ndarray) -> np.ndarray:
    """Total (N, 6) of changed wrenches, whose mean centres of pressure are given (K, 3) [m]."""
    return wrenches.map(
        lambda _, own: change(PlateForces.from_wrenches(wrenches.part(own.start, own.stop)), centres).total()
    )


HYPOTHESES: Mapping[str, Change] = {
    "the plates' axes are rotated by 180 degrees about the origin from the markers' axes (forces and locations); "
    "export both in the same axes": _scale((-1.0, -1.0, 1.0), 1.0, 1.0),
    "the plates' axes are mirrored against the markers' axes; export both in the same axes": _scale(
        (1.0, -1.0, 1.0), 1.0, -1.0
    ),
    "the moments are about the origin, and the moment of the centre of pressure was added once more; export either "
    "moments about the origin or centres of pressure with free moments": _scale((1.0, 1.0, 1.0), 0.5, 1.0),
}
"""Changes of recorded forces to what they would be without an error, by the error and what to do about it."""


def list_hypotheses(plates: Sequence[str]) -> dict[str, Change]:
    """As `HYPOTHESES`, with other units of these plates, and each pair of them exchanged."""
    text = "the locations of {} and {} are exchanged; give each plate's force its own centre of pressure"
    unit = "the moments{} are in {} (or centres of pressure in {}); export them in N m and m, or state their unit"
    units = ((1e-3, "N mm but stated in N m", "mm"), (1e3, "N m but stated in N mm", "m"))
    owners = [("", None), *((f" of {name}", k) for k, name in enumerate(plates) if len(plates) > 1)]
    pairs = combinations(range(len(plates)), 2)
    return {
        **HYPOTHESES,
        **{unit.format(name, *words): _scale_moments(factor, k) for factor, *words in units for name, k in owners},
        **{text.format(plates[one], plates[two]): _exchange_plates(one, two) for one, two in pairs},
    }


def compute_residual(item: ForceMotionPair, measured: np.ndarray, mass: float) -> SquaredResidual:
    return SquaredResidual.from_wrenches(item.predicted, measured, item.root_positions, mass)


def compute_mean_residual(item: ForceMotionPair, mass: float) -> float:
    """Mean squared residual of a trial's forces, relative to the weight; infinite if none was recorded."""
    square = compute_residual(item, item.measured, mass).square
    return float(np.nanmean(square)) if np.isfinite(square).any() else np.inf
