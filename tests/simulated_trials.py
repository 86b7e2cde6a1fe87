"""Simulated trials of a point body: what the world pushes, what the plates catch of it, and what the markers show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import cumulative_trapezoid

from solver.signals import GRAVITY, PRESETS, FilterPreset, low_pass, resample
from solver.values.wrenches import Wrenches

RATE, NATIVE = 100.0, 1000.0
HUMAN = PRESETS["human_8hz"]
Profile = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class SimulatedTrial:
    """Motion and forces, both through the same filter; and the truth."""

    times: np.ndarray  # (N,)
    velocity: np.ndarray  # (N, 3)
    acceleration: np.ndarray  # (N, 3)
    native: Wrenches  # unfiltered
    filtered: Wrenches  # at the times
    load: np.ndarray  # (N,)
    preset: FilterPreset


def simulate(
    seconds: float,
    mass: float,
    push: Profile,
    caught: Profile | None = None,
    *,
    bias: float = 0.0,
    gain: float = 1.0,
    noise: float = 0.0,
    lag: float = 0.0,
    scale: float = 1.0,
    sensors: int = 2,
    preset: FilterPreset = HUMAN,
    seed: int = 0,
) -> SimulatedTrial:
    """A trial.

    Args:
        seconds: duration.
        mass: [kg]
        push: time -> vertical force of the world in body weights, (N,) or (N, 3) for all directions.
        caught: time -> share of it on the plates; all by default.
        bias: [N] constant in the vertical reading of the plates.
        gain: of the plates.
        noise: [m/s^2] standard deviation of the kinematic acceleration's error around 6 Hz.
        lag: [s] by which the plates trail.
        scale: by which the kinematic motion of the centre of mass is too large.
        sensors: plates that share the load evenly.
    """
    fine = np.arange(int(seconds * NATIVE) + 1) / NATIVE
    generator = np.random.default_rng(seed)

    def force(t: np.ndarray) -> np.ndarray:
        values = np.asarray(push(t), float)
        if values.ndim == 1:
            values = np.stack([np.zeros_like(values), np.zeros_like(values), values], axis=1)
        return mass * GRAVITY * values

    acceleration = force(fine) / mass - np.array([0.0, 0.0, GRAVITY])
    velocity = cumulative_trapezoid(acceleration, fine, axis=0, initial=0.0)
    velocity -= velocity.mean(axis=0)
    share = np.ones_like(fine) if caught is None else np.asarray(caught(fine), float)
    reading = gain * force(fine - lag) * share[:, None]
    reading[:, 2] += bias
    wrench = np.concatenate([reading, np.cross([0.3, -0.2, 0.0], reading)], axis=1)
    native = Wrenches(
        fine, tuple(f"plate {k}" for k in range(sensors)), np.repeat(wrench[:, None] / sensors, sensors, 1)
    )

    every = round(NATIVE / RATE)
    times = fine[::every]
    shaking = low_pass(generator.standard_normal((len(times), 3)), RATE, FilterPreset("slow", 3, 8.0))
    shaking -= low_pass(shaking, RATE, FilterPreset("slower", 3, 4.0))
    shaking *= noise / max(shaking.std(), 1e-12)
    seen = scale * low_pass(acceleration, NATIVE, preset)[::every] + shaking
    moved = scale * low_pass(velocity, NATIVE, preset)[::every] + cumulative_trapezoid(
        shaking, times, axis=0, initial=0
    )
    filtered = resample(native, times, preset)
    return SimulatedTrial(times, moved, seen, native, filtered, native.total[::every, 2], preset)


def steps(*knots: tuple[float, float], ramp: float = 0.03) -> Profile:
    """Levels (time from, value), joined by smooth ramps of ``ramp`` [s] centred on the knots' times."""

    def profile(t: np.ndarray) -> np.ndarray:
        result = np.full(len(t), knots[0][1])
        for (_, before), (start, after) in pairwise(knots):
            x = np.clip((t - start) / ramp + 0.5, 0.0, 1.0)
            result += (after - before) * (3.0 * x**2 - 2.0 * x**3)
        return result

    return profile
