"""Rigs on flat soles, for the tests of the checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver.contacts.schedule import Anchor, Schedule, anchors_at
from solver.dynamics import integrate
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.motion import Motion


def static_motion(rig: Rig, q: np.ndarray, frames: int = 1) -> Motion:
    """A posture at rest."""
    still = np.zeros((frames, rig.nv))
    return Motion(np.arange(frames) * 0.01, np.tile(q, (frames, 1)), still, still)


def accelerated_motion(rig: Rig, q: np.ndarray, acceleration: np.ndarray) -> Motion:
    """One frame in which the whole rig accelerates as a rigid body; the root's axes are those of the world."""
    motion = static_motion(rig, q)
    a = np.zeros_like(motion.a)
    a[:, :3] = acceleration
    return Motion(motion.times, motion.q, motion.v, a)


def random_posture(rig: Rig, seed: int, size: float = 0.3) -> np.ndarray:
    """A random posture within the joint limits, root upright at the origin."""
    draw = np.random.default_rng(seed).uniform(-size, size, rig.nv)
    draw[:ROOT_NV] = 0.0
    draw[ROOT_NV:] = np.clip(draw[ROOT_NV:], rig.limits.lower, rig.limits.upper)
    return integrate(rig, rig.neutral, draw)


def sinusoidal_motion(rig: Rig, times: np.ndarray, seed: int = 0, size: float = 0.5) -> Motion:
    """A smooth motion of every joint."""
    generator = np.random.default_rng(seed)
    count = rig.nv - ROOT_NV
    rate, phase = generator.uniform(1.0, 3.0, count), generator.uniform(0.0, 6.0, count)
    root = np.zeros((len(times), ROOT_NV))
    angle = rate * times[:, None] + phase
    tangent = np.concatenate([root, size * np.sin(angle)], axis=1)
    v = np.concatenate([root, size * rate * np.cos(angle)], axis=1)
    a = np.concatenate([root, -size * rate**2 * np.sin(angle)], axis=1)
    return Motion(times, np.array([integrate(rig, rig.neutral, row) for row in tangent]), v, a)


def standing_schedule(rig: Rig, q: np.ndarray | None = None, stop: float = 10.0) -> Schedule:
    """Every patch planted where a posture (neutral by default) has it, with the floor under the lowest."""
    anchors = anchors_at(rig, rig.neutral if q is None else q)
    return Schedule.constant(anchors, 0.0, stop, sole_height(rig, anchors))


def one_foot_schedule(rig: Rig, q: np.ndarray, patch: str) -> Schedule:
    """One patch planted where a posture has it, on the floor."""
    anchors = anchors_at(rig, q, (patch,))
    return Schedule.constant(anchors, 0.0, 10.0, sole_height(rig, anchors))


def sole_height(rig: Rig, anchors: Sequence[Anchor]) -> float:
    """Mean height [m] of planted patches."""
    return float(np.mean([anchor.points(rig)[:, 2].mean() for anchor in anchors]))
