"""One trial's forces beside its motion, to judge whether they belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import frozen, frozen_times
from ...dynamics.kinematics import PIECE, motion_pieces
from ...motion import Motion
from ...rig import GRAVITY, Rig
from ...wrenches import Wrenches
from .misfit import Misfit

LOADED = 0.2
"""Share of the weight with which plates carry the body."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Forces and motion that are said to belong together.

    Attributes:
        name: of the trial.
        times: (N,) [s].
        predicted: (N, 6) wrench that the motion needs by the prior, about the root link's origin, world axes [N, N m].
        root: (N, 3) [m] that origin.
        feet: (N, P, V, 3) [m] corners of the soles; no P without soles.
        wrenches: N samples; NaN where missing.
    """

    name: str
    times: np.ndarray
    predicted: np.ndarray
    root: np.ndarray
    feet: np.ndarray
    wrenches: Wrenches

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        count = len(self.times)
        for name, shape in (("predicted", (count, 6)), ("root", (count, 3)), ("feet", (count, None, None, 3))):
            object.__setattr__(self, name, frozen(name, getattr(self, name), shape))

    @property
    def measured(self) -> np.ndarray:
        """Total (N, 6), NaN in what was not measured."""
        return np.where(np.asarray(self.wrenches.measured), self.wrenches.total, np.nan)


def pair(rig: Rig, motion: Motion, wrenches: Wrenches, predicted: np.ndarray, name: str) -> Pair:
    """A trial's forces beside its motion; see the attributes."""
    most = max((len(patch.vertices) for patch in rig.soles), default=0)
    feet = np.zeros((len(motion), len(rig.soles), most, 3))
    for start, links in motion_pieces(rig, motion, PIECE):
        for place, patch in enumerate(rig.soles):
            index = rig.index(patch.link)
            corners = np.resize(patch.vertices, (most, 3))  # repeated corners change no box around them
            turns, origin = links.rotation[:, :, index].transpose(2, 1, 0), links.position[:, index].T
            feet[start : start + PIECE, place] = corners @ turns + origin[:, None]
    return Pair(name, motion.times, predicted, motion.q[:, :3], feet, wrenches)


def misfit_of(item: Pair, measured: np.ndarray, mass: float) -> Misfit:
    return Misfit.of(item.predicted, measured, item.root, mass)


def mean_misfit(item: Pair, mass: float) -> float:
    """Mean squared misfit of a trial's forces, of the weight; infinite where none was recorded."""
    square = misfit_of(item, item.measured, mass).square
    return float(np.nanmean(square)) if np.isfinite(square).any() else np.inf


def carrying(wrenches: np.ndarray, mass: float) -> np.ndarray:
    """(N,) True where plates with these wrenches (N, 6) carry the body."""
    return np.asarray(np.nan_to_num(wrenches[:, 2]) > LOADED * mass * GRAVITY)


def change(wrenches: np.ndarray, mass: float) -> float:
    """Standard deviation over time of the force of wrenches (N, 6), of the weight, along the axis that changes most."""
    force = wrenches[np.isfinite(wrenches[:, :3]).all(axis=1), :3]
    return float(np.std(force, axis=0).max()) / (mass * GRAVITY) if len(force) else 0.0
