"""The accumulated equations of a fixed-base robot, with the drives eliminated, for the consistent method.

Every measured row (a joint's torque, or an axis of the base sensor) has its own triangular factor for each block of
consecutive frames, in the columns of the drives, the base parameters and the measurement. The drives' parameters have
no prior: with their columns first, the rows below theirs are the equations of the inertials for any drives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from ..base.arrays import frozen
from ..base.errors import InvalidValue
from ..identification.base_parameters import BaseParameters
from ..identification.triangular import scatter_columns, squared_residual, triangular_factor
from ..identification.weighted_equations import EquationsWithErrors, FullParameterForm
from ..values.inertials import InertialParameters
from .robot import DRIVES, FixedBaseRobot


@dataclass(frozen=True, slots=True)
class FixedBaseBlock:
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
class FixedBaseEquations(FullParameterForm):
    """Weighted least squares over the measured rows: ||W (D d + Y phi - m)||^2.

    Not slotted: quantities derived from the blocks are cached.

    Attributes:
        robot: of the equations.
        blocks: in the order of the recordings.
        weights: (R,) one over the residual's standard deviation per row.
    """

    robot: FixedBaseRobot
    blocks: tuple[FixedBaseBlock, ...]
    weights: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen("weights", self.weights, (None,)))

    @property
    def links(self) -> tuple[str, ...]:
        """L names."""
        return self.robot.rig.links

    @property
    def structure(self) -> BaseParameters:
        """Base parameters on which the measurements depend."""
        return self.robot.structure

    @property
    def frames(self) -> int:
        """Number of frames used."""
        return sum(block.frames for block in self.blocks)

    @property
    def axis_rows(self) -> np.ndarray:
        """Number of measured values per row (R,)."""
        return np.full(len(self.weights), self.frames)

    @cached_property
    def axis_factors(self) -> tuple[np.ndarray, ...]:
        """Per measured row the unweighted factor over all blocks."""
        return tuple(
            triangular_factor(np.concatenate([block.factors[row] for block in self.blocks]))
            for row in range(len(self.weights))
        )

    @cached_property
    def full_triangle(self) -> np.ndarray:
        """Triangle (k, D + B + 1) of W [D Y_b m]."""
        columns = self.robot.drive_columns + len(self.structure) + 1
        parts = [
            weight * scatter_columns(factor, self._factor_columns(row), columns)
            for row, (weight, factor) in enumerate(zip(self.weights, self.axis_factors))
        ]
        return triangular_factor(np.concatenate(parts))

    @property
    def base_triangle(self) -> np.ndarray:
        """Triangle (k, B + 1) of the equations of the base parameters, with the drives eliminated."""
        drives = self.robot.drive_columns
        return self.full_triangle[drives:, drives:]

    @property
    def equations_with_errors(self) -> EquationsWithErrors:
        """The equations themselves: encoders are taken as exact."""
        return EquationsWithErrors.without_posture_errors(self.factor, self.target)

    def fit_drives(self, parameters: InertialParameters) -> np.ndarray:
        """(n + C, 4) parameters of the drives (`DRIVES`), then of coupled ones (`COUPLED`), that fit best with these
        inertials; (0, 4) without drives."""
        return self._fit_drive_vector(self.structure.project(parameters)).reshape(-1, len(DRIVES))

    def squared_residuals(self, parameters: InertialParameters) -> np.ndarray:
        """Sum of squared residuals per row (R,), unweighted, with the drives that fit best."""
        return self._squared_residuals(parameters, self._fit_drive_vector(self.structure.project(parameters)))

    def axis_rmse(self, parameters: InertialParameters) -> np.ndarray:
        """Root mean square of the residual per row (R,), in the row's unit."""
        return np.sqrt(self.squared_residuals(parameters) / max(1, self.frames))

    def axis_rmse_with_drives(self, parameters: InertialParameters, drives: np.ndarray) -> np.ndarray:
        """The same with given parameters of the drives (4 n,), joint by joint."""
        return np.sqrt(self._squared_residuals(parameters, drives) / max(1, self.frames))

    def _squared_residuals(self, parameters: InertialParameters, drives: np.ndarray) -> np.ndarray:
        all_parameters = np.concatenate([drives, self.structure.project(parameters)])
        return np.array(
            [
                squared_residual(factor, all_parameters[self._factor_columns(row)[:-1]])
                for row, factor in enumerate(self.axis_factors)
            ]
        )

    def block_gradients(self, phi: np.ndarray) -> np.ndarray:
        """(K, B) gradient by the base parameters phi (B,) of half the squared residual of each block used once, without
        the part that drives can explain."""
        drives = self.robot.drive_columns
        all_parameters = np.concatenate([self._fit_drive_vector(phi), phi])
        result = np.zeros((len(self.blocks), len(all_parameters)))
        for index, block in enumerate(self.blocks):
            for row, (weight, factor) in enumerate(zip(self.weights, block.factors)):
                columns = self._factor_columns(row)[:-1]
                residual = factor[:, :-1] @ all_parameters[columns] - factor[:, -1]
                result[index, columns] += weight**2 * (residual @ factor[:, :-1])
        if not drives:
            return result
        drive_triangle, across = self.full_triangle[:drives, :drives], self.full_triangle[:drives, drives:-1]
        return result[:, drives:] - solve_triangular(drive_triangle, result[:, :drives].T, trans="T").T @ across

    def with_weights(self, weights: np.ndarray) -> FixedBaseEquations:
        """The same equations with other weights."""
        return replace(self, weights=weights)

    def _fit_drive_vector(self, phi: np.ndarray) -> np.ndarray:
        if not (drives := self.robot.drive_columns):
            return np.zeros(0)
        whole = self.full_triangle
        return np.asarray(
            solve_triangular(whole[:drives, :drives], whole[:drives, -1] - whole[:drives, drives:-1] @ phi)
        )

    def _factor_columns(self, row: int) -> np.ndarray:
        """Columns of a row's factor among all of [D Y_b m]."""
        drives, size = self.robot.drive_columns, len(self.structure)
        return np.concatenate([drive_columns_of(self.robot, row), drives + np.arange(size + 1)])


def split_blocks(
    robot: FixedBaseRobot, trial: str, pieces: Iterable[np.ndarray], length: int
) -> tuple[FixedBaseBlock, ...]:
    """Blocks of about ``length`` frames from filtered pieces (n, R, D + 10 L + 1) of [rows, measured]."""
    independent = robot.drive_columns + robot.structure.independent
    found: list[FixedBaseBlock] = []
    waiting: list[np.ndarray] = []
    frames = 0
    for piece in pieces:
        waiting.append(piece)
        frames += len(piece)
        if frames >= length:
            found.append(_build_block(trial, np.concatenate(waiting), robot, independent))
            waiting, frames = [], 0
    if frames:
        found.append(_build_block(trial, np.concatenate(waiting), robot, independent))
    return tuple(found)


def drive_columns_of(robot: FixedBaseRobot, row: int) -> np.ndarray:
    """Columns of the drives that act on a measured row: the joint's own, and those of coupled drives."""
    single = len(DRIVES) * len(robot.names)
    own = np.arange(len(DRIVES)) + len(DRIVES) * row
    return np.concatenate([own, np.arange(single, robot.drive_columns)]) if robot.drive_columns else np.zeros(0, int)


def _build_block(trial: str, rows: np.ndarray, robot: FixedBaseRobot, independent: np.ndarray) -> FixedBaseBlock:
    factors = []
    for row in range(rows.shape[1]):
        columns = np.concatenate([drive_columns_of(robot, row), independent, [rows.shape[2] - 1]])
        factors.append(triangular_factor(rows[:, row][:, columns]))
    return FixedBaseBlock(trial, len(rows), tuple(factors))


def require_excited_joints(equations: FixedBaseEquations) -> None:
    """Refuse recordings in which a joint with a drive hardly moves: friction and rotor inertia cannot be separated.

    Raises:
        InvalidValue: the first such joint.
    """
    if not (drives := equations.robot.drive_columns):
        return
    drive_triangle = equations.full_triangle[:drives, :drives]
    sizes = np.linalg.norm(drive_triangle, axis=0)
    weak = np.abs(np.diag(drive_triangle)) <= DEPENDENCE_TOLERANCE * np.where(sizes > 0.0, sizes, 1.0)
    if weak.any():
        joint = equations.robot.drive_names[int(np.flatnonzero(weak)[0]) // len(DRIVES)]
        raise InvalidValue(
            f"joint {joint!r} moves too little to separate its friction from its rotor inertia: move it, lock it, or "
            f"measure "
            "torques behind the drives"
        )


DEPENDENCE_TOLERANCE = 1e-6
"""Fraction of a drive's column that must lie outside the others' span."""
