"""The equations Y phi = f of a trial, with the same low-pass on both sides.

The equations are linear in Y and f as long as moments are taken about a fixed point. If the same low-pass is applied to
f and to Y, they still hold exactly. A low-pass of the coordinates from which Y is computed does not commute with Y: it
removes from f what remains in Y, and Y keeps the noise of the coordinates that its products shift to low frequencies.
Therefore the motion is filtered only as much as its derivatives require, the equations as much as their noise requires,
and the moments are moved to the base link afterwards. In intervals as short as a flight, a filter would not settle;
their equations are weighted by the covariance of their noise instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.file_arrays import FileRows
from ..base.so3 import cross, matrix_product, nearest_rotation
from ..dynamics import STATIC_PARAMETERS, Axes, RegressorPiece, base_index, predicted_wrenches, regressor_pieces
from ..dynamics.kinematics import motion_pieces
from ..signals import low_pass, low_pass_pieces, rate_of_grid, true_runs, whiten
from ..signals.filters import padding
from ..signals.trial import Trial
from ..skeleton.rig import Rig
from ..values.inertials import PER_LINK, InertialParameters
from .blocks import AXES, FORCE_AXES
from .error_model.frequency_weights import DELAYS, FrequencyWeights, body_regions, filter_changes, low_pass_at

CORE_FRAMES = 4096
"""Core frames of a chunk, without the overlap; a shorter trial is one chunk. Chosen on 6 minutes of
eight plates and 60 markers: identification takes 870 MB with 8,192 and 708 MB with 4,096, in the same time."""
LEAST_WRENCH = 0.02
"""[N/kg], [N m/kg] Wrench per mass that is attributed to force plates: their error, 0.2 % of the weight. Derived:
0.002 times gravity."""


@dataclass(frozen=True, slots=True)
class Equations:
    """Y phi = f over a few counted frames, frames last.

    Attributes:
        frames: (n,) indices in the trial.
        force: (3, 4, L, n) force rows of Y by parameter and link; a force depends on mass and first moment only.
        moment: (3, 10, L, n) moment rows.
        wrench: (6, n) f.
        used: (6, n) True where f was measured.
    """

    frames: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    wrench: np.ndarray
    used: np.ndarray

    @property
    def rows(self) -> list[np.ndarray]:
        """Y transposed: (4 L, n) of each force axis, then (10 L, n) of each moment axis, links varying fastest."""
        count = len(self.frames)
        return [*self.force.reshape(FORCE_AXES, -1, count), *self.moment.reshape(AXES - FORCE_AXES, -1, count)]


def equations(rig: Rig, trial: Trial, base: int | str = 0, axes: Axes = "link") -> Iterator[Equations]:
    """The equations of the counted frames, piece by piece; memory does not depend on the trial's length.

    Intervals between frames without forces are filtered separately.

    Args:
        rig: of the trial.
        trial: motion and measured wrenches.
        base: link, by name or index, at whose origin the wrenches are written.
        axes: ``"link"`` or ``"world"``, of the wrenches.
    """
    motion = trial.motion
    total, used = trial.wrenches.total, usable_axes(trial, axes)
    has_data = used.any(axis=1)
    if trial.corner is not None:
        yield from _whitened_equations(rig, trial, base, axes)
        return
    if trial.preset is None:
        frames = np.flatnonzero(has_data)
        if len(frames) < len(motion):
            motion = motion.frames(frames)
        for piece in regressor_pieces(rig, motion, base, axes):
            here = frames[piece.frames]
            yield Equations(here, piece.force, piece.moment, piece.express_wrenches(total[here]), used[here].T)
        return
    rate = rate_of_grid(motion.times)
    for start, stop in true_runs(frames_with_forces(trial)):
        if not has_data[start:stop].any():
            continue
        pieces = regressor_pieces(rig, motion.part(start, stop), base, axes)
        rows = (_about_world(piece, total[start:stop][piece.frames]) for piece in pieces)
        first = start
        for filtered in low_pass_pieces(rows, rate, trial.preset):
            here = first + np.flatnonzero(has_data[first : first + filtered.shape[1]])
            if len(here):
                yield _about_base(filtered[:, here - first], len(rig.links), here, used[here].T)
            first += filtered.shape[1]


def _whitened_equations(rig: Rig, trial: Trial, base: int | str, axes: Axes) -> Iterator[Equations]:
    """Equations with independent errors, of the intervals that are completely measured, in pieces of `PIECE` frames.

    Whitening only sums rows of the same equation over frames, so they remain valid about a moving point too.
    """
    assert trial.corner is not None
    total, used, rate = trial.wrenches.total, usable_axes(trial, axes), rate_of_grid(trial.motion.times)
    for start, stop in true_runs(used.all(axis=1)):
        for piece in regressor_pieces(rig, trial.motion.part(start, stop), base, axes):
            here = np.arange(start, stop)[piece.frames]
            wrench = piece.express_wrenches(total[here])
            rows = piece.force.reshape(-1, len(here)), piece.moment.reshape(-1, len(here)), wrench
            force, moment, wrench = (whiten(part, rate, trial.corner) for part in rows)
            yield Equations(
                here, force.reshape(piece.force.shape), moment.reshape(piece.moment.shape), wrench, used[here].T
            )


def usable_axes(trial: Trial, axes: Axes = "link") -> np.ndarray:
    """(N, 6) True where an axis of the base wrench follows from measurements in a counted frame.

    A moment about a moving point needs the two forces across its axis; the base link's axes need all three components.
    """
    measured = np.array(trial.wrenches.measured, dtype=bool) & np.isfinite(trial.wrenches.total)
    force, moment = measured[:, :FORCE_AXES], measured[:, FORCE_AXES:].copy()
    if axes == "link":
        force = np.repeat(force.all(axis=1, keepdims=True), 3, axis=1)
        moment = np.repeat(moment.all(axis=1, keepdims=True), 3, axis=1) & force
    else:
        moment &= np.roll(force, -1, axis=1) & np.roll(force, -2, axis=1)
    return np.concatenate([force, moment], axis=1) & trial.counted[:, None]


def measured_wrench(rig: Rig, trial: Trial, base: int | str = 0) -> np.ndarray:
    """Measured wrench (N, 6) through the trial's low-pass, world axes, about the base link's origin.

    NaN where an axis was not measured or a sensor delivered nothing.
    """
    result = FileRows()
    for part in split_trial(trial):
        wrenches = part.trial.wrenches
        wrench = wrenches_about_base(rig, part.trial, wrenches.total[:, None], base)[:, 0]
        result.add(np.where(np.asarray(wrenches.measured), wrench, np.nan)[part.core])
    return result.finish()


def reconstructed_wrench(
    rig: Rig,
    trial: Trial,
    parameters: InertialParameters,
    base: int | str = 0,
    weights: FrequencyWeights | None = None,
) -> np.ndarray:
    """Wrench (N, 6) that the trial's motion requires, Y phi, in the axes and with the filter of `measured_wrench`.

    Args:
        rig: of the trial.
        trial: with the motion.
        parameters: of the rig's links.
        base: base link, about whose origin the moments are taken.
        weights: frequency weights; by default the whole motion is used.
    """
    return reconstructed_wrenches(rig, trial, [parameters], [weights], base)[:, 0]


def reconstructed_wrenches(
    rig: Rig,
    trial: Trial,
    bodies: Sequence[InertialParameters],
    weights: Sequence[FrequencyWeights | None],
    base: int | str = 0,
) -> np.ndarray:
    """`reconstructed_wrench` (N, K, 6) of K bodies, each with its own weights, in one pass over the motion."""
    coefficients = [None if own is None else find_coefficients(rig, trial, own, base) for own in weights]
    cutoffs = [own.cutoffs for own, found in zip(weights, coefficients) if own is not None and found is not None]
    result = FileRows()
    groups = list(body_regions(rig).values()) if cutoffs else [np.arange(len(rig.links))]
    for part in split_trial(trial, np.concatenate([np.zeros(0), *cutoffs])):
        shares = group_wrenches(rig, part.trial, bodies, groups, base)
        wrenches = shares.sum(axis=2)
        for body, (own, found) in enumerate(zip(weights, coefficients)):
            if own is not None and found is not None:
                changes = filter_changes(part.trial, shares[:, body], own.cutoffs)
                wrenches[:, body] += np.einsum("knra,rak->na", changes, found)
        result.add(wrenches[part.core])
    return result.finish()


def find_coefficients(rig: Rig, trial: Trial, weights: FrequencyWeights, base: int | str = 0) -> np.ndarray | None:
    """Coefficients (R, 6, C + D) of a trial by its spectrum; None if its equations are not filtered."""
    if trial.preset is None or not trial.counted.any():
        return None
    return weights.coefficients_of(wrench_spectrum(rig, trial, weights.cutoffs, base))


def wrench_spectrum(rig: Rig, trial: Trial, cutoffs: np.ndarray, base: int | str = 0) -> np.ndarray:
    """Logarithm (6, C + 1) of the standard deviation [N/kg, N m/kg] of the prior's wrench over the counted frames.

    It is computed in each band between the cut-offs (C,) [Hz] and on each axis. `LEAST_WRENCH` is added, so that bands
    without motion are alike.
    """
    sums, squares, everything = np.zeros(()), np.zeros(()), [np.arange(len(rig.links))]
    for part in split_trial(trial, cutoffs):
        total = group_wrenches(rig, part.trial, [rig.prior], everything, base)[:, 0, 0]
        passed = np.stack([*(low_pass_at(part.trial, total, float(cutoff)) for cutoff in cutoffs), total])
        bands = np.diff(passed[:, part.core][:, trial.counted[part.frames]], axis=0, prepend=0.0)
        sums, squares = sums + bands.sum(axis=1), squares + (bands**2).sum(axis=1)
    count = trial.counted.sum()
    std = np.sqrt(np.maximum(squares / count - (sums / count) ** 2, 0.0))
    return np.asarray(np.log(std / rig.prior.total_mass + LEAST_WRENCH).T)


def group_wrenches(
    rig: Rig, trial: Trial, bodies: Sequence[InertialParameters], groups: Sequence[np.ndarray], base: int | str = 0
) -> np.ndarray:
    """Contribution of each group of links to the `reconstructed_wrenches`: (N, K, G, 6) of K bodies."""
    parts = [
        InertialParameters(rig.links, np.where(np.isin(np.arange(len(rig.links)), group)[:, None], body.values, 0.0))
        for body in bodies
        for group in groups
    ]
    wrenches = predicted_wrenches(rig, trial.motion, parts, axes="world")
    wrenches[..., FORCE_AXES:] += np.cross(base_origins(rig, trial, 0)[:, None], wrenches[..., :FORCE_AXES])
    return wrenches_about_base(rig, trial, wrenches, base).reshape(len(wrenches), len(bodies), len(groups), AXES)


def frames_with_forces(trial: Trial) -> np.ndarray:
    """(N,) True in frames whose forces are finite and can be filtered."""
    return np.isfinite(trial.wrenches.total).all(axis=1)


def base_origins(rig: Rig, trial: Trial, base: int | str = 0) -> np.ndarray:
    """Origins (N, 3) [m] of the base link, world; those of the root are coordinates."""
    if base_index(rig, base) == 0:
        return trial.motion.q[:, :FORCE_AXES]
    found = [links.position[:, base_index(rig, base)].T for _, links in motion_pieces(rig, trial.motion)]
    return np.concatenate(found)


def wrenches_about_base(rig: Rig, trial: Trial, about_world: np.ndarray, base: int | str = 0) -> np.ndarray:
    """Wrenches (N, K, 6) about the world origin, through the trial's low-pass and moved to the base link's origin."""
    values = np.concatenate([about_world.reshape(len(about_world), -1), base_origins(rig, trial, base)], axis=1)
    if trial.preset is not None:
        values[~frames_with_forces(trial)] = np.nan  # both sides are filtered in the same intervals
        values = low_pass(values, rate_of_grid(trial.motion.times), trial.preset, longest_gap=0.0)
    wrenches, origin = values[:, :-FORCE_AXES].reshape(about_world.shape), values[:, None, -FORCE_AXES:]
    wrenches[..., FORCE_AXES:] -= np.cross(origin, wrenches[..., :FORCE_AXES])
    return wrenches


def _about_world(piece: RegressorPiece, total: np.ndarray) -> np.ndarray:
    """Rows (C, n) of one piece about the world origin in world axes: Y, f, then the base link's pose."""
    force, moment, count = piece.force, piece.moment, len(total)
    if piece.rotation is not None:
        rotation = piece.rotation[:, :, None]
        force, moment = matrix_product(rotation, force), matrix_product(rotation, moment)
    moment[:, :STATIC_PARAMETERS] += cross(piece.origin[:, None, None], force)
    pose = [piece.origin] if piece.rotation is None else [piece.origin, piece.rotation.reshape(9, count)]
    return np.concatenate([force.reshape(-1, count), moment.reshape(-1, count), total.T, *pose])


def _about_base(rows: np.ndarray, links: int, frames: np.ndarray, used: np.ndarray) -> Equations:
    """Equations of filtered rows (C, n) of `_about_world`."""
    count = rows.shape[1]
    sizes = FORCE_AXES * STATIC_PARAMETERS * links, FORCE_AXES * PER_LINK * links, AXES, FORCE_AXES
    force, moment, total, origin, filtered_rotation = np.split(rows, np.cumsum(sizes))
    force, moment = (
        force.reshape(FORCE_AXES, STATIC_PARAMETERS, links, count),
        moment.reshape(FORCE_AXES, PER_LINK, links, count),
    )
    moment[:, :STATIC_PARAMETERS] -= cross(origin[:, None, None], force)
    rotation = None
    if len(filtered_rotation):
        # a filtered rotation matrix is not orthogonal: use the nearest rotation
        rotation = np.ascontiguousarray(nearest_rotation(filtered_rotation.T.reshape(count, 3, 3)).transpose(1, 2, 0))
        inverse = rotation.swapaxes(0, 1)[:, :, None]
        force, moment = matrix_product(inverse, force), matrix_product(inverse, moment)
    piece = RegressorPiece(slice(0, count), force, moment, origin, rotation)
    return Equations(frames, force, moment, piece.express_wrenches(total.T), used)


@dataclass(frozen=True, slots=True)
class TrialChunk:
    """Consecutive frames of a trial, with as many neighbouring frames as the filters need.

    Attributes:
        trial: core and neighbouring frames.
        frames: slice of the core frames in the whole trial.
        core: slice of the core frames in ``trial``.
    """

    trial: Trial
    frames: slice
    core: slice


def split_trial(trial: Trial, cutoffs: Iterable[float] = ()) -> Iterator[TrialChunk]:
    """Chunks of a trial, in order. Filtered core frames equal those of the whole filtered trial within 1e-8 of their
    size.

    Args:
        trial: to split.
        cutoffs: [Hz] of the low-passes that follow the trial's own; an infinite one is none.
    """
    count = len(trial.motion)
    if count <= CORE_FRAMES:
        yield TrialChunk(trial, slice(0, count), slice(0, count))
        return
    reach = _filter_reach(trial, cutoffs)
    for start in range(0, count, CORE_FRAMES):
        stop = min(start + CORE_FRAMES, count)
        first, last = max(start - reach, 0), min(stop + reach, count)
        yield TrialChunk(trial.part(first, last), slice(start, stop), slice(start - first, stop - first))


def _filter_reach(trial: Trial, cutoffs: Iterable[float]) -> int:
    """Number of frames to either side on which a filtered frame depends."""
    if trial.preset is None:
        return 0
    rate = rate_of_grid(trial.motion.times)
    lowest = min(cutoffs, default=np.inf)
    further = padding(replace(trial.preset, cutoff=lowest), rate) if np.isfinite(lowest) else 0
    return padding(trial.preset, rate) + further + round(max(DELAYS) * rate)
