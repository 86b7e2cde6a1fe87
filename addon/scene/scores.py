"""Scores of a dance on the bones: condition numbers and predicted standard deviations, as custom properties."""

from __future__ import annotations

import json
from collections.abc import Mapping

import bpy

from ..base import bpy_access, custom_properties
from ..base.solver_api import errors

EXCITATION, DEVIATION = "excitation", "predicted_deviation"
"""Custom properties of each bone."""
SCORES_KEY = "exciting_dance_scores"
"""Custom property of an action: both scores by link (JSON), until the action is applied."""
LARGEST_CONDITION = 1e12
"""Largest condition number that is written; a larger or infinite one means that the link is not excited."""
DESCRIPTIONS = {
    EXCITATION: "Condition number of this link's part of the regressor over the dance [1]; smaller is better",
    DEVIATION: "Median predicted relative standard deviation of this link's base parameters [1]",
}


def write_scores(body: bpy.types.Object, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> bool:
    """Write the scores of a dance to the bones; the scores of links without a value are removed.

    Returns:
        whether they were written: the bones of a library override are linked and cannot keep them.
    """
    import numpy as np

    if bpy_access.armature(body).library is not None:
        return False
    for bone in bpy_access.armature(body).bones:
        for name, values in ((EXCITATION, excitation), (DEVIATION, deviation)):
            if bone.name in values:
                bone[name] = float(np.clip(values[bone.name], 0.0, LARGEST_CONDITION))
                bone.id_properties_ui(name).update(description=DESCRIPTIONS[name], min=0.0, precision=3)
            elif name in bone:
                del bone[name]
    return True


def read_score(body: bpy.types.Object, name: str) -> dict[str, float]:
    """Scores by link; NaN where unknown."""
    return {bone.name: _read_bone_score(bone, name) for bone in bpy_access.armature(body).bones}


def _read_bone_score(bone: bpy.types.Bone, name: str) -> float:
    import numpy as np

    try:
        return custom_properties.read_number(bone, name)
    except errors.InvalidValue:
        return np.nan


def store_scores(action: bpy.types.Action, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> None:
    """Store the scores of a dance with an action that is not applied yet."""
    kept = {EXCITATION: excitation, DEVIATION: deviation}
    clipped = {
        name: {link: min(value, LARGEST_CONDITION) for link, value in values.items()} for name, values in kept.items()
    }
    action[SCORES_KEY] = json.dumps(clipped)


def read_stored_scores(action: bpy.types.Action) -> tuple[dict[str, float], dict[str, float]] | None:
    """The scores stored with an action, by link: condition numbers and deviations; None without any.

    Raises:
        InvalidValue: the scores are damaged.
    """
    tree = custom_properties.read_object(action, SCORES_KEY)
    if not tree:
        return None
    try:
        found = [{str(k): float(v) for k, v in tree[name].items()} for name in (EXCITATION, DEVIATION)]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise custom_properties.damaged_error(action, SCORES_KEY, f"it contains no scores: {error}") from None
    return found[0], found[1]
