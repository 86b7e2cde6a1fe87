"""The mesh of a person: a stored shape of sex, stature and mass, fitted to the joint centres of a rig.

``assets/body_mesh.npz``, which packaging/body_mesh.py builds, contains shapes in a posture with the arms obliquely down
(A-pose), joint centres and link weights. Every link has an affine map from the A-pose to the rig at neutral: it maps
the joint centre and the end of the segment to those of the rig, and scales the girth. A vertex with weights w_l is
mapped by linear blend skinning:

    x = sum_l w_l M_l x_A

The mesh is for the eye. Collisions, volumes and inertial parameters use the shapes of the rig.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..base import so3
from ..base.arrays import Array, ArrayValue
from ..base.assets import ASSETS
from ..base.errors import InputError, InvalidValue
from ..contacts.rolling import BALL, TOE_BEND, RollingSole, pitch_rotations
from ..skeleton.rig import Rig
from ..values.person import GIRDLE, SIDES, columns_of

ABDOMEN = "abdomen"
ASSET = ASSETS / "body_mesh.npz"
REMEDY = "Build it with `python packaging/body_mesh.py`"
BODY_DENSITY = 1010.0
"""[kg/m^3] Mean density of a person with air in the lungs."""
BUILDS: tuple[Mapping[str, float], ...] = (
    {"thin": 1.0},
    {"light": 1.0},
    {},
    {"heavy": 1.0},
    {"muscular": 0.5, "obese": 0.5},
    {"obese": 1.0},
)
"""Sums of differences to the average shape, in order of volume."""
GIRTH_RANGE = 0.5, 2.0
"""Range of the factor of all girths."""
VOLUME_TOLERANCE = 1e-3
"""Relative error of the volume."""
EXTREMITY_EXPONENT = 0.5
"""Exponent of the girth factor for head, hands and feet, whose sizes vary less with mass."""
BORDER_MARGIN = 0.05
"""Smallest distance of a border from a vertex, as a fraction of an edge."""
FOREARM_STEPS = 5
"""Rolls of the forearm between elbow and wrist."""
UPWARD = np.array([0.0, 0.0, 1.0])
"""By definition."""
MERGED = (("head", "torso", UPWARD), ("right_hand", "right_forearm", -UPWARD), ("left_hand", "left_forearm", -UPWARD))
"""Links that some rigs merge with another, which ends at their joint centre, and where they point."""
PARENTS = {ABDOMEN: "torso", "head": "torso", "clavicle": "torso", "scapula": "clavicle", "hand": "forearm"}
"""Segments that move a merged segment's skin."""
SHOULDER_DUAL = 0.5
"""[1] Fraction of dual-quaternion skinning around the shoulders. Dual quaternions keep the girth of bent and twisted
limbs, but make the armpit bulge under a raised arm. Chosen on two dances, one designed and one recorded: with 0, 0.3,
0.5 and 1 armpits lose at most 27, 21, 16 and 4 % of their volume and gain at most 6, 10, 13 and 28 %."""
SHOULDER_WEIGHT = 0.2
"""Smallest weight of an upper arm that makes skin a part of the shoulder."""
TOE_CREASE = 0.1
"""Length over which the skin bends at the ball of a foot, as a fraction of the sole's. Chosen on the man of 1.75 m:
with .03, .06, .1 and .15 his toes dip below the floor by 0, .4, 1.4 and 2.4 mm, rigid by 26; more is smoother."""
HEAD_BREADTH = 1.08
"""Measured on the stored heads, which are 0.70 times as broad as long; those of adults are about 0.77."""
FORWARD, LEFTWARD, _ = np.eye(3)
SAGITTAL, LATERAL = (FORWARD, FORWARD), (LEFTWARD, LEFTWARD)


@dataclass(frozen=True, slots=True)
class BodyMesh(ArrayValue):
    """A closed surface that the links of a rig deform.

    Attributes:
        vertices: (V, 3) [m] at neutral, in the axes of the root link.
        faces: (F, 4) indices, counter-clockwise seen from outside; a triangle repeats its last corner.
        weights: (V, L) weights of the links; each row adds up to 1.
        face_links: (F,) index of the link with the largest weight in each face; no face reaches over a border.
        dual: (V,) fraction of dual-quaternion skinning, the rest is linear; see `SHOULDER_DUAL`.
    """

    vertices: Annotated[np.ndarray, Array("V", 3)]
    faces: np.ndarray
    weights: Annotated[np.ndarray, Array("V", None)]
    face_links: np.ndarray
    dual: Annotated[np.ndarray, Array("V")]

    def require_consistent(self) -> None:
        for indices in (self.faces, self.face_links):
            indices.setflags(write=False)

    @property
    def volume(self) -> float:
        """Enclosed volume [m^3]."""
        return enclosed_volume(self.vertices, self.faces)


@dataclass(frozen=True, slots=True)
class BodyShapes:
    """The stored shapes.

    Attributes:
        shapes: vertices (V, 3) [m] in the A-pose by name, ``"female/average"``; those of other builds and statures
            are differences to the average.
        joints: joint centres (3,) [m] by name, by shape.
        faces: (F, 4), see `BodyMesh`.
        weights: (V, K).
        links: K names.
    """

    shapes: Mapping[str, np.ndarray]
    joints: Mapping[str, Mapping[str, np.ndarray]]
    faces: np.ndarray
    weights: np.ndarray
    links: tuple[str, ...]


def read_body_shapes(path: Path | None = None) -> BodyShapes:
    """Read the stored shapes, by default those of `ASSET`.

    Raises:
        InputError: the file is missing or damaged.
    """
    path = ASSET if path is None else path
    if not path.is_file():
        raise InputError(path, "is missing", remedy=REMEDY)
    return _read_shapes(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_shapes(path: Path, _changed: int) -> BodyShapes:
    try:
        with np.load(path) as stored:
            arrays: dict[str, Any] = dict(stored)
        names, joints = arrays["shape_names"].tolist(), arrays["joint_names"].tolist()
        return BodyShapes(
            dict(zip(names, arrays["shapes"] * float(arrays["unit"]), strict=True)),
            {name: dict(zip(joints, row.astype(float), strict=True)) for name, row in zip(names, arrays["joints"])},
            arrays["faces"].astype(int),
            arrays["weights"] / arrays["weights"].sum(axis=1, keepdims=True, dtype=float),
            tuple(arrays["links"].tolist()),
        )
    except (KeyError, ValueError, OSError) as error:
        raise InputError(
            path, f"is damaged: {error}", remedy="Build it with `python packaging/body_mesh.py`"
        ) from error


def has_body_mesh(rig: Rig) -> bool:
    """Whether a rig is a built-in person and the shapes are here."""
    return rig.provenance.get("kind") == "human" and ASSET.is_file()


def fit_body_mesh(rig: Rig, shapes: BodyShapes | None = None) -> BodyMesh:
    """Fit the mesh of a person to a rig of `rigs.human`.

    Joint centres, segment lengths, and the ends of head, hands and feet are the rig's. The volume is the mass over
    `BODY_DENSITY`: the build is chosen for it, and where no build is light or heavy enough, a factor of all girths.

    Args:
        rig: of a person, also calibrated.
        shapes: by default those of the asset.

    Raises:
        InvalidValue: the rig is not a built-in person.
        InputError: the asset is missing or damaged.
    """
    if rig.provenance.get("kind") != "human":
        raise InvalidValue(f"{rig.name!r} is not a built-in person, and has no body mesh")
    shapes = read_body_shapes() if shapes is None else shapes
    figure = _Figure(rig, shapes)
    volume = rig.prior.total_mass / BODY_DENSITY
    build = _solve_increasing(figure.volume, volume, 0.0, len(BUILDS) - 1.0)
    girth = 1.0
    if build in (0.0, len(BUILDS) - 1.0):
        girth = _solve_increasing(lambda factor: figure.volume(build, factor), volume, *GIRTH_RANGE)
    return _divide_at_borders(figure.vertices(build, girth), shapes.faces, figure.link_weights, rig.links)


def bend_toes(rig: Rig, mesh: BodyMesh) -> dict[str, np.ndarray]:
    """Vertices (V, 3) [m] at neutral with the toes of one foot bent by `rolling.TOE_BEND`, by the link of the foot."""
    result = {}
    for patch in (sole for sole in rig.soles if sole.toes):
        link, sole = rig.index(patch.link), RollingSole.of(rig, patch.name)
        axes = rig.rest[0][link] @ sole.axes
        own = (mesh.vertices - rig.rest[1][link]) @ axes
        hinge = sole.line(BALL)[0] * [1.0, 0.0, 1.0]
        share = np.clip((own[:, 0] - hinge[0]) / (TOE_CREASE * sole.length), 0.0, 1.0) * mesh.weights[:, link]
        moved = hinge - own + (own - hinge) @ pitch_rotations(np.array([TOE_BEND]))[0].T
        result[patch.link] = mesh.vertices + share[:, None] * (moved @ axes.T)
    return result


class _Figure:
    """The person of a rig: joint centres and ends of its links at neutral, and the stored shapes."""

    def __init__(self, rig: Rig, shapes: BodyShapes) -> None:
        about: Mapping[str, Any] = rig.provenance
        self.shapes, self.columns, self.height = shapes, columns_of(about["sex"]), float(about["height"])
        self.centres = dict(zip(rig.links, rig.rest[1], strict=True))
        self.ends = {link: self.centres[link] + tip for link, tip in zip(rig.links, rig.tips, strict=True)}
        self.heels = {
            patch.link: float(patch.vertices[:, 0].min()) for patch in rig.contacts if patch.name.endswith("_sole")
        }
        for link, parent, direction in MERGED:
            if link not in self.centres:
                self.centres[link] = self.ends[parent]
                self.ends[link] = self.ends[parent] + _overhang(rig, parent, direction) * direction
        self.weights = dict(zip(shapes.links, shapes.weights.T, strict=True))
        self.link_weights = np.zeros((len(shapes.weights), len(rig.links)))
        for link, column in self.weights.items():
            self.link_weights[:, rig.links.index(moving_link(link, rig.links))] += column

    def volume(self, build: float, girth: float = 1.0) -> float:
        """Volume [m^3] of the mesh."""
        return enclosed_volume(self.vertices(build, girth), self.shapes.faces)

    def vertices(self, build: float, girth: float = 1.0) -> np.ndarray:
        """Vertices (V, 3) [m] at neutral.

        Args:
            build: position in `BUILDS`; fractions blend two of them.
            girth: factor of all girths.
        """
        surface, joints = self._a_pose(build)
        weights, maps = zip(*_Fit(self, surface, joints, girth).maps(), strict=True)
        blended = (np.column_stack(weights) @ np.reshape(maps, (len(maps), 16))).reshape(-1, 4, 4)
        return np.asarray(np.einsum("vij,vj->vi", blended[:, :3, :3], surface) + blended[:, :3, 3])

    def _a_pose(self, build: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Vertices (V, 3) [m] and joint centres in the A-pose: the mean over the columns of the sex."""
        stored, low = self.shapes, min(int(build), len(BUILDS) - 2)
        surfaces, centres = [], []
        for sex in self.columns:
            factors: dict[str, float] = {}
            for share, names in ((1.0 - build + low, BUILDS[low]), (build - low, BUILDS[low + 1])):
                for name, factor in names.items():
                    factors[name] = factors.get(name, 0.0) + share * factor
            differences = [f * stored.shapes[f"{sex}/{name}"] for name, f in factors.items()]
            surfaces.append(sum(differences, stored.shapes[f"{sex}/average"]))
            centres.append({
                joint: centre + sum(f * stored.joints[f"{sex}/{name}"][joint] for name, f in factors.items())
                for joint, centre in stored.joints[f"{sex}/average"].items()
            })  # fmt: skip
        return np.mean(surfaces, axis=0), {joint: np.mean([c[joint] for c in centres], axis=0) for joint in centres[0]}


class _Fit:
    """Affine maps of the links from the A-pose to a rig at neutral.

    Every map (4, 4) comes with the weights (V,) of the vertices that it moves.
    """

    def __init__(self, figure: _Figure, surface: np.ndarray, joints: Mapping[str, np.ndarray], girth: float) -> None:
        self.at, self.ends, self.heels, self.weights = figure.centres, figure.ends, figure.heels, figure.weights
        self.surface, self.joints = surface, joints
        stature = figure.height / float(np.ptp(surface[:, 2]))
        self.girth, self.size = girth * stature, girth**EXTREMITY_EXPONENT * stature

    def maps(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The maps of all links."""
        trunk = self._trunk_maps()
        for link, affine in trunk.items():
            yield self.weights[link], affine
        for side in SIDES:
            yield from self._girdle_maps(side, trunk["torso"])
            yield from self._arm_maps(side)
            yield from self._leg_maps(side)
            yield from self._foot_maps(side)

    def _trunk_maps(self) -> dict[str, np.ndarray]:
        at, joints, girth = self.at, self.joints, self.girth
        pelvis_width, chest_width = (
            0.5 * (girth + _width(at, link) / _width(joints, joint))
            for link, joint in (("thigh", "hip"), ("upper_arm", "shoulder"))
        )
        lumbar, cervical, neck = joints["lumbar"], joints["cervical"], joints["neck"]
        hips = 0.5 * (at["right_thigh"] + at["left_thigh"])
        pelvis = _segment_map(lumbar, joints["hips"], at["pelvis"], hips, LATERAL, (pelvis_width, girth))
        base, middle = at["torso"], lumbar
        if ABDOMEN in at:
            base = at[ABDOMEN]
            share = np.linalg.norm(at["torso"] - base) / np.linalg.norm(at["head"] - base)
            middle = lumbar + share * (cervical - lumbar)
        torso = _segment_map(middle, cervical, at["torso"], at["head"], LATERAL, (chest_width, girth))
        abdomen = torso
        if ABDOMEN in at:
            abdomen = _segment_map(lumbar, middle, base, at["torso"], LATERAL, (chest_width, girth))
        top, end = np.array([neck[0], neck[1], self.surface[:, 2].max()]), self.ends["head"]
        head = _segment_map(neck, top, at["head"], end, LATERAL, (HEAD_BREADTH * self.size, self.size))
        return {"pelvis": pelvis, ABDOMEN: abdomen, "torso": torso, "head": head}

    def _girdle_maps(self, side: str, torso: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Clavicle and scapula stretch between the torso's skin and the shoulder's centre."""
        clavicle, shoulder = self.joints[f"{side}_clavicle"], self.joints[f"{side}_shoulder"]
        start = torso[:3, :3] @ clavicle + torso[:3, 3]
        girths = self.girth, self.girth
        girdle = _segment_map(clavicle, shoulder, start, self.at[f"{side}_upper_arm"], SAGITTAL, girths)
        for name in GIRDLE:
            yield self.weights[f"{side}_{name}"], girdle

    def _arm_maps(self, side: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The forearm rolls between elbow and wrist, as radius and ulna do, so that the palm faces forward."""
        at, joints, girths = self.at, self.joints, (self.girth, self.girth)
        shoulder, elbow, wrist, finger, index, little = (
            joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist", "finger", "index", "little")
        )
        upper, fore, hand = (f"{side}_{name}" for name in ("upper_arm", "forearm", "hand"))
        outward = LEFTWARD if side == "left" else -LEFTWARD
        hinge = np.cross(elbow - shoulder, wrist - elbow) * -outward[1]  # outward when the palm faces forward
        yield self.weights[upper], _segment_map(shoulder, elbow, at[upper], at[fore], (hinge, outward), girths)
        length = float(np.linalg.norm(wrist - elbow))
        along = (wrist - elbow) / length
        across = index - little
        roll = np.arctan2(np.cross(hinge, across) @ along, hinge @ across - (hinge @ along) * (across @ along))
        place = np.clip((self.surface - elbow) @ along / length, 0.0, 1.0)
        for step in np.linspace(0.0, 1.0, FOREARM_STEPS):
            near = np.maximum(0.0, 1.0 - np.abs(place - step) * (FOREARM_STEPS - 1))
            sides = so3.exp(step * roll * along) @ hinge, outward
            yield near * self.weights[fore], _segment_map(elbow, wrist, at[fore], at[hand], sides, girths)
        reach = (finger - wrist) / np.linalg.norm(finger - wrist)
        tip = wrist + reach * ((self.surface - wrist) @ reach)[self.weights[hand] > 0.5].max()
        girths = self.size, self.size
        yield self.weights[hand], _segment_map(wrist, tip, at[hand], self.ends[hand], (across, outward), girths)

    def _leg_maps(self, side: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        at, girths = self.at, (self.girth, self.girth)
        thigh, shank, foot = (f"{side}_{name}" for name in ("thigh", "shank", "foot"))
        hip, knee, ankle = (self.joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        yield self.weights[thigh], _segment_map(hip, knee, at[thigh], at[shank], SAGITTAL, girths)
        yield self.weights[shank], _segment_map(knee, ankle, at[shank], at[foot], SAGITTAL, girths)

    def _foot_maps(self, side: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """In front of the ankle the foot is stretched to the toes of the rig, behind it to the heel."""
        foot, ankle = f"{side}_foot", self.joints[f"{side}_ankle"]
        ahead = (self.joints[f"{side}_toe"] - ankle) * [1.0, 1.0, 0.0]
        ahead /= np.linalg.norm(ahead)
        axes = np.stack([ahead, np.cross(UPWARD, ahead), UPWARD])
        relative = (self.surface - ankle) @ axes.T
        low, high = relative[self.weights[foot] > 0.5].min(axis=0), relative[self.weights[foot] > 0.5].max(axis=0)
        toe, _, sole = self.ends[foot] - self.at[foot]
        front = relative[:, 0] >= 0.0
        for part, length in ((front, toe / high[0]), (~front, self.heels[foot] / low[0])):
            linear = np.diag([length, self.size, sole / low[2]]) @ axes
            yield part * self.weights[foot], _affine_map(linear, ankle, self.at[foot])


def _divide_at_borders(
    vertices: np.ndarray, faces: np.ndarray, weights: np.ndarray, links: tuple[str, ...]
) -> BodyMesh:
    """Divide faces (F, 4) where the link with the largest weight changes, so that borders of colours are smooth."""
    link = weights.argmax(axis=1)
    mixed = (link[faces] != link[faces[:, :1]]).any(axis=1)
    points, rows = list(vertices), list(weights)
    kept, owners = [faces[~mixed]], [link[faces[~mixed, 0]]]
    crossings: dict[tuple[int, int], int] = {}

    def add(position: np.ndarray, row: np.ndarray) -> int:
        points.append(position)
        rows.append(row)
        return len(points) - 1

    def crossing(one: int, other: int) -> int:
        one, other = min(one, other), max(one, other)
        if (one, other) not in crossings:
            lead, lag = (weights[k, link[one]] - weights[k, link[other]] for k in (one, other))
            share = float(np.clip(lead / max(lead - lag, 1e-9), BORDER_MARGIN, 1.0 - BORDER_MARGIN))
            blend = [(1.0 - share) * values[one] + share * values[other] for values in (vertices, weights)]
            crossings[one, other] = add(*blend)
        return crossings[one, other]

    for face in faces[mixed].tolist():
        corners = list(dict.fromkeys(face))
        first = next(k for k in range(len(corners)) if link[corners[k]] != link[corners[k - 1]])
        corners = corners[first:] + corners[:first]
        parts = [[corners[0]]]
        for corner in corners[1:]:
            parts[-1:] = [[*parts[-1], corner]] if link[corner] == link[parts[-1][0]] else [parts[-1], [corner]]
        middle = [add(vertices[corners].mean(axis=0), weights[corners].mean(axis=0))] if len(parts) > 2 else []
        for before, part, after in zip([parts[-1], *parts], parts, [*parts[1:], parts[0]]):
            polygon = [crossing(before[-1], part[0]), *part, crossing(part[-1], after[0]), *middle]
            fans = [[polygon[0], *polygon[k : k + 3]] for k in range(1, len(polygon) - 1, 2)]
            kept.append(np.array([[*fan, fan[-1]][:4] for fan in fans]))
            owners.append(np.full(len(fans), link[part[0]]))
    blended = np.array(rows)
    return BodyMesh(
        np.array(points), np.concatenate(kept), blended, np.concatenate(owners), _dual_fraction(blended, links)
    )


def _dual_fraction(weights: np.ndarray, links: tuple[str, ...]) -> np.ndarray:
    """Fraction (V,) of dual-quaternion skinning: `SHOULDER_DUAL` on upper arms and around shoulders, 1 elsewhere.

    It changes gradually towards the trunk, and at once towards the forearm, between vertices that the upper arm alone
    moves, where both kinds of skinning agree.
    """
    upper, fore = (weights[:, [link.endswith(name) for link in links]].sum(axis=1) for name in ("upper_arm", "forearm"))
    shoulder = np.where(fore == 0.0, np.minimum(upper / SHOULDER_WEIGHT, 1.0), 0.0)
    return 1.0 - (1.0 - SHOULDER_DUAL) * shoulder


def _overhang(rig: Rig, link: str, direction: np.ndarray) -> float:
    """How far [m] the ellipsoids of a link reach beyond its end in a direction."""
    solids = [shape for shape in rig.shapes if shape.link == link and shape.kind == "ellipsoid"]
    reach = (s.centre @ direction + np.linalg.norm(s.size * (s.rotation.T @ direction)) for s in solids)
    return float(max(reach) - rig.tips[rig.index(link)] @ direction)


def moving_link(link: str, links: tuple[str, ...]) -> str:
    """The link of a rig that moves the skin of a stored link."""
    while link not in links:
        side, _, segment = link.partition("_") if link.startswith(("right_", "left_")) else ("", "", link)
        link = PARENTS[segment] if PARENTS[segment] in links else f"{side}_{PARENTS[segment]}"
    return link


def _width(points: Mapping[str, np.ndarray], name: str) -> float:
    """Distance [m] between the right and the left joint centre of a name."""
    return float(np.linalg.norm(points[f"left_{name}"] - points[f"right_{name}"]))


def _segment_map(
    start: np.ndarray,
    end: np.ndarray,
    new_start: np.ndarray,
    new_end: np.ndarray,
    sides: tuple[np.ndarray, np.ndarray],
    girths: tuple[float, float],
) -> np.ndarray:
    """Affine map (4, 4) of a segment.

    Args:
        start, end: joint centre and end of the segment (3,) [m].
        new_start, new_end: what they are mapped to.
        sides: an axis (3,) across the segment, and what it is mapped to, up to rotation about the other axis across.
        girths: factors along this axis and across it.
    """
    one, two = (_segment_axes(line, side) for line, side in zip((end - start, new_end - new_start), sides))
    length = float(np.linalg.norm(new_end - new_start) / np.linalg.norm(end - start))
    return _affine_map(two @ np.diag([length, *girths]) @ one.T, start, new_start)


def _affine_map(linear: np.ndarray, start: np.ndarray, new_start: np.ndarray) -> np.ndarray:
    """The affine map (4, 4) with a linear part (3, 3) that maps a point (3,) to another."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = linear, new_start - linear @ start
    return result


def _segment_axes(line: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Right-handed axes (3, 3), columns: along a line, as close as possible to a side, and across both."""
    first = line / np.linalg.norm(line)
    second = side - (side @ first) * first
    second /= np.linalg.norm(second)
    return np.column_stack([first, second, np.cross(first, second)])


def enclosed_volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Volume [m^3] that vertices (V, 3) [m] and faces (F, 4) enclose."""
    one, two, three = vertices[np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", one, np.cross(two, three)) / 6.0)


def _solve_increasing(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where an increasing function between two bounds has a value, to `VOLUME_TOLERANCE`; else the nearer bound."""
    values = [function(low), function(high)]
    if not values[0] < value < values[1]:
        return low if value <= values[0] else high
    while True:
        middle = low + (high - low) * float(np.clip((value - values[0]) / (values[1] - values[0]), 0.1, 0.9))
        found = function(middle)
        if abs(found - value) < VOLUME_TOLERANCE * value:
            return middle
        if found < value:
            low, values[0] = middle, found
        else:
            high, values[1] = middle, found
