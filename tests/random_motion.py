"""Rigs, motions and trials made of random numbers, for laws that hold for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from solver.base import so3
from solver.dynamics import base_index, integrate, link_motions, predicted_wrench
from solver.dynamics.coordinates import to_manifold
from solver.signals.trial import Trial
from solver.skeleton.rig import Rig
from solver.values.inertials import PER_LINK, InertialParameters
from solver.values.joints import KINDS, ROOT_NV, Joint, Limits
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches

UNIT = np.eye(3)


def joint(
    kind: str,
    parent: int,
    name: str,
    *,
    axes: object = (),
    position: np.ndarray | None = None,
    rotation: np.ndarray | None = None,
) -> Joint:
    """A joint, by default at its parent's origin with its axes."""
    place = np.zeros(3) if position is None else np.asarray(position, float)
    return Joint(name, kind, parent, place, UNIT if rotation is None else rotation, np.asarray(axes, float))


def rig_of(joints: Sequence[Joint], prior: InertialParameters | None = None, name: str = "test rig") -> Rig:
    """A rig of joints, links named as they are; massless if no prior is given."""
    links = tuple(joint.name for joint in joints)
    return Rig(
        name,
        links,
        tuple(joints),
        prior or InertialParameters(links, np.zeros((len(links), PER_LINK))),
        Limits.none(sum(joint.nv for joint in joints) - ROOT_NV),
        boxes=np.zeros((len(links), 2, 3)),
        tips=np.zeros((len(links), 3)),
    )


def mixed_rig(seed: int = 0) -> Rig:
    """A tree with revolute, unaligned, spherical and prismatic joints at random places, with random bodies."""
    generator = np.random.default_rng(seed)
    axis = generator.standard_normal(3)
    kinds = (
        ("root", "free", -1, ()),
        ("hinge", "revolute", 0, UNIT[:1]),
        ("ball", "spherical", 1, ()),
        ("slider", "prismatic", 1, UNIT[2:]),
        ("skew", "revolute", 2, axis[None] / np.linalg.norm(axis)),
        ("end", "revolute", 4, UNIT[2:]),
        ("other", "revolute", 0, UNIT[1:2]),
    )
    return _random_bodies("mixed joints", kinds, generator)


def every_joint_rig(seed: int = 0, *, without: Sequence[str] = ()) -> Rig:
    """A random tree, listed depth first, with two joints of every kind at random places, with random bodies.

    Args:
        seed: of the random numbers.
        without: kinds of joints that it does not have.
    """
    generator = np.random.default_rng(seed)
    kinds: list[tuple[str, str, int, np.ndarray]] = [("root", "free", -1, np.zeros((0, 3)))]
    path = [0]
    for number, kind in enumerate(
        generator.permutation([kind for kind in list(KINDS)[1:] if kind not in without] * 2), start=1
    ):
        axes = np.linalg.qr(generator.standard_normal((3, 3)))[0][: KINDS[kind][2]]
        if len(axes) == 1 and generator.random() < 0.4:
            axes = UNIT[[generator.integers(3)]]
        path = path[: generator.integers(1, len(path) + 1)]
        kinds.append((f"{kind} {number}", str(kind), path[-1], axes))
        path.append(number)
    return _random_bodies("every joint", kinds, generator)


def breadth_first_order(rig: Rig) -> np.ndarray:
    """Numbers (L,) of a rig's links, those nearer to the root first."""
    return np.argsort([len(rig.path(k)) for k in range(len(rig.links))], kind="stable")


def list_breadth_first(rig: Rig) -> Rig:
    """The same tree with its links in the order of `breadth_first_order`; without limits."""
    order = breadth_first_order(rig)
    number = {-1: -1, **{int(old): new for new, old in enumerate(order)}}
    joints = tuple(replace(rig.joints[k], parent=number[rig.joints[k].parent]) for k in order)
    links = tuple(rig.links[k] for k in order)
    return rig_of(joints, InertialParameters(links, rig.prior.values[order]), rig.name)


def _random_bodies(
    name: str, kinds: Sequence[tuple[str, str, int, np.ndarray | tuple[()]]], generator: np.random.Generator
) -> Rig:
    joints, masses, coms, inertias = [], [], [], []
    for called, kind, parent, axes in kinds:
        turn, place = so3.exp(generator.standard_normal(3)), 0.3 * generator.standard_normal(3)
        at = {} if parent < 0 else {"position": place, "rotation": turn}
        joints.append(joint(kind, parent, called, axes=axes, **at))
        spread = generator.standard_normal((3, 3))
        cloud = 0.05 * spread @ spread.T + 0.01 * UNIT
        inertias.append(np.trace(cloud) * UNIT - cloud)
        masses.append(1.0 + generator.random())
        coms.append(0.1 * generator.standard_normal(3))
    links = tuple(joint.name for joint in joints)
    prior = InertialParameters.from_com(links, np.array(masses), np.array(coms), np.array(inertias))
    return rig_of(joints, prior, name)


def planar_pair(distance: float) -> Rig:
    """Two spheres with a hinge about z, ``distance`` along the first one's x."""
    joints = joint("free", -1, "one"), joint("revolute", 0, "two", axes=UNIT[2:], position=np.array([distance, 0, 0]))
    prior = InertialParameters.from_com(("one", "two"), np.ones(2), np.zeros((2, 3)), np.array([0.004 * UNIT] * 2))
    return rig_of(joints, prior, "planar pair")


def humanoid_rig() -> Rig:
    """A humanoid of 29 links with hinges: two legs and two arms of six joints, two in the chest, two in the neck."""
    generator, kinds = np.random.default_rng(11), [("root", "free", -1, UNIT[:0])]

    def chain(name: str, parent: int, axes: str) -> int:
        for number, axis in enumerate(axes):
            kinds.append((f"{name} {number}", "revolute", parent, UNIT[["xyz".index(axis)]]))
            parent = len(kinds) - 1
        return parent

    for side in ("left", "right"):
        chain(f"{side} leg", 0, "zxyyyx")
    chest = chain("chest", 0, "zy")
    for side in ("left", "right"):
        chain(f"{side} arm", chest, "yxzyzx")
    chain("neck", chest, "zy")
    return _random_bodies("humanoid", kinds, generator)


def random_motion(rig: Rig, frames: int, seed: int = 0, *, start: float = 0.0, still: bool = False) -> Motion:
    """Independent random states, 100 a second; standing still in random postures if ``still``."""
    generator = np.random.default_rng(seed)
    neutral = rig.neutral
    q = np.array([integrate(rig, neutral, generator.standard_normal(rig.nv)) for _ in range(frames)])
    v, a = generator.standard_normal((2, frames, rig.nv)) * (0.0 if still else 2.0)
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


def waving(rig: Rig, seconds: float = 0.4, rate: float = 2000.0) -> Motion:
    """All coordinates of a rig on sinusoids."""
    generator = np.random.default_rng(3)
    times = np.arange(round(seconds * rate)) / rate
    size, turn, phase = (
        generator.uniform(0.1, 0.4, rig.nv),
        generator.uniform(3.0, 9.0, rig.nv),
        generator.random(rig.nv),
    )
    angle = turn * times[:, None] + phase
    curves = to_manifold(rig, size * np.sin(angle), size * turn * np.cos(angle), -size * turn**2 * np.sin(angle))
    return curves.motion(times)
