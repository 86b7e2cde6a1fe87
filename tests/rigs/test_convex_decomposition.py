"""Convex pieces of meshes: they hold the surface, follow notches, and leave convex meshes alone."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from solver.feasibility.collisions import PairDistances
from solver.options.checks import CheckOptions
from solver.rigs import from_mjcf, from_urdf
from solver.rigs.convex_decomposition import MAX_PIECES, decompose_convex
from solver.skeleton.rig import Rig

CORNERS = np.array(list(product((0.0, 1.0), repeat=3)))
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])
BRACKET: list[tuple[tuple[float, ...], tuple[float, ...]]] = [
    ((0, 0, 0), (0.5, 0.3, 0.1)),
    ((0, 0, 0.1), (0.1, 0.3, 0.5)),
    ((0.4, 0, 0.1), (0.5, 0.3, 0.5)),
]
"""A channel 0.5 m wide and high with walls of 0.1 m, as boxes from corner to corner."""


def _mesh(boxes: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> tuple[np.ndarray, np.ndarray]:
    points = [np.array(low) + CORNERS * (np.array(high) - np.array(low)) for low, high in boxes]
    return np.vstack(points), np.vstack([FACES + 8 * k for k in range(len(boxes))])


def test_pieces_hold_the_surface() -> None:
    """Every point of every triangle lies in the hull of a piece."""
    vertices, faces = _mesh(BRACKET)
    hulls = [ConvexHull(piece) for piece in decompose_convex(vertices, faces)]
    shares = np.random.default_rng(0).dirichlet(np.ones(3), (len(faces), 40))
    points = np.einsum("fsc,fci->fsi", shares, vertices[faces]).reshape(-1, 3)
    beyond = np.min([(points @ h.equations[:, :3].T + h.equations[:, 3]).max(axis=1) for h in hulls], axis=0)
    assert 1 < len(hulls) <= MAX_PIECES
    assert beyond.max() < 1e-9


def test_pieces_leave_the_notch_open() -> None:
    """The middle of a channel, in the hull of the whole, lies in no piece; the pieces are hardly more than the mesh."""
    vertices, faces = _mesh(BRACKET)
    hulls = [ConvexHull(piece) for piece in decompose_convex(vertices, faces)]
    middle = np.array([0.25, 0.15, 0.35])
    assert (ConvexHull(vertices).equations @ np.r_[middle, 1.0]).max() < 0.0
    assert min((h.equations @ np.r_[middle, 1.0]).max() for h in hulls) > 0.1
    solid = sum(np.prod(np.subtract(high, low)) for low, high in BRACKET)
    assert sum(h.volume for h in hulls) < 1.15 * solid


@pytest.mark.parametrize("count", [20, 400])
def test_convex_meshes_stay_whole(count: int) -> None:
    """A hull's own triangles are one piece."""
    points = np.random.default_rng(count).normal(size=(count, 3))
    hull = ConvexHull(points / np.linalg.norm(points, axis=1)[:, None])
    assert len(decompose_convex(hull.points, hull.simplices)) == 1


def test_a_finger_in_its_bracket_differs_from_one_in_its_wall(tmp_path: Path) -> None:
    """Between the walls of a bracket a finger touches nothing, though the bracket's hull holds it."""
    rig = _gripper(tmp_path)
    bracket = [shape for shape in rig.shapes if shape.link == "bracket"]
    assert len(bracket) > 1
    distances = PairDistances(rig, (("bracket", "finger"),), CheckOptions().reach)
    inside = np.array(rig.neutral)
    assert distances.minimum_distances(inside[None])[0, 0] == CheckOptions().reach  # far
    slid = inside.copy()
    slid[rig.q_slices[[joint.name for joint in rig.joints].index("slide")].start] = 0.2
    assert distances.minimum_distances(slid[None])[0, 0] < -0.01


def test_pieces_of_an_mjcf_are_those_of_its_urdf(tmp_path: Path) -> None:
    """The bracket of the same gripper, its mesh moved and turned by MuJoCo, leaves the same room to the finger."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    urdf = _gripper(tmp_path)
    hinge = '<joint name="{0}" axis="1 0 0" range="-1 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    path = tmp_path / "gripper.xml"
    path.write_text(
        '<mujoco><compiler angle="radian"/><asset><mesh name="bracket" file="bracket.obj" inertia="convex"/></asset>'
        '<worldbody><body name="bracket"><freejoint/><geom type="mesh" mesh="bracket"/>'
        f'<body name="a">{hinge.format("one")}<body name="b">{hinge.format("two")}'
        '<body name="finger"><joint name="slide" type="slide" axis="1 0 0" range="-1 1"/>'
        '<geom type="box" size="0.05 0.05 0.05" pos="0.25 0.15 0.35"/>'
        "</body></body></body></body></worldbody></mujoco>"
    )
    mjcf = from_mjcf(path)
    assert len([shape for shape in mjcf.shapes if shape.link == "bracket"]) > 1
    reach, slid = 1.0, np.array(urdf.neutral)
    slid[urdf.q_slices[[joint.name for joint in urdf.joints].index("slide")].start] = 0.04
    for q in (np.array(urdf.neutral), slid):
        far = [
            PairDistances(rig, (("bracket", "finger"),), reach).minimum_distances(q[None])[0, 0] for rig in (urdf, mjcf)
        ]
        assert far[0] > 0.0
        assert far[1] == pytest.approx(far[0], abs=1e-3)


def test_pieces_that_do_not_increase_the_distance_are_not_used(tmp_path: Path) -> None:
    """A bracket whose floor its finger enters from below by a millimetre, hull or pieces alike, keeps one hull."""
    rig = _gripper(tmp_path, "0.25 0.15 -0.049")
    assert len([shape for shape in rig.shapes if shape.link == "bracket"]) == 1


def _gripper(folder: Path, place: str = "0.25 0.15 0.35") -> Rig:
    """A bracket on a wrist; a finger on a chain of three joints from it stands in the channel."""
    vertices, faces = _mesh(BRACKET)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (folder / "bracket.obj").write_text("\n".join(lines))
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>'

    def link(name: str, shape: str = "", place: str = "0 0 0") -> str:
        seen = f'<collision><origin xyz="{place}"/><geometry>{shape}</geometry></collision>' if shape else ""
        return f'<link name="{name}">{body}{seen}</link>'

    def joint(name: str, kind: str, parent: str, child: str) -> str:
        limit = '<limit lower="-1" upper="1" velocity="1" effort="9"/>'
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<axis xyz="1 0 0"/>{limit}</joint>'
        )

    text = [
        link("bracket", '<mesh filename="bracket.obj"/>'), link("a"), link("b"),
        link("finger", '<box size="0.1 0.1 0.1"/>', place),
        joint("one", "revolute", "bracket", "a"), joint("two", "revolute", "a", "b"),
        joint("slide", "prismatic", "b", "finger"),
    ]  # fmt: skip
    path = folder / "gripper.urdf"
    path.write_text(f'<robot name="gripper">{"".join(text)}</robot>')
    return from_urdf(path)
