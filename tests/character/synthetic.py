"""A small skinned character of boxes in T-pose, with the bones' names of several conventions."""

from __future__ import annotations

import numpy as np

from solver.character.character import Character

BLENDER_NAMES = {
    "pelvis": "spine", "abdomen": "spine.001", "torso": "spine.002", "neck": "spine.003", "head": "spine.004",
    "clavicle": "shoulder.{}", "upper_arm": "upper_arm.{}", "forearm": "forearm.{}", "hand": "hand.{}",
    "finger": "f_index.01.{}", "thigh": "thigh.{}", "shank": "shin.{}", "foot": "foot.{}", "toe": "toe.{}",
}  # fmt: skip
MIXAMO_NAMES = {
    "pelvis": "mixamorig:Hips", "abdomen": "mixamorig:Spine", "torso": "mixamorig:Spine1", "neck": "mixamorig:Neck",
    "head": "mixamorig:Head", "clavicle": "mixamorig:{}Shoulder", "upper_arm": "mixamorig:{}Arm",
    "forearm": "mixamorig:{}ForeArm", "hand": "mixamorig:{}Hand", "finger": "mixamorig:{}HandIndex1",
    "thigh": "mixamorig:{}UpLeg", "shank": "mixamorig:{}Leg", "foot": "mixamorig:{}Foot", "toe": "mixamorig:{}ToeBase",
}  # fmt: skip
SMPL_NAMES = {
    "pelvis": "Pelvis", "abdomen": "Spine1", "torso": "Spine3", "neck": "Neck", "head": "Head",
    "clavicle": "{}_Collar", "upper_arm": "{}_Shoulder", "forearm": "{}_Elbow", "hand": "{}_Wrist",
    "finger": "{}_Hand", "thigh": "{}_Hip", "shank": "{}_Knee", "foot": "{}_Ankle", "toe": "{}_Foot",
}  # fmt: skip
UNKNOWN_NAMES = {part: f"{number:02d} {{}}" for number, part in enumerate(BLENDER_NAMES)}
CONVENTIONS = {
    "Blender": (BLENDER_NAMES, ("L", "R")),
    "Mixamo": (MIXAMO_NAMES, ("Left", "Right")),
    "SMPL": (SMPL_NAMES, ("L", "R")),
    "unknown": (UNKNOWN_NAMES, ("one", "two")),
}
"""Names of the bones, and of left and right in them."""
CENTRAL = {
    "pelvis": (None, (0.0, 0.0, 0.92), (0.0, 0.0, 1.02), (0.17, 0.11, 0.12)),
    "abdomen": ("pelvis", (0.0, 0.0, 1.04), (0.0, 0.0, 1.2), (0.15, 0.1, 0.16)),
    "torso": ("abdomen", (0.0, 0.0, 1.2), (0.0, 0.0, 1.42), (0.16, 0.11, 0.24)),
    "neck": ("torso", (0.0, 0.0, 1.44), (0.0, 0.0, 1.52), (0.06, 0.06, 0.08)),
    "head": ("neck", (0.0, 0.0, 1.52), (0.0, 0.0, 1.75), (0.09, 0.11, 0.23)),
}
LATERAL = {
    "clavicle": ("torso", (0.03, 0.0, 1.4), (0.16, 0.0, 1.4), None),
    "upper_arm": ("clavicle", (0.16, 0.0, 1.4), (0.46, 0.0, 1.4), (0.3, 0.05, 0.05)),
    "forearm": ("upper_arm", (0.46, 0.0, 1.4), (0.72, 0.0, 1.4), (0.26, 0.04, 0.04)),
    "hand": ("forearm", (0.72, 0.0, 1.4), (0.8, 0.0, 1.4), (0.09, 0.045, 0.02)),
    "finger": ("hand", (0.81, 0.0, 1.4), (0.9, 0.0, 1.4), (0.09, 0.01, 0.01)),
    "thigh": ("pelvis", (0.09, 0.0, 0.9), (0.09, 0.0, 0.49), (0.08, 0.08, 0.41)),
    "shank": ("thigh", (0.09, 0.0, 0.49), (0.09, 0.0, 0.08), (0.055, 0.055, 0.41)),
    "foot": ("shank", (0.09, 0.0, 0.08), (0.09, -0.13, 0.02), None),
    "toe": ("foot", (0.09, -0.13, 0.02), (0.09, -0.2, 0.02), None),
}
"""Of each part: the part above, head and tail [m] of its bone on the left side, and the half widths and the length of
the box around it; None where a box of its own follows, or none."""
FOOT_BOX = ((0.05, -0.2, 0.0), (0.13, 0.06, 0.07))
WEIGHTED_CLAVICLE = ((0.05, -0.05, 1.35), (0.15, 0.05, 1.44))


def make_character(convention: str = "Blender", *, spacing: float = 0.02) -> Character:
    """A character of a convention that faces -y; boxes are divided into squares of the spacing [m]."""
    names, (left, right) = CONVENTIONS[convention]
    bones: dict[str, tuple[str | None, np.ndarray, np.ndarray]] = {}
    boxes: list[tuple[str, np.ndarray, np.ndarray]] = []
    for part, (above, head, tail, box) in CENTRAL.items():
        parent = None if above is None else names[above].format("middle")
        bones[names[part].format("middle")] = (parent, np.array(head), np.array(tail))
        boxes.append((names[part].format("middle"), *_box_around(np.array(head), np.array(tail), box)))
    for side, sign in ((left, 1.0), (right, -1.0)):
        mirror = np.array([sign, 1.0, 1.0])
        for part, (above, head, tail, size) in LATERAL.items():
            name = names[part].format(side)
            parent = names[above].format("middle" if above in CENTRAL else side)
            bones[name] = (parent, mirror * head, mirror * tail)
            if size is not None:
                corners = _box_around(np.array(head), np.array(tail), size)
            elif part == "foot":
                corners = np.array(FOOT_BOX[0]), np.array(FOOT_BOX[1])
            elif part == "clavicle":
                corners = np.array(WEIGHTED_CLAVICLE[0]), np.array(WEIGHTED_CLAVICLE[1])
            else:  # toes: the foot's box, in part
                continue
            low, high = (mirror * corner for corner in corners)
            boxes.append((name, np.minimum(low, high), np.maximum(low, high)))
    order = list(bones)
    vertices: list[np.ndarray] = []
    triangles, weighted = [], []
    for name, low, high in boxes:
        points, faces = box_surface(low, high, spacing)
        first = sum(len(each) for each in vertices)
        vertices.append(points)
        triangles.append(faces + first)
        bone = order.index(name)
        weighted.append(np.column_stack([np.arange(first, first + len(points)), np.full(len(points), bone)]))
    entries = np.concatenate(weighted)
    weights = np.ones(len(entries))
    return Character(
        f"dancer of {convention}",
        tuple(order),
        tuple(-1 if above is None else order.index(above) for above, _, _ in bones.values()),
        np.array([head for _, head, _ in bones.values()]),
        np.array([tail for _, _, tail in bones.values()]),
        np.concatenate(vertices),
        np.concatenate(triangles),
        entries,
        weights,
    )


def _box_around(head: np.ndarray, tail: np.ndarray, box: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a box: half widths across the bone, and its length from the head along the bone."""
    along = np.abs(tail - head) > 1e-9
    if along[0]:
        length, wide, high = box
        return head - [0.0, wide, high], head + np.array([length, wide, high])
    wide, deep, length = box
    down = tail[2] < head[2]
    return head - [wide, deep, length * down], head + np.array([wide, deep, length * (not down)])


def box_surface(low: np.ndarray, high: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and outward triangles of a closed box, divided into squares."""
    steps = np.maximum(np.round((high - low) / spacing).astype(int), 1)
    index: dict[tuple[int, ...], int] = {}
    faces = []

    def corner(place: tuple[int, ...]) -> int:
        return index.setdefault(place, len(index))

    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, steps[axis]):
            for i in range(steps[first]):
                for j in range(steps[second]):
                    square = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [0, 0, 0]
                        place[axis], place[first], place[second] = int(end), i + a, j + b
                        square.append(corner(tuple(place)))
                    square = square if end else square[::-1]
                    faces += [[square[0], square[1], square[2]], [square[0], square[2], square[3]]]
    return low + (high - low) * np.array(list(index)) / steps, np.array(faces)
