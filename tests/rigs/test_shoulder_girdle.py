"""Laws of the shoulder girdle: clavicle and scapula between torso and upper arm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from solver.base.assets import read_asset
from solver.base.differences import differences
from solver.dynamics import link_poses
from solver.feasibility.collisions import CollisionDetector
from solver.formats.urdf_writer import write_urdf
from solver.options.checks import CheckOptions
from solver.rigs import from_urdf, human
from solver.rigs.anthropometry import TABLES
from solver.scene.rig import read_rig, write_rig
from solver.skeleton.rig import Rig
from solver.values.person import GIRDLE

MIRROR = np.array([1.0, -1.0, 1.0])
SIDES = ("right", "left")


def girdled(trunk: str = "one", sex: str = "female", tables: Sequence[str] = TABLES) -> Rig:
    return human(1.75, 65.0, sex, tables=tables, trunk=trunk, shoulders="girdle")


def turned(rig: Rig, degrees: dict[str, tuple[float, ...]]) -> np.ndarray:
    """Neutral with joints turned [degrees], by link."""
    q = rig.neutral
    for link, angles in degrees.items():
        first = rig.q_slices[rig.index(link)].start
        q[first : first + len(angles)] = np.radians(angles)
    return q


def places(rig: Rig, q: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(rig.links, link_poses(rig, q)[1]))


@pytest.mark.parametrize("trunk", ["one", "three"])
@pytest.mark.parametrize("tables", [TABLES, ("dumas",)])
@pytest.mark.parametrize("sex", ["male", "female"])
def test_a_girdle_weighs_what_the_torso_gave(sex: str, tables: tuple[str, ...], trunk: str) -> None:
    """At neutral torso and girdle have the torso's mass and centre of mass, each is a body that can exist, and all
    other links are where they were with the inertials they had; six more ways to move.
    """
    fixed, rig = human(1.75, 65.0, sex, tables=tables, trunk=trunk), girdled(trunk, sex, tables)
    assert rig.nv == fixed.nv + 6
    assert len(rig.links) == len(fixed.links) + 4
    where = {kind.name: places(kind, kind.neutral) for kind in (fixed, rig)}
    for link in fixed.links:
        np.testing.assert_allclose(where[rig.name][link], where[fixed.name][link], atol=1e-12)
        if link != "torso":
            np.testing.assert_allclose(
                rig.prior.values[rig.index(link)], fixed.prior.values[fixed.index(link)], rtol=1e-9, atol=1e-12
            )
    coms = [
        sum(kind.prior[link].mass * (kind.prior[link].com + where[kind.name][link]) for link in kind.links) / 65.0
        for kind in (fixed, rig)
    ]
    np.testing.assert_allclose(coms[1], coms[0], atol=1e-12)
    assert rig.prior.total_mass == pytest.approx(65.0, rel=1e-12)
    assert rig.prior.consistency_margin.min() > 0.0
    assert 0.0 < rig.prior["right_clavicle"].mass < rig.prior["right_scapula"].mass < 1.0


def test_both_sides_move_alike() -> None:
    """The same angles move both shoulders to mirrored places: protraction forwards, elevation and upward turns up."""
    rig = girdled()
    rest = places(rig, rig.neutral)
    for part, angles, axis in (("clavicle", (20.0, 0.0), 0), ("clavicle", (0.0, 20.0), 2), ("scapula", (20.0,), 2)):
        found = places(rig, turned(rig, {f"{side}_{part}": angles for side in SIDES}))
        moved = {side: found[f"{side}_upper_arm"] - rest[f"{side}_upper_arm"] for side in SIDES}
        np.testing.assert_allclose(moved["left"], MIRROR * moved["right"], atol=1e-12)
        assert moved["right"][axis] > 0.008
    (left, right) = (rig.index(f"{side}_scapula") for side in ("left", "right"))
    np.testing.assert_allclose(rig.prior.coms[left], MIRROR * rig.prior.coms[right], atol=1e-12)
    flip = np.diag(MIRROR)
    np.testing.assert_allclose(rig.prior.inertias[left], flip @ rig.prior.inertias[right] @ flip, atol=1e-12)


def scapula_gap(side: str, scapula: np.ndarray, joints: dict[str, np.ndarray]) -> float:
    """Distance [m] of the contact of a scapula, pose (4, 4) in the torso's frame, from the ellipsoid of the thorax,
    outside positive, to first order."""
    asset, out = read_asset("human_girdle"), MIRROR if side == "right" else np.ones(3)
    tall, wide = 1.75 / asset["stature"], abs(sum(joints.values())[1]) / asset["shoulder_half_width"]
    scale, plane = np.array([tall, wide, tall]), np.radians(asset["scapular_plane"])
    radii, contact = scale * np.array(asset["ellipsoid"]), out * scale * np.array(asset["contact"])
    normal = out * np.array([-np.cos(plane), np.sin(plane), 0.0])
    centre = joints["clavicle"] + joints["scapula"] + contact - radii**2 * normal / np.linalg.norm(radii * normal)
    here = scapula[:3, :3] @ contact + scapula[:3, 3] - centre
    level = float(np.linalg.norm(here / radii))
    return (level - 1.0) * level / float(np.linalg.norm(here / radii**2))


@pytest.mark.parametrize("side", SIDES)
def test_a_scapula_glides_on_the_thorax(side: str) -> None:
    """It lies on the ellipsoid at rest; clavicle's turns of 15 degrees and upward rotation of 20 lift it by less than 6
    mm, and 60 degrees of upward rotation by 26 mm, which is what a tree simplifies. Pulled 10 mm backwards, it stands
    off by what of that is along the normal.
    """
    rig = girdled()
    joints = {name: rig.joints[rig.index(f"{side}_{name}")].position for name in (*GIRDLE, "upper_arm")}

    def off(degrees: dict[str, tuple[float, ...]]) -> float:
        turns, origins = link_poses(rig, turned(rig, degrees))
        torso, own = rig.index("torso"), rig.index(f"{side}_scapula")
        pose = np.eye(4)
        pose[:3, :3] = turns[torso].T @ turns[own]
        pose[:3, 3] = turns[torso].T @ (origins[own] - origins[torso])
        return scapula_gap(side, pose, joints)

    assert off({}) == pytest.approx(0.0, abs=1e-12)
    for protracted, elevated in ((15.0, 0.0), (-15.0, 0.0), (0.0, 15.0)):
        assert abs(off({f"{side}_clavicle": (protracted, elevated)})) < 0.006
    assert abs(off({f"{side}_scapula": (20.0,)})) < 0.006
    assert off({f"{side}_scapula": (60.0,)}) == pytest.approx(0.026, abs=0.002)
    lifted = np.eye(4)
    lifted[:3, 3] = joints["clavicle"] + joints["scapula"] + np.array([-0.01, 0.0, 0.0])
    assert scapula_gap(side, lifted, joints) == pytest.approx(0.01 * np.cos(np.radians(35.0)), abs=5e-4)


def test_a_girdle_is_built_again_from_its_joint_centres() -> None:
    """Joint centres read off a rig give the same rig, and a calibrated shoulder keeps what it weighs."""
    rig = girdled("three")
    joints = {link: list(joint.position) for link, joint in zip(rig.links[1:], rig.joints[1:])}
    again = human(1.75, 65.0, "female", trunk="three", shoulders="girdle", joints=joints)
    np.testing.assert_allclose(again.prior.values, rig.prior.values, atol=1e-12)
    np.testing.assert_allclose(again.tips, rig.tips, atol=1e-12)
    joints["right_scapula"] = [-0.05, -0.13, 0.03]
    longer = human(1.75, 65.0, "female", trunk="three", shoulders="girdle", joints=joints)
    assert longer.prior.total_mass == pytest.approx(65.0, rel=1e-12)
    assert longer.prior.consistency_margin.min() > 0.0


def test_files_keep_a_girdle(tmp_path: Path) -> None:
    """rig.json gives the same rig, a URDF the same kinematics with the clavicle's two turns as two joints."""
    rig = girdled()
    assert differences(read_rig(write_rig(tmp_path / "rig.json", rig)), rig) == ()
    write_urdf(rig, tmp_path / "rig.urdf")
    read = from_urdf(tmp_path / "rig.urdf")
    assert read.nv == rig.nv
    here, there = places(rig, rig.neutral), places(read, read.neutral)
    np.testing.assert_allclose(
        there["right_upper_arm"] - there["torso"], here["right_upper_arm"] - here["torso"], atol=1e-6
    )


def test_a_girdle_stands_without_touching_itself() -> None:
    """What lies on the thorax by construction is no collision, standing nor with the girdle moved."""
    rig = girdled()
    stands = np.array(rig.provenance["standing"])
    first, last = (rig.q_slices[rig.index(f"{side}_clavicle")].start for side in SIDES)
    poses = np.repeat(stands[None], 3, axis=0)
    for side in (first, last):
        poses[1:, side] = np.radians(15.0)
        poses[2, side + 1] = np.radians(20.0)
    detector = CollisionDetector(rig, CheckOptions())
    assert detector.minimum_distances(poses).min() > 0.0
    assert ("torso", "right_forearm") in detector.pairs
