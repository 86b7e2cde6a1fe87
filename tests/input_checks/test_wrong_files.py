"""Every reader passes one table of wrong files: each is read as the right file is, or refused with its cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError
from solver.base.so3 import exp, log, to_matrix, to_quaternion
from solver.dynamics import integrate
from solver.dynamics.coordinates import joint_coordinates
from solver.formats.axes_and_units import to_z_up
from solver.formats.csv_tables import write_table
from solver.formats.joint_coordinates import ROOT_POSITION, ROOT_QUATERNION
from solver.formats.npz import write_recording_npz
from solver.formats.recording import read_recording
from solver.formats.smpl import JOINT_NAMES, MODEL_TO_WORLD
from solver.input_checks import check_recording
from solver.input_checks.check_definition import InputToCheck
from solver.rigs import hrp2
from solver.signals.trial import Recording
from solver.values.motion import JointCoordinates, Markers, RestPose, SegmentPoses, coordinate_numbers
from tests.formats.recording_files import trc_rows, write_trc
from tests.formats.skeletons import LAFAN1, bvh_text

TIMES = np.arange(50) / 50.0
RIG = hrp2()
NAMES = tuple(LAFAN1.parents)
MARKERS = {"C7": "Neck", "STRN": "Spine2"} | {
    f"{side[0]}{marker}": f"{side}{joint}"
    for side in ("Left", "Right")
    for marker, joint in (("TOE", "Toe"), ("ANK", "Foot"), ("KNE", "Leg"), ("SHO", "Arm"), ("WRA", "Hand"))
}
"""Joints of the skeleton at which markers sit."""
UP, MIRROR = to_z_up("y").T, np.diag([1.0, -1.0, 1.0])


def wave(size: float, count: int, seed: int) -> np.ndarray:
    """Smooth numbers (N, count)."""
    rng = np.random.default_rng(seed)
    return size * np.sin(TIMES[:, None] * rng.uniform(2.0, 5.0, count) + rng.uniform(0.0, 6.0, count))


@cache
def segments() -> SegmentPoses:
    """A walker in metres, x ahead and z up, in the axes of a T-pose."""
    heads = np.zeros((len(NAMES), 3))
    rotations: list[np.ndarray] = []
    positions: list[np.ndarray] = []
    for k, name in enumerate(NAMES):
        offset = np.array(LAFAN1.offsets[name])
        above = LAFAN1.parents[name]
        parent = -1 if above is None else NAMES.index(above)
        own = exp(wave(0.25, 3, k)) if name in LAFAN1.links else np.tile(np.eye(3), (len(TIMES), 1, 1))
        heads[k] = offset + (heads[parent] if above else 0.0)
        rotations.append(rotations[parent] @ own if above else own)
        away = TIMES[:, None] * [0.5, 0.1, 0.0] + offset
        positions.append(positions[parent] + rotations[parent] @ offset if above else away)
    parents = tuple(-1 if above is None else NAMES.index(above) for above in LAFAN1.parents.values())
    ends = [[heads[c] for c in range(len(NAMES)) if parents[c] == k] for k in range(len(NAMES))]
    tips = [np.mean(e or [heads[k] + LAFAN1.ends[NAMES[k]]], axis=0) for k, e in enumerate(ends)]
    rest = RestPose(np.tile(np.eye(3), (len(NAMES), 1, 1)), heads, np.array(tips), parents)
    return SegmentPoses(TIMES, NAMES, np.stack(rotations, axis=1), np.stack(positions, axis=1), rest)


@cache
def right(quantity: str) -> Recording:
    """The walker's markers or segments, or joints of a robot that sways."""
    if quantity == "segments":
        return Recording("file", segments=segments())
    if quantity == "markers":
        walker = segments()
        assert walker.positions is not None
        columns = [walker.names.index(joint) for joint in MARKERS.values()]
        return Recording("file", Markers(TIMES, tuple(MARKERS), walker.positions[:, columns]))
    size = np.r_[np.full(3, 0.02), 0.1, 0.1, 0.3, np.minimum(0.2, 0.5 * RIG.limits.upper)]
    q = integrate(RIG, RIG.neutral, wave(1.0, RIG.nv, 1) * size + np.eye(RIG.nv)[2] * RIG.standing_height)
    numbers = joint_coordinates(RIG, q)
    names = coordinate_numbers(numbers.shape[1])
    return Recording("file", joints=JointCoordinates(TIMES, names, numbers, ("rad or m",) * len(names), q[:, :7]))


def moved(turn: np.ndarray, scale: float, recording: Recording) -> Recording:
    """The recording in other axes, which may be mirrored, and in another unit."""
    markers, shown, joints = recording.markers, recording.segments, recording.joints
    if markers is not None:
        markers = replace(markers, positions=scale * markers.positions @ turn.T)
    if shown is not None:
        assert shown.rest is not None
        assert shown.positions is not None
        own = turn if np.linalg.det(turn) < 0.0 else np.eye(3)  # a mirrored joint has mirrored axes
        rest = replace(shown.rest, heads=scale * shown.rest.heads @ own.T, tips=scale * shown.rest.tips @ own.T)
        shown = replace(shown, rotations=turn @ shown.rotations @ own.T, rest=rest,
                        positions=scale * shown.positions @ turn.T)  # fmt: skip
    if joints is not None:
        assert joints.root is not None
        quaternions = to_quaternion(turn @ to_matrix(joints.root[:, 3:]))
        joints = replace(joints, root=np.c_[joints.root[:, :3] @ turn.T, quaternions])
    return replace(recording, markers=markers, segments=shown, joints=joints)


def exchanged(recording: Recording) -> Recording:
    """The recording with left named right, throughout."""
    if recording.markers is not None:
        other = {"L": "R", "R": "L"}
        names = [other.get(n[0], n[0]) + n[1:] for n in recording.markers.names]
        return replace(recording, markers=replace(recording.markers, names=tuple(names)))
    assert recording.segments is not None
    sides = {"Left": "Right", "Right": "Left"}
    names = [next((b + n.removeprefix(a) for a, b in sides.items() if n.startswith(a)), n) for n in NAMES]
    return replace(recording, segments=replace(recording.segments, names=tuple(names)))


def scalar_first(recording: Recording) -> Recording:
    """The recording with its root's quaternion as w x y z."""
    assert recording.joints is not None
    assert recording.joints.root is not None
    root = np.c_[recording.joints.root[:, :3], np.roll(recording.joints.root[:, 3:], 1, axis=1)]
    return replace(recording, joints=replace(recording.joints, root=root))


def turned_scalar_first(recording: Recording) -> Recording:
    """The recording as if its segments' quaternions had been written as w x y z."""
    assert recording.segments is not None
    quaternions = np.roll(to_quaternion(recording.segments.rotations), 1, axis=-1)
    return replace(recording, segments=replace(recording.segments, rotations=to_matrix(quaternions)))


def degrees(recording: Recording) -> Recording:
    """The recording with numbers in degrees under a title of radians."""
    assert recording.joints is not None
    return replace(recording, joints=replace(recording.joints, values=np.degrees(recording.joints.values)))


def as_trc(folder: Path, recording: Recording) -> Path:
    """A .trc with the numbers of the markers."""
    assert recording.markers is not None
    return write_trc(folder / "file.trc", trc_rows(recording.markers.positions), "m", recording.markers.names)


def as_csv(folder: Path, recording: Recording) -> Path:
    """A table with the numbers of the markers or of the joints and the root."""
    if recording.markers is not None:
        titles = [f"{name}.{axis} [m]" for name in recording.markers.names for axis in "xyz"]
        values = recording.markers.positions.reshape(len(TIMES), -1)
    else:
        assert recording.joints is not None
        assert recording.joints.root is not None
        titles = [f"{link} [rad]" for link in RIG.links[1:]]
        titles += [f"{name} [m]" for name in ROOT_POSITION] + [f"{name} [1]" for name in ROOT_QUATERNION]
        values = np.c_[recording.joints.values, recording.joints.root]
    write_table(folder / "file.csv", TIMES, titles, values)
    return folder / "file.csv"


def as_bare_table(folder: Path, recording: Recording) -> Path:
    """A table without titles."""
    assert recording.joints is not None
    np.savetxt(folder / "file_50hz.csv", np.c_[recording.joints.root, recording.joints.values], delimiter=",")
    return folder / "file_50hz.csv"


def as_npz(folder: Path, recording: Recording) -> Path:
    """An archive of this program, as Blender writes its armatures."""
    write_recording_npz(folder / "file.npz", recording)
    return folder / "file.npz"


def as_bvh(folder: Path, recording: Recording) -> Path:
    """A .bvh in centimetres."""
    shown = recording.segments
    assert shown is not None
    assert shown.rest is not None
    assert shown.positions is not None
    heads, tips, parents = shown.rest.heads, shown.rest.tips, shown.rest.parents
    offsets = {n: heads[k] - (heads[parents[k]] if parents[k] >= 0 else 0.0) for k, n in enumerate(shown.names)}
    own = dict(zip(NAMES, shown.names))
    skeleton = replace(
        LAFAN1, offsets=offsets, parents={own[n]: own.get(p or "") for n, p in LAFAN1.parents.items()},
        ends={own[n]: tips[NAMES.index(n)] - heads[NAMES.index(n)] for n in LAFAN1.ends},
    )  # fmt: skip
    turns = {name: shown.rotations[:, k] for k, name in enumerate(shown.names)}
    (folder / "file.bvh").write_text(bvh_text(skeleton, turns, shown.positions[:, 0], up="z"))
    return folder / "file.bvh"


def as_smpl(folder: Path, recording: Recording) -> Path:
    """Rotations of a body model, of which this walker only turns as a whole."""
    shown = recording.segments
    assert shown is not None
    assert shown.positions is not None
    poses = np.zeros((len(TIMES), 3 * len(JOINT_NAMES)))
    poses[:, :3] = log(shown.rotations[:, 0] @ MODEL_TO_WORLD)
    np.savez(folder / "file.npz", poses=poses, trans=shown.positions[:, 0], mocap_framerate=50.0)
    return folder / "file.npz"


WRITERS: Mapping[str, tuple[str, Callable[[Path, Recording], Path]]] = {
    "trc": ("markers", as_trc),
    "csv of markers": ("markers", as_csv),
    "npz of markers": ("markers", as_npz),
    "bvh": ("segments", as_bvh),
    "npz of segments": ("segments", as_npz),
    "smpl": ("segments", as_smpl),
    "csv of joints": ("joints", as_csv),
    "table without titles": ("joints", as_bare_table),
    "npz of joints": ("joints", as_npz),
}
FAULTS: Mapping[str, tuple[tuple[str, ...], Callable[[Recording], Recording]]] = {
    "right": (("markers", "segments", "joints"), lambda recording: recording),
    "y up": (("markers", "segments", "joints"), partial(moved, UP, 1.0)),
    "mirrored": (("markers", "segments"), partial(moved, MIRROR, 1.0)),
    "y exchanged with z": (("markers",), partial(moved, UP @ MIRROR, 1.0)),
    "sides exchanged": (("markers", "segments"), exchanged),
    "in cm": (("markers", "segments"), partial(moved, np.eye(3), 100.0)),
    "in inch": (("markers", "segments"), partial(moved, np.eye(3), 1.0 / 0.0254)),
    "x .01": (("markers", "segments"), partial(moved, np.eye(3), 0.01)),
    "w x y z": (("joints",), scalar_first),
    "segments w x y z": (("segments",), turned_scalar_first),
    "degrees": (("joints",), degrees),
}
CAUSES = {
    "y up": "upright|vertical axis",
    "mirrored": "left and right",
    "y exchanged with z": "left and right",
    "sides exchanged": "left and right",
    "in cm": "unit|tall|high",
    "in inch": "unit|tall|high",
    "x .01": "unit|tall|high",
    "w x y z": "upright",
    "segments w x y z": "quaternions",
    "degrees": "unit",
}
"""What a refusal must say."""
ALWAYS_REFUSED = ("mirrored", "sides exchanged")
CASES = [
    pytest.param(reader, fault, id=f"{reader}: {fault}")
    for reader, (quantity, _) in WRITERS.items()
    for fault, (quantities, _) in FAULTS.items()
    # rotations of a body model have no sides and no lengths, skeletons' files no quaternions
    if quantity in quantities
    and not (reader == "smpl" and fault not in ("right", "y up"))
    and not (reader == "bvh" and fault == "segments w x y z")
]


@pytest.mark.parametrize(("reader", "fault"), CASES)
def test_a_wrong_file_is_read_as_the_right_one_or_refused(reader: str, fault: str, tmp_path: Path) -> None:
    """Places of all parts, and where left is, are those of the right file; otherwise the file and the cause are named.

    Sides that are exchanged are refused, because a mirrored file and exchanged names look alike; but markers that lie
    on the other side after a change of the vertical axis have left-handed axes, and their names are right.
    """
    quantity, write = WRITERS[reader]
    rig = RIG if quantity == "joints" else None
    path = write(tmp_path, FAULTS[fault][1](right(quantity)))
    found = refusal = None
    try:
        found = check_recording(read_recording(path), rig)
    except InputError as error:
        refusal = str(error)
    if found is None:
        assert refusal is not None
        assert fault != "right"
        assert "file" in refusal
        assert any(word in refusal for word in CAUSES[fault].split("|"))
        return
    assert fault not in ALWAYS_REFUSED
    (tmp_path / "right").mkdir()
    wanted = read_recording(write(tmp_path / "right", right(quantity)))
    shown, true = (InputToCheck(recording, rig).points for recording in (found, wanted))
    assert shown is not None
    assert true is not None
    np.testing.assert_allclose(shown.positions, true.positions, atol=2e-3)
    if fault == "right":
        assert found.warnings == wanted.warnings
    elif quantity == "joints" or fault == "y exchanged with z":
        assert any("overrules this" in note for note in found.warnings)
        assert found.found is not None
        assert found.found.reading
