"""Laws of finding the parts of a person among the bones of a skeleton."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.formats.smpl import JOINT_NAMES, JOINT_PARENTS, T_POSE_OFFSETS
from solver.skeleton.match import match_recording
from solver.skeleton.names import match_segments, strip_shared_words
from solver.values.motion import RestPose, SegmentPoses
from solver.values.person import LINKS

JAPANESE = (
    "センター 左足 右足 上半身 左ひざ 右ひざ 上半身2 左足首 右足首 胸 左つま先 右つま先 首 左肩 右肩 頭 "
    "左腕 右腕 左ひじ 右ひじ 左手首 右手首"
)
CONVENTIONS = {
    "prefix": [f"Bob_{name}" for name in JOINT_NAMES],
    "namespace": [f"Actor_2:{name}" for name in JOINT_NAMES],
    "number": [f"{name}.001" for name in JOINT_NAMES],
    "prefix of most": [f"DEF-{name}" if k else "root" for k, name in enumerate(JOINT_NAMES)],
    "numbered": [f"Bone{k:02d}" for k in range(len(JOINT_NAMES))],
    "Japanese": JAPANESE.split(),
    "thighs without known name": [name.replace("hip", "limb") for name in JOINT_NAMES],
    "legs named one joint too low": [
        name.replace("knee", "leg").replace("left_hip", "leg_root_L").replace("right_hip", "leg_root_R")
        for name in JOINT_NAMES
    ],
}


def recording(yaw: float = 0.0, names: tuple[str, ...] = JOINT_NAMES, mirrored: bool = False) -> SegmentPoses:
    """One frame of a body in T-pose that faces x turned by an angle [rad] about the vertical."""
    heads = np.zeros((len(JOINT_NAMES), 3))
    for k, parent in enumerate(JOINT_PARENTS):
        heads[k] = (0.0 if parent < 0 else heads[parent]) + T_POSE_OFFSETS[k]
    heads = heads[:, [2, 0, 1]] * [1.0, -1.0 if mirrored else 1.0, 1.0]  # x left, y up, z forward before
    tips = np.array([
        np.mean([heads[c] for c, parent in enumerate(JOINT_PARENTS) if parent == k] or [heads[k] + [0.1, 0.0, 0.1]],
                axis=0)
        for k in range(len(heads))
    ])  # fmt: skip
    turn = exp(np.array([0.0, 0.0, yaw]))
    axes = np.tile(np.eye(3), (1, len(heads), 1, 1))
    rest = RestPose(axes[0], heads @ turn.T, tips @ turn.T, JOINT_PARENTS)
    return SegmentPoses(np.zeros(1), names, axes, rest.heads[None], rest)


def found_joints(segments: SegmentPoses) -> dict[str, int]:
    """Index of the joint of each part."""
    return {part: segments.names.index(name) for part, name in match_recording(segments).items()}


@pytest.mark.parametrize("yaw", [0.0, 2.0])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_names_do_not_change_the_parts(convention: str, yaw: float) -> None:
    """The same joints are found under any names and in any heading; none is found at another joint."""
    expected = found_joints(recording())
    assert set(expected) == set(LINKS)
    assert found_joints(recording(yaw, tuple(CONVENTIONS[convention]))) == expected


def test_the_feet_say_the_sides_where_names_do_not() -> None:
    """Of a mirrored body with numbered joints the left side is that on the left of the feet's direction."""
    plain, mirrored = (found_joints(recording(names=tuple(CONVENTIONS["numbered"]), mirrored=m)) for m in (False, True))
    assert set(plain) == set(mirrored) == set(LINKS)
    for part in LINKS:
        side, _, name = part.partition("_")
        other = {"left": "right_", "right": "left_"}.get(side, side) + name
        assert mirrored[part] == plain[other]


def test_without_a_tree_names_decide() -> None:
    """A recording of inertial units, which have no rest pose, is matched by names; unknown ones are left out."""
    segments = replace(recording(), rest=None)
    assert match_recording(segments) == match_segments(JOINT_NAMES)
    assert match_recording(replace(segments, names=tuple(CONVENTIONS["numbered"]))) == {}


def test_shared_words_end_at_a_separator() -> None:
    """Sides and a word that few names have stay; a prefix ends where a word ends."""
    assert strip_shared_words(["L_Leg", "L_Foot", "R_Leg", "R_Foot"]) == ["L_Leg", "L_Foot", "R_Leg", "R_Foot"]
    assert strip_shared_words(["BobHips", "BobHead", "BobHand"]) == ["Hips", "Head", "Hand"]
    assert strip_shared_words(["Hand"]) == ["Hand"]
