"""A rig as a plain file: all that a scene editor needs to draw it, with no dynamics library to read it.

The description is JSON, SI, z up, quaternions xyzw. Link k moves with joint k; joint 0 is the free flyer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import frozen
from ..errors import InputError, InvalidValue, UnknownLink
from ..formats.atomic import write_atomically
from .motion import rotate

if TYPE_CHECKING:
    from ..rig import Rig

FORMAT = "exciting-dance rig"
VERSION = 1
REMEDY = "Write it with `python -m solver rig`"
JOINT_KINDS = ("free", "revolute", "prismatic", "spherical", "general")


@dataclass(frozen=True, slots=True)
class SceneShape:
    """A display shape: fields as `solver.rig.Shape`, with its volume [m^3]."""

    link: str
    kind: str
    size: tuple[float, ...]
    rotation: np.ndarray  # (3, 3) shape axes in link axes
    centre: np.ndarray  # (3,) [m], link frame
    vertices: np.ndarray  # (V, 3) [m], mesh only
    faces: np.ndarray  # (F, 3), mesh only
    volume: float


@dataclass(frozen=True, slots=True)
class SceneJoint:
    """How a link moves against its parent.

    Attributes:
        kind: one of `JOINT_KINDS`.
        axis: (3,) unit axis in joint axes of a revolute or prismatic joint; zero otherwise.
        lower, upper: limits of its coordinates [rad or m], infinite where free; empty for the free flyer.
    """

    kind: str
    axis: np.ndarray
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneRig:
    """A rig to draw.

    Attributes:
        name: shown to people.
        links: L names.
        parents: index of each link's parent, -1 for the root.
        joints: L joints.
        positions: (L, 3) [m] joint frame in the parent link's frame.
        rotations: (L, 4) the same, quaternion xyzw.
        neutral_positions: (L, 3) [m] link frames in the world at the neutral configuration.
        neutral_rotations: (L, 4) the same, quaternion xyzw.
        tips: (L, 3) [m] far end of each link, link frame.
        boxes: (L, 2, 3) [m] corners of the bounding boxes, link frame.
        shapes: to draw.
        contacts: (name, link, (V, 3) [m] link frame) of each contact patch.
        pairs: (left, right) link names.
        prior: (L, 10) inertial parameters, columns as `inertials.PARAMETERS`.
        parameters: how to make the rig again.
        notes: provenance.
    """

    name: str
    links: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[SceneJoint, ...]
    positions: np.ndarray
    rotations: np.ndarray
    neutral_positions: np.ndarray
    neutral_rotations: np.ndarray
    tips: np.ndarray
    boxes: np.ndarray
    shapes: tuple[SceneShape, ...]
    contacts: tuple[tuple[str, str, np.ndarray], ...]
    pairs: tuple[tuple[str, str], ...]
    prior: np.ndarray
    parameters: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.links)
        if len(self.parents) != count or len(self.joints) != count:
            raise InvalidValue(f"{count} links, {len(self.parents)} parents and {len(self.joints)} joints")
        for index, parent in enumerate(self.parents):
            if not -1 <= parent < index:
                raise InvalidValue(f"link {self.links[index]!r} stands before its parent")
        shapes = {
            "positions": (count, 3),
            "rotations": (count, 4),
            "neutral_positions": (count, 3),
            "neutral_rotations": (count, 4),
            "tips": (count, 3),
            "boxes": (count, 2, 3),
            "prior": (count, 10),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen(name, getattr(self, name), shape))

    def index(self, link: str) -> int:
        """Index of a link.

        Raises:
            UnknownLink: no such link.
        """
        try:
            return self.links.index(link)
        except ValueError:
            raise UnknownLink(link, self.links) from None

    @property
    def volumes(self) -> np.ndarray:
        """Volume of each link's shapes (L,) [m^3]; overlaps count twice, NaN where a link has no shape."""
        result = np.full(len(self.links), np.nan)
        for shape in self.shapes:
            index = self.index(shape.link)
            result[index] = np.nan_to_num(result[index]) + shape.volume
        return result

    @property
    def standing_height(self) -> float:
        """Height of the root link's origin above the lowest contact (or box corner) at neutral [m]."""
        points = [(link, vertices) for _, link, vertices in self.contacts]
        points = points or list(zip(self.links, self.boxes, strict=True))
        lowest = min(
            float((rotate(self.neutral_rotations[k], vertices) + self.neutral_positions[k])[:, 2].min())
            for k, vertices in ((self.index(link), vertices) for link, vertices in points)
        )
        return float(self.neutral_positions[0, 2]) - lowest


def rig_description(rig: Rig) -> dict[str, object]:
    """A rig as a tree that JSON can hold; the reverse of `scene_rig`, which lists its meaning."""
    from ..pinocchio_loader import pin

    model, data = rig.model, rig.model.createData()
    pin.computeJointJacobians(model, data, rig.neutral)
    joints = []
    for joint in range(1, model.njoints):
        jacobian = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL)
        start, size = model.joints[joint].idx_v, model.joints[joint].nv
        columns = jacobian[:, start : start + size]
        kind, axis = "general", np.zeros(3)
        if joint == 1:
            kind = "free"
        elif size == 1 and np.linalg.norm(columns[3:]) > 0.5:
            kind, axis = "revolute", columns[3:, 0]
        elif size == 1:
            kind, axis = "prismatic", columns[:3, 0]
        elif size == 3 and model.joints[joint].nq == 4:
            kind = "spherical"
        limits = slice(start - 6, start - 6 + size) if joint > 1 else slice(0, 0)
        joints.append(
            {
                "kind": kind,
                "axis": axis.tolist(),
                "lower": [_number(x) for x in rig.limits.lower[limits]],
                "upper": [_number(x) for x in rig.limits.upper[limits]],
            }
        )
    placements = [model.jointPlacements[joint] for joint in range(1, model.njoints)]
    world = [data.oMi[joint] for joint in range(1, model.njoints)]
    assert rig.tips is not None
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": rig.name,
        "links": list(rig.links),
        "parents": list(rig.parents),
        "joints": joints,
        "positions": [p.translation.tolist() for p in placements],
        "rotations": [pin.Quaternion(p.rotation).coeffs().tolist() for p in placements],
        "neutral_positions": [p.translation.tolist() for p in world],
        "neutral_rotations": [pin.Quaternion(p.rotation).coeffs().tolist() for p in world],
        "tips": rig.tips.tolist(),
        "boxes": rig.boxes.tolist(),
        "shapes": [
            {
                "link": s.link,
                "kind": s.kind,
                "size": list(s.size),
                "rotation": s.rotation.tolist(),
                "centre": s.centre.tolist(),
                "vertices": np.asarray(s.vertices).tolist(),
                "faces": np.asarray(s.faces).tolist(),
                "volume": shape_volume(s.kind, s.size, np.asarray(s.vertices), np.asarray(s.faces)),
            }
            for s in rig.shapes
        ],
        "contacts": [{"name": c.name, "link": c.link, "vertices": c.vertices.tolist()} for c in rig.contacts],
        "pairs": [list(pair) for pair in rig.pairs],
        "prior": rig.prior.values.tolist(),
        "parameters": _plain(rig.parameters),
        "notes": list(rig.notes),
    }


def scene_rig(tree: Mapping) -> SceneRig:
    """The value behind a description.

    Raises:
        InvalidValue: an entry is missing or has the wrong shape.
    """
    if tree.get("format") != FORMAT:
        raise InvalidValue(f"this is no {FORMAT} description")
    if tree.get("version") != VERSION:
        raise InvalidValue(f"rig description version {tree.get('version')!r}; this program reads version {VERSION}")
    try:
        return SceneRig(
            name=str(tree["name"]),
            links=tuple(tree["links"]),
            parents=tuple(int(p) for p in tree["parents"]),
            joints=tuple(
                SceneJoint(j["kind"], np.array(j["axis"], float), _limits(j["lower"], -1), _limits(j["upper"], 1))
                for j in tree["joints"]
            ),
            positions=tree["positions"],
            rotations=tree["rotations"],
            neutral_positions=tree["neutral_positions"],
            neutral_rotations=tree["neutral_rotations"],
            tips=tree["tips"],
            boxes=tree["boxes"],
            shapes=tuple(
                SceneShape(
                    s["link"],
                    s["kind"],
                    tuple(s["size"]),
                    np.array(s["rotation"], float),
                    np.array(s["centre"], float),
                    np.array(s["vertices"], float).reshape(-1, 3),
                    np.array(s["faces"], int).reshape(-1, 3),
                    float(s["volume"]),
                )
                for s in tree["shapes"]
            ),
            contacts=tuple((c["name"], c["link"], np.array(c["vertices"], float)) for c in tree["contacts"]),
            pairs=tuple((left, right) for left, right in tree["pairs"]),
            prior=tree["prior"],
            parameters=dict(tree["parameters"]),
            notes=tuple(tree["notes"]),
        )
    except KeyError as error:
        raise InvalidValue(f"the rig description lacks the entry {error.args[0]!r}") from None
    except (TypeError, AttributeError) as error:
        raise InvalidValue(f"the rig description is malformed: {error}") from None


def write_rig(path: str | Path, rig: Rig) -> Path:
    """Write a rig's description; the file appears complete or not at all."""
    text = json.dumps(rig_description(rig))
    with write_atomically(path) as stream:
        stream.write(text)
    return Path(path)


def read_rig(path: str | Path) -> SceneRig:
    """Read a rig's description.

    Raises:
        InputError: missing, no JSON, or no rig description.
    """
    tree = read_tree(path)
    try:
        return scene_rig(tree)
    except InvalidValue as error:
        raise InputError(path, str(error), remedy=REMEDY) from None


def read_tree(path: str | Path) -> dict:
    """A description as it stands in the file, unchecked.

    Raises:
        InputError: missing, or no JSON object.
    """
    try:
        tree = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", remedy="Check the path") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"is not JSON ({error})", remedy=REMEDY) from None
    if not isinstance(tree, dict):
        raise InputError(path, "holds no rig description", remedy=REMEDY)
    return tree


def shape_volume(kind: str, size: tuple[float, ...], vertices: np.ndarray, faces: np.ndarray) -> float:
    """Volume of a shape [m^3]; of a mesh by the divergence theorem, so an open one gives only an estimate."""
    if kind == "sphere":
        return 4.0 / 3.0 * np.pi * size[0] ** 3
    if kind == "capsule":
        return np.pi * size[0] ** 2 * (2.0 * size[1] + 4.0 / 3.0 * size[0])
    if kind == "box":
        return 8.0 * float(np.prod(size))
    if kind == "ellipsoid":
        return 4.0 / 3.0 * np.pi * float(np.prod(size))
    corners = vertices[faces] * np.broadcast_to(size or 1.0, 3)
    return abs(float(np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _limits(values: list, sign: int) -> tuple[float, ...]:
    return tuple(sign * float("inf") if v is None else float(v) for v in values)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
