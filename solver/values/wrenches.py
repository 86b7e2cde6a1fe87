"""Measured external forces and moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import abbreviate, frozen, frozen_mask, frozen_times
from ..base.file_arrays import map_slices
from .motion import TimeSeries, describe_span

WRENCH_AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
"""Components of a wrench."""
DRAWN_FORCE = 20.0
"""[N] Force below which neither a centre of pressure nor a central axis is drawn, because noise dominates its place."""
LEAST_LOAD = 10.0
"""[N] Vertical force below which centre of pressure and free moment of a plate are too inaccurate."""


@dataclass(frozen=True, slots=True, repr=False)
class Wrenches(TimeSeries):
    """Measured external wrenches on the body.

    Attributes:
        times: (N,) [s].
        frames: K names of plates or sensors.
        values: (N, K, 6) force [N] then moment [N m], world axes (z up), moment about the world origin.
            NaN for missing samples.
        measured: (N, 6) True where that component of the total is measured (a recording without moments has
            False in the last three columns); all True by default.
    """

    times: np.ndarray
    frames: tuple[str, ...]
    values: np.ndarray
    measured: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen_times(self.times))
        object.__setattr__(self, "frames", tuple(self.frames))
        count = len(self.times)
        object.__setattr__(self, "values", frozen("wrenches", self.values, (count, len(self.frames), 6), finite=False))
        measured = np.ones((count, 6), bool) if self.measured is None else self.measured
        object.__setattr__(self, "measured", frozen_mask("measured", measured, (count, 6)))

    def __repr__(self) -> str:
        assert self.measured is not None
        axes = [name for name, known in zip(WRENCH_AXES, self.measured.any(axis=0)) if known]
        vertical = self.total[:, 2]
        vertical = vertical[np.isfinite(vertical)]
        mean = f", mean vertical force {vertical.mean():.1f} N" if len(vertical) else ""
        return (
            f"Wrenches of {abbreviate(self.frames)}: {describe_span(self.times)}\n"
            f"  measured: {', '.join(axes) or 'nothing'}{mean}"
        )

    def map(self, function: Callable[[np.ndarray, slice], np.ndarray]) -> np.ndarray:
        """A function of some values (n, K, 6) and which samples they are, over all samples, a few at a time.

        The result is in a file if it is long: an hour of eight plates at 1,000 Hz does not fit into memory.
        """
        return map_slices(len(self), lambda own: function(self.values[own], own))

    @property
    def total(self) -> np.ndarray:
        """Sum over the sensors (N, 6), world axes, about the world origin [N, N m]; NaN if a sensor is missing."""
        return self.map(lambda values, _: values.sum(axis=1)).reshape(-1, 6)

    def about(self, points: np.ndarray) -> np.ndarray:
        """The total wrench with the moment about other points.

        Args:
            points: (3,) or (N, 3) [m], world.

        Returns:
            (N, 6) force then moment, world axes.
        """
        total = self.total.copy()
        total[:, 3:] -= np.cross(np.broadcast_to(points, (len(self), 3)), total[:, :3])
        return total

    @property
    def free_moments(self) -> np.ndarray:
        """Free moment Tz of each sensor about its centre of pressure (N, K) [N m]; 0 where it is not `loaded`.

        The free moment is vertical by definition, so F . M = Fz Tz for every reference point.
        """
        force, moment = self.values[:, :, :3], self.values[:, :, 3:]
        loaded = self.loaded
        # frames n, sensors k, axes a
        power = np.einsum("nka,nka->nk", force, moment)
        return np.where(loaded, power / np.where(loaded, force[:, :, 2], 1.0), 0.0)

    @property
    def loaded(self) -> np.ndarray:
        """(N, K) True where the vertical force exceeds `LEAST_LOAD`."""
        return self.map(lambda values, _: values[:, :, 2] > LEAST_LOAD).reshape(-1, len(self.frames))

    def centres_of_pressure(self, loaded: np.ndarray | None = None) -> np.ndarray:
        """Centre of pressure of each sensor in the floor z = 0, (N, K, 3) [m]; NaN where it is not ``loaded`` (N, K).

        With a vertical free moment x = -My / Fz, y = Mx / Fz.
        """
        vertical, moment = self.values[:, :, 2], self.values[:, :, 3:]
        vertical = np.where(self.loaded if loaded is None else loaded, vertical, np.nan)
        flat = np.where(np.isnan(vertical), np.nan, 0.0)
        return np.stack([-moment[:, :, 1] / vertical, moment[:, :, 0] / vertical, flat], axis=2)

    def displaced(self, shift: np.ndarray) -> Wrenches:
        """A copy with sensors displaced by (3,) or (K, 3) [m], world, and the same readings."""
        values = self.values.copy()
        values[:, :, 3:] += np.cross(np.broadcast_to(shift, (len(self.frames), 3)), values[:, :, :3])
        return Wrenches(self.times, self.frames, values, self.measured)

    def without_axes(self, axes: Sequence[int]) -> Wrenches:
        """A copy in which these axes of the total are marked as not measured."""
        measured = np.array(self.measured)
        measured[:, list(axes)] = False
        return Wrenches(self.times, self.frames, self.values, measured)

    def part(self, start: int, stop: int) -> Wrenches:
        """Samples start..stop-1."""
        assert self.measured is not None
        return Wrenches(self.times[start:stop], self.frames, self.values[start:stop], self.measured[start:stop])
