"""Recordings in NumPy archives (.npz) with a simple layout that other programs can write.

An archive holds some of:

- ``labels`` (M,) strings, ``positions`` (N, M, 3) [m] z up, and ``marker_times`` (N,) [s] or ``marker_rate`` [1/s];
- ``force`` (K, 3) [N] z up, the total force on the body, without moments, and ``force_times`` (K,) or ``force_rate``;
  or ``wrenches`` (K, P, 6) force and moment about the world origin, ``frames`` (P,) strings;
- ``joints`` (C,) strings, ``angles`` (K, C) [rad, m], ``joint_times`` (K,) [s] or ``joint_rate`` [1/s], and optionally
  ``root`` (K, 7) [m] position and quaternion xyzw in the world, see `joint_coordinates`; ``speeds`` (K, C + 6) and
  ``torques`` (K, C) of an exported dance are not read;
- ``segments`` (B,) strings, ``segment_quaternions`` (N, B, 4) xyzw from segment axes to the world, z up, NaN where
  missing, ``segment_times`` (N,) or ``segment_rate``, optionally ``segment_positions`` (N, B, 3) [m], and optionally
  the rest pose: ``rest_quaternions`` (B, 4), ``rest_heads`` and ``rest_tips`` (B, 3) [m], ``rest_parents`` (B,);
- ``poses`` and ``trans`` of a body model, see `smpl`;
- body states as humanoid laboratories exchange them (``joint_pos``, ``body_pos_w`` ...), see `humanoid`;
- ``mass`` [kg], ``height`` [m], ``sex``, for the metadata.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.errors import InputError, InvalidValue
from ..base.so3 import to_matrix, to_quaternion
from ..dynamics.coordinates import joint_coordinates
from ..options.reading import DEFAULT_OPTIONS, ReadOptions
from ..signals.trial import Recording
from ..skeleton.rig import ROOT_NV, Rig
from ..storage.atomic import write_atomically
from ..storage.codec import TREE_ENTRY
from ..storage.npz_archive import entry_names, read_archive, write_archive
from ..values.motion import UNIT_QUATERNION, JointCoordinates, Markers, Motion, RestPose, SegmentPoses
from ..values.wrenches import Wrenches
from .axes_and_units import check_extent, resolve_up, to_z_up, up_from_markers
from .file_formats import BOTH
from .humanoid_motions import BODY_STATE_KEYS, has_body_states, read_body_states
from .joint_coordinates import coordinate_names, joints_from_arrays
from .npz_arrays import REMEDY, NpzArrays
from .smpl import BODY_MODEL_KEYS, has_body_model, read_body_model
from .text_files import Warn, ignore_warning
from .trial_names import printable_name
from .uniform_sampling import resample_wrenches
from .wrench_checks import check_centres_of_pressure, report_missing, resolve_force_up

QUATERNION_REMEDY = "Write the archive again with unit quaternions xyzw, one for each segment and frame"
METADATA = ("mass", "height", "sex", "subject")
RECORDING_KEYS = (
    {"positions"},
    {"force"},
    {"wrenches"},
    {"joints", "angles"},
    {"segments"},
    *BODY_MODEL_KEYS,
    BODY_STATE_KEYS,
)
"""Sets of arrays; an archive with a recording holds at least one of them."""


def read_npz(path: str | Path, options: ReadOptions = DEFAULT_OPTIONS, *, warn: Warn = ignore_warning) -> Recording:
    """Read a recording from an archive with the layout of this module.

    Raises:
        InputError: unreadable file, missing arrays, wrong shapes, missing forces, or an axis, unit or sign that
            contradicts the data.
    """
    found, others = read_archive(path)
    if TREE_ENTRY in others:
        remedy = "Name the .joints.csv beside it, or use a command that takes a motion"
        raise InputError(path, "is a file of this program, not a recording", remedy=remedy)
    arrays = NpzArrays(path, found)
    try:
        markers = _read_markers(arrays, options)
        joints = None
        if "joints" in arrays.by_name and "angles" in arrays.by_name:
            values = arrays.real_array("angles", 2)
            times = arrays.times("joint", len(values))
            root = arrays.real_array("root", 2) if "root" in arrays.by_name else None
            joints = joints_from_arrays(path, times, arrays.strings("joints"), values, root, options.angle_units)
        elif has_body_states(arrays):
            joints = read_body_states(arrays, options.angle_units)
        segments = _read_segments(arrays) if "segments" in arrays.by_name else None
        if segments is None and has_body_model(arrays):
            segments = read_body_model(arrays, options.up)
        wrenches = _read_wrenches(arrays, options, warn)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy=REMEDY) from error
    if markers is None and wrenches is None and joints is None and segments is None:
        held = ", ".join(sorted(arrays.by_name)) or "nothing"
        raise InputError(path, f"holds neither positions nor joint angles nor forces, only {held}", remedy=REMEDY)
    return Recording(
        printable_name(Path(path).stem),
        markers,
        wrenches,
        metadata=_read_metadata(arrays),
        joints=joints,
        segments=segments,
    )


def has_recording(path: str | Path) -> bool:
    """Whether an archive has the arrays of a recording; also True for a damaged one, which the reader then refuses.

    Raises:
        InputError: no file, unreadable, empty or too large.
    """
    names = entry_names(path)
    return names is None or (TREE_ENTRY not in names and any(keys <= names for keys in RECORDING_KEYS))


def find_kind(path: Path, searching: bool) -> str | None:
    """Several kinds; None in a folder that is searched for an archive that is not a recording."""
    return None if searching and not has_recording(path) else BOTH


def read_recording_file(path: Path, options: ReadOptions, motion_up: str | None, warn: Warn) -> tuple[Recording, str]:
    """Read an archive, which is z up after reading; see `file_formats.FileFormat`."""
    return read_npz(path, options, warn=warn), "z"


def write_recording_npz(path: str | Path, recording: Recording) -> None:
    """Write a recording without loss in the layout that `read_npz` reads."""
    arrays: dict[str, np.ndarray] = {
        name: np.array(value) for name, value in recording.metadata.items() if name in METADATA
    }
    if recording.markers is not None:
        arrays |= {"labels": np.array(recording.markers.names), "positions": recording.markers.positions,
                   "marker_times": recording.markers.times}  # fmt: skip
    if recording.joints is not None:
        arrays |= _joint_arrays(recording.joints)
    if recording.segments is not None:
        arrays |= segments_to_arrays(recording.segments)
    if recording.wrenches is not None:
        assert recording.wrenches.measured is not None
        arrays |= {"wrenches": recording.wrenches.values, "frames": np.array(recording.wrenches.frames),
                   "force_times": recording.wrenches.times, "measured": recording.wrenches.measured}  # fmt: skip
    with write_atomically(path, binary=True) as stream:
        write_archive(stream, arrays, {})


def _read_markers(arrays: NpzArrays, options: ReadOptions) -> Markers | None:
    if "positions" not in arrays.by_name:
        return None
    path, positions = arrays.path, arrays.real_array("positions", 3)
    names = arrays.strings("labels") if "labels" in arrays.by_name else ()
    if positions.shape[1:] != (len(names), 3):
        problem = f"positions has shape {positions.shape}, but there are {len(names)} labels"
        raise InputError(path, problem, place="array positions", remedy=REMEDY)
    times = arrays.times("marker", len(positions))
    check_extent(positions, path, "m")
    axis = resolve_up(options.up, up_from_markers(names, positions), path)
    return Markers(times, names, positions @ to_z_up(axis).T)


def _read_wrenches(arrays: NpzArrays, options: ReadOptions, warn: Warn) -> Wrenches | None:
    path, measured = arrays.path, None
    if "wrenches" in arrays.by_name:
        values = (options.sign or 1) * arrays.real_array("wrenches", 3)
        plates = [f"plate_{k + 1}" for k in range(values.shape[1])]
        frames = arrays.strings("frames") if "frames" in arrays.by_name else tuple(plates)
        if values.shape[1:] != (len(frames), 6):
            problem = f"wrenches has shape {values.shape}, but there are {len(frames)} plates with six components"
            raise InputError(path, problem, place="array wrenches", remedy=REMEDY)
        measured = arrays.by_name.get("measured")
        if measured is not None and (measured.dtype != bool or measured.shape != (len(values), 6)):
            problem = f"measured is {measured.dtype} of shape {measured.shape}, not bool of {(len(values), 6)}"
            raise InputError(path, problem, place="array measured", remedy=REMEDY)
    elif "force" in arrays.by_name:
        force = (options.sign or 1) * arrays.real_array("force", 2)
        if force.shape[1] != 3:
            raise InputError(path, f"force has shape {force.shape}, not (N, 3)", place="array force", remedy=REMEDY)
        values = np.concatenate([force, np.full_like(force, np.nan)], axis=1)[:, None, :]
        frames, measured = ("total",), np.tile([True] * 3 + [False] * 3, (len(force), 1))
        warn(f"{Path(path).name}: forces without moments: moments are treated as not measured")
    else:
        return None
    times = arrays.times("force", len(values))
    absent = ~np.isfinite(values[:, :, :3]).all(axis=(1, 2))
    report_missing(path, absent, f"force sample {next(iter(np.flatnonzero(absent)), 0)}", options.missing, warn)
    rotation = to_z_up(resolve_force_up(options.up, values[:, :, :3].sum(axis=1), path)).T
    values = np.concatenate([values[:, :, :3] @ rotation, values[:, :, 3:] @ rotation], axis=2)
    wrenches = Wrenches(times, frames, values, measured)
    wrenches = resample_wrenches(path, wrenches, np.arange(len(times)), options.missing, warn)
    check_centres_of_pressure(wrenches, path)
    return wrenches


def _read_metadata(arrays: NpzArrays) -> dict[str, object]:
    """Metadata of the subject; empty arrays are ignored."""
    found: dict[str, object] = {}
    for name in METADATA:
        array = arrays.by_name.get(name, np.zeros(0))
        if not array.size:
            continue
        if name == "subject" and array.dtype.kind in "iu":
            found[name] = str(array.reshape(-1)[0])
        else:
            found[name] = arrays.positive_number(name) if name in ("mass", "height") else arrays.strings(name)[0]
    return found


def write_motion_archive(path: str | Path, rig: Rig, motion: Motion, torques: np.ndarray | None) -> None:
    """Write a motion with its speeds (N, nv), the root's first, and torques (N, nv - 6) [N m] if they are known."""
    arrays = {
        "joints": np.array(coordinate_names(rig)[ROOT_NV:]), "angles": joint_coordinates(rig, motion.q),
        "joint_times": motion.times, "root": motion.q[:, : ROOT_NV + 1], "speeds": motion.v,
    }  # fmt: skip
    with write_atomically(path, binary=True) as stream:
        write_archive(stream, arrays if torques is None else {**arrays, "torques": torques}, {})


def _joint_arrays(joints: JointCoordinates) -> dict[str, np.ndarray]:
    """Joint coordinates in the archive's layout, angles in radians.

    Raises:
        InvalidValue: angles in degrees in a file that does not say which coordinates are angles.
    """
    if "deg or m" in joints.units:
        raise InvalidValue("joint coordinates in degrees must be matched to a rig before an archive can hold them")
    arrays = {"joints": np.array(joints.names), "angles": joints.values, "joint_times": joints.times}
    return arrays if joints.root is None else {**arrays, "root": joints.root}


def _read_segments(arrays: NpzArrays) -> SegmentPoses:
    """The segments of an archive's arrays.

    Raises:
        InputError: an array is missing, of another shape, or holds quaternions that are none.
    """
    names = arrays.strings("segments")
    turns = arrays.real_array("segment_quaternions", 3)
    if turns.shape[1:] != (len(names), 4):
        problem = f"holds an array of shape {turns.shape}, not (frames, {len(names)}, 4)"
        raise InputError(arrays.path, problem, place="array segment_quaternions", remedy=QUATERNION_REMEDY)
    positions = arrays.real_array("segment_positions", 3) if "segment_positions" in arrays.by_name else None
    rest = None
    if "rest_quaternions" in arrays.by_name:
        axes = _rotation_matrices(arrays, "rest_quaternions", arrays.real_array("rest_quaternions", 2))
        parents = arrays.real_array("rest_parents", 1) if "rest_parents" in arrays.by_name else np.zeros(0)
        if not np.array_equal(parents, np.trunc(parents)):
            raise InputError(arrays.path, "holds numbers that are no indices", place="array rest_parents")
        ends = arrays.real_array("rest_heads", 2), arrays.real_array("rest_tips", 2)
        rest = RestPose(axes, *ends, tuple(map(int, parents)))
    times = arrays.times("segment", len(turns))
    return SegmentPoses(times, names, _rotation_matrices(arrays, "segment_quaternions", turns), positions, rest)


def segments_to_arrays(segments: SegmentPoses) -> dict[str, np.ndarray]:
    """Segments in the archive's layout."""
    arrays = {
        "segments": np.array(segments.names),
        "segment_quaternions": to_quaternion(segments.rotations),
        "segment_times": segments.times,
    }
    if segments.positions is not None:
        arrays["segment_positions"] = segments.positions
    if segments.rest is not None:
        arrays |= {"rest_quaternions": to_quaternion(segments.rest.rotations), "rest_heads": segments.rest.heads,
                   "rest_tips": segments.rest.tips, "rest_parents": np.array(segments.rest.parents, int)}  # fmt: skip
    return arrays


def _rotation_matrices(arrays: NpzArrays, name: str, quaternions: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of quaternions (..., 4), NaN where missing."""
    if quaternions.shape[-1] != 4:
        raise InputError(
            arrays.path, f"holds an array of shape {quaternions.shape}", place=f"array {name}", remedy=QUATERNION_REMEDY
        )
    with np.errstate(over="ignore"):
        length = np.linalg.norm(quaternions, axis=-1)
    off = np.isfinite(quaternions).all(axis=-1) & ~(np.abs(length - 1.0) < UNIT_QUATERNION)
    if off.any():
        problem = f"holds a quaternion of length {length[off][0]:.4g}"
        raise InputError(arrays.path, problem, place=f"array {name}", remedy=QUATERNION_REMEDY)
    return to_matrix(quaternions / length[..., None])
