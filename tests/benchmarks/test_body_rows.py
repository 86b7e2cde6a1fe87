"""What the rows of the body mesh count: skin seen from inside, volume lost at joints, and a prior by volume."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.figures.body import DancePostures, inside_share, joint_centre_error, skin_vertices, volume_losses
from solver.rigs import human
from solver.scene import body_mesh
from solver.scene.body_mesh import BodyMesh, fit_body_mesh
from solver.values.person import SIDES
from tests.joint_entries import entry
from tests.scene.body_shapes import arrays_of, tiny_shapes

JOINED = ("upper_arm", "forearm"), ("thigh", "shank"), ("pelvis", "thigh"), ("torso", "upper_arm")
"""Links that share the skin of their middles."""


@pytest.fixture(autouse=True)
def _prisms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body of prisms in place of the stored shapes."""
    path = tmp_path / "body_mesh.npz"
    np.savez_compressed(path, **arrays_of(tiny_shapes()))
    monkeypatch.setattr(body_mesh, "ASSET", path)


def test_skin_turned_inside_out_is_seen() -> None:
    """No skin of a closed octahedron faces the viewer with its inside; turned inside out, all of it does."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array(
        [[x, y, z, z] if (x + y + z) % 2 else [y, x, z, z] for x in (0, 3) for y in (1, 4) for z in (2, 5)]
    )
    for wound, expected in ((faces, 0.0), (faces[:, [1, 0, 2, 3]], 1.0)):
        mesh = BodyMesh(corners, wound.copy(), np.ones((6, 1)), np.zeros(8, int), np.zeros(6))
        assert mesh.volume == pytest.approx(4.0 / 3.0 * (1.0 - 2.0 * expected))
        assert inside_share(mesh, corners) == pytest.approx(expected, abs=2e-3)  # the outline, by rounding


def test_only_bent_joints_lose_volume() -> None:
    """Standing loses nothing; a bent right elbow changes the right elbow's volume and no other joint's."""
    rig, shapes = human(1.7, 70.0, "male"), tiny_shapes()
    weights, size = shapes.weights.copy(), len(shapes.weights) // len(shapes.links)
    for link, other in ((link, other) for pair in JOINED for link, other in (pair, pair[::-1])):
        for side in SIDES:
            names = (name if name in shapes.links else f"{side}_{name}" for name in (link, other))
            own, its = (shapes.links.index(name) for name in names)
            shared = slice(size * own + size // 3, size * own + 2 * size // 3)
            weights[shared] = 0.5 * np.eye(len(shapes.links))[[own, its]].sum(axis=0)
    mesh, standing = fit_body_mesh(rig, replace(shapes, weights=weights)), np.array(rig.provenance["standing"])
    bent = standing.copy()
    bent[entry(rig, "right_forearm").idx_q] = 2.0
    losses = volume_losses(rig, mesh, np.array([standing, bent]))
    assert all(abs(found[0]) < 1e-12 for found in losses.values())
    assert {joint for joint, found in losses.items() if abs(found[1]) > 1e-9} == {("right", "elbow")}


def test_joint_centres_follow_the_rig() -> None:
    """Points of the skin at the joint centres stay there in every posture, by both kinds of skinning."""
    rig = human(1.7, 70.0, "female", trunk="three", shoulders="girdle")
    q = np.tile(np.array(rig.provenance["standing"]), (5, 1))
    q[:, 7:] += np.random.default_rng(3).uniform(-0.3, 0.3, q[:, 7:].shape)
    for joint, own in zip(rig.joints, rig.q_slices, strict=True):
        if joint.kind in ("free", "spherical"):
            turned = q[:, own.stop - 4 : own.stop]
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    assert joint_centre_error(DancePostures("random", rig, q)) < 1e-3


def test_rigid_motion_moves_the_skin_rigidly() -> None:
    """Where only the root moves, the skin keeps its shape."""
    rig = human(1.7, 70.0, "male")
    mesh, q = fit_body_mesh(rig), np.array(rig.provenance["standing"])
    moved = q.copy()
    moved[:7] = 0.3, -0.2, 1.4, 0.5, 0.5, 0.5, 0.5
    one, other = (skin_vertices(mesh, rig, each) for each in (q, moved))
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # a third of a turn about (1, 1, 1)
    assert np.allclose(other - moved[:3], (one - q[:3]) @ turn.T, atol=1e-9)
