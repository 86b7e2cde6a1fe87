"""Skeletons as others' programs export them: written here, with the proportions of no one in particular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from solver.base.so3 import rotation_between
from solver.formats.axes_and_units import to_z_up


@dataclass(frozen=True)
class Skeleton:
    """Joints of a T-pose that faces x, z up [m].

    Attributes:
        parents: by joint, the root first.
        offsets: (3,) [m] from the parent.
        ends: (3,) [m] from the last joints to their ends.
        links: which link of a person each joint turns.
        order: of the rotation channels.
        scale: numbers in the file for a metre.
    """

    parents: Mapping[str, str | None]
    offsets: Mapping[str, Sequence[float]]
    ends: Mapping[str, Sequence[float]]
    links: Mapping[str, str]
    order: str = "ZYX"
    scale: float = 100.0
    unit: str = field(default="cm")


def _person(names: Mapping[str, str], spine: Sequence[str], order: str, collar: str) -> Skeleton:
    """A T-pose with the joints named as a program does: hips, a spine, a neck, collars and limbs."""
    parents: dict[str, str | None] = {names["pelvis"]: None}
    offsets: dict[str, Sequence[float]] = {names["pelvis"]: (0.0, 0.0, 0.95)}
    ends: dict[str, Sequence[float]] = {}
    links = {names["pelvis"]: "pelvis", spine[-1]: "torso", names["head"]: "head"}

    def add(name: str, parent: str, offset: Sequence[float]) -> None:
        parents[name], offsets[name] = parent, offset

    above = names["pelvis"]
    for bone in spine:
        add(bone, above, (0.0, 0.0, 0.12))
        above = bone
    add("Neck", above, (0.0, 0.0, 0.22))
    add(names["head"], "Neck", (0.0, 0.0, 0.10))
    ends[names["head"]] = (0.0, 0.0, 0.16)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        thigh, shank, foot = (side + names[part] for part in ("thigh", "shank", "foot"))
        add(thigh, names["pelvis"], (0.0, 0.09 * sign, -0.05))
        add(shank, thigh, (0.0, 0.0, -0.42))
        add(foot, shank, (0.0, 0.0, -0.40))
        add(f"{side}Toe", foot, (0.13, 0.0, -0.06))
        ends[f"{side}Toe"] = (0.06, 0.0, 0.0)
        shoulder, elbow, wrist = (side + names[part] for part in ("upper_arm", "forearm", "hand"))
        add(side + collar, spine[-1], (0.0, 0.04 * sign, 0.18))
        add(shoulder, side + collar, (0.0, 0.13 * sign, 0.0))
        add(elbow, shoulder, (0.0, 0.28 * sign, 0.0))
        add(wrist, elbow, (0.0, 0.25 * sign, 0.0))
        ends[wrist] = (0.0, 0.15 * sign, 0.0)
        own = side.lower()
        links |= {thigh: f"{own}_thigh", shank: f"{own}_shank", foot: f"{own}_foot"}
        links |= {shoulder: f"{own}_upper_arm", elbow: f"{own}_forearm", wrist: f"{own}_hand"}
    return Skeleton(parents, offsets, ends, links, order)


LAFAN1 = _person(
    {"pelvis": "Hips", "head": "Head", "thigh": "UpLeg", "shank": "Leg", "foot": "Foot", "upper_arm": "Arm",
     "forearm": "ForeArm", "hand": "Hand"}, ("Spine", "Spine1", "Spine2"), "ZYX", "Shoulder",
)  # fmt: skip
XSENS = _person(
    {"pelvis": "Hips", "head": "Head", "thigh": "Hip", "shank": "Knee", "foot": "Ankle", "upper_arm": "Shoulder",
     "forearm": "Elbow", "hand": "Wrist"}, ("Chest", "Chest2", "Chest3", "Chest4"), "YXZ", "Collar",
)  # fmt: skip


def _sparse() -> Skeleton:
    """A T-pose of few joints, most of them below the root, which lies on the file's origin."""
    parents: dict[str, str | None] = {"Hips": None, "Spine": "Hips", "Head": "Spine"}
    offsets: dict[str, Sequence[float]] = {"Hips": (0.0, 0.0, 0.0), "Spine": (0.0, 0.0, 0.24), "Head": (0.0, 0.0, 0.22)}
    ends: dict[str, Sequence[float]] = {"Head": (0.0, 0.0, 0.18)}
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        parents |= {f"{side}Arm": "Spine", f"{side}ForeArm": f"{side}Arm", f"{side}UpLeg": "Hips",
                    f"{side}Leg": f"{side}UpLeg", f"{side}Foot": f"{side}Leg"}  # fmt: skip
        offsets |= {f"{side}Arm": (0.0, 0.18 * sign, 0.2), f"{side}ForeArm": (0.0, 0.28 * sign, 0.0),
                    f"{side}UpLeg": (0.0, 0.09 * sign, 0.0), f"{side}Leg": (0.0, 0.0, -0.42),
                    f"{side}Foot": (0.0, 0.0, -0.41)}  # fmt: skip
        ends |= {f"{side}ForeArm": (0.0, 0.26 * sign, 0.0), f"{side}Foot": (0.17, 0.0, -0.05)}
    links = {"Hips": "pelvis", "Spine": "torso", "LeftUpLeg": "left_thigh", "RightForeArm": "right_forearm"}
    return Skeleton(parents, offsets, ends, links, "ZXY")


SPARSE = _sparse()
YAW = Rotation.from_euler("z", 0.7).as_matrix()
"""Where the skeleton faces in its file."""


def into_file(up: str = "y") -> np.ndarray:
    """(3, 3) from x forwards and z up to a file's axes."""
    return np.asarray(to_z_up(up).T @ YAW)


def bvh_text(
    skeleton: Skeleton,
    rotations: Mapping[str, np.ndarray],
    root: np.ndarray,
    rate: float = 50.0,
    up: str = "y",
    along: bool = False,
) -> str:
    """A BVH file whose joints have turned from the T-pose by rotations (N, 3, 3) in the world that faces x, z up.

    Joints without rotations turn as their parents do; the root goes along (N, 3) [m]. With ``along`` the file is like
    those of LAFAN1: each joint's x axis lies along its bone, so that all bones lie along x where the channels are zero,
    and end sites have no length.
    """
    turn = into_file(up)
    frames = len(root)
    children: dict[str | None, list[str]] = {}
    for name, parent in skeleton.parents.items():
        children.setdefault(parent, []).append(name)
    lines: list[str] = ["HIERARCHY"]
    columns: list[np.ndarray] = []

    def numbers(vector: Sequence[float], carrier: str | None) -> str:
        axes = np.eye(3) if carrier is None else lying(carrier)
        return " ".join(f"{x:.9g}" for x in skeleton.scale * (axes.T @ turn @ np.asarray(vector)))

    def lying(name: str) -> np.ndarray:
        """(3, 3) axes of a joint in the T-pose."""
        below = children.get(name)
        bone = turn @ np.asarray(skeleton.offsets[below[0]] if below else skeleton.ends[name])
        return rotation_between(np.array([1.0, 0.0, 0.0]), bone) if along else np.eye(3)

    def write(name: str, depth: int, above: np.ndarray) -> None:
        pad, inner = "\t" * depth, "\t" * (depth + 1)
        own = turn @ rotations[name] @ turn.T if name in rotations else above
        channels = [f"{axis}rotation" for axis in skeleton.order]
        if not depth:
            channels = ["Xposition", "Yposition", "Zposition", *channels]
            columns.append(skeleton.scale * root @ turn.T)
        carrier = skeleton.parents[name]
        held = np.eye(3) if carrier is None else lying(carrier)
        local = np.swapaxes(above @ held, 1, 2) @ own @ lying(name)
        columns.append(Rotation.from_matrix(local).as_euler(skeleton.order, degrees=True))
        lines.extend([f"{pad}{'JOINT' if depth else 'ROOT'} {name}", f"{pad}{{"])
        lines.append(f"{inner}OFFSET {numbers(skeleton.offsets[name], carrier)}")
        lines.append(f"{inner}CHANNELS {len(channels)} {' '.join(channels)}")
        for child in children.get(name, ()):
            write(child, depth + 1, own)
        if name in skeleton.ends:
            end = "0 0 0" if along else numbers(skeleton.ends[name], name)
            lines.extend([f"{inner}End Site", f"{inner}{{", f"{inner}\tOFFSET {end}", f"{inner}}}"])
        lines.append(f"{pad}}}")

    write(next(iter(skeleton.parents)), 0, np.tile(np.eye(3), (frames, 1, 1)))
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {1.0 / rate:.9g}"]
    values = np.column_stack(columns)
    return "\n".join([*lines, *(" ".join(f"{x:.9g}" for x in row) for row in values)]) + "\n"


def acclaim_texts(
    skeleton: Skeleton, rotations: Mapping[str, np.ndarray], root: np.ndarray, order: str = "XYZ"
) -> tuple[str, str]:
    """The skeleton (.asf) and the motion (.amc) of `bvh_text`, y up.

    A bone of an .asf has one end: a joint is a bone without length, and bones without angles lead to those below it.
    """
    turn, frames = into_file("y"), len(root)
    axes = {name: Rotation.from_euler("xyz", [5.0 * k, -7.0, 3.0 * k], degrees=True).as_matrix()
            for k, name in enumerate(skeleton.parents)}  # fmt: skip
    first, *others = skeleton.parents

    def angles(turned: np.ndarray) -> np.ndarray:
        found = Rotation.from_matrix(turned).as_euler(order.lower(), degrees=True)
        return np.asarray(found[..., [order.index(letter) for letter in "XYZ"]])

    def numbers(values: np.ndarray) -> str:
        return " ".join(f"{value:.9g}" for value in values)

    def bone(name: str, vector: np.ndarray, dof: str) -> list[str]:
        length = float(np.linalg.norm(vector))
        own = angles(axes.get(name, np.eye(3)))
        towards = numbers(vector / length if length else vector)
        free = [f"dof {dof}", "limits (-180 180)"] if dof else []
        return ["begin", "id 1", f"name {name}", f"direction {towards}", f"length {length:.9g}",
                f"axis {numbers(own)} {order}", *free, "end"]  # fmt: skip

    axes[first] = np.eye(3)
    lines, below = (
        [],
        [f"root {' '.join(f'to_{name}' for name, parent in skeleton.parents.items() if parent == first)}"],
    )
    for name in others:
        lines += bone(f"to_{name}", skeleton.scale * turn @ np.asarray(skeleton.offsets[name]), "")
        lines += bone(name, np.zeros(3), "rx ry rz")
        inside = [f"to_{child}" for child, parent in skeleton.parents.items() if parent == name]
        if name in skeleton.ends:
            lines += bone(f"end_{name}", skeleton.scale * turn @ np.asarray(skeleton.ends[name]), "")
            inside.append(f"end_{name}")
        below += [f"to_{name} {name}", *([f"{name} {' '.join(inside)}"] if inside else [])]
    head = [":version 1.10", ":units", "mass 1", "length 1", "angle deg", ":documentation", "of a test", ":root",
            "order TX TY TZ RX RY RZ", f"axis {order}", "position 0 0 0", "orientation 0 0 0", ":bonedata"]  # fmt: skip
    asf = "\n".join([*head, *lines, ":hierarchy", "begin", *below, "end"]) + "\n"
    world: dict[str, np.ndarray] = {}
    rows: dict[str, np.ndarray] = {}
    for name, parent in skeleton.parents.items():
        above = np.tile(np.eye(3), (frames, 1, 1)) if parent is None else world[parent]
        world[name] = turn @ rotations[name] @ turn.T if name in rotations else above
        rows[name] = angles(axes[name].T @ np.swapaxes(above, 1, 2) @ world[name] @ axes[name])
    places = skeleton.scale * root @ turn.T
    motion = ["#!OML:ASF", ":FULLY-SPECIFIED", ":DEGREES"]
    for k in range(frames):
        motion += [str(k + 1), f"root {numbers(places[k])} {numbers(rows[first][k])}"]
        motion += [f"{name} {numbers(rows[name][k])}" for name in others]
    return asf, "\n".join(motion) + "\n"


def quaternion_rows(
    times: np.ndarray, names: Sequence[str], quaternions: np.ndarray, titles: Sequence[str] = ("qx", "qy", "qz", "qw")
) -> str:
    """A table of quaternions (N, B, 4) in the order of the titles."""
    head = ",".join(["time [s]", *(f"{name}.{title} [1]" for name in names for title in titles)])
    rows = [",".join([f"{t:.6f}", *(f"{x:.9f}" for x in row.reshape(-1))]) for t, row in zip(times, quaternions)]
    return "\n".join([head, *rows]) + "\n"


def storage_text(times: np.ndarray, names: Sequence[str], quaternions: np.ndarray) -> str:
    """OpenSim's orientation file of quaternions xyzw (N, B, 4)."""
    head = ["DataRate=100.000000", "DataType=Quaternion", "version=3", "OpenSimVersion=4.5", "endheader"]
    head.append("\t".join(["time", *names]))
    rows = ["\t".join([f"{t:.6f}", *(",".join(f"{x:.9f}" for x in q[[3, 0, 1, 2]]) for q in row)])
            for t, row in zip(times, quaternions)]  # fmt: skip
    return "\n".join([*head, *rows]) + "\n"


def _mvn() -> Skeleton:
    """The 23 segments that MVN exports, in its order."""
    parents: dict[str, str | None] = {"Pelvis": None}
    offsets: dict[str, Sequence[float]] = {"Pelvis": (0.0, 0.0, 0.95)}
    above = "Pelvis"
    for name, rise in (("L5", 0.1), ("L3", 0.1), ("T12", 0.1), ("T8", 0.1), ("Neck", 0.13), ("Head", 0.09)):
        parents[name], offsets[name], above = above, (0.0, 0.0, rise), name
    ends: dict[str, Sequence[float]] = {"Head": (0.0, 0.0, 0.17)}
    limbs = (("Shoulder", (0.0, 0.03, 0.08)), ("UpperArm", (0.0, 0.14, 0.0)), ("Forearm", (0.0, 0.29, 0.0)),
             ("Hand", (0.0, 0.25, 0.0)))  # fmt: skip
    legs = (("UpperLeg", (0.0, 0.08, 0.0)), ("LowerLeg", (0.0, 0.0, -0.42)), ("Foot", (0.0, 0.0, -0.42)),
            ("Toe", (0.13, 0.0, -0.08)))  # fmt: skip
    for chain, first in ((limbs, "T8"), (legs, "Pelvis")):
        for side, sign in (("Right", -1.0), ("Left", 1.0)):
            above = first
            for name, (x, y, z) in chain:
                parents[side + name], offsets[side + name] = above, (x, sign * y, z)
                above = side + name
            ends[above] = (0.06, 0.0, 0.0) if chain is legs else (0.0, sign * 0.18, 0.0)
    links = {"Pelvis": "pelvis", "T8": "torso", "Head": "head", "LeftUpperArm": "left_upper_arm",
             "RightForearm": "right_forearm", "LeftUpperLeg": "left_thigh", "RightLowerLeg": "right_shank"}  # fmt: skip
    return Skeleton(parents, offsets, ends, links)


MVN = _mvn()


def mvnx_text(skeleton: Skeleton, rotations: Mapping[str, np.ndarray], root: np.ndarray, rate: float = 60.0) -> str:
    """An MVNX file whose segments have turned from the T-pose by rotations (N, 3, 3); the others turn as their parents.

    The root goes along (N, 3) [m].
    """
    names, frames = list(skeleton.parents), len(root)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<mvnx xmlns="http://www.xsens.com/mvn/mvnx" version="4">']
    lines += [f'<subject label="S" frameRate="{rate:g}" segmentCount="{len(names)}">', "<segments>"]
    for number, name in enumerate(names, 1):
        points = [("jStart", (0.0, 0.0, 0.0)), *([("pEnd", skeleton.ends[name])] if name in skeleton.ends else [])]
        inner = "".join(f'<point label="{p}"><pos_b>{x} {y} {z}</pos_b></point>' for p, (x, y, z) in points)
        lines.append(f'<segment label="{name}" id="{number}"><points>{inner}</points></segment>')
    lines += ["</segments>", "<joints>"]
    for name, parent in skeleton.parents.items():
        if parent is not None:
            ends = f"<connector1>{parent}/j{name}</connector1><connector2>{name}/j{name}</connector2>"
            lines.append(f'<joint label="j{name}">{ends}</joint>')
    lines += ["</joints>", "<frames>"]

    def frame(kind: str, index: object, turns: Mapping[str, np.ndarray], place: np.ndarray) -> None:
        axes: dict[str, np.ndarray] = {}
        heads: dict[str, np.ndarray] = {}
        for name, parent in skeleton.parents.items():
            above = np.eye(3) if parent is None else axes[parent]
            axes[name] = turns.get(name, above)
            heads[name] = place if parent is None else heads[parent] + above @ np.asarray(skeleton.offsets[name])
        quaternions = Rotation.from_matrix(np.array([axes[name] for name in names])).as_quat()[:, [3, 0, 1, 2]]
        texts = (" ".join(f"{x:.9f}" for x in np.ravel(v)) for v in (quaternions, [heads[name] for name in names]))
        inner = "".join(f"<{t}>{v}</{t}>" for t, v in zip(("orientation", "position"), texts))
        lines.append(f'<frame time="0" index="{index}" type="{kind}">{inner}</frame>')

    start = np.asarray(skeleton.offsets[names[0]])
    for kind in ("identity", "tpose", "tpose-isb"):
        frame(kind, "", {}, start)
    for k in range(frames):
        frame("normal", k, {name: values[k] for name, values in rotations.items()}, root[k])
    return "\n".join([*lines, "</frames>", "</subject>", "</mvnx>"]) + "\n"
