"""Laws of rigs that are made from skinned characters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base import so3
from solver.base.errors import InvalidValue, UnknownName
from solver.character.character import Character
from solver.character.rig import CharacterRig, build_character_rig
from solver.character.segments import cell_weights, link_densities, vertex_weights
from solver.character.volume import CELLS_OF_HEIGHT, MeshCells, fill_surface
from solver.dynamics import link_poses
from solver.scene.rig import rig_from_text, rig_to_text
from solver.skeleton.rig import BONE_LINKS, PARTS, REST_PLACEMENT, Rig
from solver.tracking.anatomy import find_anatomy
from solver.values.person import LINKS
from tests.character.synthetic import CONVENTIONS, box_surface, make_character

MASS = 62.0
FACING = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Forward, left and up of the character."""


@pytest.fixture(scope="module")
def character() -> Character:
    """A character with names as in Blender's own rigs."""
    return make_character("Blender")


@pytest.fixture(scope="module")
def built(character: Character) -> CharacterRig:
    """Its rig."""
    return build_character_rig(character, MASS)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_gives_the_same_body(convention: str, built: CharacterRig) -> None:
    """The names of the bones do not change the rig, also if none of them is known."""
    other = build_character_rig(make_character(convention), MASS)
    names, sides = CONVENTIONS[convention]
    assert set(other.parts) == set(LINKS)
    assert other.parts["left_shank"] == names["shank"].format(sides[0])
    assert other.rig.parents == built.rig.parents
    assert np.allclose(other.rig.prior.values, built.rig.prior.values)
    assert np.allclose(other.rig.limits.lower, built.rig.limits.lower)
    assert dict(find_anatomy(other.rig).parts) == dict(other.parts)


def test_limbs_of_a_control_rig_need_no_common_parent(character: Character, built: CharacterRig) -> None:
    """Limbs whose bones hang on a bone that deforms nothing, as in a generated Rigify rig, give the same rig."""
    root = len(character.bones)
    torn = tuple(
        root if bone.partition(".")[0] in ("thigh", "shoulder", "upper_arm") else parent
        for bone, parent in zip(character.bones, character.parents, strict=True)
    )
    other = replace(
        character,
        bones=(*character.bones, "root"),
        parents=(*torn, -1),
        heads=np.concatenate([character.heads, np.zeros((1, 3))]),
        tails=np.concatenate([character.tails, [[0.0, 0.5, 0.0]]]),
    )
    found = build_character_rig(other, MASS)
    assert found.parts == built.parts
    assert found.rig.links == built.rig.links
    assert found.rig.parents == built.rig.parents
    assert np.allclose(found.rig.prior.values, built.rig.prior.values)


def test_total_mass_is_the_stated_one(character: Character, built: CharacterRig) -> None:
    """The masses add up to the stated mass, and without one to volume times density."""
    assert built.rig.prior.total_mass == pytest.approx(MASS, rel=1e-9)
    free = build_character_rig(character).rig
    assert free.prior.total_mass == pytest.approx(built.table_mass, rel=1e-9)
    assert np.allclose(free.prior.values * MASS / built.table_mass, built.rig.prior.values)


def test_links_have_the_volumes_of_their_boxes(built: CharacterRig) -> None:
    """A link has the volume of the surface that follows it, and its centre of mass is in the middle of it."""
    rig = built.rig
    for link, size, middle in (
        ("thigh.L", (0.16, 0.16, 0.41), (0.09, 0.0, 0.695)),
        ("upper_arm.R", (0.3, 0.1, 0.1), (-0.31, 0.0, 1.4)),
        ("spine.004", (0.18, 0.22, 0.23), (0.0, 0.0, 1.635)),
    ):
        index = rig.index(link)
        cell = 1.75 / CELLS_OF_HEIGHT  # each side of a box may be a cell too long or too short
        assert built.volumes[index] == pytest.approx(np.prod(size), rel=np.prod(1.0 + cell / np.array(size)) - 1.0)
        rotation, origin = armature_rest(rig)
        com = rotation[index] @ rig.prior.coms[index] + origin[index]
        assert np.allclose(com, middle, atol=cell)
        inertia = rotation[index] @ rig.prior.inertias_at_com[index] @ rotation[index].T
        squares = np.square(size)
        box = rig.masses[index] / 12.0 * (squares.sum() - squares)
        assert np.allclose(np.diag(inertia), box, rtol=0.15)


def armature_rest(rig: Rig) -> tuple[np.ndarray, np.ndarray]:
    """Axes (L, 3, 3) and origins (L, 3) [m] of the links in the armature's rest pose."""
    placement = np.array(rig.provenance[REST_PLACEMENT])
    rotations, origins = rig.rest
    return placement[:3, :3] @ rotations, origins @ placement[:3, :3].T + placement[:3, 3]


def test_joints_are_the_heads_of_the_bones(character: Character, built: CharacterRig) -> None:
    """In rest pose every joint is where its bone begins, and the rig faces forward along x."""
    _, origins = armature_rest(built.rig)
    heads = [character.heads[character.bones.index(link)] for link in built.rig.links]
    assert np.allclose(origins, heads, atol=1e-12)
    assert np.allclose(built.rig.forward, [1.0, 0.0, 0.0])
    rotations, _ = armature_rest(built.rig)
    assert np.allclose(rotations[0][:, 0], [0.0, -1.0, 0.0])


def test_centre_of_mass_is_that_of_the_deformed_volume() -> None:
    """With blended weights the links' centre of mass is that of the volume that the weights deform, in any pose."""
    character = blend_weights(make_character("Mixamo"))
    rig = build_character_rig(character).rig
    bone_links = dict(rig.provenance[BONE_LINKS])  # type: ignore[call-overload]
    link_of_bone = np.array([rig.index(bone_links[bone]) for bone in character.bones])
    solid = fill_surface(character.vertices @ FACING, character.triangles)
    solid = MeshCells(solid.centres @ FACING.T, solid.size)
    weights = cell_weights(
        solid, character.vertices, vertex_weights(character, link_of_bone, len(rig.links))
    ) * link_densities(tuple(kinds(rig)))
    rng = np.random.default_rng(3)
    q = rig.neutral
    q[:3] = rng.normal(size=3)
    for first in range(3, len(q), 4):
        vector = rng.normal(size=4) * 0.3 + [0.0, 0.0, 0.0, 1.0]
        q[first : first + 4] = vector / np.linalg.norm(vector)
    rotations, origins = link_poses(rig, q)
    rest_rotations, rest_origins = armature_rest(rig)
    local = np.einsum("lji,clj->cli", rest_rotations, solid.centres[:, None] - rest_origins)
    moved = np.einsum("lij,clj->cli", rotations, local) + origins
    expected = np.einsum("cl,cli->i", weights, moved) / weights.sum()
    found = np.einsum("l,li->i", rig.masses, np.einsum("lij,lj->li", rotations, rig.prior.coms) + origins)
    assert np.allclose(found / rig.masses.sum(), expected, atol=1e-9)


def kinds(rig: Rig) -> list[str]:
    """Kind of each link."""
    parts = {link: part for part, link in dict(rig.provenance[PARTS]).items()}  # type: ignore[call-overload]
    named = {"mixamorig:Spine": "spine", "mixamorig:Neck": "neck"}
    return [parts.get(link) or named.get(link) or "left_clavicle" for link in rig.links]


def blend_weights(character: Character) -> Character:
    """The character with a third of each weight on the parent of its bone."""
    above = np.array([max(parent, 0) for parent in character.parents])[character.weighted[:, 1]]
    shared = np.column_stack([character.weighted[:, 0], above])
    both = np.concatenate([2.0 / 3.0 * character.weights, 1.0 / 3.0 * character.weights])
    return replace(character, weighted=np.concatenate([character.weighted, shared]), weights=both)


def test_hanging_arms_are_within_limits_and_a_knee_does_not_bend_forward(built: CharacterRig) -> None:
    """The limits count from a standing person, although zero is the T-pose."""
    rig = built.rig
    for side, sign in (("L", 1.0), ("R", -1.0)):
        limits = rig.limits_of(f"upper_arm.{side}")
        index = rig.index(f"upper_arm.{side}")
        rest = rig.rest[0][rig.parents[index]].T @ rig.rest[0][index]
        hanging = so3.log(rest.T @ so3.exp(np.array([sign * 0.2, 0.0, 0.0])))
        assert (limits.lower <= hanging).all()
        assert (hanging <= limits.upper).all()
        knee = rig.limits_of(f"shin.{side}")
        assert knee.lower[1] > -np.radians(12.0)
        assert knee.upper[1] > np.radians(140.0)


def test_standing_posture_has_hanging_arms_and_soles_on_the_floor(built: CharacterRig) -> None:
    """The standing posture brings the hands below the shoulders and the lowest corner of the soles to height zero."""
    rig = built.rig
    rotations, origins = link_poses(rig, np.array(rig.provenance["standing"], float))
    assert origins[rig.index("hand.L"), 2] < origins[rig.index("upper_arm.L"), 2] - 0.45
    corners = [
        rotations[k] @ corner + origins[k]
        for sole in rig.soles
        for k in [rig.index(sole.link)]
        for corner in sole.vertices
    ]
    assert min(corner[2] for corner in corners) == pytest.approx(0.0, abs=1e-9)
    for sole in rig.soles:
        assert rotations[rig.index(sole.link)] @ sole.outward == pytest.approx([0.0, 0.0, -1.0], abs=1e-9)


def test_prior_is_physically_consistent_and_the_rig_survives_its_file(built: CharacterRig) -> None:
    """Every link's pseudo-inertia is positive, and the text of the rig gives the same rig."""
    assert built.rig.prior.consistency_margin.min() > 0.0
    assert rig_from_text(rig_to_text(built.rig)) == built.rig


def test_clothes_with_holes_hardly_change_the_volume(character: Character) -> None:
    """An open skirt and a cape of one sheet around the body add at most the air that the skirt encloses."""
    skirt, faces = box_surface(np.array([-0.2, -0.14, 0.85]), np.array([0.2, 0.14, 1.05]), 0.02)
    middle = skirt[faces].mean(axis=1)[:, 2]
    faces = faces[(middle > 0.851) & (middle < 1.049)]  # without floor and lid
    cape = np.array([[-0.3, 0.2, 0.4], [0.3, 0.2, 0.4], [0.3, 0.2, 1.4], [-0.3, 0.2, 1.4]])
    count = len(character.vertices)
    torso = character.bones.index("spine.002")
    extra = np.concatenate([skirt, cape])
    dressed = replace(
        character,
        vertices=np.concatenate([character.vertices, extra]),
        triangles=np.concatenate(
            [character.triangles, faces + count, np.array([[0, 1, 2], [0, 2, 3]]) + count + len(skirt)]
        ),
        weighted=np.concatenate(
            [character.weighted, np.column_stack([count + np.arange(len(extra)), np.full(len(extra), torso)])]
        ),
        weights=np.concatenate([character.weights, np.ones(len(extra))]),
    )
    bare, clothed = (build_character_rig(each).volumes.sum() for each in (character, dressed))
    assert bare <= clothed < bare + 0.4 * 0.28 * 0.2


def test_fingers_and_toes_move_with_the_links_above(built: CharacterRig) -> None:
    """A bone that is no link moves with the nearest link above it."""
    bone_links = dict(built.rig.provenance[BONE_LINKS])  # type: ignore[call-overload]
    assert bone_links["f_index.01.L"] == "hand.L"
    assert bone_links["toe.R"] == "foot.R"


def test_stated_parts_replace_the_match(character: Character) -> None:
    """A stated bone is used, and an empty one leaves its part out."""
    found = build_character_rig(character, MASS, {"head": "", "torso": "spine.001"})
    assert "head" not in found.parts
    assert found.parts["torso"] == "spine.001"
    with pytest.raises(UnknownName, match=r"thigh\.X"):
        build_character_rig(character, MASS, {"left_thigh": "thigh.X"})


def test_unusable_characters_are_refused_with_the_remedy(character: Character) -> None:
    """A character without weights, volume or legs, of the wrong size, lying, or mirrored is refused."""
    none = np.zeros((0, 2), int)
    with pytest.raises(InvalidValue, match="have weights of bones; bind the mesh"):
        build_character_rig(replace(character, weighted=none, weights=np.zeros(0)))
    with pytest.raises(InvalidValue, match="no surface"):
        build_character_rig(replace(character, triangles=np.zeros((0, 3), int)))
    with pytest.raises(InvalidValue, match=r"m tall.*scale its object"):
        build_character_rig(scaled(character, 100.0))
    with pytest.raises(InvalidValue, match="upright"):
        build_character_rig(rotated(character, so3.exp(np.array([np.pi / 2, 0.0, 0.0]))))
    swapped = {".L": ".R", ".R": ".L"}
    renamed = tuple(bone[:-2] + swapped.get(bone[-2:], bone[-2:]) for bone in character.bones)
    with pytest.raises(InvalidValue, match="left and right are exchanged"):
        build_character_rig(replace(character, bones=renamed))
    with pytest.raises(InvalidValue, match=r"spine\.002.*is torso and head"):
        build_character_rig(character, MASS, {"head": "spine.002"})
    with pytest.raises(InvalidValue, match="mass must be between"):
        build_character_rig(character, 0.5)


def scaled(character: Character, factor: float) -> Character:
    """The character, larger."""
    return replace(
        character,
        vertices=factor * character.vertices,
        heads=factor * character.heads,
        tails=factor * character.tails,
    )


def rotated(character: Character, rotation: np.ndarray) -> Character:
    """The character, rotated about the origin."""
    return replace(
        character,
        vertices=character.vertices @ rotation.T,
        heads=character.heads @ rotation.T,
        tails=character.tails @ rotation.T,
    )


def test_the_rig_does_not_depend_on_where_the_character_faces(character: Character, built: CharacterRig) -> None:
    """A character that faces another way in its armature has the same rig, placed differently."""
    turned = build_character_rig(rotated(character, so3.exp(np.array([0.0, 0.0, np.pi / 2]))), MASS).rig
    assert np.allclose(turned.rest[1], built.rig.rest[1], atol=1e-9)
    assert np.allclose(turned.limits.upper, built.rig.limits.upper, atol=1e-6)
    assert np.allclose(turned.prior.masses, built.rig.prior.masses, atol=0.004)  # two cells at the borders


def test_a_damaged_character_is_refused(character: Character) -> None:
    """Parents in a circle, indices without a vertex, and negative weights are refused."""
    for changes, problem in (
        ({"parents": (1, 0, *character.parents[2:])}, "no tree"),
        ({"triangles": character.triangles + len(character.vertices)}, "does not have"),
        ({"weights": -character.weights}, "negative"),
    ):
        with pytest.raises(InvalidValue, match=problem):
            replace(character, **changes)  # type: ignore[arg-type]
