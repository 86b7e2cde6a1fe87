"""Simulated bodies with markers, for the tracking tests."""

from __future__ import annotations

import numpy as np

from solver.dynamics import difference, integrate
from solver.skeleton.rig import Rig
from solver.tracking import (
    Attachment,
    OrientationTargets,
    OrientationTask,
    PositionTargets,
    PositionTask,
    Targets,
)
from solver.tracking.kinematics import Kinematics
from solver.values.motion import Markers
from tests.joint_entries import entry

STEP = 0.01
"""[s] Of `turning`."""


def cloud(rig: Rig, per_link: int = 3, seed: int = 0) -> list[Attachment]:
    """Markers scattered about every link's origin."""
    rng = np.random.default_rng(seed)
    return [Attachment(f"{link}_{k}", link, 0.12 * rng.normal(size=3)) for link in rig.links for k in range(per_link)]


def swinging(rig: Rig, frames: int, seed: int = 0, amplitude: float = 0.25, rate: float = 100.0) -> np.ndarray:
    """A smooth motion about neutral (frames, nq), mid-range elbows and knees so that no limit binds."""
    rng = np.random.default_rng(seed)
    size, phase = amplitude * rng.normal(size=rig.nv).clip(-1, 1), rng.uniform(0.0, 6.0, rig.nv)
    middle = np.zeros(rig.nv)
    for link in rig.links:
        joint = entry(rig, link)
        if joint.nv == 1:
            middle[joint.idx_v] = 0.8
    times = np.arange(frames) / rate
    return np.array([integrate(rig, rig.neutral, middle + size * np.sin(4.0 * t + phase)) for t in times])


def seen_from(rig: Rig, attachments: list[Attachment], q: np.ndarray, rate: float = 100.0) -> Markers:
    """What a perfect camera sees of a motion (N, nq)."""
    kinematics = Kinematics(rig)
    links = np.array([rig.index(a.link) for a in attachments])
    offsets = np.array([a.position for a in attachments])
    positions = []
    for configuration in q:
        kinematics.update_kinematics(configuration)
        positions.append(kinematics.points(links, offsets))
    return Markers(np.arange(len(q)) / rate, tuple(a.marker for a in attachments), np.array(positions))


def farthest(rig: Rig, first: np.ndarray, second: np.ndarray) -> float:
    """Largest coordinate difference of two motions [rad, m]."""
    return max(float(np.abs(difference(rig, a, b)).max()) for a, b in zip(first, second))


def turning(rig: Rig, links: list[int], frames: int = 40) -> tuple[np.ndarray, Targets]:
    """A smooth motion in the middle of the joints' ranges (frames, nq), and orientations of some links."""
    low, high = rig.limits.lower, rig.limits.upper
    phase = np.random.default_rng(0).uniform(0.0, 6.0, len(low))
    times = STEP * np.arange(frames)
    q = np.tile(rig.neutral, (frames, 1))
    q[:, 7:] = 0.5 * (low + high) + 0.25 * (high - low) * np.sin(0.8 * times[:, None] + phase)
    kinematics = Kinematics(rig)
    rotations, rates, places = [], [], []
    speeds = np.gradient(q[:, 7:], STEP, axis=0)
    for frame, configuration in enumerate(q):
        kinematics.update_kinematics(configuration)
        rotations.append(kinematics.rotations[links])
        v = np.concatenate([np.zeros(6), speeds[frame]])
        rates.append(((kinematics.jacobian[3:] * v) @ kinematics.moved_by[links].T).T)
        places.append(kinematics.positions[:1].copy())
    task = OrientationTask(tuple(rig.links[k] for k in links), np.array(links), np.ones(len(links)))
    root = PositionTask((rig.links[0],), np.zeros(1, int), np.zeros((1, 3)), np.ones(1))
    turns = OrientationTargets(task, np.array(rotations), np.array(rates))
    return q, Targets(times, PositionTargets(root, np.array(places), np.zeros((frames, 1, 3))), turns)
