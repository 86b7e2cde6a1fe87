"""Accumulation of trials into a `Regression`: one pass in chunks; memory does not grow with duration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..base.errors import InvalidValue, checked
from ..dynamics import Axes, base_index
from ..signals.plate_errors import count_errors
from ..signals.trial import PostureWrenches, Trial
from ..skeleton.rig import Rig
from ..values.inertials import PER_LINK, InertialParameters
from .base_parameters import BaseParameters, base_parameters
from .blocks import AXES, Block, BlockOptions, PostureErrors, axis_columns, merge_blocks
from .equations import Equations, equations
from .regression import Regression
from .triangular import append_rows

DEFAULT_BLOCKS = BlockOptions()
NO_COUNTED_FRAME = (
    "no frame counts in any of the trials: no frame has all contacts measured; give the force files that belong to "
    "these recordings, and check that they show the body's weight"
)


@checked
def accumulate_regression(
    rig: Rig,
    trials: Iterable[Trial],
    base: int | str = 0,
    axes: Axes = "link",
    *,
    structure: BaseParameters | None = None,
    blocks: BlockOptions = DEFAULT_BLOCKS,
) -> Regression:
    """Regression over the counted frames of trials, with weight one on every axis (see `Regression.with_weights`).

    Args:
        rig: whose links are identified.
        trials: any iterable, also a generator: a long recording may be split into many trials of the same name.
        base: base link, by name or index.
        axes: ``"link"`` or ``"world"``. A partly measured wrench needs ``"world"``, because the base link's axes mix
            measured and missing components.
        structure: base parameters of the rig, if already known.
        blocks: how the equations are divided into blocks.

    Raises:
        InvalidValue: no counted frame, or a trial of another rig.

    Example:
        >>> import solver
        >>> robot = solver.demo.simulated_robot()
        >>> quick = solver.Settings(no_cross_validation=True)
        >>> study = solver.identify(robot.recordings, rig=robot.rig, settings=quick)
        >>> solver.identification.accumulate_regression(study.rig, study.trials).trials
        ('dance',)
    """
    structure = base_parameters(rig) if structure is None else structure
    index = base_index(rig, base)
    collected = EquationAccumulator(rig, structure, axes, blocks)

    for trial in trials:
        for piece in equations(rig, trial, index, axes):
            collected.add(trial, piece, exact=True)
    return collected.regression(rig.links[index])


class EquationAccumulator:
    """Accumulates equations into a regression.

    Args:
        rig: whose links are identified.
        structure: its base parameters.
        axes: in which the equations are written.
        blocks: how they are divided into blocks.
    """

    def __init__(
        self, rig: Rig, structure: BaseParameters, axes: Axes = "world", blocks: BlockOptions = DEFAULT_BLOCKS
    ) -> None:
        self.rig, self.structure, self.axes = rig, structure, axes
        self.blocks = _BlockAccumulator(structure, blocks)
        self.posture_errors: PostureErrors | None = None

    def add(self, trial: Trial, equations: Equations, *, exact: bool = False) -> None:
        """Add some of a trial's equations.

        Args:
            trial: of the equations.
            equations: of its motion.
            exact: the equations depend on base parameters alone; otherwise the rest is taken from the prior.
        """
        if not exact:
            equations = _subtract_remainder(equations, self.rig.prior, self.structure)
        self.blocks.add(trial.name, trial.motion.times[equations.frames], equations)
        if trial.posture_wrenches is not None and trial.corner is None and self.axes == "world":
            # else the rows are not those of single frames, or have other axes
            self._add_posture_errors(trial.posture_wrenches, equations)

    def regression(self, base: str) -> Regression:
        """All equations, with weight one on every axis.

        Raises:
            InvalidValue: there are none.
        """
        found, rig = self.blocks.finish(), self.rig
        if not found:
            raise InvalidValue(NO_COUNTED_FRAME)
        return Regression(
            rig.links,
            base,
            self.axes,
            self.structure,
            np.ones(AXES),
            found,
            posture_errors=self.posture_errors,
        )

    def _add_posture_errors(self, errors: PostureWrenches, equations: Equations) -> None:
        """Add those of the frames that are sampled; each stands for its neighbours."""
        _, sampled, samples = np.intersect1d(equations.frames, errors.frames, return_indices=True)
        wrenches = errors.values[samples].transpose(1, 0, 2) * equations.used[:, sampled, None]
        gradients = tuple(
            errors.stride * row[columns][:, sampled] @ own
            for row, own, columns in zip(equations.rows, wrenches, _base_parameter_rows(self.structure))
        )
        plates = wrenches[:, :, wrenches.shape[2] - count_errors(errors.layouts) :].astype(float)
        both = np.concatenate([plates, equations.wrench[:, sampled, None]], axis=2)
        products = errors.stride * plates.transpose(0, 2, 1) @ both
        found = PostureErrors(gradients, errors.origins, errors.layouts, products)
        self.posture_errors = found if self.posture_errors is None else self.posture_errors.merge(found)


def _subtract_remainder(equations: Equations, prior: InertialParameters, structure: BaseParameters) -> Equations:
    """Equations without the part of Y phi that does not depend on base parameters, computed with the prior.

    Y = Y_b K holds for links that are connected by rigid joints. Regions of the body with filters of their own leave a
    small remainder.
    """
    phi, base = prior.values.T.reshape(-1), structure.project(prior)
    wrench = equations.wrench.copy()
    for axis, (row, parameter_rows, base_columns) in enumerate(
        zip(equations.rows, _base_parameter_rows(structure), axis_columns(structure))
    ):
        wrench[axis] -= phi[: len(row)] @ row - base[base_columns[:-1]] @ row[parameter_rows]
    return replace(equations, wrench=wrench)


def _base_parameter_rows(structure: BaseParameters) -> list[np.ndarray]:
    """Per axis the rows of a regressor piece that belong to base parameters; the parameter is the slow index."""
    parameter, link = structure.independent % PER_LINK, structure.independent // PER_LINK
    rows = parameter * len(structure.links) + link
    return [rows[base_columns[:-1]] for base_columns in axis_columns(structure)]


class _BlockAccumulator:
    """Divides the stream of frames into blocks."""

    def __init__(self, structure: BaseParameters, blocks: BlockOptions) -> None:
        self.columns = _base_parameter_rows(structure)
        self.factors: list[np.ndarray] = []
        self.rows = np.zeros(AXES, int)
        self.seconds, self.max_blocks = blocks.seconds, blocks.max_blocks
        self.min_frames = 1
        self.blocks: list[Block] = []
        self.trial, self.start, self.stop, self.frames = "", 0.0, 0.0, 0

    def add(self, trial: str, times: np.ndarray, equations: Equations) -> None:
        """Add equations of consecutive frames (n), and their times (n,) [s]."""
        count, rows, wrench, used = len(times), equations.rows, equations.wrench, equations.used
        first = 0
        while first < count:
            if self.frames and (
                trial != self.trial
                or times[first] < self.stop
                or (times[first] >= self.start + self.seconds and self.frames >= self.min_frames)
            ):
                self.close()
            if not self.frames:
                self.trial, self.start = trial, float(times[first])
                self.factors = [np.zeros((0, len(own) + 1)) for own in self.columns]
                self.rows = np.zeros(AXES, int)
            room = max(self.min_frames - self.frames, 1)
            last = min(max(int(np.searchsorted(times, self.start + self.seconds)), first + room), count)
            for axis, (row, own) in enumerate(zip(rows, self.columns)):
                here = first + np.flatnonzero(used[axis, first:last])
                # transposed, LAPACK gets it column-major without a copy
                added = np.vstack([row[np.ix_(own, here)], wrench[axis, here]]).T
                self.factors[axis] = append_rows(self.factors[axis], added)
                self.rows[axis] += len(here)
            self.frames += last - first
            self.stop = float(times[last - 1])
            first = last

    def close(self) -> None:
        """Close the open block, and merge neighbours if there are too many."""
        factors = tuple(self.factors)
        self.blocks.append(Block((self.trial,), self.start, self.stop, self.frames, self.rows, factors))
        self.frames = 0
        if len(self.blocks) > self.max_blocks:
            merge_blocks(self.blocks, self.max_blocks)
            # new blocks as long as the merged ones, so that old ones are not merged again and again
            self.min_frames = int(np.median([block.frames for block in self.blocks]))

    def finish(self) -> tuple[Block, ...]:
        """All blocks."""
        if self.frames:
            self.close()
        return tuple(self.blocks)
