"""Cost of the feasibility checks while scrubbing, of a standing rig whose joints swing within their limits."""

from __future__ import annotations

import time

import numpy as np

from solver.contacts.schedule import Schedule, anchors_at
from solver.dynamics import integrate
from solver.feasibility import CheckOptions, FrameChecker
from solver.skeleton.rig import ROOT_NV, Rig
from solver.values.motion import Motion

RATE = 500.0
FRAMES = 1000
SINGLE = 200
REPEATS = 3
SWING = 0.4
"""Share of each joint's range that the motion uses."""
ENDLESS = 1.0
"""[rad] Range used where a joint has no limit."""


def swinging_motion(rig: Rig, frames: int, seed: int = 0, rate: float = RATE) -> Motion:
    """A smooth motion of every joint about the middle of its range."""
    generator = np.random.default_rng(seed)
    lower = np.where(np.isfinite(rig.limits.lower), rig.limits.lower, -ENDLESS)
    upper = np.where(np.isfinite(rig.limits.upper), rig.limits.upper, ENDLESS)
    times = np.arange(frames) / rate
    frequency = generator.uniform(0.2, 0.6, len(lower)) * 2.0 * np.pi
    phase = generator.uniform(0.0, 2.0 * np.pi, len(lower))
    angle = frequency * times[:, None] + phase
    reach = SWING * (upper - lower) / 2.0
    joints = (lower + upper) / 2.0 + reach * np.sin(angle)
    tangent = np.concatenate([np.zeros((frames, ROOT_NV)), joints], axis=1)
    rates = np.concatenate([np.zeros((frames, ROOT_NV)), reach * frequency * np.cos(angle)], axis=1)
    second = np.concatenate([np.zeros((frames, ROOT_NV)), -reach * frequency**2 * np.sin(angle)], axis=1)
    q = np.array([integrate(rig, rig.neutral, row) for row in tangent])
    return Motion(times, q, rates, second)


def measure(rig: Rig, frames: int) -> float:
    """Processor time [ms] of one frame with every check; the best of several runs."""
    motion = swinging_motion(rig, frames)
    anchors = anchors_at(rig, rig.neutral)
    ground = float(anchors[0].points(rig)[:, 2].mean())
    checker = FrameChecker(rig, Schedule.constant(anchors, 0.0, motion.times[-1], ground), CheckOptions())
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        for frame in np.linspace(0, frames - 1, SINGLE).astype(int):
            checker.check(motion.q[frame], motion.v[frame], motion.a[frame], float(motion.times[frame]))
        seconds.append((time.process_time() - start) / SINGLE)
    return 1e3 * min(seconds)
