"""A robot from MJCF moves and weighs as MuJoCo says, and is what its URDF gives."""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InputError, MissingDependency
from solver.cli import main
from solver.dynamics.coordinates import joint_slices
from solver.dynamics.mechanics import Mechanics
from solver.formats.urdf_writer import write_urdf
from solver.rigs import from_mjcf, from_urdf, hoap3
from solver.skeleton.rig import Rig

ODD = """<mujoco model="odd">
  <compiler angle="degree"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="crate" pos="2 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" mass="9"/>
      <body name="thigh" pos="0 .1 -.3" euler="0 10 0">
        <joint name="yaw" axis="0 0 1" pos="0 0 .02" range="-40 40"/>
        <joint name="roll" axis="1 0 0" pos="0 .01 0" range="-20 30" ref="5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="3"/>
        <body name="shank" pos="0 0 -.4">
          <joint name="knee" axis="0 1 0" pos=".03 0 .01" range="0 120" actuatorfrcrange="-70 70"/>
          <geom type="cylinder" size=".04 .2" pos="0 0 -.2" mass="2"/>
          <body name="left_foot" pos="0 0 -.4">
            <joint name="ankle" type="slide" axis="0 0 1" range="-.05 .05" ref=".01"/>
            <geom type="box" size=".1 .05 .02" mass="1"/>
          </body>
        </body>
      </body>
      <body name="gauge" pos="0 0 .3"><geom type="sphere" size=".02" mass=".1" contype="0" conaffinity="0"/></body>
      <body name="head" pos="0 0 .4"><joint name="neck" type="ball"/><geom type="sphere" size=".1" mass="2"/></body>
      <body name="wheel" pos="0 -.3 0"><joint name="spin" axis="0 1 0"/><geom type="sphere" size=".1" mass="1"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="trunk" body2="shank"/></contact>
  <equality>
    <joint joint1="roll" joint2="yaw" polycoef="0.1 -2 0 0 0"/>
    <joint name="cam" joint1="knee" joint2="yaw" polycoef="0 1 1 0 0"/>
    <connect body1="left_foot" body2="trunk" anchor="0 0 0"/>
  </equality>
  <actuator>
    <motor joint="yaw" gear="50" ctrllimited="true" ctrlrange="-2 2"/>
    <position joint="roll" kp="300" forcelimited="true" forcerange="-40 40"/>
    <position joint="spin" kp="30"/>
  </actuator>
</mujoco>"""


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A robot beside a crate, with everything that MJCF has and URDF has not."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    path = tmp_path / "odd.xml"
    path.write_text(ODD)
    return path


def test_links_stand_where_mujoco_has_them(odd: Path) -> None:
    """In random postures every centre of mass is MuJoCo's, and so is the joint-space inertia of the robot's joints."""
    import mujoco

    model, rig = mujoco.MjModel.from_xml_path(str(odd)), from_mjcf(odd)
    data, generator = mujoco.MjData(model), np.random.default_rng(0)
    places = {joint.name: (own, moves) for joint, own, moves in joint_slices(rig)}
    names = ["yaw", "roll", "knee", "ankle", "spin"]
    for _ in range(5):
        q = np.array(rig.neutral)
        q[:3] = model.body("trunk").pos
        data.qpos[:] = model.qpos0
        for name in names:
            value = generator.uniform(-0.05, 0.05) if name == "ankle" else generator.uniform(-0.6, 0.6)
            data.qpos[model.joint(name).qposadr[0]] = value
            own = places[name][0]
            q[own] = value if own.stop - own.start == 1 else (np.cos(value), np.sin(value))
        mujoco.mj_forward(model, data)
        v = np.zeros((1, rig.nv))
        state = Mechanics(rig).compute_state(q[None], v, v)
        for link, mass, com in zip(rig.links, rig.masses, rig.prior.coms):
            if link in ("thigh", "shank", "left_foot", "wheel"):
                k = rig.index(link)
                there = state.rotation[0, k] @ com + state.position[0, k]
                np.testing.assert_allclose(there, data.body(link).xipos, atol=1e-9)
                assert mass == pytest.approx(model.body(link).mass[0])


def test_limits_couplings_and_exclusions_are_the_file_s(odd: Path) -> None:
    """Ranges in radians, torques of the drives, none where a drive states none; the crate is left out and named."""
    rig = from_mjcf(odd)
    assert rig.limits_of("shank").upper == pytest.approx(np.radians([120.0]))
    assert rig.limits_of("thigh").lower == pytest.approx(np.radians([-20.0]))
    assert {joint.name: joint.kind for joint in rig.joints}["spin"] == "continuous"
    torques = {joint.name: float(rig.limits_of(link).torque[0]) for link, joint in zip(rig.links[1:], rig.joints[1:])}
    assert torques == pytest.approx(
        {"yaw": 100.0, "roll": 40.0, "knee": 70.0, "ankle": np.inf, "spin": np.inf, "neck": np.inf}
    )
    (mimic,) = [joint.mimic for joint in rig.joints if joint.mimic is not None]
    assert (mimic.source, mimic.multiplier, mimic.offset) == ("yaw", -2.0, 0.1)
    assert any("a tree cannot keep, left out: cam, connect 3" in note for note in rig.notes)
    # trunk carries the gauge: they may touch the shank only as one, and the file excuses the trunk alone
    assert rig.excluded == (("trunk", "shank"),)
    assert any("crate" in note for note in rig.notes)
    assert rig.prior.total_mass == pytest.approx(18.1)


def test_an_mjcf_gives_what_its_urdf_gives(tmp_path: Path) -> None:
    """A URDF that MuJoCo writes as MJCF: the same links, inertials, joints, ranges, shapes and soles."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    urdf, written = tmp_path / "robot.urdf", tmp_path / "robot.xml"
    write_urdf(hoap3(), urdf)
    root = hoap3().links[0]
    free = (
        '<mujoco><compiler fusestatic="true" discardvisual="false"/></mujoco><link name="outer"/>'
        f'<joint name="free" type="floating"><parent link="outer"/><child link="{root}"/></joint></robot>'
    )
    urdf.write_text(urdf.read_text().replace("</robot>", free))
    mujoco.mj_saveLastXML(str(written), mujoco.MjModel.from_xml_path(str(urdf)))
    _same(from_urdf(urdf), from_mjcf(written))


def _same(one: Rig, other: Rig) -> None:
    assert sorted(one.links) == sorted(other.links)
    here, there = ([rig.index(link) for link in one.links] for rig in (one, other))
    np.testing.assert_allclose(one.prior.values[here], other.prior.values[there], atol=2e-6)
    np.testing.assert_allclose(one.rest[1][here], other.rest[1][there], atol=2e-6)
    np.testing.assert_allclose(one.rest[0][here], other.rest[0][there], atol=2e-6)
    for link in one.links[1:]:
        mine, theirs = one.limits_of(link), other.limits_of(link)
        np.testing.assert_allclose(mine.lower, theirs.lower, atol=1e-5)
        np.testing.assert_allclose(mine.upper, theirs.upper, atol=1e-5)
    assert {patch.link for patch in one.contacts} == {patch.link for patch in other.contacts}
    assert sum(shape.volume for shape in one.shapes) == pytest.approx(sum(s.volume for s in other.shapes), rel=0.03)


def test_what_is_no_mjcf_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another XML file, one that MuJoCo refuses, and a scene without bodies name the file and what is wrong."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    path = tmp_path / "robot.xml"
    for text, messages in (
        ("<robot/>", "<robot>"), ("<mujoco><worldbody><body><wheel/></body></worldbody></mujoco>", "cannot compile"),
        ("<mujoco/>", "no body"), (ODD.replace('axis="1 0 0"', 'axis="1e300 0 0"'), "robot.xml: joint 'roll': an axis"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=messages):
            from_mjcf(path)
    assert main(["rig", str(path)]) != 0
    assert "robot.xml" in capsys.readouterr().err


def test_without_mujoco_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the package and the way round it."""
    path = tmp_path / "robot.xml"
    path.write_text("<mujoco/>")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingDependency, match=r"exciting-dance\[mjcf\]"):
        from_mjcf(path)


def test_a_drive_that_holds_places_has_its_joints_range(odd: Path) -> None:
    """Without a range a joint has that of the places its drive may be reported, over the gear; a stated one stays."""
    text = odd.read_text()
    assert np.isinf(_limits(odd, "spin")).all()
    messages = '<position joint="spin" kp="30" ctrlrange="-3 6" gear="2"/>'
    odd.write_text(text.replace('<position joint="spin" kp="30"/>', messages))
    np.testing.assert_allclose(_limits(odd, "spin"), (-1.5, 3.0))
    odd.write_text(text.replace('kp="300"', 'kp="300" ctrlrange="-9 9"'))
    np.testing.assert_allclose(_limits(odd, "roll"), np.radians([-20.0, 30.0]))


def _limits(path: Path, joint: str) -> tuple[float, float]:
    rig = from_mjcf(path)
    own = rig.limits_of(rig.links[[each.name for each in rig.joints].index(joint)])
    return float(own.lower[0]), float(own.upper[0])


def test_a_robot_that_names_its_scenes_floor_is_read(odd: Path) -> None:
    """Contacts, sensors and keys of a file that a scene includes may name what only the scene has; the rest is read."""
    before = from_mjcf(odd)
    pair = '<contact><pair geom1="floor" geom2="sole"/>'
    text = odd.read_text().replace('size=".1 .05 .02"', 'name="sole" size=".1 .05 .02"').replace("<contact>", pair)
    odd.write_text(text)
    assert replace(from_mjcf(odd), provenance=before.provenance) == before
    odd.write_text(text.replace('body1="trunk"', 'body1="nobody"'))
    with pytest.raises(InputError, match="MuJoCo cannot compile it"):
        from_mjcf(odd)


BLOCK = '<body name="b"><freejoint/><geom size=".1" mass="1"/></body>'
HUGE = {
    "height field": ('<asset><hfield name="h" nrow="40000" ncol="40000" size="1 1 1 1"/></asset>', "<hfield 'h'>"),
    "image": ('<asset><texture name="t" width="60000" height="60000"/></asset>', "<texture 't'>"),
    "flexible": ('<worldbody><flexcomp name="f" count="400 400 400" spacing="1 1 1"/></worldbody>', "64000001 bodies"),
    "copies": (f'<worldbody><replicate count="200000">{BLOCK}</replicate></worldbody>', "200001 bodies"),
    "copies of copies": (
        "<worldbody>" + 9 * '<replicate count="10">' + BLOCK + 9 * "</replicate>" + "</worldbody>", "1000000001 bodies",
    ),
    "numbers for users": ('<size nuser_body="1000000000"/>', "<size nuser_body>.*1000000000"),
    "keyframes": ('<size nkey="1000000000"/>', "<size nkey>"),
    "circle": ('<include file="part.xml"/>', "includes this file"),
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("included", [False, True])
def test_a_file_that_would_fill_the_memory_is_refused_before_it_is_built(
    name: str, included: bool, tmp_path: Path
) -> None:
    """A few words that mean gigabytes or minutes, in a file or in one it includes, are an error that names them."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    inside, words = HUGE[name]
    path = tmp_path / "robot.xml"
    part = f"<mujoco>{inside}</mujoco>"
    (tmp_path / "part.xml").write_text(part)
    own = '<include file="part.xml"/>' if included else inside
    path.write_text(f"<mujoco>{own}<worldbody>{BLOCK}</worldbody></mujoco>")
    started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=words):
        from_mjcf(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - started < 200_000


def test_a_model_includes_no_file_outside_its_folders(tmp_path: Path) -> None:
    """By an absolute path, upwards or through a link: the error names the file and quotes nothing of it."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    secret, folder = tmp_path / "secret.xml", tmp_path / "models" / "robot"
    folder.mkdir(parents=True)
    secret.write_text("password: 1234")
    (folder / "link.xml").symlink_to(secret)
    (folder.parent / "common.xml").write_text(f"<mujoco><worldbody>{BLOCK}</worldbody></mujoco>")
    path = folder / "robot.xml"
    for name in (str(secret), "../../secret.xml", "link.xml"):
        path.write_text(f'<mujoco><include file="{name}"/></mujoco>')
        with pytest.raises(InputError, match="outside the model's folders") as caught:
            from_mjcf(path)
        assert "1234" not in str(caught.value)
    path.write_text('<mujoco><include file="../common.xml"/></mujoco>')
    assert from_mjcf(path).links == ("b",)


def test_models_that_are_attached_count_as_often_as_they_are(tmp_path: Path) -> None:
    """A model that attaches another one a hundred times, which does so again, is a million bodies."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    asset = '<asset><model name="m{0}" file="{0}.xml"/></asset>'
    for k in range(4):
        attached = "".join(f'<frame><attach model="m{k}" prefix="{n}"/></frame>' for n in range(100)) if k else BLOCK
        inside = (asset.format(k) if k else "") + f"<worldbody>{attached}</worldbody>"
        (tmp_path / f"{k + 1 if k < 3 else 'robot'}.xml").write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(InputError, match="creates 1000000 bodies"):
        from_mjcf(tmp_path / "robot.xml")


def test_what_fits_is_built(tmp_path: Path) -> None:
    """A floor of 100 x 100 points and a dozen copies beside the robot change nothing of it."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><asset><hfield name="h" nrow="100" ncol="100" size="1 1 1 1"/></asset><worldbody>'
        '<geom type="hfield" hfield="h"/><replicate count="12"><body><geom size=".1"/></body></replicate>'
        f"{BLOCK}</worldbody></mujoco>"
    )
    assert "b" in from_mjcf(path).links
