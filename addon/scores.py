"""What a dance excites, on the bones: condition numbers and the deviations to expect, as properties with units."""

from __future__ import annotations

import json
from collections.abc import Mapping

import bpy
import numpy as np

from . import typed

EXCITATION, DEVIATION = "excitation", "predicted_deviation"
"""Custom properties of each bone."""
SCORES_KEY = "exciting_dance_scores"
"""Custom property of an action: both by link (JSON), for when the action is put to use."""
LARGEST = 1e12
"""A condition number beyond this, or infinite, is written as this: the link is not excited."""
MEANINGS = {
    EXCITATION: "Condition number of this link's part of the regressor over the dance [1]; less is better excited",
    DEVIATION: "Relative standard deviation to expect of this link's base parameters [1], the median of them",
}


def write_scores(body: bpy.types.Object, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> None:
    """Write what a dance excites to the bones; links without a value lose theirs."""
    for bone in typed.armature(body).bones:
        for name, values in ((EXCITATION, excitation), (DEVIATION, deviation)):
            if bone.name in values:
                bone[name] = float(np.clip(values[bone.name], 0.0, LARGEST))
                bone.id_properties_ui(name).update(description=MEANINGS[name], min=0.0, precision=3)
            elif name in bone:
                del bone[name]


def read_score(body: bpy.types.Object, name: str) -> dict[str, float]:
    """A score by link; NaN where unknown."""
    return {bone.name: float(bone.get(name, np.nan)) for bone in typed.armature(body).bones}


def scored(body: bpy.types.Object) -> bool:
    """Whether a dance's scores are on the bones."""
    return any(EXCITATION in bone for bone in typed.armature(body).bones)


def keep_scores(action: bpy.types.Action, excitation: Mapping[str, float], deviation: Mapping[str, float]) -> None:
    """Keep the scores of a dance that is not yet the body's."""
    clipped = [{link: min(value, LARGEST) for link, value in values.items()} for values in (excitation, deviation)]
    action[SCORES_KEY] = json.dumps(clipped)


def use_scores(body: bpy.types.Object, action: bpy.types.Action) -> None:
    """Write the scores that an action keeps, if any, to the bones of the body."""
    if SCORES_KEY in action:
        write_scores(body, *json.loads(action[SCORES_KEY]))
