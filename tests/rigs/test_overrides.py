"""What is stated about a robot is written into its rig, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue, UnknownName
from solver.cli import main
from solver.rigs import from_urdf, hoap3
from solver.rigs.overrides import with_exclusions, with_feet, with_soles, with_torques
from solver.rigs.srdf import read_srdf
from solver.scene.rig import read_rig
from solver.skeleton.rig import Rig

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<collision><geometry><box size="0.2 0.1 0.04"/></geometry></collision>'
)
SRDF = """<robot name="block">
  <end_effector name="sole" parent_link="pad" group="leg"/>
  <end_effector name="gripper" parent_link="arm" group="arm"/>
  <disable_collisions link1="body" link2="arm" reason="Never"/>
  <disable_collisions link1="body" link2="wheel" reason="Never"/>
  <disable_collisions link1="plate" link2="arm" reason="Never"/>
</robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """A body with a plate fixed to it, an arm and a pad on hinges."""
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("body", "plate", "arm", "pad"))
    hinge = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/>'
    joints = "".join(
        f'<joint name="{name}_joint" type="{kind}"><parent link="body"/><child link="{name}"/>'
        f'<origin xyz="0 0 {place}"/>{hinge if kind == "revolute" else ""}</joint>'
        for name, kind, place in (("plate", "fixed", 0.2), ("arm", "revolute", 0.5), ("pad", "revolute", -0.5))
    )
    path = tmp_path / "block.urdf"
    path.write_text(f'<robot name="block">{links}{joints}</robot>')
    path.with_suffix(".srdf").write_text(SRDF)
    return path


def test_an_srdf_has_pairs_and_feet(robot: Path) -> None:
    """Disabled pairs are read as they stand, and of the end effectors those that are called feet."""
    found = read_srdf(robot.with_suffix(".srdf"))
    assert found.disabled_pairs == (("body", "arm"), ("body", "wheel"), ("plate", "arm"))
    assert found.feet == ("pad",)


def test_links_of_several_bodies_may_touch_where_all_bodies_may(robot: Path) -> None:
    """Body and plate are one link: the arm may touch it because it may touch both, and may not if one is left out."""
    rig = from_urdf(robot)
    both = [("body", "arm"), ("plate", "arm")]
    assert with_exclusions(rig, both, "its SRDF").excluded == (("body", "arm"),)
    half = [("body", "arm"), ("plate", "pad")]
    assert with_exclusions(rig, half, "its SRDF").excluded == ()
    assert with_exclusions(rig, [("body", "wheel")], "its SRDF") == rig


def test_torques_replace_those_of_the_named_joints(robot: Path) -> None:
    """By the joint's name or its link's; all other limits stay."""
    rig = from_urdf(robot)
    stated = with_torques(rig, {"arm_joint": 40.0, "pad": 9.0})
    torques = {name: stated.limits_of(name).torque.tolist() for name in ("arm", "pad")}
    assert torques == {"arm": [40.0], "pad": [9.0]}
    np.testing.assert_array_equal(stated.limits.speed, rig.limits.speed)
    assert with_torques(rig, {}) is rig


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        (lambda rig: with_torques(rig, {"arn_joint": 4.0}), "arm_joint"),
        (lambda rig: with_exclusions(rig, [("body", "leg")]), "leg"),
    ],
)
def test_unknown_names_are_reported(robot: Path, change, expected_text: str) -> None:  # type: ignore[no-untyped-def]
    """With the names that there are."""
    with pytest.raises(UnknownName, match=expected_text):
        change(from_urdf(robot))


def test_a_torque_is_positive() -> None:
    """Nothing moves with none."""
    rig: Rig = hoap3()
    with pytest.raises(InvalidValue, match="positive"):
        with_torques(rig, {rig.joints[1].name: 0.0})


def test_a_file_that_is_not_srdf_is_reported(robot: Path, tmp_path: Path) -> None:
    """By its file, and by the element that lacks something."""
    path = tmp_path / "odd.srdf"
    path.write_text('<robot name="x"><disable_collisions link1="a"/></robot>')
    with pytest.raises(InputError, match=r"odd\.srdf.*disable_collisions.*link2"):
        read_srdf(path)
    path.write_text("<sdf/>")
    with pytest.raises(InputError, match="not <robot>"):
        read_srdf(path)


def test_the_command_line_writes_what_is_stated_into_the_rig(robot: Path, tmp_path: Path) -> None:
    """Feet of the SRDF, pairs and torques come back from rig.json."""
    made = tmp_path / "robot.json"
    srdf = str(robot.with_suffix(".srdf"))
    words = ["rig", str(robot), "--srdf", srdf, "--may-touch", "arm:pad", "--torques", "arm_joint=40"]
    assert main([*words, "--output", str(made)]) == 0
    rig = read_rig(made)
    assert [patch.link for patch in rig.contacts] == ["pad"]
    assert {frozenset(pair) for pair in rig.excluded} == {frozenset(("body", "arm")), frozenset(("arm", "pad"))}
    assert rig.limits_of("arm").torque.tolist() == [40.0]
    assert main(["rig", "hoap3", "--srdf", srdf]) != 0


def test_a_stated_sole_lies_flat_under_its_link(robot: Path) -> None:
    """Length points ahead, width across, at the lowest point of the link with every joint at zero."""
    rig = with_soles(from_urdf(robot), {"pad": (0.2, 0.1)})
    (sole,) = rig.contacts
    turns, places = rig.rest
    k = rig.index("pad")
    corners = sole.vertices @ turns[k].T + places[k]
    assert np.ptp(corners, axis=0) == pytest.approx([0.2, 0.1, 0.0])
    assert corners[:, 2] == pytest.approx(-0.52)
    sides = np.diff(corners, axis=0)
    assert np.cross(sides[0], sides[1])[2] < 0.0  # seen from below against the clock, as soles that were found


@pytest.mark.parametrize(
    ("name", "sides", "wrong"), [("paw", (0.1, 0.1), UnknownName), ("pad", (0.1, 0.0), InvalidValue)]
)
def test_a_sole_of_nothing_is_refused(robot: Path, name: str, sides: tuple[float, float], wrong: type) -> None:
    """Of a link that is not there, or without area."""
    with pytest.raises(wrong):
        with_soles(from_urdf(robot), {name: sides})


def test_soles_on_the_command_line(robot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They end in the written rig; words that are no size are one sentence."""
    output = robot.with_name("rig.json")
    assert main(["rig", str(robot), "--soles", "pad=0.3x0.1", "--output", str(output)]) == 0
    assert [patch.link for patch in read_rig(output).contacts] == ["pad"]
    assert main(["rig", str(robot), "--soles", "pad=wide"]) != 0
    assert "LINK=LENGTHxWIDTH" in capsys.readouterr().err


def test_specified_feet_are_the_only_feet(robot: Path) -> None:
    """Of a rig that is there already: on what is flat at their bottom; a name that is not there is refused."""
    rig = from_urdf(robot)
    assert [patch.link for patch in with_feet(rig, ["arm"]).contacts] == ["arm"]
    assert with_feet(rig, ()) is rig
    with pytest.raises(UnknownName):
        with_feet(rig, ["paw"])


def test_the_error_about_a_round_foot_says_how_to_specify_a_sole(robot: Path) -> None:
    """A ball has no flat bottom: its error says which option lays a sole under it."""
    robot.write_text(robot.read_text().replace('<box size="0.2 0.1 0.04"/>', '<sphere radius="0.02"/>'))
    with pytest.raises(InvalidValue, match="--soles"):
        with_feet(from_urdf(robot), ["pad"])
