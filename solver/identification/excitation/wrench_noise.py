"""Noise of the wrench equations of a motion: of the plate, and of errors of the motion in every term.

The residual of the root's equation Y(q, v, a) phi = f contains the plate's noise and the errors of q, v and a in its
regressor. These errors are those of white noise on the coordinates after a low-pass filter; derivatives amplify them
with the square and the fourth power of its cut-off. Their effect grows with the speed of the body, so that faster
motion is not always better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.arrays import Array, ArrayValue
from ...base.errors import InvalidValue
from ...dynamics.mechanics import root_residual_derivatives
from ...skeleton.rig import ROOT_NV, Rig
from ...values.motion import Motion


@dataclass(frozen=True, slots=True)
class CoordinateNoise:
    """White noise of measured coordinates, and the filter that they pass.

    Attributes:
        position: [m] standard deviation of a sample of the root's position, and of prismatic joints.
        angle: [rad] of every other coordinate.
        rate: [1/s] of the samples.
        cutoff: [Hz] of the low-pass filter.
    """

    position: float
    angle: float
    rate: float
    cutoff: float

    def __post_init__(self) -> None:
        for name in ("position", "angle", "rate", "cutoff"):
            value = getattr(self, name)
            if not (np.isfinite(value) and (value > 0.0 or (value == 0.0 and name in ("position", "angle")))):
                raise InvalidValue(f"motion errors: {name} must be positive, got {value!r}")

    @property
    def covariance(self) -> np.ndarray:
        """(3, 3) covariance of a coordinate, its speed and its acceleration after the filter, for unit noise."""
        two_pi = 2.0 * np.pi
        density = 2.0 / self.rate  # of unit noise up to half the rate, [s]
        powers = [density * two_pi ** (2 * k) * self.cutoff ** (2 * k + 1) / (2 * k + 1) for k in range(3)]
        return np.array([[powers[0], 0.0, -powers[1]], [0.0, powers[1], 0.0], [-powers[1], 0.0, powers[2]]])

    def coordinate_std(self, rig: Rig) -> np.ndarray:
        """(nv,) standard deviation of each coordinate."""
        result = np.full(rig.nv, self.angle)
        result[:3] = self.position
        index = ROOT_NV
        for joint in rig.joints[1:]:
            if joint.kind == "prismatic":
                result[index : index + joint.nv] = self.position
            index += joint.nv
        return result


@dataclass(frozen=True, slots=True)
class WrenchNoise(ArrayValue):
    """Noise of the six equations of a frame.

    Attributes:
        plate: (6,) [N, N m] standard deviation of a sample of the measured wrench, about the base link's origin.
        rate: [1/s] of the plate's samples.
        motion: errors of the motion; None: none.
    """

    plate: Annotated[np.ndarray, Array(6)]
    rate: float
    motion: CoordinateNoise | None = None

    def require_consistent(self) -> None:
        if not (self.plate > 0.0).all() or not (np.isfinite(self.rate) and self.rate > 0.0):
            raise InvalidValue("the noise of every axis of the plate and its rate must be positive")

    def densities(self, rig: Rig, motion: Motion) -> np.ndarray:
        """(N, 6, 6) [N^2 s, ...] noise density of each frame's equations: covariance divided by the rate of independent
        frames."""
        plate = np.diag(self.plate**2) / self.rate
        if self.motion is None:
            return np.tile(plate, (len(motion), 1, 1))
        derivatives = root_residual_derivatives(rig, motion.q, motion.v, motion.a) * self.motion.coordinate_std(rig)
        # frames n, equations i and j, orders of the rate o and p, coordinates k
        mixed = np.einsum("op,njpk->njok", self.motion.covariance, derivatives)
        added = derivatives.reshape(len(motion), 6, -1) @ mixed.reshape(len(motion), 6, -1).swapaxes(1, 2)
        return plate + added / (2.0 * self.motion.cutoff)

    def whitening(self, rig: Rig, motion: Motion) -> np.ndarray:
        """(N or 1, 6, 6) matrices that scale a frame's equations to unit noise density: their squares over time are
        information."""
        if self.motion is None:
            return np.diag(np.sqrt(self.rate) / self.plate)[None]
        return np.linalg.inv(np.linalg.cholesky(self.densities(rig, motion)))
