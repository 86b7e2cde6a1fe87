"""A dynamically consistent walk of a robot: feet that do not slip, pressure inside the soles, forces of physics.

The soles follow minimum-jerk steps; the waist follows the cart-table model so that the zero-moment point stays in the
soles' middles, and is corrected by what the whole body's zero-moment point, with all its links, is off that. The legs
are solved for (`solver.dynamics.legs`), the wrench is the inverse dynamics of the whole body. Nothing is played by a
controller: this is what a robot does that follows its plan exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.linalg import solve_banded

from solver.base.errors import InvalidValue
from solver.dynamics import com_trajectory, link_poses, predicted_wrench
from solver.dynamics.coordinates import to_flat, to_manifold
from solver.dynamics.legs import FOOT_SIZE, build_legs
from solver.signals import GRAVITY
from solver.skeleton.rig import Rig
from solver.values.motion import Motion
from solver.values.person import SIDES

LOWERED = 0.03
"""[m] of the waist below half sitting, for steps of this length."""
LIFT = 0.05
"""[m] of a swinging foot."""
ROUNDS = 4
"""Corrections of the zero-moment point; each takes most of what is left of the links' own dynamics."""
SHARE = 0.8
"""Of a correction that is taken."""
ARM_SWING = 0.25
"""[rad] of shoulders and, half of it, elbows."""


@dataclass(frozen=True, slots=True)
class Gait:
    """How it walks.

    Attributes:
        speed: [m/s].
        step: [s] from one footfall to the next.
        double: share of a step in which both feet stand.
        steps: number of them.
        rate: samples per second.
        stand: [s] before the first and after the last step.
    """

    speed: float = 0.5
    step: float = 0.7
    double: float = 0.25
    steps: int = 8
    rate: float = 200.0
    stand: float = 0.5


@dataclass(frozen=True, slots=True)
class Walk:
    """What it did.

    Attributes:
        motion: N frames.
        wrench: (N, 6) [N, N m] all contact forces, moment about the world origin.
        feet: (N, 2, 3) [m] middle of the soles, right and left.
        load: (N, 2) share of the force that each foot carries.
        margin: [m] least distance of the zero-moment point from the edge of the soles that stand, along x or y.
        friction: largest ratio of the horizontal force to the vertical one.
    """

    motion: Motion
    wrench: np.ndarray
    feet: np.ndarray
    load: np.ndarray
    margin: float
    friction: float


def walk(rig: Rig, gait: Gait | None = None) -> Walk:
    """Make a walk along x.

    Raises:
        InvalidValue: a leg does not reach.
    """
    gait = Gait() if gait is None else gait
    start = to_flat(rig, np.array(rig.provenance["half_sitting"]))
    start[2] -= LOWERED
    times = np.arange(round((2.0 * gait.stand + gait.steps * gait.step) * gait.rate) + 1) / gait.rate
    soles, load = _feet(rig, np.array(rig.provenance["half_sitting"]), gait, times)
    centres = soles[:, :, :2] + _sole_middle(rig)
    wanted = np.einsum("nk,nka->na", load, centres)  # frames n, feet k, axes a
    height = float(com_trajectory(rig, _still(rig), rig.prior)[0, 2]) - LOWERED
    waist = _cart_table(wanted, height, gait.rate)
    waist += start[:2] - waist[0]
    for _ in range(ROUNDS):
        motion = _pose_robot(rig, start, waist, soles, times, gait)
        wrench = _wrench(rig, motion)
        pressure = np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3]
        waist += SHARE * _cart_table(wanted - pressure, height, gait.rate)
    motion = _pose_robot(rig, start, waist, soles, times, gait)
    wrench = _wrench(rig, motion)
    feet = np.concatenate([centres, np.zeros((*centres.shape[:2], 1))], axis=2)
    feet[:, :, 2] = soles[:, :, 2] - soles[0, :, 2]
    return Walk(motion, wrench, feet, load, _margin(rig, wrench, centres, load), _friction(wrench))


def _wrench(rig: Rig, motion: Motion) -> np.ndarray:
    wrench = predicted_wrench(rig, motion, rig.prior, axes="world")
    wrench[:, 3:] += np.cross(motion.q[:, :3], wrench[:, :3])
    return wrench


def _still(rig: Rig) -> Motion:
    q = np.array(rig.provenance["half_sitting"])
    return Motion(np.array([0.0, 1.0]), np.stack([q, q]), np.zeros((2, rig.nv)), np.zeros((2, rig.nv)))


def _sole_middle(rig: Rig) -> np.ndarray:
    """(2, 2) [m] middle of the soles from the foot links' origins, feet flat."""
    return np.array([rig.patch(rig.sides[side]).vertices[:, :2].mean(axis=0) for side in SIDES])


def _min_jerk(share: np.ndarray) -> np.ndarray:
    share = np.clip(share, 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def _feet(rig: Rig, q: np.ndarray, gait: Gait, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 2, 3) foot links' origins, (N, 2) share of the load that each is to carry."""
    _, places = link_poses(rig, q)
    at = [places[rig.index(rig.patch(rig.sides[side]).link)] for side in SIDES]
    soles = np.repeat(np.array(at)[None], len(times), axis=0)
    load = np.full((len(times), 2), 0.5)
    length = gait.speed * gait.step
    for number in range(gait.steps):
        swinging = number % 2
        begin = gait.stand + number * gait.step
        off, down = begin + gait.double * gait.step, begin + gait.step
        last, first = number == gait.steps - 1, number == 0
        reach = length if first or last else 2.0 * length
        share = (times - off) / (down - off)
        soles[:, swinging, 0] += reach * _min_jerk(share)
        soles[:, swinging, 2] += LIFT * 64.0 * (np.clip(share, 0, 1) * (1 - np.clip(share, 0, 1))) ** 3
        # the load leaves the foot while both stand, and comes back in the next double support
        goal = np.array([1.0, 1.0])
        goal[swinging] = 0.0
        move = _min_jerk((times - begin) / (off - begin))[:, None]
        load = load * (1.0 - move) + goal / goal.sum() * move
    back = _min_jerk((times - gait.stand - gait.steps * gait.step) / (gait.double * gait.step))[:, None]
    return soles, load * (1.0 - back) + 0.5 * back


def _cart_table(pressure: np.ndarray, height: float, rate: float) -> np.ndarray:
    """Waist path (N, 2) whose zero-moment point is the given one, at rest at both ends: c - h/g c'' = p."""
    count = len(pressure)
    stiff = height / GRAVITY * rate**2
    bands = np.zeros((3, count))
    bands[0, 2:], bands[2, :-2] = -stiff, -stiff
    bands[1] = 1.0 + 2.0 * stiff
    bands[1, [0, -1]] = 1.0
    return solve_banded((1, 1), bands, pressure)


def _pose_robot(
    rig: Rig, start: np.ndarray, waist: np.ndarray, soles: np.ndarray, times: np.ndarray, gait: Gait
) -> Motion:
    y = np.repeat(start[None], len(times), axis=0)
    y[:, :2] = waist
    swing = soles[:, 0, 0] - soles[:, 1, 0]  # the right foot ahead: the left arm is
    reach = gait.speed * gait.step
    for side, sign in zip(SIDES, (1.0, -1.0)):
        for name, share in (("shoulder_pitch", 1.0), ("forearm", 0.5)):
            column = rig.v_slices[rig.index(f"{side}_{name}")].start
            y[:, column] += sign * share * ARM_SWING * swing / reach
    spline = make_interp_spline(times, y, k=5)
    rates = spline(times), spline(times, 1), spline(times, 2)
    for number, leg in enumerate(build_legs(rig)):
        path = np.zeros((len(times), FOOT_SIZE))
        path[:, :3] = soles[:, number]
        curve = make_interp_spline(times, path, k=5)
        if not leg.follow_foot(rates, (curve(times), curve(times, 1), curve(times, 2))).all():
            raise InvalidValue(f"the {leg.side} leg does not reach its steps: walk slower or with shorter ones")
    curves = to_manifold(rig, *rates)
    return Motion(times, curves.q, curves.v, curves.a)


def _margin(rig: Rig, wrench: np.ndarray, centres: np.ndarray, load: np.ndarray) -> float:
    pressure = np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3]
    half = 0.5 * np.ptp(rig.patch(rig.sides["right"]).vertices[:, :2], axis=0)
    stands = load > 0.0
    lower = np.where(stands[:, :, None], centres - half, np.inf).min(axis=1)
    upper = np.where(stands[:, :, None], centres + half, -np.inf).max(axis=1)
    return float(np.minimum(pressure - lower, upper - pressure).min())


def _friction(wrench: np.ndarray) -> float:
    return float((np.linalg.norm(wrench[:, :2], axis=1) / wrench[:, 2]).max())
