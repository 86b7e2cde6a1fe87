"""The body mesh has the joint centres, lengths and mass of its rig, and bends without losing its shape."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solver.base import so3
from solver.base.errors import InputError, InvalidValue
from solver.contacts.rolling import TOE_BEND, RollingSole
from solver.dynamics import link_poses
from solver.rigs import hoap3, human
from solver.scene.body_mesh import (
    ASSET,
    BODY_DENSITY,
    SHOULDER_DUAL,
    SHOULDER_WEIGHT,
    BodyMesh,
    BodyShapes,
    bend_toes,
    enclosed_volume,
    fit_body_mesh,
    read_body_shapes,
)
from solver.skeleton.rig import Rig
from tests.joint_entries import entry
from tests.scene.body_shapes import add_probes, arrays_of, tiny_shapes

PEOPLE: tuple[tuple[str, float, float, dict[str, Any]], ...] = (
    ("female", 1.60, 45.0, {}),
    ("male", 1.80, 80.0, {"trunk": "three", "shoulders": "girdle"}),
    ("unknown", 1.75, 120.0, {"variant": "23dof"}),
    ("male", 1.95, 95.0, {"shoulders": "girdle", "lengths": {"right_thigh": 0.50, "left_thigh": 0.47, "head": 0.27}}),
    ("female", 1.70, 65.0, {"joints": {"right_thigh": [0.02, -0.085, -0.10], "left_forearm": [0.01, 0.015, -0.28]}}),
)
FINGERS = ("index", "little")
PROBES = {
    "lumbar": ("pelvis", "torso"), "neck": ("head", "head"), "cervical": ("torso", "torso"),
    **{
        f"{side}_{joint}": tuple(f"{side}_{link}" for link in pair)
        for side in ("right", "left")
        for joint, pair in {
            "shoulder": ("scapula", "upper_arm"), "elbow": ("upper_arm", "forearm"), "wrist": ("forearm", "hand"),
            "hip": ("thigh", "thigh"), "knee": ("thigh", "shank"), "ankle": ("shank", "foot"),
        }.items()
    },
}  # fmt: skip
"""Joint centres, and the links that share them."""
LINK_OF = {
    "neck": "head",
    "cervical": "head",
    "shoulder": "upper_arm",
    "elbow": "forearm",
    "wrist": "hand",
    "hip": "thigh",
    "knee": "shank",
    "ankle": "foot",
}
BENDS = {
    "forearm": ((0.0, -1.0, 0.0), ("upper_arm", "forearm")),
    "shank": ((0.0, 1.0, 0.0), ("thigh", "shank")),
    "thigh": ((0.0, -1.0, 0.0), ("pelvis", "thigh")),
    "upper_arm": ((-1.0, 0.0, 0.0), ("torso", "clavicle", "scapula", "upper_arm")),
}
"""Axis of a bend by 90 degrees of the right side, and the links around the joint."""


@pytest.fixture(scope="module", params=["tiny", "stored"])
def shapes(request: pytest.FixtureRequest) -> BodyShapes:
    """The shapes of prisms, and the stored ones."""
    if request.param == "stored" and not ASSET.is_file():
        pytest.skip("assets/body_mesh.npz is missing: build it with packaging/body_mesh.py")
    return tiny_shapes() if request.param == "tiny" else read_body_shapes()


@pytest.fixture(scope="module", params=PEOPLE, ids=lambda person: f"{person[0]}-{person[2]:.0f}kg")
def rig(request: pytest.FixtureRequest) -> Rig:
    """People of several builds and rigs, two of them with measured lengths or joint centres."""
    sex, height, mass, options = request.param
    return human(height, mass, sex, **options)


def centre(rig: Rig, joint: str) -> np.ndarray | None:
    """Centre (3,) [m] of a joint at neutral; None if the rig lacks it."""
    side, _, name = joint.partition("_") if "_" in joint else ("", "", joint)
    link = LINK_OF.get(name, "pelvis")
    link = f"{side}_{link}" if side else link
    return rig.rest[1][rig.index(link)] if link in rig.links else None


def triangles(faces: np.ndarray) -> np.ndarray:
    """Triangles (T, 3) of faces (F, 4), without those that have no area by construction."""
    found = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return found[(found[:, 1] != found[:, 2]) & (found[:, 0] != found[:, 2])]


def part_volume(mesh: BodyMesh, vertices: np.ndarray, links: list[int]) -> float:
    """Volume [m^3] of some links, with flat lids over the borders to the others."""
    corners = triangles(mesh.faces[np.isin(mesh.face_links, links)])
    edges = {(a, b) for row in corners.tolist() for a, b in pairwise([*row, row[0]])}
    following = {b: a for a, b in edges if (b, a) not in edges}
    lids = []
    while following:
        loop = [next(iter(following))]
        while (after := following.pop(loop[-1], loop[0])) != loop[0]:
            loop.append(after)
        lids.append(vertices[loop])
    one, two, three = vertices[corners].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", one, np.cross(two, three))
    for lid in lids:
        volume += np.sum(np.cross(lid, np.roll(lid, -1, axis=0)) @ lid.mean(axis=0))
    return float(volume / 6.0)


def pose(mesh: BodyMesh, rig: Rig, q: np.ndarray) -> np.ndarray:
    """Vertices (V, 3) [m] in a posture, by linear blend skinning."""
    rotations, origins = link_poses(rig, q)
    rest_rotations, rest = rig.rest
    turned = rotations @ rest_rotations.transpose(0, 2, 1)
    moved = np.einsum("lij,vlj->vli", turned, mesh.vertices[:, None] - rest) + origins
    return np.einsum("vl,vli->vi", mesh.weights, moved)


def bend(rig: Rig, link: str, axis: tuple[float, float, float]) -> np.ndarray:
    """The standing posture (nq,) with one joint bent by 90 degrees."""
    q, joint = np.array(rig.provenance["standing"]), entry(rig, link)
    angle = 0.5 * np.pi
    q[joint.idx_q : joint.idx_q + joint.nq] = (
        so3.to_quaternion(so3.exp(angle * np.array(axis))) if joint.nq == 4 else angle
    )
    return q


def test_joint_centres_are_those_of_the_rig(shapes: BodyShapes, rig: Rig) -> None:
    """What is at a joint centre of the stored body is at the joint centre of the rig, for both links of the joint."""
    mesh = fit_body_mesh(rig, add_probes(shapes, PROBES))
    first, checked = len(shapes.weights), 0
    for joint, found in zip(PROBES, mesh.vertices[first : first + len(PROBES)]):
        expected = centre(rig, joint)
        if expected is not None:
            assert np.linalg.norm(found - expected) < 1e-3, joint
            checked += 1
    assert checked >= 11


def corners(rig: Rig) -> np.ndarray:
    """Places (5 K, 3) [mm] of five corners along each prism of the tiny shapes."""
    shapes = tiny_shapes()
    vertices = fit_body_mesh(rig, shapes).vertices[: len(shapes.weights)]
    return 1e3 * vertices.reshape(len(shapes.links), -1, 3)[:, :55:11].reshape(-1, 3)


def test_skin_stays_where_it_was() -> None:
    """Five corners along every segment, of people of all builds and rigs, are where they were when the mesh was last
    looked at, within the tolerance of the volume."""
    found = np.concatenate([corners(human(height, mass, sex, **options)) for sex, height, mass, options in PEOPLE])
    np.testing.assert_allclose(found, np.loadtxt(Path(__file__).parent / "body_mesh.txt"), atol=0.06)


def test_palms_face_forward(rig: Rig) -> None:
    """At the wrist the forearm has rolled until the line from the little finger to the index points outward, square to
    the forearm."""
    shapes = add_probes(tiny_shapes(), {f"left_{name}": ("left_forearm",) * 2 for name in ("elbow", "wrist", *FINGERS)})
    mesh = fit_body_mesh(rig, shapes)
    elbow, wrist, index, little = mesh.vertices[len(shapes.weights) - 4 : len(shapes.weights)]
    along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    across, outward = (vector - (vector @ along) * along for vector in (index - little, np.array([0.0, 1.0, 0.0])))
    assert across @ outward / np.linalg.norm(across) / np.linalg.norm(outward) > 0.999


def test_ends_are_those_of_the_rig(shapes: BodyShapes, rig: Rig) -> None:
    """Head, hands, toes and heels end where the rig says, and the soles are on the floor."""
    mesh, origins = fit_body_mesh(rig, shapes), rig.rest[1]
    soles = {patch.link: patch.vertices + origins[rig.index(patch.link)] for patch in rig.contacts[:2]}
    for link, sole in soles.items():
        skin = mesh.vertices[mesh.weights[:, rig.index(link)] > 0.999]
        assert np.allclose([skin[:, 0].max(), skin[:, 2].min()], [sole[:, 0].max(), sole[0, 2]], atol=1e-3)
        assert abs(skin[:, 0].min() - sole[:, 0].min()) < 0.02
    if "head" in rig.links:
        for link, sign in (("head", 1.0), ("right_hand", -1.0), ("left_hand", -1.0)):
            end = (origins + rig.tips)[rig.index(link), 2]
            reached = np.max(sign * mesh.vertices[mesh.weights[:, rig.index(link)] > 0.999, 2])
            assert reached == pytest.approx(sign * end, abs=5e-3)


def test_volume_is_mass_over_density(shapes: BodyShapes, rig: Rig) -> None:
    """The volume is the mass over the mean density, within 2 %."""
    mesh = fit_body_mesh(rig, shapes)
    assert mesh.volume * BODY_DENSITY == pytest.approx(rig.prior.total_mass, rel=0.02)


def test_surface_is_closed(shapes: BodyShapes, rig: Rig) -> None:
    """Every edge has two faces of opposite direction, no face is degenerate, and every face belongs to the
    link that moves its corners most.
    """
    mesh = fit_body_mesh(rig, shapes)
    corners = triangles(mesh.faces)
    edges = [tuple(edge) for k in range(3) for edge in corners[:, [k, (k + 1) % 3]].tolist()]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    normals = np.cross(*(mesh.vertices[corners[:, k]] - mesh.vertices[corners[:, 0]] for k in (1, 2)))
    areas = np.linalg.norm(normals, axis=1)
    assert areas.min() > 0.0
    own = mesh.weights[mesh.faces, mesh.face_links[:, None]].sum(axis=1)
    assert (own > 0.75 * mesh.weights[mesh.faces].sum(axis=1).max(axis=1)).all()


def test_weights_are_shares_of_the_links(shapes: BodyShapes, rig: Rig) -> None:
    """Weights are not negative and add up to 1 at every vertex; every link moves something unless the body lacks it."""
    mesh = fit_body_mesh(rig, shapes)
    assert mesh.weights.shape == (len(mesh.vertices), len(rig.links))
    assert (mesh.weights >= 0.0).all()
    assert np.allclose(mesh.weights.sum(axis=1), 1.0)
    assert all(mesh.weights[:, k].max() > 0.5 for k, link in enumerate(rig.links) if link != "abdomen")


def test_shoulders_are_skinned_by_both_methods(shapes: BodyShapes, rig: Rig) -> None:
    """Dual quaternions alone move elbows, hands and legs, and with linear skinning what torso and upper arm share. The
    fraction changes gradually with the weight of the upper arm, or where the upper arm alone moves the skin.
    """
    mesh = fit_body_mesh(rig, shapes)
    upper = mesh.weights[:, [link.endswith("upper_arm") for link in rig.links]].sum(axis=1)
    fore = mesh.weights[:, [link.endswith("forearm") for link in rig.links]].sum(axis=1)
    assert np.allclose(mesh.dual[(upper >= SHOULDER_WEIGHT) & (fore == 0.0)], SHOULDER_DUAL)
    assert (mesh.dual[(upper == 0.0) | (fore > 0.0)] == 1.0).all()
    corners = triangles(mesh.faces)
    corners = corners[(fore[corners] == 0.0).all(axis=1)]
    steepest = (1.0 - SHOULDER_DUAL) / SHOULDER_WEIGHT * np.ptp(upper[corners], axis=1)
    assert (np.ptp(mesh.dual[corners], axis=1) < steepest + 1e-9).all()
    corners = triangles(mesh.faces)
    elbow = np.unique(corners[(fore[corners] > 0.0).any(axis=1)])
    assert (upper[elbow][mesh.dual[elbow] < 1.0] > 0.95).all()


def test_merged_links_change_the_weights_only(shapes: BodyShapes) -> None:
    """Where head and hands are parts of torso and forearms, the mesh is the same and these links move their skin."""
    whole, merged = (human(1.7, 70.0, "male", variant=variant) for variant in ("34dof", "23dof"))
    one, other = fit_body_mesh(whole, shapes), fit_body_mesh(merged, shapes)
    first = slice(len(shapes.weights))
    assert np.allclose(one.vertices[first], other.vertices[first], atol=1e-6)
    head = one.weights[first, whole.index("head")] > 0.999
    assert head.any()
    assert np.allclose(other.weights[first][head, merged.index("torso")], 1.0)


@pytest.mark.parametrize("link", BENDS)
def test_bent_limbs_keep_their_volume(link: str) -> None:
    """Bending an elbow, knee, hip or shoulder by 90 degrees leaves at least 85 % of the volume around the joint."""
    if not ASSET.is_file():
        pytest.skip("assets/body_mesh.npz is missing: build it with packaging/body_mesh.py")
    axis, names = BENDS[link]
    for sex, height, mass, options in PEOPLE[:2]:
        rig = human(height, mass, sex, **options)
        mesh = fit_body_mesh(rig)
        around = [k for k, name in enumerate(rig.links) if name.removeprefix("right_") in names]
        before, after = (
            part_volume(mesh, pose(mesh, rig, q), around)
            for q in (np.array(rig.provenance["standing"]), bend(rig, f"right_{link}", axis))
        )
        assert 0.85 < after / before < 1.15


def test_shapes_survive_their_file(tmp_path: Path) -> None:
    """Shapes read from a file give the same mesh within the resolution of the file; a damaged file is named."""
    path, rig = tmp_path / "body_mesh.npz", human(1.7, 70.0, "male")
    np.savez_compressed(path, **arrays_of(tiny_shapes()))
    assert np.allclose(
        fit_body_mesh(rig, read_body_shapes(path)).vertices, fit_body_mesh(rig, tiny_shapes()).vertices, atol=1e-3
    )
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"body_mesh\.npz"):
        read_body_shapes(path)
    with pytest.raises(InputError, match=r"packaging/body_mesh\.py"):
        read_body_shapes(tmp_path / "none.npz")


def test_bent_toes_stay_above_the_floor() -> None:
    """While a foot rolls over its ball, its toes dip by millimetres; rigid ones would by more than two centimetres."""
    if not ASSET.is_file():
        pytest.skip("assets/body_mesh.npz is missing: build it with packaging/body_mesh.py")
    rig = human(1.75, 70.0, "male")
    fitted, sole, link = fit_body_mesh(rig), RollingSole.of(rig, "right_sole"), rig.index("right_foot")
    turned, moved = sole.roll(np.array([-TOE_BEND]))
    lowest = []
    for vertices in (fitted.vertices, bend_toes(rig, fitted)["right_foot"]):
        own = (vertices - rig.rest[1][link])[fitted.weights[:, link] > 0.5] @ rig.rest[0][link] @ sole.axes
        lowest.append(float((own @ turned[0].T + moved[0])[:, 2].min() - sole.corners[:, 2].mean()))
    assert lowest[0] < -0.02
    assert lowest[1] > -0.002


def test_robots_have_no_body_mesh() -> None:
    """A robot is refused by name."""
    with pytest.raises(InvalidValue, match="not a built-in person"):
        fit_body_mesh(hoap3(), tiny_shapes())


def test_volume_of_a_cube() -> None:
    """A cube of edge 2 encloses 8, and inside out -8."""
    vertices = np.array([[x, y, z] for x in (0.0, 2.0) for y in (0.0, 2.0) for z in (0.0, 2.0)])
    faces = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    assert enclosed_volume(vertices, faces) == pytest.approx(8.0)
    assert enclosed_volume(vertices, faces[:, ::-1]) == pytest.approx(-8.0)
