"""What a dance excites, on the bones: condition numbers and the deviations to expect, as properties with units."""

from __future__ import annotations

import json
from collections.abc import Mapping

import bpy

from . import bpy_access as typed
from . import custom_properties as custom
from .solver_api import errors

EXCITATION, DEVIATION = "excitation", "predicted_deviation"
"""Custom properties of each bone."""
SCORES_KEY = "exciting_dance_scores"
"""Custom property of an action: both by link (JSON), for when the action is put to use."""
LARGEST_CONDITION = 1e12
"""A condition number beyond this, or infinite, is written as this: the link is not excited."""
DESCRIPTIONS = {
    EXCITATION: "Condition number of this link's part of the regressor over the dance [1]; less is better excited",
    DEVIATION: "Relative standard deviation to expect of this link's base parameters [1], the median of them",
}


def write_scores(body: bpy.types.Object, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> bool:
    """Write what a dance excites to the bones; links without a value lose theirs.

    Returns:
        whether it was written: the bones of a library override are linked, and what is written to them is lost.
    """
    import numpy as np

    if typed.armature(body).library is not None:
        return False
    for bone in typed.armature(body).bones:
        for name, values in ((EXCITATION, excitation), (DEVIATION, deviation)):
            if bone.name in values:
                bone[name] = float(np.clip(values[bone.name], 0.0, LARGEST_CONDITION))
                bone.id_properties_ui(name).update(description=DESCRIPTIONS[name], min=0.0, precision=3)
            elif name in bone:
                del bone[name]
    return True


def read_score(body: bpy.types.Object, name: str) -> dict[str, float]:
    """A score by link; NaN where unknown."""
    return {bone.name: _read_bone_score(bone, name) for bone in typed.armature(body).bones}


def _read_bone_score(bone: bpy.types.Bone, name: str) -> float:
    import numpy as np

    try:
        return custom.read_number(bone, name)
    except errors.InvalidValue:
        return np.nan


def has_scores(body: bpy.types.Object) -> bool:
    """Whether a dance's scores are on the bones."""
    return any(EXCITATION in bone for bone in typed.armature(body).bones)


def store_scores(action: bpy.types.Action, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> None:
    """Keep the scores of a dance that is not yet the body's."""
    kept = {EXCITATION: excitation, DEVIATION: deviation}
    clipped = {
        name: {link: min(value, LARGEST_CONDITION) for link, value in values.items()} for name, values in kept.items()
    }
    action[SCORES_KEY] = json.dumps(clipped)


def read_stored_scores(action: bpy.types.Action) -> tuple[dict[str, float], dict[str, float]] | None:
    """The scores that an action keeps, by link: what is excited and the deviations; None without any.

    Raises:
        InvalidValue: they are damaged.
    """
    tree = custom.read_object(action, SCORES_KEY)
    if not tree:
        return None
    try:
        found = [{str(k): float(v) for k, v in tree[name].items()} for name in (EXCITATION, DEVIATION)]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise custom.damaged_error(action, SCORES_KEY, f"it holds no scores: {error}") from None
    return found[0], found[1]
