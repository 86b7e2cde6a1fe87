"""The accumulated equations of a bench: what `identification.consistent` needs of them, drives eliminated.

Every measured row (a joint's torque, or an axis of the base sensor) has its own triangular factor for each block of
consecutive frames, in the columns of the drives, the base parameters and the measurement. The drives' parameters are
free of any prior: with their columns first, the rows below theirs are the equations that remain for the inertials
whatever the drives are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import frozen
from ..errors import InvalidValue
from ..identification.base_parameters import BaseParameters
from ..identification.errors_in_variables import Calibrated
from ..identification.triangular import squares, triangle, widened
from ..identification.weighted_equations import InParameters
from ..inertials import InertialParameters
from .bench import DRIVES, Bench


@dataclass(frozen=True, slots=True)
class BenchBlock:
    """Consecutive frames of one trial.

    Attributes:
        trial: name.
        frames: number of them.
        factors: per measured row the factor (k, d + B + 1) of [its drive's columns, Y_b, measured], unweighted.
    """

    trial: str
    frames: int
    factors: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class BenchEquations(InParameters):
    """Weighted least squares over a bench's rows: ||W (D d + Y phi - m)||^2.

    Not slotted: what follows from the blocks is computed when first asked for, and kept.

    Attributes:
        bench: they are of.
        blocks: in the order of the recordings.
        weights: (R,) one over the residual's standard deviation per row.
        counts: (K,) how often each block is taken: once, unless resampled.
    """

    bench: Bench
    blocks: tuple[BenchBlock, ...]
    weights: np.ndarray
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen("weights", self.weights, (None,)))
        counts = np.asarray(self.counts) if len(self.counts) else np.ones(len(self.blocks))
        object.__setattr__(self, "counts", frozen("counts", counts, (len(self.blocks),)))

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""
        return self.bench.rig.links

    @property
    def structure(self) -> BaseParameters:
        """Base parameters that the bench shows."""
        return self.bench.structure

    @property
    def frames(self) -> int:
        """Number of frames used."""
        return int(sum(count * block.frames for count, block in zip(self.counts, self.blocks)))

    @property
    def axis_rows(self) -> np.ndarray:
        """Number of measured values per row (R,)."""
        return np.full(len(self.weights), self.frames)

    @cached_property
    def axis_factors(self) -> tuple[np.ndarray, ...]:
        """Per measured row the unweighted factor over all blocks."""
        return tuple(
            triangle(np.concatenate([np.sqrt(c) * b.factors[row] for c, b in zip(self.counts, self.blocks) if c]))
            for row in range(len(self.weights))
        )

    @cached_property
    def whole(self) -> np.ndarray:
        """Triangle (k, D + B + 1) of W [D Y_b m]."""
        columns = self.bench.drive_columns + len(self.structure) + 1
        parts = [
            weight * widened(factor, self._places(row), columns)
            for row, (weight, factor) in enumerate(zip(self.weights, self.axis_factors))
        ]
        return triangle(np.concatenate(parts))

    @property
    def base_triangle(self) -> np.ndarray:
        """Triangle (k, B + 1) of what remains for the base parameters, the drives eliminated."""
        drives = self.bench.drive_columns
        return self.whole[drives:, drives:]

    @property
    def calibrated(self) -> Calibrated:
        """The equations as they are believed: encoders are taken as exact."""
        return Calibrated(self.factor, self.target, np.zeros(0))

    def drives(self, parameters: InertialParameters) -> np.ndarray:
        """(n, 4) parameters of the drives (`DRIVES`) that fit best beside these inertials; (0, 4) without drives."""
        return self._drives(self.structure.of(parameters)).reshape(-1, len(DRIVES))

    def squares_per_axis(self, parameters: InertialParameters) -> np.ndarray:
        """Sum of squared residuals per row (R,), unweighted, the drives as they fit best."""
        return self._squares(parameters, self._drives(self.structure.of(parameters)))

    def axis_rmse(self, parameters: InertialParameters) -> np.ndarray:
        """Root mean square of the residual per row (R,), in the row's unit."""
        return np.sqrt(self.squares_per_axis(parameters) / max(1, self.frames))

    def axis_rmse_of(self, parameters: InertialParameters, drives: np.ndarray) -> np.ndarray:
        """The same with given parameters of the drives (4 n,), joint by joint, that are not fitted."""
        return np.sqrt(self._squares(parameters, drives) / max(1, self.frames))

    def _squares(self, parameters: InertialParameters, drives: np.ndarray) -> np.ndarray:
        everything = np.concatenate([drives, self.structure.of(parameters)])
        return np.array(
            [squares(factor, everything[self._places(row)[:-1]]) for row, factor in enumerate(self.axis_factors)]
        )

    def block_gradients(self, parameters: InertialParameters) -> np.ndarray:
        """(K, B) half squared residual's gradient of each block taken once, as far as no drive can answer for it."""
        phi = self.structure.of(parameters)
        drives = self.bench.drive_columns
        everything = np.concatenate([self._drives(phi), phi])
        result = np.zeros((len(self.blocks), len(everything)))
        for place, block in enumerate(self.blocks):
            for row, (weight, factor) in enumerate(zip(self.weights, block.factors)):
                places = self._places(row)[:-1]
                rest = factor[:, :-1] @ everything[places] - factor[:, -1]
                result[place, places] += weight**2 * (rest @ factor[:, :-1])
        if not drives:
            return result
        own, across = self.whole[:drives, :drives], self.whole[:drives, drives:-1]
        return result[:, drives:] - solve_triangular(own, result[:, :drives].T, trans="T").T @ across

    def with_weights(self, weights: np.ndarray) -> BenchEquations:
        """The same equations weighted otherwise."""
        return replace(self, weights=weights)

    def _drives(self, phi: np.ndarray) -> np.ndarray:
        drives = self.bench.drive_columns
        if not drives:
            return np.zeros(0)
        whole = self.whole
        return np.asarray(
            solve_triangular(whole[:drives, :drives], whole[:drives, -1] - whole[:drives, drives:-1] @ phi)
        )

    def _places(self, row: int) -> np.ndarray:
        """Columns of a row's factor among all of [D Y_b m]."""
        drives, size = self.bench.drive_columns, len(self.structure)
        own = np.arange(len(DRIVES)) + len(DRIVES) * row if drives else np.zeros(0, int)
        return np.concatenate([own, drives + np.arange(size + 1)])


def blocks_of(bench: Bench, trial: str, pieces: Iterable[np.ndarray], length: int) -> tuple[BenchBlock, ...]:
    """Blocks of about ``length`` frames from filtered pieces (n, R, D + 10 L + 1) of [rows, measured]."""
    drives = bench.drive_columns
    independent = drives + bench.structure.independent
    found: list[BenchBlock] = []
    waiting: list[np.ndarray] = []
    held = 0
    for piece in pieces:
        waiting.append(piece)
        held += len(piece)
        if held >= length:
            found.append(_block(trial, np.concatenate(waiting), drives, independent))
            waiting, held = [], 0
    if held:
        found.append(_block(trial, np.concatenate(waiting), drives, independent))
    return tuple(found)


def _block(trial: str, rows: np.ndarray, drives: int, independent: np.ndarray) -> BenchBlock:
    factors = []
    for row in range(rows.shape[1]):
        own = np.arange(len(DRIVES)) + len(DRIVES) * row if drives else np.zeros(0, int)
        columns = np.concatenate([own, independent, [rows.shape[2] - 1]])
        factors.append(triangle(rows[:, row][:, columns]))
    return BenchBlock(trial, len(rows), tuple(factors))


def require_moving(equations: BenchEquations) -> None:
    """Refuse recordings in which a joint with a drive hardly moves: its friction and its rotor cannot be told apart.

    Raises:
        InvalidValue: which.
    """
    drives = equations.bench.drive_columns
    if not drives:
        return
    own = equations.whole[:drives, :drives]
    sizes = np.linalg.norm(own, axis=0)
    weak = np.abs(np.diag(own)) <= DEPENDENT * np.where(sizes > 0.0, sizes, 1.0)
    if weak.any():
        joint = equations.bench.names[int(np.flatnonzero(weak)[0]) // len(DRIVES)]
        raise InvalidValue(
            f"joint {joint!r} moves too little to tell its friction and rotor: let it move, hold it, or measure "
            "torques behind the drives"
        )


DEPENDENT = 1e-6
"""Share of a drive's column that must lie outside the others' span."""
