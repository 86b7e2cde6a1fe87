"""NumPy archives in a plain layout that other programs write: recordings.

An archive holds some of:

- ``labels`` (M,) strings, ``positions`` (N, M, 3) [m] z up, and ``marker_times`` (N,) [s] or ``marker_rate`` [1/s];
- ``force`` (K, 3) [N] z up, the total on the body, and ``force_times`` (K,) or ``force_rate``; no moment is known then;
  or ``wrenches`` (K, P, 6) force and moment about the world origin, ``frames`` (P,) strings;
- ``joints`` (C,) strings, ``angles`` (K, C) [rad, m], ``joint_times`` (K,) [s] or ``joint_rate`` [1/s], and ``root``
  (K, 7) [m] position and quaternion xyzw in the world, or nothing, see `joint_files`;
- ``mass`` [kg], ``height`` [m], ``sex``, for the metadata.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import InputError, InvalidValue
from ..motion import JointCoordinates, Markers
from ..trial import Recording
from ..wrenches import Wrenches
from .archive import read_archive, write_archive
from .atomic import write_atomically
from .axes import check_extent, check_up, settle_up, to_z_up, up_of_markers
from .joint_files import joints_of_archive
from .text import Warn, no_warning
from .wrench_checks import check_forces, settle_force_up

METADATA = ("mass", "height", "sex", "subject")
REMEDY = "Write the archive again with the arrays that the documentation of the npz format names"


def read_npz(
    path: str | Path,
    up: str = "auto",
    *,
    sign: int = 1,
    missing: str = "error",
    angles: str | None = None,
    warn: Warn = no_warning,
) -> Recording:
    """A recording from an archive as the module describes.

    Raises:
        InputError: unreadable, arrays missing or of the wrong shape, forces missing, or an axis, unit or sign that
            contradicts the data.
    """
    check_up(up, path)
    arrays = read_archive(path)[0]
    try:
        markers = _markers(path, arrays, up)
        joints = None
        if "joints" in arrays and "angles" in arrays:
            joints = joints_of_archive(path, arrays, _times(path, arrays, "joint", len(arrays["angles"])), angles)
        wrenches = _wrenches(path, arrays, up, sign, missing, warn)
    except (InvalidValue, ValueError, TypeError) as error:
        raise InputError(path, str(error), remedy=REMEDY) from error
    if markers is None and wrenches is None and joints is None:
        problem = f"holds neither positions nor joint angles nor forces, only {', '.join(sorted(arrays)) or 'nothing'}"
        raise InputError(path, problem, remedy=REMEDY)
    metadata = {name: arrays[name].reshape(-1)[0].item() for name in METADATA if arrays.get(name, np.zeros(0)).size}
    return Recording(Path(path).stem, markers, wrenches, metadata=metadata, joints=joints)


def write_recording_npz(path: str | Path, recording: Recording) -> None:
    """A recording without loss, in the layout `read_npz` takes."""
    arrays: dict[str, np.ndarray] = {
        name: np.array(value) for name, value in recording.metadata.items() if name in METADATA
    }
    if recording.markers is not None:
        arrays |= {"labels": np.array(recording.markers.names), "positions": recording.markers.positions,
                   "marker_times": recording.markers.times}  # fmt: skip
    if recording.joints is not None:
        arrays |= _joint_arrays(recording.joints)
    if recording.wrenches is not None:
        assert recording.wrenches.measured is not None
        arrays |= {"wrenches": recording.wrenches.values, "frames": np.array(recording.wrenches.frames),
                   "force_times": recording.wrenches.times, "measured": recording.wrenches.measured}  # fmt: skip
    with write_atomically(path, binary=True) as stream:
        write_archive(stream, arrays, {})


def _markers(path: str | Path, arrays: dict[str, np.ndarray], up: str) -> Markers | None:
    if "positions" not in arrays:
        return None
    positions = np.asarray(arrays["positions"], float)
    names = tuple(str(label) for label in arrays.get("labels", ()))
    if positions.ndim != 3 or positions.shape[1:] != (len(names), 3):
        problem = f"positions has shape {positions.shape}, but there are {len(names)} labels"
        raise InputError(path, problem, place="array positions", remedy=REMEDY)
    times = _times(path, arrays, "marker", len(positions))
    check_extent(positions, path, "m")
    axis = settle_up(up, up_of_markers(names, positions), path)
    return Markers(times, names, positions @ to_z_up(axis).T)


def _wrenches(
    path: str | Path, arrays: dict[str, np.ndarray], up: str, sign: int, missing: str, warn: Warn
) -> Wrenches | None:
    measured: np.ndarray | None = None
    if "wrenches" in arrays:
        values = sign * np.asarray(arrays["wrenches"], float)
        frames = tuple(str(name) for name in arrays.get("frames", [f"plate_{k + 1}" for k in range(values.shape[1])]))
        measured = arrays.get("measured")
    elif "force" in arrays:
        force = sign * np.asarray(arrays["force"], float)
        if force.ndim != 2 or force.shape[1] != 3:
            raise InputError(path, f"force has shape {force.shape}, not (N, 3)", place="array force", remedy=REMEDY)
        values = np.concatenate([force, np.full_like(force, np.nan)], axis=1)[:, None, :]
        frames, measured = ("total",), np.tile([True] * 3 + [False] * 3, (len(force), 1))
        warn(f"{Path(path).name}: forces without moments: moments count as not measured")
    else:
        return None
    gone = ~np.isfinite(values[:, :, :3]).all(axis=(1, 2))
    if gone.any():
        problem = f"{int(gone.sum())} of {len(gone)} force samples are missing"
        if missing == "error":
            place = f"force sample {int(np.argmax(gone))}"
            remedy = "Write the forces again, or read with missing = keep to leave these samples out"
            raise InputError(path, problem, place=place, remedy=remedy)
        warn(f"{Path(path).name}: {problem} and left out")
    rotation = to_z_up(settle_force_up(up, values[:, :, :3].sum(axis=1), path)).T
    values = np.concatenate([values[:, :, :3] @ rotation, values[:, :, 3:] @ rotation], axis=2)
    wrenches = Wrenches(_times(path, arrays, "force", len(values)), frames, values, measured)
    check_forces(wrenches, path)
    return wrenches


def _joint_arrays(joints: JointCoordinates) -> dict[str, np.ndarray]:
    """Joint coordinates in the archive's layout, degrees as radians.

    Raises:
        InvalidValue: a coordinate of a file that leaves open whether it turns or slides, in degrees if it turns.
    """
    if "deg or m" in joints.units:
        raise InvalidValue("joint coordinates in degrees must be matched to a rig before an archive can hold them")
    arrays = {"joints": np.array(joints.names), "angles": joints.values, "joint_times": joints.times}
    return arrays if joints.root is None else {**arrays, "root": joints.root}


def _times(path: str | Path, arrays: dict[str, np.ndarray], kind: str, count: int) -> np.ndarray:
    """Time stamps of one kind of samples, given or from their rate."""
    if f"{kind}_times" in arrays:
        return np.asarray(arrays[f"{kind}_times"], float)
    if f"{kind}_rate" not in arrays:
        problem = f"neither {kind}_times nor {kind}_rate is there"
        raise InputError(path, problem, remedy=REMEDY)
    rate = float(arrays[f"{kind}_rate"].reshape(-1)[0])
    if not rate > 0.0:
        raise InputError(path, f"{kind}_rate is {rate:g}", place=f"array {kind}_rate", remedy="Give samples per second")
    return np.arange(count) / rate
