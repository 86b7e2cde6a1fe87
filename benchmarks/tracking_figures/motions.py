"""Targets of the bodies of rapetti2020: orientations of 23 segments, taken from tracked recordings of people.

The paper's volunteer wore inertial units. Here two people's recorded markers are tracked with the built-in rig, its
links' orientations filtered and shared out among the 23 segments, and a rotation spline through them gives
orientations and angular velocities that belong together exactly. What is measured on them is therefore simulated, on
real motion; noise is added where a figure says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, filtfilt
from scipy.spatial.transform import Rotation, RotationSpline

from solver.base.so3 import exp, log
from solver.calibration import fit_calibration
from solver.formats.recording import read_recording
from solver.options.reading import ReadOptions
from solver.skeleton.rig import Rig
from solver.tracking import OrientationTargets, OrientationTask, PositionTargets, PositionTask, Targets, track_markers
from solver.tracking.kinematics import Kinematics

from .bodies import ARMS, SIDED, SPINE, Body, hanging_rotation, palms_forwards

RATE = 100.0
CUT = 8.0
"""[Hz] Cut-off of the motion."""
TRIM = 0.1
"""[s] Left out at both ends, where filter and spline have no data beyond."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one person: calibrated on both, the second one followed."""

    static: str
    trial: str
    mass: float
    sex: str


SOURCES = {
    "standing": Source("subject_a/markers/static1.trc", "subject_a/markers/static1.trc", 63.5, "female"),
    "walk": Source("subject_b/markers/static_walk.trc", "subject_b/markers/walk.trc", 75.0, "male"),
    "run": Source("subject_b/markers/static_run.trc", "subject_b/markers/run.trc", 75.0, "male"),
}
"""The paper's motions, and quiet standing."""


@dataclass(frozen=True, slots=True)
class SegmentMotion:
    """Orientations of segments, and of the pelvis the place.

    Attributes:
        times: (N,) [s].
        names: S segments.
        rotations: (N, S, 3, 3) segment axes in the world; where they are parallel the arms are stretched sideways.
        omegas: (N, S, 3) [rad/s] world axes.
        root: (N, 3) [m] pelvis.
        speed: (N, 3) [m/s] of the pelvis.
    """

    times: np.ndarray
    names: tuple[str, ...]
    rotations: np.ndarray
    omegas: np.ndarray
    root: np.ndarray
    speed: np.ndarray

    def __len__(self) -> int:
        return len(self.times)


@cache
def motion(data: Path, name: str) -> SegmentMotion | None:
    """A recorded motion, or None without its recordings."""
    source = SOURCES[name]
    paths = [data / file for file in dict.fromkeys((source.static, source.trial))]
    if not all(path.exists() for path in paths):
        return None
    recordings = [read_recording(path, ReadOptions(ragged=True)) for path in paths]
    found = fit_calibration(recordings, mass=source.mass, sex=source.sex)
    markers = recordings[-1].markers
    assert markers is not None
    tracked = track_markers(found.rig, found.attachments, markers)
    return segment_motion(found.rig, tracked.times, tracked.q)


def t_pose(segments: tuple[str, ...]) -> SegmentMotion:
    """Every segment parallel to the world's axes for two seconds: exact, which no recording is."""
    times = np.arange(0.0, 2.0, 1.0 / RATE)
    turns = np.broadcast_to(np.eye(3), (len(times), len(segments), 3, 3))
    rates, root = np.zeros(turns.shape[:-1]), np.zeros((len(times), 3))
    return SegmentMotion(times, segments, turns, rates, root, root)


def segment_motion(rig: Rig, times: np.ndarray, q: np.ndarray) -> SegmentMotion:
    """The 23 segments of a tracked motion (N, nq) of the house's human rig, at `RATE`."""
    kinematics = Kinematics(rig)
    turns, places = np.empty((len(q), len(rig.links), 3, 3)), np.empty((len(q), 3))
    for frame, configuration in enumerate(q):
        kinematics.update_kinematics(configuration)
        turns[frame], places[frame] = kinematics.rotations, kinematics.positions[0]
    instants = np.arange(times[0] + TRIM, times[-1] - TRIM, 1.0 / RATE)
    names, rotations, omegas = [], [], []
    for name, rotation in _segments(rig, turns).items():
        spline = RotationSpline(times, Rotation.from_matrix(_smooth_turns(times, rotation)))
        names.append(name)
        rotations.append(spline(instants).as_matrix())
        omegas.append(np.einsum("nij,nj->ni", rotations[-1], spline(instants, 1)))  # SciPy's rates stand in body axes
    path = CubicSpline(times, _smooth(times, places))
    return SegmentMotion(
        instants - instants[0], tuple(names), np.array(rotations).swapaxes(0, 1), np.array(omegas).swapaxes(0, 1),
        path(instants), path(instants, 1),
    )  # fmt: skip


def targets(body: Body, seen: SegmentMotion, *, velocities: bool = False) -> Targets:
    """What a body is to follow: its links' orientations, and the place of its root."""
    chosen = [seen.names.index(name) for name in body.segments]
    rig = body.rig
    point = PositionTask((rig.links[0],), np.zeros(1, int), np.zeros((1, 3)), np.ones(1))
    task = OrientationTask(tuple(rig.links[k] for k in body.links), body.links, np.ones(len(body.links)))
    return Targets(
        seen.times,
        PositionTargets(point, seen.root[:, None], seen.speed[:, None] if velocities else None),
        OrientationTargets(
            task, seen.rotations[:, chosen] @ body.turns, seen.omegas[:, chosen] if velocities else None
        ),
    )


def noisy(seen: SegmentMotion, turn: float, rate: float, seed: int = 0) -> SegmentMotion:
    """The same with white noise of ``turn`` [rad] and ``rate`` [rad/s] an axis on orientations and velocities."""
    rng = np.random.default_rng(seed)
    turned = exp(turn * rng.normal(size=seen.omegas.shape)) @ seen.rotations
    rates = seen.omegas + rate * rng.normal(size=seen.omegas.shape)
    return SegmentMotion(seen.times, seen.names, turned, rates, seen.root, seen.speed)


def _segments(rig: Rig, turns: np.ndarray) -> dict[str, np.ndarray]:
    """(N, 3, 3) of each segment from those of the rig's links (N, L, 3, 3), at rest arms hanging, palms forwards.

    The bodies that follow pronate in the forearm, the rig in the hand: the forearm takes the hand's twist.
    """
    of = {name: turns[:, k] @ rig.rest[0][k].T for k, name in enumerate(rig.links)}
    result = {name: _between(of["pelvis"], of["torso"], share) for name, share in SPINE.items()}
    result["Neck"], result["Head"] = _between(of["torso"], of["head"], 0.5), of["head"]
    for side in ("Right", "Left"):
        for segment, link in SIDED.items():
            carrier = of[link if link == "torso" else f"{side.lower()}_{link}"]
            if segment == "ForeArm":
                carrier = carrier @ _twist(carrier.swapaxes(1, 2) @ of[f"{side.lower()}_hand"])
            if segment in ("ForeArm", "Hand"):
                carrier = carrier @ palms_forwards(side + segment)
            result[side + segment] = carrier @ hanging_rotation(side + segment) if segment in ARMS else carrier
    return result


def _twist(rotations: np.ndarray) -> np.ndarray:
    """(N, 3, 3) part about z, the long axis of a hanging arm, of rotations (N, 3, 3): swing times twist."""
    quaternions = Rotation.from_matrix(rotations).as_quat() * [0.0, 0.0, 1.0, 1.0]
    return Rotation.from_quat(quaternions).as_matrix()


def _between(start: np.ndarray, stop: np.ndarray, share: float) -> np.ndarray:
    return start @ exp(share * log(start.swapaxes(1, 2) @ stop))


def _smooth_turns(times: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    quaternions = Rotation.from_matrix(rotations).as_quat()
    signs = np.sign(np.einsum("ni,ni->n", quaternions[1:], quaternions[:-1]))
    quaternions[1:] *= np.cumprod(np.where(signs == 0.0, 1.0, signs))[:, None]
    return Rotation.from_quat(_smooth(times, quaternions)).as_matrix()


def _smooth(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Zero-phase low-pass of columns."""
    b, a = butter(2, CUT * np.mean(np.diff(times)) * 2.0)
    return np.asarray(filtfilt(b, a, values, axis=0))
