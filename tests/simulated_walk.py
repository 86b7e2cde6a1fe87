"""A simulated person who walks over two plates, one under each foot, as markers and force plates would record it.

The feet follow a gait, the root sways so that the centre of pressure stays under the feet that carry, the legs are
solved for, and the plates read what the motion needs of the true inertials. Nothing is measured from people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.interpolate import make_interp_spline

from solver.calibration import load_marker_set
from solver.demo.laboratory import MarkerPlacement, record_markers
from solver.demo.motions import rebalancing_shift, standing_posture, still_motion
from solver.demo.truth import perturb_inertials
from solver.dynamics import Workspace, difference, ground_wrench, integrate, link_poses
from solver.rigs import human
from solver.signals import smooth_motion
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from solver.values.wrenches import Wrenches
from tests.joint_entries import entry

HEIGHT, MASS, SEX = 1.75, 72.8, "male"
RATE = 100.0
SIDES = ("left", "right")
KNEES = (("thigh", (0.0, -0.25, 0.0)), ("shank", (0.5,)), ("foot", (0.0, -0.25, 0.0)))
ARMS_AWAY = (("right_upper_arm", (-0.35, 0.0, 0.0)), ("left_upper_arm", (0.35, 0.0, 0.0)), ("forearm", (0.15,)))
LIFT = 0.08
"""[m] Height of a foot in the middle of its swing."""
BALANCE_RATE, BALANCE_ROUNDS, NEWTON_STEPS = 50.0, 3, 3
SOLE = ((-0.03, -0.02), (0.12, 0.02))
"""[m] Corners of the box about an ankle in which the centre of pressure may lie."""


@dataclass(frozen=True)
class Gait:
    """How somebody walks.

    Attributes:
        stride: [s] from one contact of a foot to the next one.
        length: [m] of a stride.
        stance: fraction of a stride for which a foot carries.
        seconds: duration.
    """

    stride: float
    length: float
    stance: float = 0.65
    seconds: float = 4.0

    def feet(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the left and the right foot the advance and height (N, 2, 2) [m] and the fraction that it carries (N, 2).

        The left foot starts its stance at 0, the right foot half a stride later; fractions sum to 1.
        """
        advance, loads = np.empty((len(times), 2, 2)), np.empty((len(times), 2))
        for side in range(2):
            phase = times / self.stride + 0.5 * side
            number, part = np.floor(phase), np.mod(phase, 1.0)
            swing = np.clip((part - self.stance) / (1.0 - self.stance), 0.0, 1.0)
            moved = swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2)
            advance[:, side, 0] = self.length * (number - 0.5 * side + moved)
            advance[:, side, 1] = LIFT * (4.0 * swing * (1.0 - swing)) ** 2
            both = self.stance - 0.5
            loads[:, side] = np.clip(np.minimum(part, self.stance - part) / both, 0.0, 1.0)
        smooth = loads**2 * (3.0 - 2.0 * loads)
        return advance, smooth / smooth.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Walker:
    """A simulated person.

    Attributes:
        rig: true skeleton; its prior is the table's.
        truth: true inertials.
        recordings: ``static`` and the walks, markers and plates.
        motions: true motions of the walks.
    """

    rig: Rig
    truth: InertialParameters
    recordings: tuple[Recording, ...]
    motions: tuple[Motion, ...]


GAITS = {"walk1": Gait(1.1, 0.7), "walk2": Gait(1.25, 0.6)}


@cache
def simulated_walker(seed: int = 1, marker_noise: float = 0.0005) -> Walker:
    """The person, standing and walking at two speeds; the same for the same seed."""
    rig = human(HEIGHT, MASS, SEX)
    truth, generator = perturb_inertials(rig, seed), np.random.default_rng(seed)
    placements = _placements(rig)
    rest = still_motion(rig, standing_posture(rig, ARMS_AWAY), np.arange(0.0, 1.0, 1.0 / RATE))
    recordings = [Recording("static", record_markers(rig, rest, placements, generator, marker_noise))]
    motions = []
    for name, gait in GAITS.items():
        motion, loads, points = walking(rig, gait)
        markers = record_markers(rig, motion, placements, generator, marker_noise)
        plates = plates_of(rig, motion, truth, loads, points, generator)
        recordings.append(Recording(name, markers, plates))
        motions.append(motion)
    return Walker(rig, truth, tuple(recordings), tuple(motions))


def walking(rig: Rig, gait: Gait, rate: float = RATE) -> tuple[Motion, np.ndarray, np.ndarray]:
    """A walk, the fraction of the load on each foot (N, 2), and the point under each ankle (N, 2, 3) [m]."""
    times = np.arange(0.0, gait.seconds, 1.0 / rate)
    coarse = np.linspace(0.0, times[-1], int(times[-1] * BALANCE_RATE) + 1)
    start = standing_posture(rig, (*KNEES, *ARMS_AWAY))
    _, origins = link_poses(rig, start)
    ankles = np.array([origins[rig.index(f"{side}_foot")] for side in SIDES])
    shift = np.zeros((len(coarse), 2))
    for _ in range(BALANCE_ROUNDS):
        motion, points, loads = _stepping(rig, gait, start, ankles, coarse, shift)
        low, high = _boxes(points, loads)
        shift += rebalancing_shift(rig, motion, low, high)
    motion, points, loads = _stepping(rig, gait, start, ankles, times, make_interp_spline(coarse, shift, k=5)(times))
    return motion, loads, points


def plates_of(
    rig: Rig,
    motion: Motion,
    truth: InertialParameters,
    loads: np.ndarray,
    points: np.ndarray,
    generator: np.random.Generator,
) -> Wrenches:
    """What two plates read: each the share of the wrench that its foot carries; white noise of 0.5 N and 0.1 N m."""
    total = ground_wrench(rig, motion, truth)
    force, free = total[:, :3], total[:, 3:].copy()
    for side in range(2):
        free -= np.cross(points[:, side], loads[:, side, None] * force)
    values = np.empty((len(motion), 2, 6))
    for side in range(2):
        part = loads[:, side, None]
        values[:, side] = np.hstack([part * force, np.cross(points[:, side], part * force) + part * free])
    values += generator.standard_normal(values.shape) * ([0.5] * 3 + [0.1] * 3)
    return Wrenches(motion.times, SIDES, values)


def _boxes(points: np.ndarray, loads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (N, 2) of the box in which the centre of pressure shall lie: about the point between loaded feet."""
    middle = np.einsum("ns,nsx->nx", loads, points)[:, :2]
    return middle + SOLE[0], middle + SOLE[1]


def _stepping(
    rig: Rig, gait: Gait, start: np.ndarray, ankles: np.ndarray, times: np.ndarray, shift: np.ndarray
) -> tuple[Motion, np.ndarray, np.ndarray]:
    advance, loads = gait.feet(times)
    rotations, _ = link_poses(rig, start)
    feet = [rig.index(f"{side}_foot") for side in SIDES]
    free = _upper_body(rig, gait, start, times)
    free[:, 0] += gait.length * (times / gait.stride - 0.25)
    free[:, :2] += shift
    targets = np.repeat(ankles[None], len(times), axis=0)
    targets[:, :, 0] += advance[:, :, 0]
    targets[:, :, 2] += advance[:, :, 1]
    legs = [f"{side}_{part}" for side in SIDES for part in ("thigh", "shank", "foot")]
    joints = [entry(rig, leg) for leg in legs]
    columns = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in joints])
    places = np.concatenate([np.arange(j.idx_q, j.idx_q + j.nq) for j in joints])
    workspace, legs_now = Workspace(rig), start[places]
    for q, points in zip(free, targets):
        q[places] = legs_now
        for _ in range(NEWTON_STEPS):
            workspace.update_kinematics(q)
            twists, jacobians = zip(*(workspace.pose_error(f, rotations[f], p) for f, p in zip(feet, points)))
            error, jacobian = np.concatenate(twists), np.vstack(jacobians)
            inverse = np.linalg.pinv(jacobian[:, columns])
            spare = difference(rig, q, start)[columns]
            step = np.zeros(rig.nv)
            step[columns] = inverse @ error + spare - inverse @ (jacobian[:, columns] @ spare)
            q[:] = integrate(rig, q, step)
        legs_now = q[places].copy()
    ground = targets * [1.0, 1.0, 0.0]
    return smooth_motion(rig, times, free, None), ground, loads


def _upper_body(rig: Rig, gait: Gait, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(N, nq) the start posture with a trunk that nods and twists and arms that swing with the stride."""
    angle = 2.0 * np.pi * times / gait.stride
    result = np.empty((len(times), len(start)))
    swings: Sequence[tuple[str, np.ndarray]] = [
        ("torso", np.stack([0.05 * np.sin(angle), 0.05 * np.sin(2.0 * angle), 0.3 * np.cos(angle)], axis=1)),
        *((f"{side}_upper_arm", np.stack([0.0 * angle, sign * 0.4 * np.cos(angle), 0.0 * angle], axis=1))
          for side, sign in (("left", 1.0), ("right", -1.0))),
        *((f"{side}_forearm", 0.3 + 0.2 * sign * np.cos(angle)[:, None])
          for side, sign in (("left", -1.0), ("right", 1.0))),
    ]  # fmt: skip
    steps = np.zeros((len(times), rig.nv))
    for link, values in swings:
        first = rig.v_slices[rig.index(link)].start
        steps[:, first : first + values.shape[1]] = values
    steps[:, 5] = 0.05 * np.sin(angle)
    for k, step in enumerate(steps):
        result[k] = integrate(rig, start, step)
        result[k, :3] = start[:3]
    result[:, 2] += 0.02 * np.cos(2.0 * angle) - 0.02
    return result


def _placements(rig: Rig) -> list[MarkerPlacement]:
    joints = {link: joint.position for link, joint in zip(rig.links, rig.joints)}
    places = load_marker_set("plug_in_gait").locations
    return [MarkerPlacement(name, place.link, place.position(joints, HEIGHT)) for name, place in places.items()]
