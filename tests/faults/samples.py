"""A small valid file of every format that is read, and how it is read: what the fuzzer damages."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from solver.base.errors import SolverError
from solver.calibration.body_mass import MassEstimate, MassGroup
from solver.calibration.calibration import CALIBRATION, Calibration
from solver.calibration.marker_set import load_marker_set
from solver.calibration.trial_mass import TrialMass
from solver.contacts.schedule import Schedule, anchors_at
from solver.dance.authoring.authored_dance import AUTHORED_DANCE, AuthoredDance, Keyframe
from solver.dance.design.dance import DESIGNED_DANCE, Dance
from solver.dance.workflows.loading import load_dance
from solver.formats.csv_tables import write_markers_csv, write_wrenches_csv
from solver.formats.joint_coordinates import write_coordinates
from solver.formats.npz import segments_to_arrays
from solver.formats.recording import pair_files, read_recording
from solver.identification.added_load import AddedLoad
from solver.identification.comparison import Comparison, FlightCheck, WrenchFit
from solver.options.checks import CheckOptions
from solver.options.study import Settings
from solver.report import CONTENT, render
from solver.report.content import (
    Content,
    Signals,
    TrackingErrors,
)
from solver.rigs import from_urdf
from solver.rigs.meshes import load_hull
from solver.scene.determined import DATA, MASS_KIND, DeterminedQuantity
from solver.scene.motion import RECORDING, scene_motion, scene_recording
from solver.scene.motion_record import MOTION, motion_record
from solver.scene.result import RESULT, SceneResult
from solver.scene.rig import RIG, read_rig, rig_from_text, rig_to_text
from solver.scene.summary import SUMMARY, SceneFailure, SceneSummary
from solver.scene.timeline import TIMELINE, SceneKey, SceneStrip, SceneTimeline
from solver.signals.trial import Recording
from solver.skeleton.rig import Rig
from solver.storage.codec import FileKind
from solver.study.values import STUDY, TRIAL, StoredStudy, StudyData, TrialRecord
from solver.tracking.tasks import Attachment
from solver.trajectory.segment import DanceSegment
from solver.values.motion import Markers, Motion, SegmentPoses
from solver.values.wrenches import Wrenches
from tests.formats.recording_files import (
    FRAMES,
    MARKERS,
    RATE,
    STANDING,
    c3d_bytes,
    qtm_text,
    standing_mot,
    standing_trc,
    times,
)
from tests.formats.skeletons import LAFAN1, MVN, XSENS, bvh_text, mvnx_text, quaternion_rows, storage_text
from tests.rigs.mesh_bytes import collada_text, obj_text, stl_bytes, stl_text

URDF = """<?xml version="1.0"?>
<robot name="biped">
 <link name="pelvis"><inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="8"/>
  <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial>
  <visual><geometry><sphere radius="0.1"/></geometry></visual></link>
 <link name="left_foot"><inertial><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  <collision><origin xyz="0.05 0 -0.4"/><geometry><box size="0.2 0.1 0.04"/></geometry></collision></link>
 <link name="right_foot"><inertial><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  <collision><origin xyz="0.05 0 -0.4"/><geometry><box size="0.2 0.1 0.04"/></geometry></collision></link>
 <link name="mast"><visual><geometry><cylinder radius="0.02" length="0.3"/></geometry></visual></link>
 <joint name="left_hip" type="revolute"><parent link="pelvis"/><child link="left_foot"/>
  <origin xyz="0 0.1 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="5" effort="50"/></joint>
 <joint name="right_hip" type="revolute"><parent link="pelvis"/><child link="right_foot"/>
  <origin xyz="0 -0.1 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="5" effort="50"/>
  <mimic joint="left_hip" multiplier="-1" offset="0"/></joint>
 <joint name="neck" type="fixed"><parent link="pelvis"/><child link="mast"/><origin xyz="0 0 0.3"/></joint>
</robot>
"""
MARKER_SET = """{"name": "mine", "about": "of a test", "markers": {
 "A": {"landmark": "left lateral_malleolus"}, "B": {"landmark": "sacrum", "weight": 0.5},
 "C": {"link": "left_thigh", "fraction": 0.5, "offset": [0.0, 0.04, 0.0], "spread": 0.02},
 "D": {"joint_centre": "left_thigh"}, "E": {"virtual": "computed"}},
 "aliases": {"L_toe": "A", "C7": "B"}, "ignored": ["angle_*"]}
"""
TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
TRIANGLES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


@dataclass(frozen=True, slots=True)
class Sample:
    """A valid file.

    Attributes:
        name: of the format.
        file: its name; the suffix says the format.
        container: that names its mutations.
        content: of it.
        read: takes the path of such a file and gives what a user gets.
        named: an error names the file; a text in a scene has none.
    """

    name: str
    file: str
    container: str
    content: bytes
    read: Callable[[Path], object]
    named: bool = True


@cache
def samples() -> dict[str, Sample]:
    """Every format, by its name."""
    with TemporaryDirectory() as folder:
        found = [*_recordings(Path(folder)), *_bodies(Path(folder)), *_own(Path(folder)), *_meshes()]
    return {sample.name: sample for sample in found}


def npz_kinds() -> dict[str, Sample]:
    """Those that are NumPy archives."""
    return {name: sample for name, sample in samples().items() if sample.container == "archive"}


def _recording(path: Path) -> object:
    with suppress(SolverError):
        pair_files([path.parent])
    return repr(read_recording(path))


def _recordings(folder: Path) -> Iterator[Sample]:
    """Files that others' programs write."""
    markers = Markers(times(), MARKERS, np.tile(STANDING, (FRAMES, 1, 1)))
    wrench = np.array([3.0, -2.0, 700.0, 0.0, -35.0, 1.5])
    forces = Wrenches(times(), ("plate",), np.tile(wrench, (FRAMES, 1, 1)))
    yield Sample("trc", "walk.trc", "table", standing_trc(folder / "walk.trc").read_bytes(), _recording)
    yield Sample("mot forces", "walk.mot", "table", standing_mot(folder / "walk.mot").read_bytes(), _recording)
    yield Sample(
        "sto forces", "walk.sto", "table", standing_mot(folder / "up.sto", y_up=False).read_bytes(), _recording
    )
    write_markers_csv(folder / "markers.csv", markers)
    write_wrenches_csv(folder / "wrenches.csv", forces)
    for name in ("markers", "wrenches"):
        yield Sample(f"csv {name}", "walk.csv", "table", (folder / f"{name}.csv").read_bytes(), _recording)
    rig, motion = _rig(), _moving()
    for suffix in ("csv", "mot"):
        path = folder / f"joints.{suffix}"
        write_coordinates(path, rig, motion, degrees=suffix == "mot", speeds=suffix == "csv")
        yield Sample(f"{suffix} joints", path.name, "table", path.read_bytes(), _recording)
    yield Sample("tsv qtm", "walk.tsv", "table", qtm_text().encode(), _recording)
    bare = "".join(f"0,0,0.8,0,0,0,1,{0.01 * k:.3f},0.2\n" for k in range(FRAMES))
    yield Sample("csv humanoid", "walk_50hz.csv", "table", bare.encode(), _recording)
    yield Sample("c3d", "walk.c3d", "bytes", _c3d(), _recording)
    joints = {"joints": np.array(["hip", "knee"]), "angles": np.full((FRAMES, 2), 0.1), "joint_rate": np.array(100.0),
              "root": np.tile([0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0], (FRAMES, 1))}  # fmt: skip
    plain = {"labels": np.array(MARKERS), "positions": markers.positions, "marker_times": markers.times,
             "mass": np.array(71.0), "force": forces.total[:, :3], "force_rate": np.array(RATE),
             "sex": np.array("male")}  # fmt: skip
    measured = {"wrenches": forces.values, "frames": np.array(["plate"]), "force_times": forces.times,
                "measured": np.ones((FRAMES, 6), bool)}  # fmt: skip
    yield Sample("npz markers and force", "walk.npz", "archive", _npz(plain), _recording)
    yield Sample("npz joints and wrenches", "robot.npz", "archive", _npz({**joints, **measured}), _recording)
    yield from _segments()


def _segments() -> Iterator[Sample]:
    """Orientations, as skeleton animations, inertial units and body models have them."""
    still = np.tile(np.eye(3), (FRAMES, 1, 1))
    root = np.tile([0.0, 0.0, 0.95], (FRAMES, 1))
    for name, skeleton in (("lafan1", LAFAN1), ("xsens", XSENS)):
        text = bvh_text(skeleton, dict.fromkeys(skeleton.links, still), root)
        yield Sample(f"bvh {name}", "walk.bvh", "table", text.encode(), _recording)
    text = mvnx_text(MVN, {}, root)
    yield Sample("mvnx", "walk.mvnx", "xml", text.encode(), _recording)
    names, upright = ("pelvis", "torso", "thigh_l"), np.tile([0.0, 0.0, 0.0, 1.0], (FRAMES, 3, 1))
    for order, titles in (("stated", ("qx", "qy", "qz", "qw")), ("unstated", ("q0", "q1", "q2", "q3"))):
        text = quaternion_rows(times(), names, upright, titles)
        yield Sample(f"csv quaternions, {order}", "units.csv", "table", text.encode(), _recording)
    yield Sample("sto orientations", "units.sto", "table", storage_text(times(), names, upright).encode(), _recording)
    body = {"poses": np.full((FRAMES, 156), 0.01), "trans": root, "mocap_framerate": np.array(60.0)}
    poses = SegmentPoses(times(), names, np.tile(np.eye(3), (FRAMES, 3, 1, 1)), np.zeros((FRAMES, 3, 3)))
    yield Sample("npz segments", "units.npz", "archive", _npz(segments_to_arrays(poses)), _recording)
    yield Sample("npz body model", "amass.npz", "archive", _npz(body), _recording)


def _bodies(folder: Path) -> Iterator[Sample]:
    """Rigs and marker sets."""

    def marker_set(path: Path) -> object:
        found = load_marker_set(path)
        return (
            found.count_matches(MARKERS),
            found.unknown_names(MARKERS),
            [found.find_location(name) for name in MARKERS],
        )

    def rig(path: Path) -> object:
        found = read_rig(path)
        return found.nq, found.volumes, found.standing_height

    def text(path: Path) -> object:
        return rig_from_text(path.read_text(encoding="utf-8", errors="replace"))

    yield Sample("urdf", "robot.urdf", "xml", URDF.encode(), lambda path: repr(from_urdf(path).model))
    yield Sample("marker set", "mine.json", "json", MARKER_SET.encode(), marker_set)
    yield Sample("rig json", "rig.json", "json", RIG.write(folder / "rig.json", _rig()).read_bytes(), rig)
    yield Sample("rig npz", "rig.npz", "archive", RIG.write(folder / "rig.npz", _rig()).read_bytes(), rig)
    yield Sample("rig text", "rig.txt", "json", rig_to_text(_rig()).encode(), text, named=False)


def _own(folder: Path) -> Iterator[Sample]:
    """Files that this program writes."""
    rig, motion = _rig(), _moving()
    forces = Wrenches(motion.times, ("ground",), np.tile([0.0, 0.0, 98.0, 0.0, 0.0, 0.0], (len(motion), 1, 1)))
    drawn = scene_motion(rig, motion)
    schedule = Schedule.constant(anchors_at(rig, rig.neutral), 0.0, 1.0)
    keys = (Keyframe(0.0, rig.neutral, "fixed"), Keyframe(1.0, rig.neutral, "fixed", "end"))
    markers = Markers(times(), MARKERS, np.tile(STANDING, (FRAMES, 1, 1)))
    summary = SceneSummary(
        "check", "failed", False, "It falls.", (SceneKey(0.0, "fixed"),), (SceneStrip("f", 0.0, 1.0),),
        (SceneFailure("balance", "left_foot", "m", -0.1, 0.5, "it falls"),), ((0.0, 1.0),), (("root", 0.1, 0.01),),
        ("no",), ("yes",), {"pelvis": 3.0}, {"pelvis": float("inf")},
    )  # fmt: skip
    each, settings, details = np.full((3, 10), 0.1), {"preset": "lab", "seed": 3}, {"rank": 3, "list": [1, None]}
    mass = DeterminedQuantity(MASS_KIND, "total mass", rig.links, DATA, *np.ones((3, 1)))
    result = SceneResult(rig.prior, rig.prior, each, each, each, (mass,), "least squares",
                         settings=settings, details=details)  # fmt: skip
    whole = motion_record("walk", rig, motion).with_trial(None)
    danced = whole.with_contacts(schedule, CheckOptions())
    segment = DanceSegment("home", "hold", 1.0, np.zeros((6, rig.nv)), (), ())
    attachments = (Attachment("C7", "pelvis", np.zeros(3)),)
    calibration = Calibration(rig, attachments, "mine", 1.7, {"a": 1.0}, {"C7": 0.1})
    values: dict[tuple[str, str, FileKind[Any]], object] = {
        ("calibration", "calibration.json", CALIBRATION): calibration,
        ("motion", "walk.motion.npz", MOTION): danced,
        ("timeline", "scene.timeline.npz", TIMELINE): SceneTimeline(
            "shown", rig, drawn.times, drawn.root, drawn.rotations, drawn.translations,
            (SceneKey(0.0, "fixed", "start"), SceneKey(0.1, "free")), (SceneStrip(rig.patches[0], 0.0, 0.1),)
        ),
        ("designed "
            "dance", "dance.npz", DESIGNED_DANCE): Dance(rig, (segment,), CheckOptions(), None, (0,),
                seconds=1.0),
        ("authored dance", "keyed.json", AUTHORED_DANCE): AuthoredDance(rig, keys, schedule),
        ("drawn recording", "walk.recording.npz", RECORDING): scene_recording(markers, forces),
        ("summary", "summary.json", SUMMARY): summary,
        ("result", "result.json", RESULT): result,
        ("report", "report.npz", CONTENT): _content(rig),
        ("study", "study.npz", STUDY): StoredStudy(StudyData(rig, Settings(), ()), ("walk",)),
        ("trial", "walk.trial.npz", TRIAL): TrialRecord(Recording("walk", markers, forces), motion=motion),
    }  # fmt: skip
    for (name, file, kind), value in values.items():
        content = kind.write(folder / file, value).read_bytes()
        container = "json" if file.endswith(".json") else "archive"
        yield Sample(name, file, container, content, READERS.get(name, kind.read))


def _dance(path: Path) -> object:
    return repr(load_dance(path))


def _result(path: Path) -> object:
    found = RESULT.read(path)
    with np.errstate(all="ignore"):
        return found.mass_change, found.determined_share, found.limb_masses, found.parameters.consistency_margin


READERS: dict[str, Callable[[Path], object]] = {
    "motion": _dance, "timeline": _dance, "designed dance": _dance, "authored dance": _dance, "result": _result,
    "report": lambda path: render(CONTENT.read(path)),
}  # fmt: skip
"""Of our files, where a user gets more than the value."""


def _meshes() -> Iterator[Sample]:
    def mesh(path: Path) -> object:
        return load_hull("body", path, np.ones(3))

    shape = TETRAHEDRON, TRIANGLES
    yield Sample("stl", "a.stl", "bytes", stl_bytes(*shape), mesh)
    yield Sample("stl text", "a.stl", "table", stl_text(*shape).encode(), mesh)
    yield Sample("obj", "a.obj", "table", obj_text(*shape).encode(), mesh)
    yield Sample("collada", "a.dae", "xml", collada_text(*shape).encode(), mesh)


@cache
def _rig() -> Rig:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(URDF)
        return from_urdf(path)


def _moving() -> Motion:
    rig, frames = _rig(), 6
    stamps = np.arange(frames) / 50.0
    q, v = np.tile(rig.neutral, (frames, 1)), np.zeros((frames, rig.nv))
    q[:, -2:], v[:, -2:] = stamps[:, None] * 5.0, 5.0
    return Motion(stamps, q, v, np.zeros_like(v))


def _content(rig: Rig) -> Content:
    six, stamps = np.full(6, 0.1), np.arange(8) / 10.0
    fit, trial = WrenchFit(six, six), TrialMass("walk", 10.0, 0.1, None, 1.0)
    wave = np.tile(stamps[:, None], (1, 6))
    return Content(
        "Report", rig.name, True, "least squares", "nothing", rig.prior, rig.prior, np.full((3, 10), 0.1),
        (DeterminedQuantity(MASS_KIND, "total mass", rig.links, DATA, *np.ones((3, 1))),), "the model", ("pelvis.m",),
        rig.prior,
        comparisons=(Comparison("walk", True, 8, fit, fit, fit),),
        signals=(Signals("walk", stamps, wave, wave, wave, np.ones(8, bool), np.zeros(8, int), ("a", "b"), 0.1),),
        tracking=(TrackingErrors("walk", ("C7",), np.array([0.01]), np.array([1.0]), 0.01),),
        weighing=MassEstimate(10.0, 0.1, (MassGroup(("walk",), 10.0, 0.1),), (trial,), ()),
        flights=(FlightCheck("jump", 3, (0.1, 0.2), (0.3, 0.4)),),
        load=AddedLoad(rig.links, ("pelvis",), rig.prior, (rig.links[1:2],), six[:3], six[:3], 0.1),
        methods=(("Data", "one"),), warnings=("careful",), notes=("noted",),
    )  # fmt: skip


def _npz(arrays: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _c3d() -> bytes:
    """Markers in millimetres and one plate of type 2."""
    points = np.concatenate([np.tile(1000.0 * STANDING, (FRAMES, 1, 1)), np.zeros((FRAMES, len(MARKERS), 1))], axis=2)
    analogs = np.tile([0.0, 0.0, -700.0, 0.0, 0.0, 0.0], (FRAMES, 2, 1))
    corners = np.array([[400.0, 300.0, 0.0], [-400.0, 300.0, 0.0], [-400.0, -300.0, 0.0], [400.0, -300.0, 0.0]])
    names = [f"F{axis}" for axis in "xyz"] + [f"M{axis}" for axis in "xyz"]
    groups: dict[str, dict[str, object]] = {
        "POINT": {"USED": len(MARKERS), "SCALE": np.array([-1.0]), "RATE": np.array([RATE]), "FRAMES": FRAMES,
                  "LABELS": list(MARKERS), "UNITS": "mm", "DATA_START": 3},
        "ANALOG": {"USED": 6, "LABELS": names, "UNITS": ["N"] * 3 + ["Nmm"] * 3, "RATE": np.array([2.0 * RATE]),
                   "SCALE": np.ones(6), "GEN_SCALE": np.array([1.0]), "OFFSET": np.zeros(6, int)},
        "FORCE_PLATFORM": {"USED": np.array([1]), "TYPE": np.array([2]), "CHANNEL": np.arange(1, 7).reshape(6, 1),
                           "CORNERS": corners.T[:, :, None], "ORIGIN": np.array([[0.0], [0.0], [-40.0]]),
                           "ZERO": np.array([0, 0])},
    }  # fmt: skip
    return c3d_bytes(groups, points, analogs)
