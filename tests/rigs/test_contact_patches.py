"""Patches besides soles: where they lie, how they are stated, and that feet stay what they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownName, UnknownPreset
from solver.cli import main
from solver.contacts.schedule import Anchor, flat_on_ground
from solver.dynamics import Workspace
from solver.rigs import hoap3, human
from solver.rigs.contact_patches import BODY_PARTS, PatchSpecification, with_patches
from solver.rigs.overrides import with_soles
from solver.scene.rig import read_rig


def test_a_persons_patches_face_the_floor_they_are_for() -> None:
    """Palms look ahead as in the standing posture, knees and shins where a shank looks that kneels; sides mirror."""
    person = human(1.75, 70.0, "female")
    rig = with_patches(person, BODY_PARTS)
    assert rig.patches[2:] == (*("right_palm", "left_palm", "right_knee", "left_knee", "right_shin", "left_shin"),)
    for name in rig.patches[2:]:
        assert rig.patch(name).outward[0] > 0.99
    for part in ("palm", "knee", "shin"):
        right, left = (rig.patch(f"{side}_{part}").vertices for side in ("right", "left"))
        mirrored = right * [1.0, -1.0, 1.0]
        assert np.abs(np.sort(mirrored, axis=0) - np.sort(left, axis=0)).max() < 1e-9
    assert rig.patch("right_knee").link == "right_shank"
    assert not rig.patch("right_knee").sole


@pytest.mark.parametrize("size", [(1.5, 45.0, "female"), (1.75, 70.0, "male"), (1.95, 110.0, "male")])
def test_a_kneeling_shank_leaves_knee_and_pointed_foot_on_one_floor(size: tuple[float, float, str]) -> None:
    """With the shin flat on the floor nothing of thigh, shank or pointed foot is under it, and the toes touch it."""
    rig = with_patches(human(*size), ["shins"])
    shank, foot, thigh = (rig.index(f"right_{name}") for name in ("shank", "foot", "thigh"))
    anchor = flat_on_ground(rig, Anchor("right_shin", np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), np.zeros(3)), 0.0)
    low: dict[str, float] = {}
    q = rig.neutral
    q[rig.q_slices[foot]] = [0.0, np.sin(np.radians(27)), 0.0, np.cos(np.radians(27))]
    q[rig.q_slices[shank]] = np.radians(105.0)
    workspace = Workspace(rig)
    workspace.update_positions(q)
    into = anchor.rotation @ workspace.rotations[shank].T
    from solver.rigs.solids import bottom_points

    for shape in rig.shapes:
        link = rig.index(shape.link)
        if link not in (shank, foot, thigh):
            continue
        turn = into @ workspace.rotations[link]
        place = into @ (workspace.positions[link] - workspace.positions[shank]) + anchor.position
        points = bottom_points(shape, -turn[2]) @ turn.T + place
        low[shape.link] = min(low.get(shape.link, np.inf), float(points[:, 2].min()))
    assert min(low["right_thigh"], low["right_shank"], low["right_foot"]) > -1e-6
    assert low["right_foot"] < 1e-6
    assert low["right_thigh"] < 0.003


def test_feet_stay_what_they_were() -> None:
    """Sides, height of standing and soles do not change with patches elsewhere, nor do stated soles lose them."""
    person = human(1.75, 70.0, "female")
    rig = with_patches(person, ["hands", "knees", PatchSpecification("head", (0.0, 0.0, 0.2), (0.05,))])
    assert rig.sides == person.sides
    assert rig.standing_height == person.standing_height
    assert rig.soles == person.contacts
    assert np.array_equal(rig.forward, person.forward)
    assert "right_palm" in with_soles(rig, {"right_foot": (0.2, 0.1)}).patches


def test_a_specified_patch_is_where_it_was_specified() -> None:
    """A round one has its corners on its circle, a rectangle its sides along the link's axes; each faces as it says."""
    robot = hoap3()
    link = robot.links[-1]
    round_, flat = (
        PatchSpecification(link, (0.01, 0.02, 0.03), (0.05,), "-z"),
        PatchSpecification(link, (0.01, 0.02, 0.03), (0.2, 0.1), "+y"),
    )
    rig = with_patches(robot, [round_, flat])
    one, other = rig.contacts[-2:]
    assert np.allclose(np.linalg.norm(one.vertices - [0.01, 0.02, 0.03], axis=1), 0.05)
    assert np.allclose(one.outward, [0, 0, -1])
    assert np.allclose(other.outward, [0, 1, 0])
    assert np.allclose(np.ptp(other.vertices, axis=0), [0.2, 0.0, 0.1])
    assert np.allclose(other.centroid, [0.01, 0.02, 0.03])
    assert one.name != other.name
    box = robot.boxes[robot.index(link)]
    near = with_patches(
        robot, [PatchSpecification(link, (float(box[1, 0]), *(box.mean(axis=0)[1:]).tolist()), (0.01,))]
    )
    assert np.allclose(near.contacts[-1].outward, [1, 0, 0])


def test_wrong_statements_name_what_is_wrong() -> None:
    """A robot has no hands of a person, 23 degrees of freedom have none of their own, and sizes are above zero."""
    robot, person = hoap3(), human(1.75, 70.0, "male")
    with pytest.raises(InvalidValue, match=r"not a person.*LINK=X,Y,Z,RADIUS"):
        with_patches(robot, ["hands"])
    with pytest.raises(InvalidValue, match="variant 34dof"):
        with_patches(human(1.75, 70.0, "male", variant="23dof"), ["hands"])
    with pytest.raises(UnknownPreset, match="elbows"):
        with_patches(person, ["elbows"])
    with pytest.raises(UnknownName, match="tail"):
        with_patches(person, [PatchSpecification("tail", (0, 0, 0), (0.1,))])
    with pytest.raises(InvalidValue, match="positive radius"):
        with_patches(person, [PatchSpecification("head", (0, 0, 0), (0.0,))])
    with pytest.raises(UnknownPreset, match="up"):
        with_patches(person, [PatchSpecification("head", (0, 0, 0), (0.1,), "up")])


def test_patches_are_stated_on_the_command_line_and_kept_in_the_rigs_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Patches specified for a body are in its rig.json, to which more can be added; words that are none
    name their form."""
    path, again = tmp_path / "rig.json", tmp_path / "again.json"
    person = ["human", "--height", "1.75", "--mass", "70", "--sex", "female"]
    assert main(["rig", *person, "--patches", "hands", "head=0,0,0.2,0.05,+z", "--output", str(path)]) == 0
    rig = read_rig(path)
    assert rig.patches[2:] == ("right_palm", "left_palm", "head_patch")
    assert [patch.sole for patch in rig.contacts] == [True, True, False, False, False]
    assert main(["rig", str(path), "--patches", "knees", "--output", str(again)]) == 0
    assert read_rig(again).patches[2:] == (*rig.patches[2:], "right_knee", "left_knee")
    for wrong in ("head=1,2", "head=0,0,0,0.1x0.2x0.3", "head=0,0,0,a", "head=0,0,0,0.1,+x,+y"):
        assert main(["rig", *person, "--patches", wrong]) != 0
        said = capsys.readouterr().err
        assert "--patches takes LINK=X,Y,Z,RADIUS" in said or "needs a finite centre and a positive radius" in said
