"""A tiny body of prisms in place of the stored shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from solver.scene.body_mesh import BodyShapes

SIDES, RINGS = 8, 7
"""Corners of a prism's cross-section, and cross-sections along it."""
CENTRE = {
    "hips": (0.0, 0.0, 0.10), "lumbar": (-0.03, 0.0, 0.19), "cervical": (-0.01, 0.0, 0.66), "neck": (0.01, 0.0, 0.66),
}  # fmt: skip
LEFT = {
    "clavicle": (0.02, 0.02, 0.59), "shoulder": (0.02, 0.19, 0.56), "elbow": (0.02, 0.35, 0.37),
    "wrist": (0.20, 0.48, 0.24), "finger": (0.35, 0.54, 0.12), "index": (0.28, 0.50, 0.20),
    "little": (0.26, 0.53, 0.15), "hip": (0.0, 0.11, 0.10), "knee": (0.03, 0.15, -0.31), "ankle": (0.01, 0.20, -0.74),
    "toe": (0.22, 0.20, -0.81),
}  # fmt: skip
TOP, FINGER_TIP = (0.01, 0.0, 0.90), (0.36, 0.545, 0.11)
SEGMENTS = {
    "pelvis": ("hips", "lumbar", 0.12), "abdomen": ("lumbar", "lumbar", 0.0), "torso": ("lumbar", "cervical", 0.12),
    "head": ("neck", "top", 0.09), "clavicle": ("clavicle", "shoulder", 0.03),
    "scapula": ("clavicle", "shoulder", 0.02),
    "upper_arm": ("shoulder", "elbow", 0.045), "forearm": ("elbow", "wrist", 0.035), "hand": ("wrist", "tip", 0.02),
    "thigh": ("hip", "knee", 0.075), "shank": ("knee", "ankle", 0.05), "foot": ("ankle", "toe", 0.04),
}  # fmt: skip
"""Start, end and radius [m] of a prism by segment; the abdomen has none."""
PARENTS = {"forearm": "upper_arm", "shank": "thigh"}
"""Segments whose skin near the joint another one moves too."""
CENTRAL = ("pelvis", "abdomen", "torso", "head")
GIRTHS = {"average": 1.0, "thin": 0.75, "light": 0.9, "heavy": 1.15, "muscular": 1.3, "obese": 1.5}


def tiny_shapes() -> BodyShapes:
    """Shapes of prisms along the segments with the mirror symmetry of a body; the first two rings of forearms and
    shanks share the movement of the link before them."""
    left = {name: np.array(point) for name, point in {**LEFT, "tip": FINGER_TIP}.items()}
    points = {name: np.array(point) for name, point in {**CENTRE, "top": TOP}.items()}
    points |= {f"left_{name}": point for name, point in left.items()}
    points |= {f"right_{name}": point * [1.0, -1.0, 1.0] for name, point in left.items()}
    links = [*CENTRAL, *(f"{side}_{name}" for side in ("right", "left") for name in SEGMENTS if name not in CENTRAL)]
    shapes, joints = {}, {}
    for sex, size in (("female", 0.95), ("male", 1.0)):
        scaled = {joint: size * point for joint, point in points.items()}
        for name, girth in GIRTHS.items():
            shapes[f"{sex}/{name}"] = np.concatenate(
                [_prism(*_ends(scaled, link), size * girth * SEGMENTS[_segment(link)][2]) for link in links]
            )
            joints[f"{sex}/{name}"] = {joint: scaled[joint] for joint in scaled if not joint.endswith(("top", "tip"))}
    for key in shapes:
        average = f"{key.partition('/')[0]}/average"
        if key != average:
            shapes[key] = shapes[key] - shapes[average]
            joints[key] = {joint: joints[key][joint] - joints[average][joint] for joint in joints[key]}
    prism, count = _prism_faces(), SIDES * RINGS + 2
    faces = np.concatenate([prism + count * k for k in range(len(links)) if links[k] != "abdomen"])
    weights = np.repeat(np.eye(len(links)), count, axis=0)
    for k, link in enumerate(links):
        if (parent := PARENTS.get(_segment(link))) is not None:
            first = slice(count * k, count * k + 2 * SIDES)
            weights[first, k] = np.repeat([0.25, 0.75], SIDES)
            weights[first, links.index(link.replace(_segment(link), parent))] = np.repeat([0.75, 0.25], SIDES)
    return BodyShapes(shapes, joints, faces, weights, tuple(links))


def add_probes(shapes: BodyShapes, probes: Mapping[str, tuple[str, ...]]) -> BodyShapes:
    """The same shapes with a vertex at each of these joint centres, moved by two links in equal parts."""
    rows = np.zeros((len(probes), len(shapes.links)))
    for row, pair in zip(rows, probes.values()):
        for link in pair:
            row[shapes.links.index(link)] += 0.5
    points = {
        name: np.concatenate([surface, [shapes.joints[name][joint] for joint in probes]])
        for name, surface in shapes.shapes.items()
    }
    return replace(shapes, shapes=points, weights=np.concatenate([shapes.weights, rows]))


def arrays_of(shapes: BodyShapes) -> dict[str, np.ndarray]:
    """The arrays of the file that contains the shapes."""
    unit = 5e-5
    return {
        "shapes": np.round(np.array(list(shapes.shapes.values())) / unit).astype(np.int16),
        "unit": np.array(unit),
        "shape_names": np.array(list(shapes.shapes)),
        "joints": np.array([list(row.values()) for row in shapes.joints.values()], np.float32),
        "joint_names": np.array(list(next(iter(shapes.joints.values())))),
        "faces": shapes.faces.astype(np.uint16),
        "weights": np.round(255 * shapes.weights).astype(np.uint8),
        "links": np.array(shapes.links),
    }


def _segment(link: str) -> str:
    return link.removeprefix("right_").removeprefix("left_")


def _ends(points: dict[str, np.ndarray], link: str) -> tuple[np.ndarray, np.ndarray]:
    start, end, _ = SEGMENTS[_segment(link)]
    side = link.partition("_")[0] + "_" if link.startswith(("right_", "left_")) else ""
    return tuple(points[name if name in points else side + name] for name in (start, end))  # type: ignore[return-value]


def _prism(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Vertices (N, 3) of rings from start to end, and both end points; symmetric about the plane y = 0."""
    along = end - start
    along = along / np.linalg.norm(along) if np.linalg.norm(along) > 0.0 else np.array([0.0, 0.0, 1.0])
    across = np.cross(along, [1.0, 0.0, 0.0])
    across *= np.sign(across[1]) / np.linalg.norm(across)
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = radius * (np.outer(np.cos(angles), np.cross(across, along)) + np.outer(np.sin(angles), across))
    steps = np.linspace(0.0, 1.0, RINGS)[:, None, None]
    return np.concatenate([(start + steps * (end - start) + ring).reshape(-1, 3), [start, end]])


def _prism_faces() -> np.ndarray:
    """Faces (F, 4) of one prism, outside counter-clockwise."""
    rings = np.arange(SIDES * RINGS).reshape(RINGS, SIDES)
    after = np.roll(rings, -1, axis=1)
    walls = np.stack([rings[:-1], after[:-1], after[1:], rings[1:]], axis=2).reshape(-1, 4)
    first, last = SIDES * RINGS, SIDES * RINGS + 1
    bottom = [[first, b, a, a] for a, b in zip(rings[0], after[0])]
    top = [[last, a, b, b] for a, b in zip(rings[-1], after[-1])]
    return np.concatenate([walls, bottom, top])
