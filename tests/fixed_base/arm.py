"""A synthetic arm of three revolute joints and a prismatic one, upright on its base."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.fixed_base.robot import FixedBaseRobot
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters

LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{i}" ixy="0.001" ixz="0" iyy="{i}" iyz="0" izz="0.01"/></inertial>
<collision><origin xyz="0 0 {middle}"/><geometry><cylinder radius="0.04" length="{length}"/></geometry></collision>
</link>
"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>
<axis xyz="{axis}"/><limit lower="{low}" upper="{high}" velocity="{speed}" effort="{effort}"/></joint>
"""


def arm_text(speed: float = 2.0) -> str:
    """The arm as URDF."""
    links = [("base", "0 0 0.05", 3.0, 0.02, 0.05, 0.1), ("turret", "0.01 0.02 0.1", 4.0, 0.05, 0.12, 0.16),
             ("upper", "0.02 -0.01 0.2", 3.0, 0.06, 0.22, 0.26), ("fore", "0.01 0.03 0.15", 2.0, 0.03, 0.2, 0.2),
             ("rod", "0 0.01 0.1", 0.8, 0.01, 0.15, 0.1)]  # fmt: skip
    joints = [("pan", "revolute", "base", "turret", "0 0 0.1", "0 0 1", -2.5, 2.5, 80.0),
              ("lift", "revolute", "turret", "upper", "0 0 0.25", "0 1 0", -2.0, 2.0, 80.0),
              ("bend", "revolute", "upper", "fore", "0 0 0.4", "0 1 0", -2.2, 2.2, 40.0),
              ("reach", "prismatic", "fore", "rod", "0 0 0.3", "0 0 1", -0.05, 0.2, 60.0)]  # fmt: skip
    text = "".join(
        LINK.format(name=n, com=c, mass=m, i=i, middle=middle, length=length) for n, c, m, i, middle, length in links
    )
    text += "".join(
        JOINT.format(name=n, kind=k, parent=p, child=c, xyz=x, axis=a, low=lo, high=hi, speed=speed, effort=e)
        for n, k, p, c, x, a, lo, hi, e in joints
    )
    return f'<robot name="arm">{text}</robot>'


def arm(folder: Path, speed: float = 2.0) -> Rig:
    """The arm as a rig."""
    path = folder / "arm.urdf"
    path.write_text(arm_text(speed), encoding="utf-8")
    return from_urdf(path)


def with_wrong_masses(rig: Rig, seed: int = 3) -> Rig:
    """The same arm with other prior masses: wrong by about a fifth."""
    factors = np.exp(0.2 * np.random.default_rng(seed).standard_normal(len(rig.links)))
    return rig.with_prior(InertialParameters(rig.links, rig.prior.values * factors[:, None]))


def swings(bench: FixedBaseRobot, seconds: float = 8.0, rate: float = 200.0) -> tuple[np.ndarray, ...]:
    """Times and (y, dy, ddy) of sums of sines, different for every joint."""
    times = np.arange(round(seconds * rate)) / rate
    count = len(bench.names)
    size = np.where(bench.is_prismatic, 0.03, 0.5)
    angles = [2.0 * np.pi * (0.31 + 0.17 * np.arange(count) + 0.41 * k) for k in range(3)]
    y = sum(size * np.sin(np.outer(times, w) + k) for k, w in enumerate(angles))
    dy = sum(size * w * np.cos(np.outer(times, w) + k) for k, w in enumerate(angles))
    ddy = sum(-size * w**2 * np.sin(np.outer(times, w) + k) for k, w in enumerate(angles))
    return times, y, dy, ddy
