"""Joint moments of one trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from ..base.arrays import Array, ArrayValue, Names, Times, frozen
from ..base.errors import InvalidValue
from ..signals.pooling import TWO_SIDED_STDS
from ..storage.codec import FileKind

INERTIALS, PLATES = "inertial parameters", "plates"
"""Causes of errors, beside those of the motion."""


@dataclass(frozen=True, slots=True)
class JointMoments(ArrayValue):
    """Moments of the joints' coordinates: what drives the joint, positive if it increases the coordinate.

    Attributes:
        trial: name.
        times: (N,) [s].
        names: C coordinates.
        lengths: C; True for a coordinate that is a length, whose value is a force [N].
        values: (N, C) [N m] or [N]; NaN where the measured wrenches do not determine it.
        residual: (N, 6) force [N] and moment [N m] that the root lacks, world axes, about the root link's origin: what
            the motion requires minus what was measured. Zero if motion, inertials and wrenches were exact.
        mass: [kg] of the whole body.
        std_by_source: (N, C) standard deviations by cause, taken as independent; empty without intervals.
        notes: what limits the result, in plain sentences.
        links: K links that a joint with an angle moves.
        vectors: (N, K, 3) [N m] moment on each of them at its joint, world axes: the shortest one whose power per unit
            rate of every angle is that angle's moment; NaN where these are.
        places: (N, K, 3) [m] origin of each of them, world.
        cycles: start and stop (n, 2) [s] of gait cycles of each side, see `find_gait_cycles`.
    """

    trial: str
    times: Annotated[np.ndarray, Times()]
    names: Annotated[tuple[str, ...], Names("C")]
    lengths: tuple[bool, ...]
    values: Annotated[np.ndarray, Array("N", "C", finite=False)]
    residual: Annotated[np.ndarray, Array("N", 6, finite=False)]
    mass: float
    std_by_source: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    vectors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    places: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    cycles: Mapping[str, np.ndarray] = field(default_factory=dict)

    def require_consistent(self) -> None:
        object.__setattr__(self, "lengths", tuple(map(bool, self.lengths)))
        shape = self.values.shape
        if len(self.lengths) != shape[1]:
            raise InvalidValue(f"{len(self.lengths)} kinds for {shape[1]} coordinates")
        if not 0.0 < self.mass < np.inf:
            raise InvalidValue(f"moments per kilogram need a positive mass, not {self.mass:g} kg")
        object.__setattr__(self, "links", tuple(self.links))
        for name in ("vectors", "places"):
            value = getattr(self, name) if self.links else np.zeros((shape[0], 0, 3))
            value = frozen(name, value, (shape[0], len(self.links), 3), finite=name == "places")
            object.__setattr__(self, name, value)
        stds = {
            source: frozen(f"std of moments caused by {source}", std, shape, finite=False)
            for source, std in self.std_by_source.items()
        }
        object.__setattr__(self, "std_by_source", stds)

    def __len__(self) -> int:
        return len(self.times)

    def with_notes(self, notes: Sequence[str]) -> JointMoments:
        """The same with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each coordinate's value."""
        return tuple("N" if length else "N m" for length in self.lengths)

    @property
    def per_kg(self) -> np.ndarray:
        """(N, C) [N m/kg] or [N/kg]."""
        return np.asarray(self.values / self.mass)

    @property
    def std(self) -> np.ndarray | None:
        """(N, C) standard deviations due to all causes; None without intervals."""
        if not self.std_by_source:
            return None
        return np.sqrt(np.sum([std**2 for std in self.std_by_source.values()], axis=0))

    @property
    def half_width(self) -> np.ndarray:
        """(N, C) half the width of the 95 % intervals; NaN if unknown."""
        return np.full(self.values.shape, np.nan) if self.std is None else TWO_SIDED_STDS * self.std

    @property
    def peaks(self) -> np.ndarray:
        """(C, 3) least and greatest value per kg and half the 95 % interval at the larger one; NaN without a value."""
        result = np.full((len(self.names), 3), np.nan)
        half = self.half_width / self.mass
        for k, values in enumerate(self.per_kg.T):
            known = np.flatnonzero(np.isfinite(values))
            if len(known):
                own = values[known]
                largest = known[int(np.argmax(np.abs(own)))]
                result[k] = own.min(), own.max(), half[largest, k]
        return result

    @property
    def residual_rms(self) -> np.ndarray:
        """(2,) RMS length of the residual force [N] and moment [N m]; NaN without a frame."""
        squares = (self.residual.reshape(-1, 2, 3) ** 2).sum(axis=2)
        known = np.isfinite(squares).all(axis=1)
        return np.sqrt(squares[known].mean(axis=0)) if known.any() else np.full(2, np.nan)

    @property
    def residual_peak(self) -> np.ndarray:
        """(2,) largest length of the residual force [N] and moment [N m]; NaN without a frame."""
        lengths = np.linalg.norm(self.residual.reshape(-1, 2, 3), axis=2)
        known = np.isfinite(lengths).all(axis=1)
        return np.asarray(lengths[known].max(axis=0)) if known.any() else np.full(2, np.nan)


MOMENTS = FileKind(JointMoments, "exciting dance joint moments", version=3, remedy="Compute the moments again")
"""The file of joint moments, an archive."""
