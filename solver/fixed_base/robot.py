"""A robot with a fixed base: what moves, what is measured, and the equations that its inertials satisfy.

With a fixed root the free flyer's rows of the equations of motion give the wrench at the base, and the other rows the
joint torques. Both are linear in the inertial parameters phi. Torques that are measured at the motors also contain
those of the drives, which are linear in rotor inertia, friction and offset:

    tau_j = Y_j phi + I_j a_j + f_j v_j + c_j sign(v_j) + o_j

A drive that moves joints j and k adds I a_k + f v_k + c sign(v_k + s v_j) to j, and I a_j + f v_j + d sign(v_k + s v_j)
to k, as in the wrist of TX40; s is 1 or -1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..base.arrays import frozen
from ..base.errors import InvalidValue, UnknownName, UnknownPreset, checked
from ..base.so3 import quaternion_log
from ..dynamics import wrench_regressor
from ..dynamics.coordinates import coordinate_lengths, coordinate_links, coordinate_names, to_manifold
from ..dynamics.mechanics import torque_regressor
from ..identification.base_parameters import (
    BaseParameters,
    from_factor,
    independent_columns,
)
from ..identification.triangular import triangular_factor
from ..skeleton.rig import Rig
from ..values.inertials import PER_LINK
from ..values.joints import ROOT_NV
from ..values.motion import Motion
from ..values.wrenches import WRENCH_AXES

TORQUES, BASE = "torques", "base"
MEASURED = (TORQUES, BASE)
DRIVES = ("rotor inertia", "viscous friction", "Coulomb friction", "offset")
"""Parameters of a drive: [kg m^2, N m s/rad, N m, N m] of a revolute joint, [kg, N s/m, N, N] of a prismatic one."""
COUPLED = ("rotor inertia", "viscous friction", "Coulomb friction", "Coulomb friction of the second joint")
"""Parameters of a drive that moves two joints, beside those of both: a wrist whose motors turn each other's gears."""
FRICTION_SPEED = 0.01
"""[rad/s, m/s] speed at which Coulomb friction reaches 71 % of its full value."""
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
"""By definition."""
SAMPLES_PER_COLUMN = 1.5
SEED = 20161122
"""Any seed gives the same structure; a fixed one gives the same last digit."""
ROUNDING = 1e-9
"""Fraction of the largest column below which a column is rounding, and of a column that must lie outside the others'
span."""
RANDOM_STD = 3.0
"""[rad/s, rad/s^2] speeds and accelerations of the random motion from which the structure is computed."""


@checked
@dataclass(frozen=True, slots=True)
class FixedBaseRobot:
    """A rig whose root does not move.

    Attributes:
        rig: whose root link is fixed.
        measured: `TORQUES` of the joints, or the wrench at the `BASE`.
        drives: whether measured torques contain those of the drives (`DRIVES`); a base sensor does not measure these.
        locked_links: links whose joints do not move; None locks coupled fingers: joints that mimic another, and those
            mimicked.
        mount: (4,) orientation of the root in the world, quaternion xyzw: upright, on a wall, hanging.
        coupled: pairs of coordinates that one drive moves, with s above.
    """

    rig: Rig
    measured: str = TORQUES
    drives: bool = True
    locked_links: tuple[str, ...] | None = None
    mount: np.ndarray = field(default_factory=lambda: UPRIGHT)
    coupled: tuple[tuple[str, str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.measured not in MEASURED:
            raise UnknownPreset(self.measured, MEASURED)
        object.__setattr__(self, "mount", frozen("mount", self.mount, (4,)))
        if abs(float(np.linalg.norm(self.mount)) - 1.0) > 1e-6:
            raise InvalidValue("the mount's quaternion must have length 1")
        locked = (
            _mimic_links(self.rig)
            if self.locked_links is None
            else tuple(_find_link(self.rig, name) for name in self.locked_links)
        )
        object.__setattr__(self, "locked_links", locked)
        if not self.is_moving.any():
            raise InvalidValue(f"rig {self.rig.name!r} has no joint that moves: lock fewer joints")
        for joint, link in zip(self.rig.joints[1:], self.rig.links[1:]):
            if joint.nv > 1 and link not in locked:
                text = f"joint {joint.name!r} has {joint.nv} degrees of freedom"
                raise InvalidValue(f"{text}: every joint of a fixed-base robot needs one drive; lock its link {link!r}")

    @property
    def is_moving(self) -> np.ndarray:
        """(nv - 6,) True for the coordinates that move."""
        assert self.locked_links is not None
        return np.array([links[0] not in self.locked_links for links in coordinate_links(self.rig)], bool)

    @property
    def names(self) -> tuple[str, ...]:
        """The n coordinates that move, by the links they move."""
        return tuple(name for name, moves in zip(coordinate_names(self.rig), self.is_moving) if moves)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Name of each measured row."""
        return WRENCH_AXES if self.measured == BASE else self.names

    @property
    def is_prismatic(self) -> np.ndarray:
        """(n,) True for prismatic joints."""
        return coordinate_lengths(self.rig)[self.is_moving]

    @property
    def drive_columns(self) -> int:
        """D, number of columns of the drives' parameters, joint by joint, then of the coupled drives."""
        return len(DRIVES) * len(self.drive_names) if self.drives and self.measured == TORQUES else 0

    @property
    def drive_names(self) -> tuple[str, ...]:
        """Names of the drives: those of the coordinates, then those of coupled pairs."""
        return (*self.names, *(f"{one} and {other}" for one, other, _ in self.coupled))

    @property
    def home(self) -> np.ndarray:
        """(n,) coordinates of the posture nearest to neutral within the joints' ranges."""
        limits = self.rig.limits
        return np.clip(0.0, limits.lower, limits.upper)[self.is_moving]

    @property
    def independent_columns(self) -> np.ndarray:
        """Independent columns (K,) of the `regressor`: what any motion of this robot can determine."""
        return _get_structure(self)[1]

    @property
    def structure(self) -> BaseParameters:
        """The base parameters of the inertials alone, as far as the measurements depend on them."""
        return _get_structure(self)[0]

    def motion(self, times: np.ndarray, y: np.ndarray, dy: np.ndarray, ddy: np.ndarray) -> Motion:
        """The rig's motion for coordinates (N, n) of the moving joints and their two derivatives; the others are
        constant."""
        flat = np.zeros((3, len(times), self.rig.nv))
        flat[0, :, 3:ROOT_NV] = quaternion_log(self.mount)
        limits = self.rig.limits
        flat[0, :, ROOT_NV:] = np.clip(0.0, limits.lower, limits.upper)
        flat[:, :, ROOT_NV + np.flatnonzero(self.is_moving)] = np.stack([y, dy, ddy])
        curves = to_manifold(self.rig, *flat)
        return Motion(times, curves.q, curves.v, curves.a)

    def regressor(self, motion: Motion) -> np.ndarray:
        """(N, R, D + 10 L): the measurements, linear in the drives' parameters, then in phi.

        R is n joint torques, or the wrench (6,) of the mount on the base link, in its axes about its origin.
        """
        if self.measured == BASE:
            return wrench_regressor(self.rig, motion)
        inertial = torque_regressor(self.rig, motion)[:, self.is_moving]
        if not self.drives:
            return inertial
        v, a = (values[:, ROOT_NV:][:, self.is_moving] for values in (motion.v, motion.a))
        drive_rows = np.stack([a, v, v / np.hypot(v, FRICTION_SPEED), np.ones_like(v)], axis=2)  # (N, n, 4)
        count = len(self.names)
        drives = np.zeros((len(motion), count, count, len(DRIVES)))
        drives[:, np.arange(count), np.arange(count)] = drive_rows
        coupled = [coupled_columns(v, a, self.names.index(i), self.names.index(j), s) for i, j, s in self.coupled]
        return np.concatenate([drives.reshape(len(motion), count, -1), *coupled, inertial], axis=2)

    def random_motion(self, frames: int, seed: int = SEED) -> Motion:
        """Random postures in the joints' ranges with random speeds and accelerations, independent from frame to
        frame."""
        generator = np.random.default_rng(seed)
        limits = self.rig.limits
        lower, upper = (np.clip(values, -np.pi, np.pi)[self.is_moving] for values in (limits.lower, limits.upper))
        y = generator.uniform(lower, upper, (frames, len(lower)))
        dy, ddy = RANDOM_STD * generator.standard_normal((2, *y.shape))
        return self.motion(np.arange(float(frames)), y, dy, ddy)


def coupled_columns(v: np.ndarray, a: np.ndarray, one: int, other: int, sign: int) -> np.ndarray:
    """Columns (N, n, 4) of the parameters `COUPLED` of a drive that moves two joints, at speeds and accelerations
    (N, n)."""
    columns = np.zeros((*v.shape, len(COUPLED)))
    together = v[:, other] + sign * v[:, one]
    for row, partner, own in ((one, other, 2), (other, one, 3)):
        columns[:, row, 0], columns[:, row, 1] = a[:, partner], v[:, partner]
        columns[:, row, own] = together / np.hypot(together, FRICTION_SPEED)
    return columns


def _mimic_links(rig: Rig) -> tuple[str, ...]:
    """Links on joints that mimic another one or are mimicked."""
    ends = {joint.mimic.source for joint in rig.joints if joint.mimic} | {j.name for j in rig.joints if j.mimic}
    return tuple(link for link, joint in zip(rig.links, rig.joints) if joint.name in ends)


def _find_link(rig: Rig, name: str) -> str:
    for link, joint in zip(rig.links[1:], rig.joints[1:]):
        if name in (link, joint.name):
            return link
    raise UnknownName(name, [known for pair in zip(rig.links[1:], (j.name for j in rig.joints[1:])) for known in pair])


def _get_structure(robot: FixedBaseRobot) -> tuple[BaseParameters, np.ndarray]:
    return _compute_structure(robot.rig, robot.measured, robot.drives, robot.locked_links, tuple(robot.mount))


@lru_cache(maxsize=8)
def _compute_structure(
    rig: Rig, measured: str, drives: bool, locked: tuple[str, ...], mount: tuple[float, ...]
) -> tuple[BaseParameters, np.ndarray]:
    robot = FixedBaseRobot(rig, measured, drives, locked, np.array(mount))
    width = PER_LINK * len(rig.links) + robot.drive_columns
    each = 6 if measured == BASE else len(robot.names)
    rows = robot.regressor(robot.random_motion(int(np.ceil(SAMPLES_PER_COLUMN * width / each)) + 10))
    flat = rows.reshape(-1, rows.shape[2])
    inertial, drive_rows = flat[:, robot.drive_columns :], flat[:, : robot.drive_columns]
    factor = triangular_factor(inertial)
    sizes = np.linalg.norm(factor, axis=0)
    factor[:, sizes < ROUNDING * sizes.max()] = (
        0.0  # a parameter without effect, such as a mass on its own axis, is rounding
    )
    structure = from_factor(rig.links, factor, ROUNDING)
    # drives after inertials: a rotor that cannot be separated from its link is omitted
    order = np.concatenate([inertial[:, structure.independent], drive_rows], axis=1)
    independent = independent_columns(triangular_factor(order))
    columns = np.concatenate([robot.drive_columns + structure.independent, np.arange(robot.drive_columns)])
    return structure, np.sort(columns[independent])
