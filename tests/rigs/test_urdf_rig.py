"""Laws of rigs read from URDF, and the one clear error each broken file gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import HOW, model_file
from solver.base.errors import InputError, InvalidValue, UnknownLink
from solver.rigs import from_urdf
from solver.rigs.meshes import cylinder_mesh, resolve_mesh_uri
from solver.rigs.mirrored_links import pairs_by_name, split_mirrored
from solver.rigs.solids import box, capsule, ellipsoid, shape_bounds
from solver.rigs.urdf_geometry import transform_shape
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import fixed_coordinates
from solver.values.joints import Mimic
from tests.pinocchio import data_of, pin
from tests.pinocchio_models import inertials_of

Write = Callable[..., Path]
INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/>'
BALL = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'


def link(name: str, mass: float | str = 1.0, *, inertia: str = INERTIA, extra: str = "") -> str:
    """One <link> with its centre of mass off the origin."""
    inertial = f'<inertial><origin xyz="0.01 0.02 -0.1"/><mass value="{mass}"/>{inertia}</inertial>'
    return f'<link name="{name}">{inertial}{extra}</link>'


def joint(
    name: str, parent: str, child: str, *, kind: str = "revolute", inside: str = "", xyz: str = "0 0 -0.3"
) -> str:
    """One <joint> about y with limits, unless ``inside`` says otherwise."""
    inside = inside or '<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="50" velocity="4"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}"/>{ends}{inside}</joint>'


SOLE = '<collision><origin xyz="0.03 0 -0.04"/><geometry><box size="0.2 0.1 0.02"/></geometry></collision>'
LEGS = "".join(
    link(f"{s}_thigh", 3)
    + link(f"{s}_foot", 0.8, extra=SOLE)
    + joint(f"{s}_hip", "trunk", f"{s}_thigh", xyz=f"0 {y} -0.1")
    + joint(f"{s}_ankle", f"{s}_thigh", f"{s}_foot")
    for s, y in (("left", 0.1), ("right", -0.1))
)
BIPED = link("trunk", 10) + LEGS


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a robot's inside to a file and gives its path."""

    def writer(inside: str, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_text(inside if inside.startswith("<?xml") else f'<robot name="test">{inside}</robot>')
        return path

    return writer


def test_biped_becomes_a_rig(write: Write) -> None:
    """Links are the moving bodies, with total mass, limits, pairs and soles."""
    rig = from_urdf(write(BIPED))
    assert rig.links == ("trunk", "left_thigh", "left_foot", "right_thigh", "right_foot")
    assert rig.prior.total_mass == pytest.approx(10 + 2 * 3.8)
    assert rig.pairs == (("left_thigh", "right_thigh"), ("left_foot", "right_foot"))
    np.testing.assert_array_equal(rig.limits.lower, -np.ones(4))
    np.testing.assert_array_equal(rig.limits.torque, 50 * np.ones(4))
    assert [c.link for c in rig.contacts] == ["left_foot", "right_foot"]
    for sole in rig.contacts:
        np.testing.assert_allclose(sole.vertices.min(axis=0), [-0.07, -0.05, -0.05], atol=1e-12)
        np.testing.assert_allclose(sole.vertices.max(axis=0), [0.13, 0.05, -0.05], atol=1e-12)
        p = sole.vertices
        assert sum(np.cross(a, b)[2] for a, b in zip(p, np.roll(p, -1, axis=0))) < 0


def test_fixed_joints_merge_without_losing_anything(write: Write) -> None:
    """A fixed link's mass, first moment and inertia move to its carrier: the base wrench of the whole is unchanged."""
    camera = link("camera", 0.5) + joint("mount", "left_thigh", "camera", kind="fixed", inside=" ", xyz="0.1 0 0")
    with_camera, without = from_urdf(write(BIPED + camera)), from_urdf(write(BIPED, "plain.urdf"))
    assert with_camera.links == without.links
    assert with_camera.provenance["bodies"]["left_thigh"] == ("left_thigh", "camera")  # type: ignore[index]
    assert any("camera" in note for note in with_camera.notes)
    added = with_camera.prior.link("left_thigh") - without.prior.link("left_thigh")
    np.testing.assert_allclose(added[:4], 0.5 * np.array([1, 0.11, 0.02, -0.1]), atol=1e-12)
    assert with_camera.prior.total_mass == pytest.approx(without.prior.total_mass + 0.5)


def branching(count: int, generator: np.random.Generator) -> str:
    """Inside of a robot whose links hang at random links before them, by joints of every kind, turned at random."""
    parts = [link("link_0", 5)]
    for k in range(1, count):
        numbers = [" ".join(f"{x:.6f}" for x in generator.normal(size=3)) for _ in range(3)]
        kind = generator.choice(["revolute", "continuous", "prismatic", "fixed"])
        inside = f'<axis xyz="{numbers[0]}"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
        parent = f"link_{generator.integers(k)}"
        text = joint(f"joint_{generator.integers(10**6)}", parent, f"link_{k}", kind=kind, inside=inside)
        parts += [link(f"link_{k}", 1 + k % 3), text.replace("0 0 -0.3", f'{numbers[1]}" rpy="{numbers[2]}')]
    return "".join(parts)


def test_any_tree_is_that_of_pinocchio(write: Write) -> None:
    """Axes and origins at zero and the mass matrix are those of Pinocchio's reading of the same file, and masses add
    up to the total.
    """
    path = write(branching(40, np.random.default_rng(6)))
    rig, model = from_urdf(path), pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    assert [joint.name for joint in rig.joints] == list(model.names)[1:]
    turns, origins = rig.rest
    np.testing.assert_allclose(turns, [pose.rotation for pose in list(data.oMi)[1:]], atol=1e-12)
    np.testing.assert_allclose(origins, [pose.translation for pose in list(data.oMi)[1:]], atol=1e-12)
    masses = [float(word) for word in re.findall(r'mass value="([^"]+)"', path.read_text())]
    assert rig.prior.total_mass == pytest.approx(sum(masses))
    q = pin.integrate(model, pin.neutral(model), np.random.default_rng(3).normal(size=model.nv))
    a, b = (pin.crba(m, m.createData(), q) for m in (model, rig.model))
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_mimic_joints_move_independently_and_are_reported(write: Write) -> None:
    """A mimic joint stays a joint with its own column; its coupling is kept with it."""
    mimic = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    finger = link("finger") + joint(
        "curl", "trunk", "finger", inside=mimic + '<mimic joint="left_hip" multiplier="2" offset="0.1"/>'
    )
    rig = from_urdf(write(BIPED + finger))
    assert rig.nv == 6 + 5
    assert {j.name: j.mimic for j in rig.joints if j.mimic} == {"curl": Mimic("left_hip", 2.0, 0.1)}
    assert any("curl" in note for note in rig.notes)


def test_a_mimic_joint_without_its_source_uses_the_one_with_its_prefix_or_stays_fixed(write: Write) -> None:
    """A source that lacks the follower's own prefix is found; a follower of no one is reported, and no error."""
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    fingers = link("left_tip") + link("right_tip") + link("odd")
    fingers += joint("left_end", "trunk", "left_tip", inside=limit + '<mimic joint="hip" multiplier="2"/>')
    fingers += joint("right_end", "trunk", "right_tip", inside=limit + '<mimic joint="hip"/>')
    fingers += joint("alone", "trunk", "odd", inside=limit + '<mimic joint="nobody"/>')
    rig = from_urdf(write(BIPED + fingers))
    sources = {joint.name: joint.mimic.source for joint in rig.joints if joint.mimic}
    assert sources == {"left_end": "left_hip", "right_end": "right_hip", "alone": "nobody"}
    (meant,) = [note for note in rig.notes if "the one with their prefix" in note]
    assert "left_end left_hip for hip" in meant
    (lost,) = [note for note in rig.notes if "stay fixed" in note]
    assert "alone (nobody)" in lost
    assert "end" not in lost.split(":")[1]
    assert fixed_coordinates(rig)[rig.index("odd") - 1]


def test_joints_that_mimic_each_other_are_independent_and_named(write: Write) -> None:
    """A circle of mimic joints has no source."""
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="{}"/>'
    circle = link("one") + joint("a", "trunk", "one", inside=limit.format("b"))
    circle += link("two") + joint("b", "trunk", "two", inside=limit.format("a"))
    rig = from_urdf(write(BIPED + circle))
    assert not any(joint.mimic for joint in rig.joints)
    assert any("mimic each other in a circle" in note and "a, b" in note for note in rig.notes)


def test_inertia_in_another_unit_is_named(write: Write) -> None:
    """A radius of gyration far beyond the robot's size names the links and the unit; a right file has no such note."""
    right, wrong = (from_urdf(write(text)) for text in (BIPED, BIPED.replace(INERTIA, INERTIA.replace("0.0", "2000"))))
    assert not any("gyration" in note for note in right.notes)
    assert any("kg mm²" in note and "left_thigh" in note for note in wrong.notes)


def test_other_encodings_are_read(tmp_path: Path) -> None:
    """The declaration names the encoding; bytes that contradict it ask for UTF-8."""
    text = f'<?xml version="1.0" encoding="gb2312"?><robot name="\u673a\u5668">{BIPED}</robot>'
    path = tmp_path / "robot.urdf"
    path.write_bytes(text.encode("gb2312"))
    assert from_urdf(path).name == "\u673a\u5668"
    path.write_bytes(text.encode("utf-8"))
    with pytest.raises(InputError, match="UTF-8"):
        from_urdf(path)


def test_massless_links_stay_and_prior_applies(write: Write) -> None:
    """Links without mass stay fixed, with a zero prior that can be written to the model and back."""
    empty = link("axis", 0, inertia='<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>')
    chain = (
        link("trunk", 5) + empty + link("arm", 2) + joint("a", "trunk", "axis") + joint("b", "axis", "arm", xyz="0 0 0")
    )
    rig = from_urdf(write(chain))
    assert rig.prior.masses.tolist() == [5.0, 0.0, 2.0]
    again = rig.with_prior(rig.prior)
    assert any("without mass: axis" in note for note in rig.notes)
    assert np.isfinite(pin.rnea(again.model, data_of(again), rig.neutral, *np.ones((2, rig.nv)))).all()
    np.testing.assert_allclose(inertials_of(rig.links, again.model).values, rig.prior.values, atol=1e-12)


def test_inconsistent_inertia_is_named_and_kept(write: Write) -> None:
    """An inertia that breaks the triangle inequality is reported by link; the rig keeps the file's numbers."""
    bad = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.05"/>'
    rig = from_urdf(write(link("trunk", 5) + link("plate", 1, inertia=bad) + joint("a", "trunk", "plate")))
    assert rig.provenance["inconsistent"] == ("plate",)
    assert any("plate" in note and "inconsistent" in note for note in rig.notes)
    np.testing.assert_allclose(np.diag(rig.prior.inertias_at_com[1]), [0.01, 0.01, 0.05], atol=1e-12)


def test_limits_that_limit_nothing_are_dropped(write: Write) -> None:
    """Continuous joints, missing bounds and bounds of 10 rad and more are infinite; the last ones are reported."""
    wide = '<axis xyz="0 0 1"/><limit lower="-15" upper="1.5" effort="0" velocity="0"/>'
    none = '<axis xyz="0 0 1"/>'
    body = link("trunk") + link("a") + link("b") + joint("wide", "trunk", "a", inside=wide)
    rig = from_urdf(write(body + joint("free", "trunk", "b", kind="continuous", inside=none)))
    order = [joint.name for joint in rig.joints if joint.name in ("wide", "free")]
    at = order.index("wide")
    assert rig.limits.lower[at] == -np.inf
    assert rig.limits.upper[at] == 1.5
    assert np.isinf(rig.limits.upper[1 - at])
    assert np.isinf(rig.limits.torque).all()
    assert any("wide" in note for note in rig.notes)


def test_ignored_parts_of_a_file_are_reported(write: Write) -> None:
    """Limits of 0, missing or superfluous ones, points of mass, shapes of no size, lengths in millimetres: a note."""
    inside = '<limit lower="-1" effort="0" velocity="1"/>'
    point = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    nothing = '<collision><geometry><box size="0 0 0"/></geometry></collision>'
    body = link("a") + link("b", inertia=point) + link("c", extra=nothing)
    robot = joint("j", "a", "b", inside=inside) + joint("k", "b", "c", kind="continuous", xyz="0 0 -300")
    notes = " / ".join(from_urdf(write(body + robot)).notes)
    for said in (
        "missing lower or upper limits treated as none: j",
        "effort limits of 0 treated as none: j",
        "without limits ignored: k",
        "no inertia (point masses): b",
        "without size or of an unknown kind left out: c",
        "is 300 m large",
    ):
        assert said in notes


@pytest.mark.parametrize(
    ("speeds", "taken"),
    [
        ((1.0, 1.0, 1.0), (np.inf,) * 3),
        ((1.0, 1.0, 2.0), (1.0, 1.0, 2.0)),
        ((100.0, 5.0, 6.0), (np.inf, 5.0, 6.0)),
        ((7.64,) * 3, (7.64,) * 3),
    ],
)
def test_placeholder_speed_limits_are_reported_and_ignored(
    write: Write, speeds: tuple[float, ...], taken: tuple[float, ...]
) -> None:
    """One and the same 1 rad/s for all joints, or 100 rad/s for any, says nothing about a robot."""
    names = "abcd"
    joints = "".join(
        joint(f"j{k}", names[k], names[k + 1], inside=f'<limit lower="-1" upper="1" effort="{k + 1}" velocity="{v}"/>')
        for k, v in enumerate(speeds)
    )
    rig = from_urdf(write("".join(link(name) for name in names) + joints))
    assert tuple(rig.limits.speed) == taken
    assert any("speed limit" in note and "treated as none" in note for note in rig.notes) == (taken != speeds)


def test_floating_joint_to_a_world_is_the_free_flyer(write: Write) -> None:
    """A massless world link with a floating joint is not a second free flyer."""
    world = '<link name="world"/>' + joint("float", "world", "trunk", kind="floating", inside=" ")
    rig = from_urdf(write(world + BIPED))
    assert rig.links[0] == "trunk"
    assert rig.nv == 6 + 4


def test_boxes_hold_shapes_and_mass(write: Write) -> None:
    """Boxes hold shape, centre of mass, origin; without geometry the box of equal inertia and the next joint."""
    rig = from_urdf(write(BIPED))
    assert (rig.boxes[:, 0] <= rig.prior.coms).all()
    assert (rig.prior.coms <= rig.boxes[:, 1]).all()
    assert (rig.boxes[:, 0] < 0).all()
    thigh = rig.boxes[rig.index("left_thigh")]
    assert thigh[0, 2] <= -0.3
    solid = np.sqrt(3 * (0.5 * 0.075 - np.array([0.02, 0.03, 0.025])) / 3)
    np.testing.assert_allclose(thigh[1, :2], np.array([0.01, 0.02]) + solid[:2], atol=1e-12)
    np.testing.assert_allclose(rig.tips[rig.index("left_thigh")], np.array([0.0, 0.0, -0.3]), atol=1e-12)


def test_feet_and_base_link_may_be_named(write: Write) -> None:
    """Feet given by name, even by a merged body's, become the contacts; unknown ones are refused with the choices.

    Where no name shows of feet, the lowest ends that mirror each other are taken.
    """
    path = write(BIPED.replace("_foot", "_paddle"))
    assert [contact.link for contact in from_urdf(path).contacts] == ["left_paddle", "right_paddle"]
    rig = from_urdf(path, feet=["right_paddle"], base_link="left_thigh")
    assert [c.link for c in rig.contacts] == ["right_paddle"]
    assert rig.provenance["base_link"] == "left_thigh"
    with pytest.raises(UnknownLink, match="left_paddle"):
        from_urdf(path, feet=["left_padle"])


CUBE = """solid cube
{}
endsolid cube
"""


def _ascii_cube(side: float) -> str:
    corners = side * np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    text = []
    for a, b, c, d in faces:
        for triangle in ((a, b, c), (a, c, d)):
            rows = "\n".join("vertex {} {} {}".format(*corners[k]) for k in triangle)
            text.append(f"facet normal 0 0 0\nouter loop\n{rows}\nendloop\nendfacet")
    return CUBE.format("\n".join(text))


def test_a_mesh_whose_name_no_file_can_have_is_missing(write: Write) -> None:
    """A file name of 300 characters is noted as any missing mesh is."""
    mesh = f'<visual><geometry><mesh filename="{"a" * 300}.stl"/></geometry></visual>'
    rig = from_urdf(write(link("trunk", extra=mesh)))
    assert any("not found" in note for note in rig.notes)


def test_meshes_are_found_noted_or_required(write: Write, tmp_path: Path) -> None:
    """package:// meshes are read from a given folder as hulls in the link frame; missing they are noted or refused."""
    mesh = (
        '<visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry>'
        '<mesh filename="package://robot_description/meshes/part.stl" scale="2 2 2"/></geometry></visual>'
    )
    path = write(link("trunk", extra=mesh))
    lost = from_urdf(path)
    assert lost.shapes == ()
    assert any("part.stl" in note for note in lost.notes)
    with pytest.raises(InputError, match=r"part\.stl.*packages"):
        from_urdf(path, meshes="required")
    folder = tmp_path / "share" / "robot_description" / "meshes"
    folder.mkdir(parents=True)
    (folder / "part.stl").write_text(_ascii_cube(0.1))
    for packages in ([tmp_path / "share"], tmp_path / "share" / "robot_description", str(tmp_path / "share")):
        rig = from_urdf(path, packages, meshes="required")
        assert len(rig.shapes) == 1
        assert rig.shapes[0].volume == pytest.approx(0.2**3)
        np.testing.assert_allclose(shape_bounds(rig.shapes[0]), [[-0.2, 0, 1], [0, 0.2, 1.2]], atol=1e-9)
    assert from_urdf(path, [tmp_path / "share"], meshes="none").shapes == ()
    with pytest.raises(InvalidValue, match="required"):
        from_urdf(path, meshes="all")
    (folder / "part.stl").write_text("solid nothing")
    with pytest.raises(InputError, match=r"part\.stl"):
        from_urdf(path, [tmp_path / "share"], meshes="required")
    assert any("part.stl" in note for note in from_urdf(path, [tmp_path / "share"]).notes)
    assert resolve_mesh_uri("package://nobody/meshes/part.stl", path, [folder.parent]) is None
    for uri in (
        "/opt/robots/src/robot_description/meshes/part.stl",
        "file:///opt/robots/src/robot_description/meshes/part.stl",
        r"C:\robots\robot_description\meshes\part.stl",
        "file://$(find robot_description)/meshes/part.stl",
    ):
        for packages in ([tmp_path / "share"], [folder.parent]):
            assert resolve_mesh_uri(uri, path, packages) == folder / "part.stl", uri
        assert resolve_mesh_uri(uri, path, ()) is None


PAIR = link("a") + link("b") + joint("j", "a", "b", inside="{}")
BOMB = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"><link name="x"/></robot>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]>
<robot name="&a;"><link name="x"/></robot>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "entities"),
        (OUTSIDE, "entities"),
        ("<?xml version='1.0'?>\n<robot name='x'>\n<link name='a'>\n</robot>", "line 4"),
        ("<?xml version='1.0'?><sdf><model/></sdf>", "<sdf>"),
        ("<?xml version='1.0'?><robot xmlns:xacro='http://ros.org/xacro'><xacro:macro name='a'/></robot>", "xacro"),
        ("", "no link"),
        (link("a") + link("a"), "'a' is used 2 times"),
        (link("a") + "<link/>", "number 2 has no name"),
        (link("a") + link("b"), "no parent: a, b"),
        (link("a", -1), "link 'a'.*negative mass -1"),
        (link("a", "nan"), "link 'a'.*finite"),
        (link("a", "1kg"), "link 'a'.*not a finite number"),
        (link("a", inertia='<inertia ixx="inf"/>'), "link 'a'.*ixx"),
        (link("a", "1_000"), "link 'a', <mass value>.*finite number.*without units"),
        (link("a", "\N{ARABIC-INDIC DIGIT TWO}"), "link 'a', <mass value>.*finite number"),
        (link("a", "1e999"), "link 'a', <mass value>.*finite number"),
        (link("a", "2,5"), "link 'a', <mass value>.*with a point"),
        (link("a").replace("value=", "kg="), "link 'a': <mass> has no 'value'"),
        (link("a").replace(' ixy="0.001"', ""), """link 'a': <inertia> has no 'ixy'.*ixy="0" if"""),
        (link("a").replace("inertial>", "Inertial>"), "link 'a': <Inertial> is not an element.*<inertial>"),
        (link("a").replace("</inertial>", "</inertial><inertial/>"), "link 'a': <inertial> occurs 2 times"),
        (link("a").replace("<mass", '<mass value="2"/><mass'), "link 'a': <mass> occurs 2 times"),
        (link("a").replace("xyz", "position"), "link 'a', <inertial>: <origin> has 'position', which would be ignored"),
        (link("a").replace("xyz=", 'rpy="0 90deg 0" xyz='), "link 'a'.*<origin rpy>.*90deg"),
        (link("a").replace("xyz=", 'rpy="0,0,0" xyz='), "link 'a'.*<origin rpy>.*separate numbers by spaces"),
        (link("a").replace("xyz=", 'rpy="0 0" xyz='), "link 'a'.*<origin rpy>.*3 number"),
        (PAIR.format("<axis/><Limit/>"), "joint 'j': <Limit> is not an element.*<limit>"),
        (PAIR.format('<axis dir="0 0 1"/>'), "joint 'j': <axis> has 'dir', which would be ignored, and no 'xyz'"),
        (PAIR.format("<axis/>"), "joint 'j': a revolute joint needs a <limit>.*continuous"),
        (PAIR.format('<limit min="-1" max="1" effort="1" velocity="1"/>'), "joint 'j': <limit> has 'min'"),
        (PAIR.format('<limit lower="inf" upper="1"/>'), "joint 'j', <limit lower>: 'inf' allows no range"),
        (PAIR.format('<limit lower="0" upper="1" velocity="-1" effort="1"/>'), "joint 'j': negative velocity limit -1"),
        (PAIR.format('<limit lower="0" upper="nan"/>'), "joint 'j', <limit upper>.*finite"),
        (PAIR.replace("revolute", "planar").format('<axis xyz="1 0 0"/>'), "joint 'j': type 'planar'.*two prismatic"),
        (PAIR.replace('"j"', '"root_joint"').format("<limit/>"), "joint 'root_joint'.*Rename"),
        (link("a", extra="<visual><geometry><box/></geometry></visual>"), "link 'a', <visual>: <box> has no 'size'"),
        (link("a", extra='<visual><geometry><sphere radius="-1"/></geometry></visual>'), "link 'a'.*negative size"),
        (link("a").replace(INERTIA, ""), "lacks <inertia>"),
        (link("a") + link("b") + joint("j", "a", "c"), "joint 'j'.*child link 'c'"),
        (link("a") + link("b") + joint("j", "a", "b", kind="hinge"), "joint 'j'.*'hinge'.*revolute"),
        (link("a") + link("b") + joint("j", "a", "b", inside='<axis xyz="0 0 0"/>'), "joint 'j'.*axis has no length"),
        (link("a") + link("b") + joint("j", "a", "b", inside='<axis xyz="0 1"/>'), "joint 'j'.*3 number"),
        (link("a") + link("b") + joint("j", "a", "b", xyz="0 nan 0"), "joint 'j'.*finite"),
        (link("a") + link("b") + joint("j", "a", "b", inside='<limit lower="1" upper="0"/>'), "joint 'j'.*above"),
        (link("a") + link("b") + joint("j", "a", "b").replace('<parent link="a"/>', ""), "joint 'j'.*<parent"),
        (link("a") + link("b") + link("c") + joint("j", "b", "c") + joint("k", "c", "b"), "loop: .*b -> c|c -> b"),
        (link("a") + link("b") + joint("j", "a", "b") + joint("k", "a", "b"), "child of 'j' and of 'k'.*loop"),
        (
            link("a", extra='<visual><geometry><box size="1 1e9 1"/></geometry></visual>'),
            "link 'a' has a length of 5e.08",
        ),
        (link("a") + link("b") + joint("j", "a", "b", xyz="0 1e9 0"), "joint 'j' has a length of 1e.09 m"),
        ("<link>" * 5000 + "</link>" * 5000, "more than 100 levels deep"),
        (link("a", extra='<visual><geometry><box size="1 x 1"/></geometry></visual>'), "link 'a'.*not a finite number"),
    ],
)
def test_broken_files_get_one_error(write: Write, text: str, words: str) -> None:
    """Every broken file is refused with the file's name, the place and what is wrong."""
    path = write(text)
    with pytest.raises(InputError, match=f"(?s){path.name}.*({words})"):
        from_urdf(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is named; so is a folder given instead."""
    with pytest.raises(InputError, match=r"nowhere\.urdf"):
        from_urdf(tmp_path / "nowhere.urdf")
    with pytest.raises(InputError):
        from_urdf(tmp_path)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("left_foot", "right_foot"),
        ("l_foot", "r_foot"),
        ("LLEG_LINK0", "RLEG_LINK0"),
        ("arm_left_1_link", "arm_right_1_link"),
        ("foot_l", "foot_r"),
        ("lfemur", "rfemur"),
        ("LShoulderPitch", "RShoulderPitch"),
        ("LeftUpperArm_f1", "RightUpperArm_f1"),
        ("L_HIP", "R_HIP"),
        ("ll_hfe", "lr_hfe"),
        ("legl_heel", "legr_heel"),
        ("ARML2", "ARMR2"),
    ],
)
def test_left_right_spellings(left: str, right: str) -> None:
    """The field's ways to write left and right are found; words that merely hold an l are not."""
    names = [left, right, "pelvis", "lower", "roll_link", "ruler"]
    assert pairs_by_name(names) == [(left, right)]


def test_pairs_must_mirror() -> None:
    """Pairs that are not each other's mirror image in the body's common plane, however turned, are left out."""
    generator = np.random.default_rng(4)
    turn = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    rights = generator.normal(size=(6, 3)) - [0, 3, 0]
    lefts = rights * [1, -1, 1]
    lefts[5] += [1.0, 0, 0]
    positions = {f"r_{k}": turn @ p for k, p in enumerate(rights)} | {f"l_{k}": turn @ p for k, p in enumerate(lefts)}
    pairs = [(f"l_{k}", f"r_{k}") for k in range(5)]
    assert split_mirrored(pairs, positions) == (pairs, [])
    assert split_mirrored([*pairs, ("l_5", "r_5")], positions) == (pairs, [("l_5", "r_5")])


def test_moving_a_shape_moves_its_bounds() -> None:
    """A rigid motion by quarter turns permutes a shape's bounds and keeps its volume, whatever its kind."""
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    place = np.array([1.0, 2.0, 3.0])
    kinds = [
        box("a", [0, 0, 0], [1, 2, 3]),
        capsule("a", [0, 0, 0], [1, 1, 0], 0.2),
        ellipsoid("a", [1, 0, 0], [1, 2, 3]),
    ]
    for shape in (*kinds, cylinder_mesh("a", 0.5, 2.0)):
        after = transform_shape(shape, "b", quarter, place)
        low, high = shape_bounds(shape)
        corners = np.array([quarter @ low + place, quarter @ high + place])
        np.testing.assert_allclose(shape_bounds(after), [corners.min(axis=0), corners.max(axis=0)], atol=1e-9)
        assert after.volume == pytest.approx(shape.volume)
    assert cylinder_mesh("a", 0.5, 2.0, 400).volume == pytest.approx(np.pi * 0.25 * 2, rel=1e-3)


@pytest.mark.parametrize(
    ("file", "joints", "massless", "mass", "pairs"),
    [
        ("human48_subject01", 48, 26, 62.2, 17),
        ("human66_subject01", 66, 44, 62.2, 24),
    ],
)
def test_public_models(shared_data: Path, file: str, joints: int, massless: int, mass: float, pairs: int) -> None:
    """Two public human models (with 26 and 44 massless links) import as they are."""
    path = shared_data.parent / "models" / f"{file}.urdf"
    if not path.is_file():
        pytest.skip(f"no such model: {path}")
    rig = from_urdf(path)
    assert rig.nv - 6 == joints
    assert (rig.masses == 0).sum() == massless
    assert rig.prior.total_mass == pytest.approx(mass, abs=0.05)
    assert len(rig.pairs) == pairs
    assert len(rig.contacts) == 4
    if joints == 66:
        assert any("treated as none" in note for note in rig.notes)


def _robot(*parts: str) -> Path:
    """A model of an installed robot package, or a skip."""
    path = model_file(parts)
    if path is None:
        pytest.skip(f"{parts[-1]} is not installed: {HOW}")
    return path


ROBOTS = {
    "talos": (("talos_data", "robots", "talos_reduced.urdf"), 32, 90.27, 14),
    "romeo": (("romeo_description", "urdf", "romeo.urdf"), 55, 40.53, 25),
    "g1": (("g1_description", "urdf", "g1_29dof_rev_1_0.urdf"), 29, 33.34, 13),
    "icub": (("iCub", "robots", "iCubGazeboV2_7", "model.urdf"), 32, 33.06, 13),
}


@pytest.mark.parametrize("robot", ROBOTS)
def test_installed_robots(robot: str) -> None:
    """TALOS, Romeo, G1, iCub: joints, mass, two soles, pairs, and dynamics as Pinocchio's own import."""
    parts, joints, mass, pairs = ROBOTS[robot]
    path = _robot(*parts)
    rig: Rig = from_urdf(path, meshes="none" if robot == "icub" else "found")
    assert rig.nv - 6 == joints
    assert rig.prior.total_mass == pytest.approx(mass, abs=0.01)
    assert len(rig.pairs) == pairs
    if robot != "icub":
        assert len(rig.contacts) == 2
    assert np.isfinite(rig.tips).all()
    plain = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    q = pin.integrate(plain, pin.neutral(plain), np.full(plain.nv, 0.1))
    a, b = (pin.crba(m, m.createData(), q) for m in (plain, rig.model))
    np.testing.assert_allclose(a, b, atol=1e-12)
    assert (rig.prior.coms[rig.masses > 0] >= rig.boxes[rig.masses > 0, 0] - 1e-12).all()
