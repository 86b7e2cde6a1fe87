"""Axes and joint limits of a character's links: a person's ranges, about the character's rest pose.

A person's ranges count from standing with hanging arms. A character's joint counts from its rest pose, for example a
T-pose, which is the rotation S from there. Its range is the smallest box that contains S^-1 J for all J of the
person's.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from ..base import so3
from ..base.assets import read_asset
from ..skeleton.match import ARM, HEAD, LEG, TORSO
from ..values.person import SIDES
from .links import CLAVICLE, NECK, SPINE, LinkTree

STEPS = 7
"""Samples of each axis of a person's range."""
MIRRORED_AXES = np.array([True, False, True])
"""Rotations about x and z change sign between right and left."""
TWISTS = {"forearm": ((-15.0, 15.0), (-100.0, 100.0)), "shank": ((-15.0, 15.0), (-35.0, 35.0))}
"""[deg] Ranges about x and z of joints that are hinges in a person's rig; a character's forearm also pronates."""
PRONATION = (-120.0, 120.0)
"""[deg] Range of the hand about the forearm: palms point down in a T-pose and forward in a person's rest pose."""
GIRDLE_RANGE = 30.0
"""[deg] Range of a clavicle about each axis."""
DOWN = np.array([0.0, 0.0, -1.0])
"""By definition."""


def link_axes(tree: LinkTree, facing: np.ndarray, heads: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Axes (L, 3, 3) of the links in rest pose: those of a standing person, moved with the limbs.

    Args:
        tree: of the links.
        facing: (3, 3) columns forward, left and up.
        heads, ends: (L, 3) [m] joint centre of each link, and the end of its bone.
    """
    axes = np.tile(facing, (len(tree.bones), 1, 1))
    for link, kind in enumerate(tree.kinds):
        name = _segment(kind)
        if name in (*ARM, *LEG[:2]):
            base = axes[tree.parents[link]] if name in ARM[1:] or name == LEG[1] else facing
            along = ends[link] - heads[link]
            if np.linalg.norm(along) > 0.0:
                axes[link] = so3.rotation_between(base @ DOWN, along) @ base
    return axes


def joint_ranges(tree: LinkTree, axes: np.ndarray, strength: float) -> dict[str, np.ndarray]:
    """Limits of the joints except the root's: lower, upper [rad], speed [rad/s], torque [N m], each (3 (L - 1),).

    Args:
        tree: of the links.
        axes: (L, 3, 3) of the links in rest pose.
        strength: factor on a person's torques.
    """
    counts = {SPINE: 1 + sum(kind == SPINE for kind in tree.kinds), NECK: 1 + tree.kinds.count(NECK)}
    counts |= {TORSO: counts[SPINE], HEAD: counts[NECK]}
    result: dict[str, list[np.ndarray]] = {"lower": [], "upper": [], "speed": [], "torque": []}
    table = read_asset("human_body")["joints"]
    for link, kind in enumerate(tree.kinds):
        if link == 0:
            continue
        values = _human_range(kind, table)
        lower, upper = values["lower"] / counts.get(kind, 1), values["upper"] / counts.get(kind, 1)
        lower, upper = _range_from_rest(np.radians(lower), np.radians(upper), axes[tree.parents[link]].T @ axes[link])
        for name, value in (("lower", lower), ("upper", upper), ("speed", values["speed"])):
            result[name].append(value)
        result["torque"].append(strength * values["torque"])
    return {name: np.concatenate(parts) for name, parts in result.items()}


def _segment(kind: str) -> str:
    return kind.split("_", 1)[1] if kind.startswith(tuple(f"{side}_" for side in SIDES)) else kind


def _human_range(kind: str, table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """A person's range (3,) about x, y and z [deg], speed [rad/s] and torque [N m] of a joint."""
    name = _segment(kind)
    if name == CLAVICLE:
        values = {key: np.full(3, table[name][key][0], float) for key in ("speed", "torque")}
        return {"lower": np.full(3, -GIRDLE_RANGE), "upper": np.full(3, GIRDLE_RANGE), **values}
    row = {key: np.array(value, float) for key, value in table[{SPINE: TORSO, NECK: HEAD}.get(name, name)].items()}
    if name in TWISTS:  # a hinge about y; an elbow's axis points to the right
        (roll, yaw), flexion = TWISTS[name], (row["lower"][0], row["upper"][0])
        flexion = (-flexion[1], -flexion[0]) if name == ARM[1] else flexion
        lower, upper = np.array([roll, flexion, yaw]).T
        row = {"lower": lower, "upper": upper, **{key: np.full(3, row[key][0]) for key in ("speed", "torque")}}
    if name == ARM[2]:
        row["lower"][2], row["upper"][2] = PRONATION
    if kind.startswith("left_"):
        row["lower"], row["upper"] = (
            np.where(MIRRORED_AXES, -row["upper"], row["lower"]),
            np.where(MIRRORED_AXES, -row["lower"], row["upper"]),
        )
    return row


def _range_from_rest(lower: np.ndarray, upper: np.ndarray, standing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest box of rotation vectors from a rest rotation (3, 3) that contains a box from zero."""
    if np.allclose(standing, np.eye(3), atol=1e-9):
        return lower, upper
    samples = np.array(list(product(*(np.linspace(a, b, STEPS) for a, b in zip(lower, upper, strict=True)))))
    samples = samples[np.linalg.norm(samples, axis=1) <= np.pi]
    vectors = so3.log(standing.T @ so3.exp(samples))
    return vectors.min(axis=0), vectors.max(axis=0)
