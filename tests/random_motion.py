"""Rigs, motions and trials made of random numbers, for laws that hold for all of them."""

from __future__ import annotations

import numpy as np

from solver.dynamics import base_index, link_motions, predicted_wrench
from solver.engine.pinocchio_loader import pin
from solver.joints import Limits
from solver.motion import Motion
from solver.rig import Rig
from solver.trial import Trial
from solver.wrenches import Wrenches
from tests.pinocchio_models import inertials_of, joints_of


def rig_of(model: pin.Model, name: str = "test rig") -> Rig:
    """A rig around a Pinocchio model with a free-flyer root, links named as the joints."""
    links = tuple(model.names)[1:]
    return Rig(
        name,
        links,
        joints_of(model),
        inertials_of(links, model),
        Limits.none(model.nv - 6),
        boxes=np.zeros((len(links), 2, 3)),
        tips=np.zeros((len(links), 3)),
    )


def mixed_rig(seed: int = 0) -> Rig:
    """A tree with revolute, unaligned, spherical and prismatic joints at random places, with random bodies."""
    generator = np.random.default_rng(seed)
    axis = generator.standard_normal(3)
    joints = (
        ("root", pin.JointModelFreeFlyer(), 0),
        ("hinge", pin.JointModelRX(), 1),
        ("ball", pin.JointModelSpherical(), 2),
        ("slider", pin.JointModelPZ(), 2),
        ("skew", pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis)), 3),
        ("end", pin.JointModelRZ(), 5),
        ("other", pin.JointModelRY(), 1),
    )
    model = pin.Model()
    for name, joint, parent in joints:
        placement = pin.SE3(pin.exp3(generator.standard_normal(3)), 0.3 * generator.standard_normal(3))
        index = model.addJoint(parent, joint, pin.SE3.Identity() if parent == 0 else placement, name)
        spread = generator.standard_normal((3, 3))
        cloud = 0.05 * spread @ spread.T + 0.01 * np.eye(3)
        inertia = np.trace(cloud) * np.eye(3) - cloud
        model.appendBodyToJoint(
            index,
            pin.Inertia(1.0 + generator.random(), 0.1 * generator.standard_normal(3), inertia),
            pin.SE3.Identity(),
        )
    return rig_of(model, "mixed joints")


def planar_pair(distance: float) -> Rig:
    """Two links with a hinge about z, ``distance`` along the first one's x."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "one")
    model.addJoint(1, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([distance, 0.0, 0.0])), "two")
    for joint in (1, 2):
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    return rig_of(model, "planar pair")


def humanoid_rig() -> Rig:
    """Pinocchio's sample humanoid, 29 links."""
    return rig_of(pin.buildSampleModelHumanoid(), "sample humanoid")


def random_motion(rig: Rig, frames: int, seed: int = 0, *, start: float = 0.0, still: bool = False) -> Motion:
    """Independent random states, 100 a second; standing still in random postures if ``still``."""
    generator = np.random.default_rng(seed)
    neutral = pin.neutral(rig.model)
    q = np.array([pin.integrate(rig.model, neutral, generator.standard_normal(rig.model.nv)) for _ in range(frames)])
    v, a = generator.standard_normal((2, frames, rig.model.nv)) * (0.0 if still else 2.0)
    return Motion(start + 0.01 * np.arange(frames), q, v, a)


def measured(
    rig: Rig, motion: Motion, *, noise: np.ndarray | float = 0.0, seed: int = 0, base: int | str = 0
) -> Wrenches:
    """What one plate would measure when the rig moves so, with noise (N, 6) or its standard deviation."""
    wrench = predicted_wrench(rig, motion, rig.prior, base, axes="world")
    noise = np.asarray(noise, float)
    wrench += noise if noise.ndim == 2 else noise * np.random.default_rng(seed).standard_normal(wrench.shape)
    origin = link_motions(rig, motion).position[:, base_index(rig, base)].T
    wrench[:, 3:] += np.cross(origin, wrench[:, :3])
    return Wrenches(motion.times, ("plate",), wrench[:, None])


def random_trial(rig: Rig, frames: int, seed: int = 0, *, noise: float = 0.0, name: str = "random") -> Trial:
    """A simulated trial of independent random states, every frame counted."""
    motion = random_motion(rig, frames, seed)
    return Trial(name, motion, measured(rig, motion, noise=noise, seed=seed + 1), np.ones(frames, bool))


def part_of(trial: Trial, start: int, stop: int, name: str | None = None) -> Trial:
    """Frames start..stop-1 of a trial."""
    return Trial(
        trial.name if name is None else name,
        trial.motion.part(start, stop),
        trial.wrenches.part(start, stop),
        trial.counted[start:stop],
    )
