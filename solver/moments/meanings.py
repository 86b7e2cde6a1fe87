"""Anatomical names of the directions in which a person's coordinates increase."""

from __future__ import annotations

from collections.abc import Sequence

from ..rig import SIDES, Rig

PERSON = "human"
MEANINGS = {
    "torso_x": "trunk bending to the right", "torso_y": "trunk flexion", "torso_z": "trunk rotation to the left",
    "thigh_y": "hip extension", "shank": "knee flexion", "foot_y": "ankle plantarflexion",
    "right_thigh_x": "hip adduction", "left_thigh_x": "hip abduction",
    "right_thigh_z": "hip internal rotation", "left_thigh_z": "hip external rotation",
    "forearm": "elbow flexion", "upper_arm_y": "shoulder extension",
}  # fmt: skip
"""By coordinate, with or without its side; axes x forward, y to the left, z up in the neutral pose."""


def describe_coordinates(rig: Rig, names: Sequence[str]) -> tuple[str, ...]:
    """For each coordinate the direction in which it increases, such as ``left hip extension``; empty if unnamed."""
    if rig.provenance.get("kind") != PERSON:
        return ("",) * len(names)
    return tuple(map(_describe, names))


def _describe(name: str) -> str:
    side = next((side for side in SIDES if name.startswith(f"{side}_")), "")
    meaning = MEANINGS.get(name) or MEANINGS.get(name.removeprefix(f"{side}_"), "")
    return f"{side} {meaning}".strip() if meaning else ""
