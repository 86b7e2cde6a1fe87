"""Blocks of consecutive frames: six triangular factors, one for each axis, represent the equations of a block."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import frozen
from ..signals.pooling import BLOCK
from .base_parameters import BaseParameters
from .triangular import join_factors

AXES = 6
"""By definition."""
FORCE_AXES = 3
"""The first three axes are forces, which do not depend on inertias. By definition."""
MAX_BLOCKS = 64
"""Largest number of blocks; neighbours are merged beyond it."""


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """How a recording is divided into blocks.

    Attributes:
        seconds: [s] length of a block; neighbours are merged if there are more than ``max_blocks``.
        max_blocks: largest number of blocks.
    """

    seconds: float = BLOCK
    max_blocks: int = MAX_BLOCKS


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive frames of one trial, or of neighbouring trials when there are more trials than blocks.

    Attributes:
        trials: names.
        start, stop: [s] time stamps of the first and the last frame.
        frames: number of frames used.
        rows: (6,) number of measured values per axis.
        factors: per axis the factor (k, n + 1) of [Y_b f], k <= n + 1, unweighted; forces in the static columns only.
    """

    trials: tuple[str, ...]
    start: float
    stop: float
    frames: int
    rows: np.ndarray
    factors: tuple[np.ndarray, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen("rows", self.rows, (AXES,)))
        for factor in self.factors:
            factor.setflags(write=False)

    def merge(self, other: Block) -> Block:
        """One block of these frames and those of the next block."""
        names = self.trials + tuple(name for name in other.trials if name not in self.trials)
        factors = tuple(join_factors(pair, pair[0].shape[1]) for pair in zip(self.factors, other.factors))
        return Block(names, self.start, other.stop, self.frames + other.frames, self.rows + other.rows, factors)


def axis_columns(structure: BaseParameters) -> tuple[np.ndarray, ...]:
    """Indices of each axis's columns [Y_b f] among all B + 1: forces have only the static ones."""
    size = len(structure)
    force = np.append(np.flatnonzero(structure.static), size)
    return (force,) * FORCE_AXES + (np.arange(size + 1),) * (AXES - FORCE_AXES)


def merge_blocks(blocks: list[Block], limit: int) -> None:
    """Merge neighbouring blocks in place if there are more than ``limit``, within a trial if possible; about half
    remain."""
    if len(blocks) <= limit:
        return
    # any two neighbours that are not merged have more frames than this together: at most 0.8 limit + 1 remain
    most = 2.5 * sum(block.frames for block in blocks) / limit
    _merge_up_to(blocks, most, same_trial=True)
    if len(blocks) > limit:
        _merge_up_to(blocks, most, same_trial=False)


def _merge_up_to(blocks: list[Block], max_frames: float, same_trial: bool) -> None:
    index = 0
    while index + 1 < len(blocks):
        current, following = blocks[index], blocks[index + 1]
        if current.frames + following.frames <= max_frames and (not same_trial or current.trials == following.trials):
            blocks[index : index + 2] = [current.merge(following)]  # in place, which saves memory
        else:
            index += 1


@dataclass(frozen=True, slots=True)
class PostureErrors:
    """What the equations need to know about errors that follow posture (`tracking.motion_errors`).

    The errors have S unknown gains, which are the same in every frame and trial, so that no length of recording
    averages them out. Gravity moments of slow motions have the same form. The fit uses the covariance of the errors and
    does not estimate the gains.

    Attributes:
        gradients: of each axis (n, S), unweighted: products Y_b' e of the axis's base-parameter columns with the wrench
            errors e of one standard deviation of each gain.
        origins: (K, L, 10) changes of the parameters, see `trial.PostureWrenches`. The parameters that explain a motion
            best contain them: they are no errors of the equations but of the result, and `posterior` adds them to the
            intervals.
        layouts: names of the plates whose errors are the last P.
        plates: (6, P, P + 1) of each axis, unweighted: products of the plates' errors with each other and with f.
    """

    gradients: tuple[np.ndarray, ...]
    origins: np.ndarray
    layouts: tuple[tuple[str, ...], ...]
    plates: np.ndarray

    def merge(self, other: PostureErrors) -> PostureErrors:
        """Of both recordings: the same body, hence the same gains."""
        gradients = tuple(own + more for own, more in zip(self.gradients, other.gradients))
        return replace(self, gradients=gradients, plates=self.plates + other.plates)
