"""A rig is a value: what is written, moved, read in another process is the same rig, with what identification found."""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, InvalidValue
from solver.rigs import from_urdf, hoap3, hrp2, human
from solver.scene.rig import read_rig, rig_from_text, rig_to_text, write_rig
from solver.skeleton.rig import Rig
from solver.values.joints import Joint, Limits
from solver.values.shape import ContactPolygon
from tests.pinocchio import data_of, pin
from tests.pinocchio_models import inertials_of, joints_of
from tests.random_motion import mixed_rig

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "models"
INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/>'
MESH = """solid wedge
facet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 0.1 0 vertex 0.2 0 0 endloop endfacet
facet normal 0 0 0 outer loop vertex 0 0 0 vertex 0.2 0 0 vertex 0 0 0.3 endloop endfacet
facet normal 0 0 0 outer loop vertex 0 0 0 vertex 0 0 0.3 vertex 0 0.1 0 endloop endfacet
facet normal 0 0 0 outer loop vertex 0.2 0 0 vertex 0 0.1 0 vertex 0 0 0.3 endloop endfacet
endsolid wedge
"""
LIMIT = '<limit lower="-1" upper="2" effort="50" velocity="4"/>'
JOINTS = {
    "turn": ("revolute", "0 1 0", LIMIT),
    "skew": ("revolute", "1 2 3", LIMIT),
    "back": ("revolute", "0 0 -1", LIMIT),
    "wheel": ("continuous", "0 1 0", ""),
    "skew wheel": ("continuous", "0.3 1 -2", ""),
    "slide": ("prismatic", "1 0 0", '<limit lower="0" upper="0.2" effort="9" velocity="1"/>'),
    "skew slide": ("prismatic", "1 1 0", '<limit lower="0" upper="0.2" effort="9" velocity="1"/>'),
    "float": ("floating", "1 0 0", ""),
    "finger": ("revolute", "0 1 0", f'{LIMIT}<mimic joint="turn" multiplier="2"/>'),
}
"""A joint of every kind that a URDF knows: kind, axis, what else."""


def written_robot(folder: Path) -> Path:
    """A URDF with every kind of joint, a mesh, a fixed link and a foot."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wedge.stl").write_text(MESH)
    links = ["trunk", "foot", "camera", *(name.replace(" ", "_") for name in JOINTS)]
    body = '<inertial><origin xyz="0.01 0.02 -0.1" rpy="0.1 0.2 0.3"/><mass value="{}"/>' + INERTIA + "</inertial>"
    sole = '<collision><origin xyz="0.03 0 -0.04"/><geometry><box size="0.2 0.1 0.02"/></geometry></collision>'
    mesh = '<collision><geometry><mesh filename="wedge.stl"/></geometry></collision>'
    text = [
        f'<link name="{name}">{body.format(1 + k)}{sole if name == "foot" else mesh if name == "trunk" else ""}</link>'
        for k, name in enumerate(links)
    ]
    ankle, mount = ("trunk", "foot", "revolute", LIMIT), ("turn", "camera", "fixed", "")
    for parent, child, kind, rest in (ankle, mount):
        ends = f'<origin xyz="0 0 -0.9"/><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
        text.append(f'<joint name="{child}" type="{kind}">{ends}{rest}</joint>')
    for k, (name, (kind, axis, rest)) in enumerate(JOINTS.items()):
        place = f'<origin xyz="0.1 {0.1 * k} -0.2" rpy="0.3 -{0.1 * k} 0.5"/>'
        ends = f'<parent link="trunk"/><child link="{name.replace(" ", "_")}"/>'
        text.append(f'<joint name="{name}" type="{kind}">{place}{ends}<axis xyz="{axis}"/>{rest}</joint>')
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="all joints">{"".join(text)}</robot>')
    return path


def changed(rig: Rig, mass: float) -> Rig:
    """The rig with a body of another mass, no link's share of it as before."""
    generator = np.random.default_rng(4)
    values = rig.prior.values * generator.uniform(0.7, 1.4, (len(rig.links), 1))
    return rig.with_prior(replace(rig.prior, values=values).scaled(mass), "found by a test")


@pytest.fixture(params=["human", "human 23 DoF", "hoap3", "hrp2", "urdf"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    """Rigs with a changed prior; the URDF's folder was deleted."""
    if request.param == "urdf":
        made = from_urdf(written_robot(tmp_path / "here"), feet=["foot"])
        shutil.rmtree(tmp_path / "here")
        return changed(made, 84.0)
    makers = {
        "human": lambda: human(1.75, 70.0, "male"),
        "human 23 DoF": lambda: human(1.6, 55.0, "female", variant="23dof", joints={"head": [0.0, 0.0, 0.45]}),
        "hoap3": hoap3,
        "hrp2": hrp2,
    }
    return changed(makers[request.param](), 84.0)


def test_a_rig_comes_back_from_its_file_from_text_and_from_a_pickle(rig: Rig, tmp_path: Path) -> None:
    """Write, move, read: every name and number of the description is the same, and so is the model built from it."""
    write_rig(tmp_path / "rig.json", rig)
    (tmp_path / "moved").mkdir()
    shutil.move(tmp_path / "rig.json", tmp_path / "moved" / "other.json")
    write_rig(tmp_path / "rig.npz", rig)
    ways = {
        "json": read_rig(tmp_path / "moved" / "other.json"),
        "npz": read_rig(tmp_path / "rig.npz"),
        "text": rig_from_text(rig_to_text(rig)),
        "pickle": pickle.loads(pickle.dumps(rig)),
    }
    for way, again in ways.items():
        assert again.differences(rig) == (), way
        assert again == rig
        assert hash(again) == hash(rig)
        assert again.model == rig.model
        assert again.prior.total_mass == pytest.approx(84.0, rel=1e-12)


def test_a_rig_is_read_without_an_engine(tmp_path: Path) -> None:
    """Where no engine is installed a rig is read, requested its places, and written; only its model is missing."""
    write_rig(tmp_path / "rig.json", hoap3())
    program = (
        "import sys; sys.modules.update(pinocchio=None, cmeel_pth=None, fcl=None)\n"
        "from solver.scene.rig import read_rig, write_rig\n"
        "rig = read_rig(sys.argv[1]); print(rig); assert rig.standing_height > 0.1 and len(rig.neutral) == rig.nq\n"
        "write_rig(sys.argv[1], rig)\n"
        "try: rig.model\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "rig.json")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "MissingDependency"


def test_every_change_of_a_description_is_detected() -> None:
    """Two rigs that differ in any one field are not equal, and the difference names the field."""
    one = hoap3()
    limits = replace(one.limits, torque=one.limits.torque * 1.001)
    moved = [joint.position for joint in one.joints]
    moved[3] = moved[3] + [0.0, 0.0, 1e-9]
    sole = one.contacts[0]
    others = {
        "name": replace(one, name="another"),
        "joints[3].position": one.with_joint_positions(np.array(moved)),
        "prior.values": one.with_prior(one.prior.scaled(9.0)),
        "limits.torque": replace(one, limits=limits),
        "boxes": replace(one, boxes=one.boxes * 1.01),
        "tips": replace(one, tips=one.tips * 1.01),
        "shapes": replace(one, shapes=one.shapes[1:]),
        "contacts[0].vertices": replace(
            one, contacts=(ContactPolygon(sole.name, sole.link, sole.vertices * 1.01), *one.contacts[1:])
        ),
        "pairs": replace(one, pairs=one.pairs[1:]),
        "excluded": replace(one, excluded=one.pairs[:1]),
        "notes": replace(one, notes=()),
        "provenance['payload']": replace(one, provenance={**one.provenance, "payload": "light"}),
    }
    messages = {name.split(".")[0].split("[")[0] for name in others}
    assert messages | {"links"} == {f.name for f in fields(Rig)}
    for name, other in others.items():
        assert other != one
        assert [said for said in one.differences(other) if said.startswith(name)], name


def test_the_built_model_is_no_part_of_the_value() -> None:
    """A rig whose model was built equals one whose was not, pickles to the same bytes, and cannot be changed."""
    fresh, used = hrp2(), hrp2()
    assert used.model is used.model
    assert fresh == used
    assert pickle.dumps(fresh) == pickle.dumps(used)
    with pytest.raises(FrozenInstanceError):
        used.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        used.provenance["kind"] = "other"  # type: ignore[index]


def test_rigs_that_arrive_alike_are_one() -> None:
    """What is kept by a rig's value is found by its identity, however often a worker is sent it; others stay others."""
    sent = pickle.dumps(hrp2())
    first, second = pickle.loads(sent), pickle.loads(sent)
    assert first is second
    assert first.model is second.model
    changed = first.with_prior(first.prior, "a note")
    other = pickle.loads(pickle.dumps(changed))
    assert other is not first
    assert other.notes == changed.notes


def test_description_and_model_name_each_other(rig: Rig) -> None:
    """The joints and inertials of a built model are those it was built from, and NumPy's rest pose is Pinocchio's."""
    model, data = rig.model, data_of(rig)
    for joint, again in zip(rig.joints, joints_of(model), strict=True):
        assert (again.name, again.kind, again.parent) == (joint.name, joint.kind, joint.parent)
        for name in ("position", "rotation", "axes"):
            np.testing.assert_allclose(getattr(again, name), getattr(joint, name), atol=1e-15)
    np.testing.assert_allclose(inertials_of(rig.links, model).values, rig.prior.values, atol=1e-12)
    assert (rig.nq, rig.nv) == (model.nq, model.nv)
    np.testing.assert_array_equal(rig.neutral, pin.neutral(model))
    pin.forwardKinematics(model, data, rig.neutral)
    turns, places = rig.rest
    np.testing.assert_allclose(turns, [data.oMi[k].rotation for k in range(1, model.njoints)], atol=1e-14)
    np.testing.assert_allclose(places, [data.oMi[k].translation for k in range(1, model.njoints)], atol=1e-14)


def robots(tmp_path: Path) -> list[Path]:
    """The URDF with every kind of joint, and copies of those at hand without the masses that one of them misspells."""
    copies = [written_robot(tmp_path / "robot")]
    for path in sorted(MODELS.glob("*.urdf")):
        copies.append(tmp_path / path.name)
        copies[-1].write_text(re.sub(r"(?s)<intertial>.*?</intertial>", "", path.read_text()))
    return copies


def test_a_built_urdf_is_pinocchios_own(tmp_path: Path) -> None:
    """Placements, inertias, kinematics, dynamics and regressor of the built model are those of Pinocchio's parser."""
    paths = robots(tmp_path)
    assert paths
    for path in paths:
        rig = rig_from_text(rig_to_text(from_urdf(path, meshes="none")))
        ours, theirs = rig.model, pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        assert list(ours.names) == list(theirs.names)
        assert [j.shortname() for j in ours.joints] == [j.shortname() for j in theirs.joints]
        np.testing.assert_allclose(
            [place.homogeneous for place in ours.jointPlacements],
            [place.homogeneous for place in theirs.jointPlacements],
            atol=1e-12,
        )
        generator = np.random.default_rng(1)
        mine, its = ours.createData(), theirs.createData()
        for _ in range(3):
            q = pin.integrate(theirs, pin.neutral(theirs), generator.normal(size=theirs.nv))
            v, a = generator.normal(size=(2, theirs.nv))
            torques = [pin.rnea(m, d, q, v, a) for m, d in ((ours, mine), (theirs, its))]
            np.testing.assert_allclose(torques[0], torques[1], rtol=1e-12, atol=1e-12 * np.abs(torques[1]).max())
            regressors = [pin.computeJointTorqueRegressor(m, d, q, v, a) for m, d in ((ours, mine), (theirs, its))]
            np.testing.assert_allclose(
                regressors[0], regressors[1], rtol=1e-12, atol=1e-12 * np.abs(regressors[1]).max()
            )
            for joint in range(ours.njoints):
                np.testing.assert_allclose(mine.oMi[joint].homogeneous, its.oMi[joint].homogeneous, atol=1e-12)


def test_properties_list_the_contacts_of_a_rig() -> None:
    """Patches by name, sides by the mirrored links, weight by the prior; a rig without soles says so."""
    rig = human(1.75, 70.0, "male")
    assert rig.patches == ("right_sole", "left_sole")
    assert rig.sides == {"left": "left_sole", "right": "right_sole"}
    assert rig.patch("left_sole").link == "left_foot"
    assert rig.weight == pytest.approx(70.0 * 9.81, rel=1e-12)
    with pytest.raises(InvalidValue, match="left_sole"):
        rig.patch("left sole")
    bare = replace(rig, contacts=())
    for ask in (bare.require_contacts, lambda: bare.sides, lambda: bare.patch("left_sole")):
        with pytest.raises(InvalidValue, match="no contact patches"):
            ask()
    lost = replace(
        bare,
        notes=("1 mesh file(s) not found (name their folders with --packages): package://robot/foot.stl",),
    )
    with pytest.raises(InvalidValue, match=r"no contact patches.*not found .*package://robot/foot\.stl"):
        lost.require_contacts()
    one = replace(rig, contacts=(replace(rig.contacts[0], name="FR_calf_sole", link="head"),), pairs=())
    with pytest.raises(InvalidValue, match=r"no left foot among its patches .*two feet on links named"):
        one.sides  # noqa: B018


def test_a_skeleton_is_the_same_whatever_it_weighs() -> None:
    """Poses of a rig serve it with another body, and serve no other person."""
    rig = human(1.75, 70.0, "male")
    assert rig.same_skeleton(changed(rig, 84.0))
    assert not rig.same_skeleton(human(1.76, 70.0, "male"))
    assert not rig.same_skeleton(human(1.75, 70.0, "male", variant="23dof"))


def test_what_hangs_below_a_link_has_it_on_its_path() -> None:
    """A path leads from the first link after the root down to the link; all links hang below those on their paths."""
    rig = hoap3()
    assert rig.path(0) == []
    for link in range(1, len(rig.links)):
        path = rig.path(link)
        assert [rig.parents[k] for k in path] == [0, *path[:-1]]
        assert path[-1] == link
        assert np.flatnonzero(rig.descendants[:, link]).tolist() == [0, *path]


def test_limits_of_a_link_are_its_columns() -> None:
    """The limits requested link by link are the table's, in order."""
    rig = mixed_rig()
    rig = replace(rig, limits=Limits(*(np.arange(rig.nv - 6) + k for k in (0.0, 1.0, 2.0, 3.0))))
    for name in ("lower", "upper", "speed", "torque"):
        parts = [getattr(rig.limits_of(link), name) for link in rig.links]
        assert len(parts[0]) == 0
        np.testing.assert_array_equal(np.concatenate(parts), getattr(rig.limits, name))


def test_a_rig_shows_itself_on_three_lines(rig: Rig) -> None:
    """Whatever the rig, its repr is three lines that fit a terminal and name it, its mass and its patches."""
    lines = repr(rig).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 120
    assert rig.name[:40] in lines[0]
    assert "84.00 kg" in lines[0]
    assert rig.links[0] in lines[1]
    assert rig.patches[0] in lines[2]


def test_what_is_no_rig_is_refused(tmp_path: Path) -> None:
    """Links before their parents, a first joint that is no free flyer, masses that no body has, damaged files."""
    rig = hoap3()
    with pytest.raises(InvalidValue, match="before its parent"):
        replace(rig, joints=(rig.joints[0], replace(rig.joints[1], parent=5), *rig.joints[2:]))
    with pytest.raises(InvalidValue, match="free flyer"):
        replace(rig, joints=(replace(rig.joints[1], parent=-1), *rig.joints[1:]))
    values = np.array(rig.prior.values)
    values[4] *= -1.0
    with pytest.raises(InvalidValue, match=rig.links[4]):
        rig.with_prior(replace(rig.prior, values=values))
    with pytest.raises(InvalidValue, match="none of free, revolute"):
        Joint("odd", "helical", 0, np.zeros(3), np.eye(3), np.eye(3)[:1])
    with pytest.raises(InvalidValue, match="length one"):
        Joint("odd", "revolute", 0, np.zeros(3), np.eye(3), np.array([[1.0, 1.0, 0.0]]))
    path = tmp_path / "rig.json"
    path.write_text('{"kind": "exciting dance rig", "version": 2, "name": "half"}')
    with pytest.raises(InputError, match="links"):
        read_rig(path)


def test_the_suffix_says_the_format(tmp_path: Path) -> None:
    """A .urdf is URDF with the rig's masses, .json and .npz hold the rig by value, any other suffix is refused."""
    rig = hoap3()
    again = from_urdf(write_rig(tmp_path / "rig.urdf", rig))
    assert sorted(again.links) == sorted(rig.links)
    np.testing.assert_allclose([again.prior[link].mass for link in rig.links], rig.prior.masses)
    for name in ("rig.json", "rig.npz", "rig.JSON"):
        assert read_rig(write_rig(tmp_path / name, rig)) == rig
    for name in ("rig.xml", "rig"):
        with pytest.raises(InputError, match=r"is no format of a rig.*\.urdf"):
            write_rig(tmp_path / name, rig)
        assert not (tmp_path / name).exists()
    with pytest.raises(InputError, match="from_urdf"):
        read_rig(tmp_path / "rig.urdf")
