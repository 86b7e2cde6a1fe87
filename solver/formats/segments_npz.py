"""Segments of a body in the plain layout of NumPy archives, see `arrays_npz`."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..motion import RestPose, SegmentPoses
from ..so3 import to_matrix, to_quaternion
from .npz_entries import NpzArrays

MAX_LENGTH_ERROR = 1e-3
REMEDY = "Write the archive again with unit quaternions xyzw, one for each segment and frame"


def segments_from_arrays(arrays: NpzArrays) -> SegmentPoses:
    """The segments of an archive's arrays.

    Raises:
        InputError: an array is missing, of another shape, or holds quaternions that are none.
    """
    names = arrays.strings("segments")
    turns = arrays.real_array("segment_quaternions", 3)
    if turns.shape[1:] != (len(names), 4):
        problem = f"holds an array of shape {turns.shape}, not (frames, {len(names)}, 4)"
        raise InputError(arrays.path, problem, place="array segment_quaternions", remedy=REMEDY)
    positions = arrays.real_array("segment_positions", 3) if "segment_positions" in arrays.by_name else None
    rest = None
    if "rest_quaternions" in arrays.by_name:
        axes = _rotation_matrices(arrays, "rest_quaternions", arrays.real_array("rest_quaternions", 2))
        rest = RestPose(axes, arrays.real_array("rest_heads", 2), arrays.real_array("rest_tips", 2))
    times = arrays.times("segment", len(turns))
    return SegmentPoses(times, names, _rotation_matrices(arrays, "segment_quaternions", turns), positions, rest)


def segments_to_arrays(segments: SegmentPoses) -> dict[str, np.ndarray]:
    """Segments in the archive's layout."""
    turns = np.full((*segments.rotations.shape[:2], 4), np.nan)
    known = np.isfinite(segments.rotations).all(axis=(2, 3))
    turns[known] = to_quaternion(segments.rotations[known])
    arrays = {
        "segments": np.array(segments.names),
        "segment_quaternions": turns,
        "segment_times": segments.times,
    }
    if segments.positions is not None:
        arrays["segment_positions"] = segments.positions
    if segments.rest is not None:
        arrays |= {"rest_quaternions": to_quaternion(segments.rest.rotations), "rest_heads": segments.rest.heads,
                   "rest_tips": segments.rest.tips}  # fmt: skip
    return arrays


def _rotation_matrices(arrays: NpzArrays, name: str, quaternions: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of quaternions (..., 4), NaN where missing."""
    if quaternions.shape[-1] != 4:
        raise InputError(
            arrays.path, f"holds an array of shape {quaternions.shape}", place=f"array {name}", remedy=REMEDY
        )
    with np.errstate(over="ignore"):
        length = np.linalg.norm(quaternions, axis=-1)
    known = np.isfinite(quaternions).all(axis=-1)
    off = known & ~(np.abs(length - 1.0) < MAX_LENGTH_ERROR)
    if off.any():
        problem = f"holds a quaternion of length {length[off][0]:.4g}"
        raise InputError(arrays.path, problem, place=f"array {name}", remedy=REMEDY)
    rotations = np.full((*quaternions.shape[:-1], 3, 3), np.nan)
    if known.any():
        rotations[known] = to_matrix(quaternions[known] / length[known][:, None])
    return rotations
