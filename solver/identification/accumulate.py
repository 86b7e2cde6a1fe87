"""From trials to a `Regression`: one pass, chunk by chunk, in memory that does not grow with time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..dynamics import Axes, RegressorPiece, base_index, external_wrench, predicted_wrench, regressor_pieces
from ..errors import InvalidValue
from ..inertials import PER_LINK, InertialParameters
from ..motion import Motion
from ..rig import Rig
from ..trial import Trial
from .base_parameters import BaseParameters, base_parameters
from .blocks import AXES, FORCE_AXES, Block, Blocks, axis_places, compact
from .regression import Regression
from .triangular import fold

BUFFER = 1024
"""Rows an axis collects before they are folded into its factor."""
USUAL_BLOCKS = Blocks()


def accumulate(
    rig: Rig,
    trials: Iterable[Trial],
    base: int | str = 0,
    axes: Axes = "link",
    *,
    structure: BaseParameters | None = None,
    blocks: Blocks = USUAL_BLOCKS,
) -> Regression:
    """Regression over the counted frames of trials, every axis of weight one: see `Regression.with_weights`.

    Args:
        rig: whose links are identified.
        trials: any iterable, a generator too: a long recording may come as many pieces of the same name.
        base: base link, by name or index.
        axes: ``"link"`` or ``"world"``. A wrench that is measured only in part needs ``"world"``, because the base
            link's axes mix what was measured with what was not.
        structure: base parameters of the rig, if already known.
        blocks: what the equations are cut into.

    Raises:
        InvalidValue: no counted frame, or a trial of another rig.

    Example:
        >>> import solver
        >>> robot = solver.simulated_robot()
        >>> quick = solver.Settings(bootstrap=0, cross_validate=False)
        >>> study = solver.identify_study(robot.recordings, rig=robot.rig, settings=quick)
        >>> solver.accumulate(study.rig, study.trials).trials
        ('dance',)
    """
    structure = base_parameters(rig) if structure is None else structure
    index = base_index(rig, base)
    collector, noise = _Collector(structure, blocks), _Noise(structure)
    for trial in trials:
        used = usable(trial, axes)
        kept = np.flatnonzero(used.any(axis=1))
        if len(kept) == 0:
            continue
        motion, total, copies = trial.motion, trial.wrenches.total, trial.shaken
        if len(kept) < len(motion):
            motion, total, used = _frames(motion, kept), total[kept], used[kept]
            copies = tuple(_frames(copy, kept) for copy in copies)
        others = [regressor_pieces(rig, copy, index, axes) for copy in copies]
        for piece, *moved in zip(regressor_pieces(rig, motion, index, axes), *others):
            here, measured = total[piece.frames], used[piece.frames].T
            wrench = piece.moved_here(here)
            collector.add(trial.name, motion.times[piece.frames], piece, wrench, measured)
            for other in moved:
                noise.add(piece, other, other.moved_here(here) - wrench, measured, len(copies))
    found = collector.finished()
    if not found:
        raise InvalidValue("no frame counts in any of the trials: every one has contacts that were not measured")
    return Regression(rig.links, rig.links[index], axes, structure, np.ones(AXES), found, noise=noise.finished())


def axis_weights(
    rig: Rig, trials: Iterable[Trial], parameters: InertialParameters, base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """Weights (6,) = 1 / root mean square residual per axis; with a `Regression` at hand ask that instead."""
    return accumulate(rig, trials, base=base, axes=axes).axis_weights(parameters)


def residuals(
    rig: Rig, trial: Trial, parameters: InertialParameters, base: int | str = 0, axes: Axes = "link"
) -> np.ndarray:
    """Measured minus predicted wrench (N, 6) at the base link; NaN where not counted or not measured."""
    result = external_wrench(rig, trial.motion, trial.wrenches, base, axes)
    result -= predicted_wrench(rig, trial.motion, parameters, base, axes)
    result[~usable(trial, axes)] = np.nan
    return result


def usable(trial: Trial, axes: Axes = "link") -> np.ndarray:
    """(N, 6) True where an axis of the base wrench follows from what was measured in a counted frame.

    A moment about a moving point needs the two forces beside it; the base link's axes need all three of a vector.
    """
    measured = np.array(trial.wrenches.measured, dtype=bool) & np.isfinite(trial.wrenches.total)
    force, moment = measured[:, :FORCE_AXES], measured[:, FORCE_AXES:].copy()
    if axes == "link":
        force = np.repeat(force.all(axis=1, keepdims=True), 3, axis=1)
        moment = np.repeat(moment.all(axis=1, keepdims=True), 3, axis=1) & force
    else:
        moment &= np.roll(force, -1, axis=1) & np.roll(force, -2, axis=1)
    return np.concatenate([force, moment], axis=1) & trial.counted[:, None]


def _frames(motion: Motion, kept: np.ndarray) -> Motion:
    return Motion(motion.times[kept], motion.q[kept], motion.v[kept], motion.a[kept])


class _Axis:
    """Rows of one axis on their way into its triangular factor."""

    def __init__(self, columns: int) -> None:
        self.buffer = np.empty((columns, BUFFER))  # transposed, so that LAPACK gets it column-major without a copy
        self.filled = 0
        self.rows = 0
        self.factor = np.zeros((0, columns))

    def add(self, rows: np.ndarray, taken: np.ndarray, wrench: np.ndarray) -> None:
        """Columns ``taken`` of transposed regressor rows (10 L, n), n <= BUFFER, and their right-hand side (n,)."""
        count = len(wrench)
        if self.filled + count > BUFFER:
            self.flush()
        place = slice(self.filled, self.filled + count)
        self.buffer[:-1, place] = rows[taken]
        self.buffer[-1, place] = wrench
        self.filled += count
        self.rows += count

    def flush(self) -> None:
        """Fold the collected rows into the factor."""
        if self.filled:
            self.factor = fold(self.factor, self.buffer[:, : self.filled].T)
            self.filled = 0

    def take(self) -> tuple[np.ndarray, int]:
        """The finished factor and its number of rows; starts anew."""
        self.flush()
        factor, rows = self.factor, self.rows
        self.factor, self.rows = np.zeros((0, len(self.buffer))), 0
        return factor, rows


class _Noise:
    """Gathers what one shake of the motion changes in the equations, over the mean of a trial's shaken copies."""

    def __init__(self, structure: BaseParameters) -> None:
        self.taken = _rows_taken(structure)
        self.axes = [_Axis(len(place) + 1) for place in self.taken]

    def add(
        self, piece: RegressorPiece, shaken: RegressorPiece, change: np.ndarray, used: np.ndarray, copies: int
    ) -> None:
        """A piece of the motion and of one of its shaken copies, with the change of the wrench (6, n)."""
        share = np.sqrt(1.0 / copies)
        count = change.shape[1]
        rows = [
            *(share * (shaken.force - piece.force)).reshape(FORCE_AXES, -1, count),
            *(share * (shaken.moment - piece.moment)).reshape(AXES - FORCE_AXES, -1, count),
        ]
        for axis, (collected, row, taken) in enumerate(zip(self.axes, rows, self.taken)):
            here = used[axis]
            if here.any():
                collected.add(row[:, here], taken, share * change[axis, here])

    def finished(self) -> tuple[np.ndarray, ...]:
        """Per axis the factor (k, n + 1) of the changes; none when no trial was shaken."""
        factors = tuple(axis.take()[0] for axis in self.axes)
        return factors if any(len(factor) for factor in factors) else ()


def _rows_taken(structure: BaseParameters) -> list[np.ndarray]:
    """Per axis the rows of a regressor's piece that are base parameters, the parameter being the slow index."""
    parameter, link = structure.independent % PER_LINK, structure.independent // PER_LINK
    rows = parameter * len(structure.links) + link
    return [rows[place[:-1]] for place in axis_places(structure)]


class _Collector:
    """Cuts the stream of frames into blocks."""

    def __init__(self, structure: BaseParameters, blocks: Blocks) -> None:
        self.taken = _rows_taken(structure)
        self.axes = [_Axis(len(taken) + 1) for taken in self.taken]
        self.seconds, self.limit = blocks.seconds, blocks.most
        self.least_frames = 1
        self.blocks: list[Block] = []
        self.trial, self.start, self.stop, self.frames = "", 0.0, 0.0, 0

    def add(self, trial: str, times: np.ndarray, piece: RegressorPiece, wrench: np.ndarray, used: np.ndarray) -> None:
        """Consecutive frames: regressor, wrench (6, n), and which of its entries are measured, used (6, n)."""
        count = len(times)
        rows = [*piece.force.reshape(FORCE_AXES, -1, count), *piece.moment.reshape(AXES - FORCE_AXES, -1, count)]
        first = 0
        while first < count:
            if self.frames and (trial != self.trial or times[first] < self.stop or self._full(times[first])):
                self.close()
            if not self.frames:
                self.trial, self.start = trial, float(times[first])
            room = max(self.least_frames - self.frames, 1)
            last = min(max(int(np.searchsorted(times, self.start + self.seconds)), first + room), count)
            for axis, (collected, row, taken) in enumerate(zip(self.axes, rows, self.taken)):
                here = used[axis, first:last]
                if here.all():
                    collected.add(row[:, first:last], taken, wrench[axis, first:last])
                elif here.any():
                    collected.add(row[:, first:last][:, here], taken, wrench[axis, first:last][here])
            self.frames += last - first
            self.stop = float(times[last - 1])
            first = last

    def _full(self, time: float) -> bool:
        return time >= self.start + self.seconds and self.frames >= self.least_frames

    def close(self) -> None:
        """End the open block, and merge neighbours when there are too many."""
        factors, rows = zip(*(axis.take() for axis in self.axes))
        self.blocks.append(Block((self.trial,), self.start, self.stop, self.frames, np.array(rows), factors))
        self.frames = 0
        if len(self.blocks) > self.limit:
            compact(self.blocks, self.limit)
            # new blocks as long as the merged ones, or the old ones would have to be merged again and again
            self.least_frames = int(np.median([block.frames for block in self.blocks]))

    def finished(self) -> tuple[Block, ...]:
        """All blocks."""
        if self.frames:
            self.close()
        return tuple(self.blocks)
