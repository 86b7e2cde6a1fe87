"""The objective of a dance, and the noise of the recordings that it expects."""

from __future__ import annotations

import numpy as np

from ...identification.base_parameters import BaseParameters
from ...identification.excitation.expected_deviations import DESIGN_NOISE, DESIGN_RATE, ExpectedDeviations
from ...identification.excitation.wrench_noise import CoordinateNoise, WrenchNoise
from ...skeleton.rig import Rig

ROBOT_NOISE = WrenchNoise(
    DESIGN_NOISE, DESIGN_RATE, CoordinateNoise(position=0.0005, angle=0.0005, rate=200.0, cutoff=20.0)
)
"""Noise with a good force plate, joint encoders, and a root tracked by cameras."""
PERSON_NOISE = WrenchNoise(
    DESIGN_NOISE, DESIGN_RATE, CoordinateNoise(position=0.0005, angle=0.002, rate=100.0, cutoff=6.0)
)
"""Noise with a good force plate and a body tracked by markers."""


def sigma_objective(rig: Rig, structure: BaseParameters, images: np.ndarray | None = None) -> ExpectedDeviations:
    """The objective ``"sigma"`` over all base parameters; with `Mirror.map_parameters`, each motion is mirrored too."""
    return ExpectedDeviations(structure, rig.prior, noise_model(rig), images)


def noise_model(rig: Rig) -> WrenchNoise:
    """The expected noise of recordings of a rig: a person's or a robot's."""
    return PERSON_NOISE if rig.is_person else ROBOT_NOISE
