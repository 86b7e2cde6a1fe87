"""Measured wrenches of a trial beside the wrenches that its motion needs by the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue, Times
from ...dynamics.kinematics import sole_paths
from ...skeleton.rig import GRAVITY, Rig
from ...values.motion import Motion
from ...values.wrenches import Wrenches

LOADED_FRACTION = 0.2
"""Fraction of the weight above which plates carry the body."""


@dataclass(frozen=True, slots=True)
class ForceMotionPair(ArrayValue):
    """Forces and motion of one recording, which should belong together.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        predicted: (N, 6) wrench predicted from the motion with the prior, about the root link's origin, world axes
            [N, N m].
        root_positions: (N, 3) [m] that origin, world.
        sole_corners: (N, P, V, 3) [m] corners of the P soles, world.
        wrenches: N samples; NaN where missing.
        lag: [s] roughly, of the recorded forces behind the motion; these have none.
    """

    name: str
    times: Annotated[np.ndarray, Times()]
    predicted: Annotated[np.ndarray, Array("N", 6)]
    root_positions: Annotated[np.ndarray, Array("N", 3)]
    sole_corners: Annotated[np.ndarray, Array("N", None, None, 3)]
    wrenches: Wrenches
    lag: float = 0.0

    @property
    def measured(self) -> np.ndarray:
        """Total (N, 6), NaN in components that were not measured."""
        return np.where(np.asarray(self.wrenches.measured), self.wrenches.total, np.nan)


def pair_forces_with_motion(
    rig: Rig, motion: Motion, wrenches: Wrenches, predicted: np.ndarray, name: str
) -> ForceMotionPair:
    """Pair a trial's forces with its motion; see the attributes."""
    soles = sole_paths(rig, motion)
    most = np.arange(max((sole.shape[1] for sole in soles), default=0))
    feet = np.zeros((len(motion), len(soles), len(most), 3))
    for place, sole in enumerate(soles):
        feet[:, place] = sole[:, most % sole.shape[1]]  # repeated corners change no box around them
    return ForceMotionPair(name, motion.times, predicted, motion.q[:, :3], feet, wrenches)


def is_loaded(wrenches: np.ndarray, mass: float) -> np.ndarray:
    """(N,) True where plates with these wrenches (N, 6) carry the body."""
    return np.asarray(np.nan_to_num(wrenches[:, 2]) > LOADED_FRACTION * mass * GRAVITY)


def force_variation(wrenches: np.ndarray, mass: float) -> float:
    """Standard deviation of the force of wrenches (N, 6), relative to the weight, on its most variable axis."""
    force = wrenches[np.isfinite(wrenches[:, :3]).all(axis=1), :3]
    return float(np.std(force, axis=0).max()) / (mass * GRAVITY) if len(force) else 0.0
