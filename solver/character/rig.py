"""A rig from a skinned character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..base import so3
from ..base.assets import read_asset
from ..base.errors import InvalidValue
from ..input_checks.armature import require_parts
from ..rigs.assembly import MovingBody, assemble
from ..rigs.human_rig import ARM_ABDUCTION
from ..rigs.solids import box
from ..skeleton.match import ARM, HEAD, PELVIS, TORSO, Skeleton, facing, match_bones
from ..skeleton.rig import BONE_LINKS, CHARACTER_KIND, PARTS, REST_PLACEMENT, Rig
from ..values.person import MASSES, SIDES
from ..values.shape import ContactPolygon, Shape
from .character import Character
from .joint_ranges import joint_ranges, link_axes
from .links import CLAVICLE, NECK, SPINE, LinkTree, choose_links
from .segments import MIN_SHARE, Segments, cell_weights, measure_segments, touching_pairs, vertex_weights
from .volume import MeshCells, fill_surface

SPHERICAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""By definition."""
PLAUSIBLE_FACTORS = (0.7, 1.4)
"""Range of stated mass over mass by volume and densities that needs no warning."""
TRUNK_KINDS = (PELVIS, SPINE, TORSO, NECK)
MAX_UNWEIGHTED = 0.5
"""Largest fraction of vertices without weights."""
MAX_STEP = 0.02
"""Difference of the soles' heights, as a fraction of the height, above which a note says so."""
SOLE_FRACTION = 0.012
"""Height above a foot's lowest point, as a fraction of the character's height, up to which it touches the floor.
Measured on a simulated character: half and twice the value give the same soles."""
CORNERS = 8
"""Largest number of corners of a sole."""


@dataclass(frozen=True, slots=True)
class CharacterRig:
    """A rig and how a character moves with it.

    Attributes:
        rig: its links have the names of the character's bones.
        parts: bone of each part of a person.
        volumes: (L,) [m^3] of the links.
        table_mass: [kg] by volumes and densities alone.
    """

    rig: Rig
    parts: Mapping[str, str]
    volumes: np.ndarray
    table_mass: float


def build_character_rig(
    character: Character, mass: float | None = None, parts: Mapping[str, str] | None = None
) -> CharacterRig:
    """The rig of a character.

    Links are bones: those that match the parts of a person, and those between them in spine, neck and shoulder girdle.
    Every joint is spherical and lies in the head of its bone; zero is the rest pose. Masses are the volumes inside the
    surface times the densities of the tables, scaled to the stated mass.

    Args:
        character: with weights.
        mass: [kg] of the body; by default that of volumes and densities.
        parts: bones of parts that are not found by their names, or found wrongly.

    Raises:
        InvalidValue: no weights, no volume, no legs, a size that is not that of a person, or exchanged sides.
        UnknownName: a stated part or bone does not exist.
    """
    skeleton = _require_skinned(character)
    if mass is not None and not MASSES[0] <= mass <= MASSES[1]:
        raise InvalidValue(f"the mass must be between {MASSES[0]:g} and {MASSES[1]:g} kg, got {mass!r}")
    matched = match_bones(skeleton, parts)
    require_parts(skeleton, matched)
    height = float(np.ptp(character.vertices[np.unique(character.triangles), 2]))
    ahead = facing({part: character.heads[character.bones.index(bone)] for part, bone in matched.items()})
    solid = fill_surface(character.vertices @ ahead, character.triangles)  # whatever direction it faces
    solid = MeshCells(solid.centres @ ahead.T, solid.size)
    if not len(solid.centres):
        raise InvalidValue(f"{character.name}: its surface encloses no volume; close the holes of its meshes")
    tree = choose_links(skeleton, matched)
    while True:
        weights = vertex_weights(character, tree.link_of_bone, len(tree.bones))
        inside = cell_weights(solid, character.vertices, weights)
        empty = np.flatnonzero(inside.sum(axis=0) < MIN_SHARE * len(inside))
        if not len(empty):
            break
        tree = _without_link(character, tree, int(empty[0]))
    links = tuple(character.bones[bone] for bone in tree.bones)
    heads = character.heads[list(tree.bones)]
    axes = link_axes(tree, ahead, heads, _link_ends(character, tree))
    segments = measure_segments(links, tree.kinds, solid, inside, (axes, heads), mass)
    total = segments.prior.total_mass
    reference = read_asset("human_body")["torque_reference"]
    limits = joint_ranges(tree, axes, float(total * height / np.prod(list(reference.values()))))
    bodies = [_build_body(tree, links, axes, heads, limits, k) for k in range(len(links))]
    joints, joint_limits = assemble(bodies)
    owners = weights.argmax(axis=1)
    soles = _find_soles(character, tree, links, np.where(weights.any(axis=1), owners, -1), (axes, heads), height)
    shapes = _with_foot_boxes(segments, soles)
    notes = [*tree.notes, *_note_mass(mass, segments.table_mass), *_note_soles(soles, links, axes, heads, height)]
    rig = Rig(
        name=character.name,
        links=links,
        joints=joints,
        prior=segments.prior,
        limits=joint_limits,
        boxes=segments.boxes,
        tips=_link_tips(character, tree, owners, axes, heads),
        shapes=shapes,
        contacts=soles,
        pairs=_mirrored_pairs(tree, links),
        excluded=_allowed_pairs(tree, links, touching_pairs(shapes, (axes, heads))),
        notes=tuple(notes),
        provenance={
            "kind": CHARACTER_KIND,
            "height": height,
            "mass": total,
            PARTS: {kind: link for kind, link in zip(tree.kinds, links, strict=True) if kind in matched},
            BONE_LINKS: dict(zip(character.bones, [links[k] for k in tree.link_of_bone.tolist()], strict=True)),
            REST_PLACEMENT: np.vstack([np.column_stack([ahead, heads[0]]), [0.0, 0.0, 0.0, 1.0]]),
            "standing": _standing_posture(tree, axes, heads, soles),
        },
    )
    return CharacterRig(rig, matched, segments.volumes, segments.table_mass)


def _require_skinned(character: Character) -> Skeleton:
    name = character.name
    if not len(character.triangles):
        raise InvalidValue(f"{name} has no surface: select an armature that deforms a mesh")
    weighted = np.zeros(len(character.vertices), bool)
    weighted[character.weighted[character.weights > 0.0, 0]] = True
    if weighted.mean() < MAX_UNWEIGHTED:
        raise InvalidValue(
            f"{name}: {100.0 * weighted.mean():.0f} % of the vertices have weights of bones; bind the mesh to the "
            "armature first (select both, Ctrl P, With Automatic Weights)"
        )
    return Skeleton(character.bones, character.parents, character.heads, character.tails, character.deforming())


def _without_link(character: Character, tree: LinkTree, link: int) -> LinkTree:
    """The tree without a link that has no volume; the bone moves with its parent."""
    kind, bone = tree.kinds[link], character.bones[tree.bones[link]]
    if (kind.startswith(SIDES) and not kind.endswith("clavicle")) or kind in (TORSO, HEAD) or link == 0:
        raise InvalidValue(
            f"{character.name}: no part of the surface follows {bone}, the {kind.replace('_', ' ')}; choose another "
            "bone, or paint its weights"
        )
    above = tree.parents[link]
    renumbered = [k - (k > link) for k in range(len(tree.bones))]
    renumbered[link] = renumbered[above]
    kept = [k for k in range(len(tree.bones)) if k != link]
    return LinkTree(
        tuple(tree.bones[k] for k in kept),
        tuple(-1 if tree.parents[k] < 0 else renumbered[tree.parents[k]] for k in kept),
        tuple(tree.kinds[k] for k in kept),
        np.array(renumbered)[tree.link_of_bone],
        (*tree.notes, f"{bone} moves no volume: fixed to {character.bones[tree.bones[above]]}"),
    )


def _link_ends(character: Character, tree: LinkTree) -> np.ndarray:
    """End (L, 3) [m] of each link in rest pose: the joint of the only link on it, or the tail of its bone."""
    ends = character.tails[list(tree.bones)].copy()
    for link in range(len(tree.bones)):
        below = [k for k, parent in enumerate(tree.parents) if parent == link]
        if len(below) == 1:
            ends[link] = character.heads[tree.bones[below[0]]]
    return ends


def _link_tips(
    character: Character, tree: LinkTree, owners: np.ndarray, axes: np.ndarray, heads: np.ndarray
) -> np.ndarray:
    """Far end (L, 3) [m] of each link, link axes; of the last in a limb the farthest point of its surface."""
    tips = np.einsum("lji,lj->li", axes, _link_ends(character, tree) - heads)
    for link in range(len(tree.bones)):
        if link not in tree.parents:
            points = (character.vertices[owners == link] - heads[link]) @ axes[link]
            along = tips[link] if np.linalg.norm(tips[link]) > 0.0 else points.mean(axis=0)
            tips[link] = points[int((points @ along).argmax())] if len(points) else tips[link]
    return tips


def _build_body(
    tree: LinkTree,
    links: tuple[str, ...],
    axes: np.ndarray,
    heads: np.ndarray,
    limits: Mapping[str, np.ndarray],
    link: int,
) -> MovingBody:
    if link == 0:
        return MovingBody(links[0], None)
    parent, own = tree.parents[link], slice(3 * (link - 1), 3 * link)
    return MovingBody(
        links[link],
        links[parent],
        SPHERICAL,
        axes[parent].T @ (heads[link] - heads[parent]),
        axes[parent].T @ axes[link],
        limits["lower"][own],
        limits["upper"][own],
        limits["speed"][own],
        limits["torque"][own],
    )


def _find_soles(
    character: Character,
    tree: LinkTree,
    links: tuple[str, ...],
    owners: np.ndarray,
    frames: tuple[np.ndarray, np.ndarray],
    height: float,
) -> tuple[ContactPolygon, ...]:
    soles = []
    for side in SIDES:
        link = tree.of_kind(f"{side}_foot")
        assert link is not None
        points = character.vertices[owners == link]
        frame = (frames[0][link], frames[1][link])
        sole = find_character_sole(f"{side}_sole", links[link], points, height, frame) if len(points) else None
        if sole is None:
            raise InvalidValue(f"{character.name}: the {side} foot has no flat lower side to stand on")
        soles.append(sole)
    return tuple(soles)


def _with_foot_boxes(segments: Segments, soles: tuple[ContactPolygon, ...]) -> tuple[Shape, ...]:
    """The shapes, those of the feet replaced by boxes on their soles with the same volume, for the floor is flat."""
    shapes = {shape.link: shape for shape in segments.shapes}
    for sole in soles:
        low, high = sole.vertices.min(axis=0), sole.vertices.max(axis=0)
        thickness = shapes[sole.link].volume / np.prod((high - low)[:2])
        shapes[sole.link] = box(sole.link, low, [*high[:2], low[2] + thickness])
    return tuple(shapes.values())


def _allowed_pairs(
    tree: LinkTree, links: tuple[str, ...], touching: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Pairs that may touch: those that do in rest pose, any two links of the trunk, and the trunk with upper arms."""
    trunk = [k for k, kind in enumerate(tree.kinds) if kind in TRUNK_KINDS or kind.endswith(CLAVICLE)]
    arms = [k for k, kind in enumerate(tree.kinds) if kind.endswith(f"_{ARM[0]}")]
    chest = tree.of_kind(TORSO)
    pairs = {(min(a, b), max(a, b)) for a in trunk for b in trunk if a != b}
    pairs |= {(min(chest, arm), max(chest, arm)) for arm in arms if chest is not None}
    pairs |= {(links.index(one), links.index(other)) for one, other in touching}
    return tuple((links[one], links[other]) for one, other in sorted(pairs))


def _mirrored_pairs(tree: LinkTree, links: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(left, right) links of the same kind, counted from the body."""
    pairs = []
    for kind in dict.fromkeys(kind for kind in tree.kinds if kind.startswith("left_")):
        left = [link for link, own in zip(links, tree.kinds, strict=True) if own == kind]
        mirrored = kind.replace("left_", "right_", 1)
        right = [link for link, own in zip(links, tree.kinds, strict=True) if own == mirrored]
        pairs += list(zip(left, right))
    return tuple(pairs)


def _standing_posture(
    tree: LinkTree, axes: np.ndarray, heads: np.ndarray, soles: tuple[ContactPolygon, ...]
) -> np.ndarray:
    """(nq,) rest pose with hanging arms, the lowest sole at height zero."""
    q = np.zeros(7 + 4 * (len(tree.bones) - 1))
    q[6::4] = 1.0
    feet = [tree.of_kind(f"{side}_foot") for side in SIDES]
    lowest = min(float((s.vertices @ axes[k].T + heads[k])[:, 2].min()) for s, k in zip(soles, feet) if k is not None)
    q[2] = heads[0, 2] - lowest
    for side, sign in (("right", -1.0), ("left", 1.0)):
        link = tree.of_kind(f"{side}_upper_arm")
        if link is not None:
            rest = axes[tree.parents[link]].T @ axes[link]
            hanging = so3.exp(np.array([sign * ARM_ABDUCTION, 0.0, 0.0]))
            q[7 + 4 * (link - 1) : 11 + 4 * (link - 1)] = so3.to_quaternion(rest.T @ hanging)
    return q


def _note_mass(mass: float | None, table_mass: float) -> list[str]:
    if mass is None:
        return [f"mass by volume and the densities of Dempster: {table_mass:.1f} kg"]
    factor = mass / table_mass
    note = f"inertial prior: volumes and the densities of Dempster give {table_mass:.1f} kg, scaled to {mass:g} kg"
    if not PLAUSIBLE_FACTORS[0] <= factor <= PLAUSIBLE_FACTORS[1]:
        note += f"; the factor {factor:.2g} is large, check the mass and the character's size"
    return [note]


def _note_soles(
    soles: tuple[ContactPolygon, ...], links: tuple[str, ...], axes: np.ndarray, heads: np.ndarray, height: float
) -> list[str]:
    levels = []
    for sole in soles:
        link = links.index(sole.link)
        levels.append(float((sole.vertices @ axes[link].T + heads[link])[:, 2].mean()))
    notes = []
    if abs(levels[0] - levels[1]) > MAX_STEP * height:
        notes.append(f"the soles are {1e3 * abs(levels[0] - levels[1]):.0f} mm apart in height in rest pose")
    return notes


def find_character_sole(
    name: str, link: str, points: np.ndarray, height: float, frame: tuple[np.ndarray, np.ndarray]
) -> ContactPolygon | None:
    """The sole of a foot; None if its lowest part is not an area.

    Args:
        name: of the patch.
        link: the foot.
        points: (V, 3) [m] of the foot's surface in rest pose.
        height: [m] of the character.
        frame: axes (3, 3) and origin (3,) [m] of the link in rest pose.
    """
    floor = float(points[:, 2].min())
    flat = points[points[:, 2] <= floor + SOLE_FRACTION * height, :2]
    try:
        outline = flat[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        return None
    angles = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    corners = list(dict.fromkeys((outline @ directions.T).argmax(axis=0).tolist()))
    kept = outline[sorted(corners)][::-1]  # counter-clockwise from below
    rotation, origin = frame
    world = np.column_stack([kept, np.full(len(kept), floor)])
    return ContactPolygon(name, link, (world - origin) @ rotation, toes=True) if len(kept) >= 3 else None
