"""Checks of an armature whose bones are matched with the parts of a person."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..base.errors import InvalidValue
from ..signals.trial import Recording
from ..skeleton.match import PELVIS, Skeleton
from ..values.motion import RestPose, SegmentPoses
from ..values.person import CHAINS, SIDES
from .check_definition import InputToCheck
from .check_recording import check_recording, find_problems

NEEDED = (PELVIS, *(f"{side}_{name}" for side in SIDES for name in CHAINS[1]))
"""Parts without which a character cannot be posed on its feet."""


def require_parts(skeleton: Skeleton, parts: Mapping[str, str]) -> None:
    """Raise an error if a match cannot be used.

    Raises:
        InvalidValue: a needed part is missing, two parts are one bone, or a check fails: lying, or left and right
            exchanged.
    """
    if lacking := [part for part in NEEDED if part not in parts]:
        words = ", ".join(part.replace("_", " ") for part in lacking)
        raise InvalidValue(f"no bone was found for {words}: choose the bones, or rename them as in Mixamo or Rigify")
    if repeated := sorted({bone for bone in parts.values() if list(parts.values()).count(bone) > 1}):
        both = " and ".join(part.replace("_", " ") for part, bone in parts.items() if bone == repeated[0])
        raise InvalidValue(f"bone {repeated[0]!r} is {both}: choose one bone for each part")
    turns = np.tile(np.eye(3), (len(skeleton.bones), 1, 1))
    rest = RestPose(turns, skeleton.heads, skeleton.tails, tuple(skeleton.parents))
    segments = SegmentPoses(np.zeros(1), tuple(skeleton.bones), turns[None], skeleton.heads[None], rest)
    for _, problem in find_problems(InputToCheck(Recording("armature", segments=segments), parts=parts)):
        raise InvalidValue(f"the armature in rest pose: {problem.text}. {problem.remedy}")


def describe_body(recording: Recording) -> str:
    """Height and rest pose of a recorded skeleton, and how its lengths and axes are read.

    Raises:
        InputError: a check fails, as of `check_recording`.
        InvalidValue: legs are missing.
    """
    checked = check_recording(recording)
    found, segments = checked.found, checked.segments
    if segments is None or found is None or found.rest is None or any(part not in found.parts for part in NEEDED):
        raise InvalidValue("no bones were found for the pelvis and legs: choose them above")
    pelvis, foot = (found.rest.heads[segments.names.index(found.parts[part])] for part in (PELVIS, "left_foot"))
    axis = "xyz"[int(np.argmax(np.abs(pelvis - foot)))]
    posture = "upright" if axis == "z" else f"lying along {axis}"
    return f"{found.stature:.2f} m tall{found.reading and f', read with {found.reading}'}; {posture} in rest pose"
