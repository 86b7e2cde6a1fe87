"""Bodies with known centre of mass and momentum, and the wrench that they require."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.centroidal.values import CentroidalData
from solver.signals import GRAVITY


@dataclass(frozen=True, slots=True)
class Truth:
    """A body and its exact signals."""

    data: CentroidalData
    com: np.ndarray
    acceleration: np.ndarray
    momentum_rate: np.ndarray


def swaying(seconds: float = 6.0, rate: float = 200.0, seed: int = 0, mass: float = 60.0) -> Truth:
    """Sums of sinusoids up to 1.5 Hz on a translation at 0.5 m/s; the kinematics are exact."""
    generator = np.random.default_rng(seed)
    times = np.arange(round(seconds * rate)) / rate

    def waves(size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        turn = 2.0 * np.pi * generator.uniform(0.3, 1.5, (4, 1, 3))
        phase = turn * times[:, None] + generator.uniform(0.0, 6.0, (4, 1, 3))
        sizes = size * generator.standard_normal((4, 1, 3))
        parts = sizes * np.sin(phase), sizes * turn * np.cos(phase), -sizes * turn**2 * np.sin(phase)
        value, first, second = (part.sum(axis=0) for part in parts)
        return value, first, second

    com, _, acceleration = waves(0.03)
    com = com + np.array([1.0, 2.0, 0.9]) + times[:, None] * np.array([0.5, 0.0, 0.0])
    momentum, rate_, _ = waves(0.5)
    force = mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    wrench = np.concatenate([force, rate_ + np.cross(com, force)], axis=1)
    data = CentroidalData(times, mass, com, momentum, rate_, acceleration, wrench)
    return Truth(data, com, acceleration, rate_)


def jumping(rate: float = 200.0, mass: float = 60.0) -> Truth:
    """Standing, half a second of flight from 1.2 s on, landing; no rotation."""
    times = np.arange(round(3.0 * rate)) / rate
    push = np.zeros((len(times), 3))
    for begin, end in ((0.7, 1.2), (1.7, 2.2)):
        inside = (times >= begin) & (times < end)
        push[inside, 2] = GRAVITY * (1.0 - np.cos(2.0 * np.pi * (times[inside] - begin) / (end - begin))) / 2.0
    acceleration = push
    acceleration[(times >= 1.2) & (times < 1.7), 2] = -GRAVITY
    speed = np.cumsum(acceleration, axis=0) / rate
    com = np.array([0.0, 0.0, 0.9]) + np.cumsum(speed, axis=0) / rate
    force = mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    wrench = np.concatenate([force, np.cross(com, force)], axis=1)
    still = np.zeros_like(com)
    return Truth(CentroidalData(times, mass, com, still, still, acceleration, wrench), com, acceleration, still)
