"""Motions of the SMPL family of body models (AMASS, SMPL-H, SMPL-X): joint rotations and root position in an archive.

``poses`` (N, 3 J) holds rotation vectors [rad] of the joints relative to their parents, the body's 22 joints first;
alternatively ``root_orient`` (N, 3) and ``pose_body`` (N, 63) hold them. ``trans`` (N, 3) [m] is the position of the
root and ``mocap_framerate`` or ``mocap_frame_rate`` [1/s] the frame rate. World z up. Shapes, hands and faces are not
read, so that no body model is needed and lengths are unknown.
"""

from __future__ import annotations

import numpy as np

from ..base.errors import InputError
from ..base.so3 import exp
from ..values.joints import chain_poses
from ..values.motion import RestPose, SegmentPoses
from .axes_and_units import to_z_up
from .npz_arrays import NpzArrays

JOINT_NAMES = ("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle",
    "right_ankle",
         "spine3", "left_toes", "right_toes", "neck", "left_collar", "right_collar", "head", "left_shoulder",
         "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist")  # fmt: skip
"""The joints of the body in the models' order; the models' left_foot and right_foot rotate the toes."""
JOINT_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
"""By definition of the SMPL body."""
T_POSE_OFFSETS = np.array([
    [0.0, 0.0, 0.0], [0.06, -0.09, 0.0], [-0.06, -0.09, 0.0], [0.0, 0.11, -0.02], [0.04, -0.38, 0.0],
    [-0.04, -0.38, 0.0], [0.0, 0.14, 0.02], [-0.01, -0.40, -0.04], [0.01, -0.40, -0.04], [0.0, 0.06, 0.02],
    [0.03, -0.06, 0.12], [-0.03, -0.06, 0.12], [0.0, 0.21, -0.03], [0.08, 0.12, -0.02], [-0.08, 0.12, -0.02],
    [0.0, 0.08, 0.05], [0.10, 0.04, 0.0], [-0.10, 0.04, 0.0], [0.26, 0.0, 0.0], [-0.26, 0.0, 0.0],
    [0.25, 0.0, 0.0], [-0.25, 0.0, 0.0],
])  # fmt: skip
"""[m] Approximate position of each joint relative to its parent in a T-pose: x left, y up, z forward; only the
directions are used."""
HAND_END, HEAD_END, TOE_END = np.array([0.1, 0.0, 0.0]), np.array([0.0, 0.15, 0.0]), np.array([0.0, 0.0, 0.06])
"""[m] From wrist, head and toe joints to the ends of their segments."""
MODEL_TO_WORLD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Rotation from the model's axes to x forward, y left, z up. By definition."""
RATE_KEYS = ("mocap_framerate", "mocap_frame_rate", "frame_rate", "fps")
ROOT_KEY, BODY_KEY = "root_orient", "pose_body"
BODY_MODEL_KEYS = ({"trans", "poses"}, {"trans", ROOT_KEY, BODY_KEY})
REMEDY = "Use the archive as it was published, with poses (or root_orient and pose_body), trans and the frame rate"
MAX_ROTATION = 4.0 * np.pi
"""[rad] Longer vectors are not rotation vectors. Measured on the recordings of `axes_and_units.AXIS_DOMINANCE`: half
and twice the value read the same, a tenth refuses one."""


def has_body_model(arrays: NpzArrays) -> bool:
    """Whether an archive holds a motion of a body model."""
    return any(keys <= set(arrays.by_name) for keys in BODY_MODEL_KEYS)


def read_body_model(arrays: NpzArrays, up: str = "auto") -> SegmentPoses:
    """The segment poses in an archive's arrays, whose world is z up unless another axis is stated.

    Raises:
        InputError: an array of a wrong shape, no frame rate, or rotation vectors beyond two turns.
    """
    if "poses" in arrays.by_name:
        vectors = arrays.real_array("poses", 2)
    else:
        vectors = np.concatenate([arrays.real_array(ROOT_KEY, 2), arrays.real_array(BODY_KEY, 2)], axis=1)
    count = 3 * len(JOINT_NAMES)
    if vectors.shape[1] < count:
        problem = f"holds rotations of {vectors.shape[1] / 3:g} joints, fewer than the {len(JOINT_NAMES)} of the body"
        raise InputError(arrays.path, problem, place="array poses", remedy=REMEDY)
    place = arrays.real_array("trans", 2)
    if place.shape != (len(vectors), 3):
        problem = f"holds an array of shape {place.shape}, not {(len(vectors), 3)}"
        raise InputError(arrays.path, problem, place="array trans", remedy=REMEDY)
    rate = next((arrays.positive_number(name) for name in RATE_KEYS if name in arrays.by_name), None)
    if rate is None:
        raise InputError(arrays.path, f"states no frame rate ({', '.join(RATE_KEYS)})", remedy=REMEDY)
    turns = vectors[:, :count].reshape(len(vectors), len(JOINT_NAMES), 3)
    if np.nanmax(np.abs(turns), initial=0.0) > MAX_ROTATION:
        problem = f"holds rotation vectors up to {np.nanmax(np.abs(turns)):.3g} rad"
        raise InputError(arrays.path, problem, place="array poses", remedy=REMEDY)
    heads = chain_poses(JOINT_PARENTS, np.tile(np.eye(3), (len(JOINT_NAMES), 1, 1)), T_POSE_OFFSETS)[1]
    rotations = chain_poses(JOINT_PARENTS, exp(turns), T_POSE_OFFSETS)[0]
    positions = np.full((len(vectors), len(JOINT_NAMES), 3), np.nan)
    upright = to_z_up("z" if up == "auto" else up)
    rotations, positions[:, 0] = upright @ rotations, place @ upright.T
    return SegmentPoses(np.arange(len(vectors)) / rate, JOINT_NAMES, rotations, positions, _rest_pose(heads))


def _rest_pose(heads: np.ndarray) -> RestPose:
    """The T-pose, x forward and z up."""
    ends = {
        "left_wrist": HAND_END,
        "right_wrist": -HAND_END,
        "head": HEAD_END,
        "left_toes": TOE_END,
        "right_toes": TOE_END,
    }
    tips = np.empty_like(heads)
    for k, name in enumerate(JOINT_NAMES):
        children = [c for c, parent in enumerate(JOINT_PARENTS) if parent == k]
        tips[k] = heads[children].mean(axis=0) if children else heads[k] + ends[name]
    return RestPose(
        np.tile(MODEL_TO_WORLD, (len(JOINT_NAMES), 1, 1)),
        heads @ MODEL_TO_WORLD.T,
        tips @ MODEL_TO_WORLD.T,
        JOINT_PARENTS,
    )
