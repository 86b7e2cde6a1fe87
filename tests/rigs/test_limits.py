"""What a robot's file says of its joints, and what is made of it where it says too little or contradicts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.dance.design.body_parts import require_danceable
from solver.rigs import from_urdf
from tests.bipeds import Biped

FINGER = (
    '<joint name="{0}_joint" type="revolute"><parent link="left_forearm"/><child link="{0}"/><axis xyz="1 0 0"/>'
    '<limit lower="0" upper="1" velocity="2" effort="0"/></joint><link name="{0}"><inertial><mass value="{1}"/>'
    '<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


def _with_finger(folder: Path, mass: float) -> Path:
    path = Biped().write(folder)
    path.write_text(path.read_text().replace("</robot>", FINGER.format("digit", mass)))
    return path


def test_light_ends_dance_without_a_torque_limit(tmp_path: Path) -> None:
    """A finger of no stated effort holds no dance up, and that is reported; a load of four kilograms does."""
    rig = from_urdf(_with_finger(tmp_path, 0.05))
    assert rig.unlimited == ("digit",)
    assert any("no torque limit" in note and "digit" in note for note in rig.notes)
    require_danceable(rig)
    assert from_urdf(_with_finger(tmp_path, 4.0)).unlimited == ()


def test_sides_that_bend_in_opposite_directions_are_reported(tmp_path: Path) -> None:
    """A left knee with the axis of the wrong sign bends forwards where the right one bends back: the note names it."""
    path = Biped().write(tmp_path)
    assert not any("contradict" in note for note in from_urdf(path).notes)
    before, knee, after = path.read_text().partition('<joint name="left_knee"')
    path.write_text(before + knee + after.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 -1 0"/>', 1))
    messages = [note for note in from_urdf(path).notes if "contradict" in note]
    assert messages
    assert messages[0].endswith("left_knee")


def test_mirrored_axes_contradict_nothing(tmp_path: Path) -> None:
    """Makers write a mirrored joint with the same axis or with its opposite and the range turned round: both agree."""
    path = Biped().write(tmp_path)
    before, knee, after = path.read_text().partition('<joint name="left_knee"')
    turned = after.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 -1 0"/>', 1)
    turned = turned.replace('lower="-0.1" upper="2.2"', 'lower="-2.2" upper="0.1"', 1)
    path.write_text(before + knee + turned)
    rig = from_urdf(path)
    assert np.isclose(rig.limits_of("left_shank").lower[0], -2.2)
    assert not any("contradict" in note for note in rig.notes)
