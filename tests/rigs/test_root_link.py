"""A robot whose file begins with the trunk moves as the file says, on a free flyer between its legs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.dynamics.coordinates import joint_slices
from solver.dynamics.mechanics import Mechanics
from solver.rigs import from_mjcf, from_urdf
from solver.skeleton.rig import Rig
from tests.pinocchio import pin

LIMIT = '<limit lower="-0.7" upper="0.9" velocity="8" effort="100"/>'
INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0.002" iyz="-0.003"/>'
FOOT = '<collision><origin xyz="0.02 0 -0.06"/><geometry><box size="0.22 0.12 0.04"/></geometry></collision>'
TRUNK_FIRST = (("bend", "revolute", "chest", "belly", "0.02 0.01 -0.2", "0.3 0.8 0.1"),
               ("lift", "prismatic", "belly", "waist", "0 0.01 -0.1", "0 0 1"),
               ("held", "fixed", "waist", "basin", "0.01 0 -0.02", "1 0 0"),
               ("twist", "revolute", "basin", "pelvis", "0 0 -0.08", "0 0 1"),
               ("nod", "revolute", "chest", "head", "0 0 0.3", "0 1 0"))  # fmt: skip


def _link(name: str, extra: str = "") -> str:
    weight = (
        f'<inertial><origin xyz="0.01 0.02 -0.03" rpy="0.1 0.2 0.3"/><mass value="{len(name)}"/>{INERTIA}</inertial>'
    )
    return f'<link name="{name}">{weight}{extra}</link>'


def _joint(name: str, kind: str, parent: str, child: str, place: str, axis: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{place}" rpy="0.1 -0.2 0.15"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="{axis}"/>{"" if kind == "fixed" else LIMIT}</joint>'


@pytest.fixture
def trunk_first(tmp_path: Path) -> Path:
    """Chest, belly, waist, pelvis, legs: everything askew."""
    parts = [_link(name) for name in ("chest", "belly", "waist", "basin", "pelvis", "head")]
    parts += [_joint(*words) for words in TRUNK_FIRST]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parts += [_link(f"{side}_thigh"), _link(f"{side}_foot", FOOT)]
        parts += [_joint(f"{side}_hip", "revolute", "pelvis", f"{side}_thigh", f"0 {y} -0.05", "1 0 0")]
        parts += [_joint(f"{side}_knee", "revolute", f"{side}_thigh", f"{side}_foot", "0 0 -0.4", "0 1 0")]
    path = tmp_path / "trunk_first.urdf"
    path.write_text(f'<robot name="trunk_first">{"".join(parts)}</robot>')
    return path


def _bodies(rig: Rig, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3,) [m] and inertia of the whole rig about it, seen from the left foot."""
    q = np.array(rig.neutral)
    for joint, own, _ in joint_slices(rig):
        if joint.name in values:
            q[own] = values[joint.name]
    v = np.zeros((1, rig.nv))
    state, foot = Mechanics(rig).compute_state(q[None], v, v), rig.index("left_foot")
    turn, place = state.rotation[0, foot], state.position[0, foot]
    whole = pin.Inertia.Zero()
    for k, row in enumerate(rig.prior.values):
        pose = pin.SE3(turn.T @ state.rotation[0, k], turn.T @ (state.position[0, k] - place))
        whole += pose.act(pin.Inertia.FromDynamicParameters(row))
    return np.array(whole.lever), np.array(whole.inertia)


def test_links_stand_as_the_file_says(trunk_first: Path) -> None:
    """Seen from a foot, mass and inertia of the body are where Pinocchio's reader puts them, in random postures."""
    rig, model = from_urdf(trunk_first), pin.buildModelFromUrdf(str(trunk_first), pin.JointModelFreeFlyer())
    assert rig.links[0] == "pelvis"
    assert any("pelvis, which carries both legs" in note for note in rig.notes)
    data, generator = model.createData(), np.random.default_rng(0)
    for _ in range(5):
        values = {name: float(generator.uniform(-0.7, 0.7)) for name in list(model.names)[2:]}
        q = pin.neutral(model)
        for name, value in values.items():
            q[model.joints[model.getJointId(name)].idx_q] = value
        pin.ccrba(model, data, q, np.zeros(model.nv))
        foot = data.oMi[model.getJointId("left_knee")]
        com, inertia = _bodies(rig, values)
        np.testing.assert_allclose(com, foot.actInv(data.com[0]), atol=1e-12)
        np.testing.assert_allclose(inertia, foot.rotation.T @ data.Ig.inertia @ foot.rotation, atol=1e-12)


def test_limits_stay_with_their_joints(trunk_first: Path) -> None:
    """A joint that is seen from its other end turns between the same angles."""
    rig = from_urdf(trunk_first)
    for name in ("bend", "lift", "twist", "left_hip"):
        link = next(link for link, joint in zip(rig.links, rig.joints) if joint.name == name)
        assert (rig.limits_of(link).lower, rig.limits_of(link).upper) == (pytest.approx(-0.7), pytest.approx(0.9))


def test_a_root_that_carries_both_legs_stays(tmp_path: Path, trunk_first: Path) -> None:
    """Where the waist is rigid the file's root is the rig's; one foot alone says nothing about where legs part."""
    rigid, one = tmp_path / "rigid.urdf", tmp_path / "one.urdf"
    text = trunk_first.read_text()
    for kind in ("revolute", "prismatic"):
        for name in ("bend", "lift", "twist"):
            text = text.replace(f'<joint name="{name}" type="{kind}">', f'<joint name="{name}" type="fixed">')
    rigid.write_text(text)
    assert from_urdf(rigid).links[0] == "chest"
    one.write_text(trunk_first.read_text().replace("right_foot", "right_shank"))
    assert from_urdf(one).links[0] == "chest"


def test_feet_without_names_are_found_by_their_shapes(trunk_first: Path) -> None:
    """Lowest ends are feet though no name says so: the root is where their legs part all the same."""
    upright = trunk_first.read_text().replace('rpy="0.1 -0.2 0.15"', 'rpy="0 0 0"')  # its sides mirror each other
    trunk_first.write_text(upright.replace("_foot", "_ankel_roll"))
    rig = from_urdf(trunk_first)
    assert rig.links[0] == "pelvis"
    assert sum("pelvis, which carries both legs" in note for note in rig.notes) == 1
    assert set(rig.sides.values()) == {"left_ankel_roll_sole", "right_ankel_roll_sole"}


def test_y_up_in_mjcf_stands(tmp_path: Path) -> None:
    """An MJCF whose root body is turned, since inside it y points up, stands as MuJoCo shows it."""
    pytest.importorskip("mujoco", reason="MuJoCo is an extra")
    legs = "".join(
        f'<body name="{side}foot" pos="{x} -.8 0"><joint axis="1 0 0" range="-1 1"/>'
        '<geom type="box" size=".05 .02 .11" pos="0 -.02 .03"/></body>'
        for side, x in (("l", 0.1), ("r", -0.1))
    )
    path = tmp_path / "y_up.xml"
    root = '<body name="root" quat="1 1 0 0"><freejoint/><geom type="box" size=".1 .2 .1"/>'
    path.write_text(f"<mujoco><worldbody>{root}{legs}</body></worldbody></mujoco>")
    rig = from_mjcf(path)
    assert rig.standing_height == pytest.approx(0.84)
    assert set(rig.sides.values()) == {"lfoot_sole", "rfoot_sole"}
    assert rig.sides["left"] == "lfoot_sole"
    np.testing.assert_allclose(rig.forward, [0.0, -1.0, 0.0], atol=1e-12)
