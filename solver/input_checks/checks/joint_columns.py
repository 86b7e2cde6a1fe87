"""Joints without a column in a table of joint coordinates: they are fixed at zero, with a note that names them."""

from __future__ import annotations

from ..check_definition import InputCheck, InputProblem, InputToCheck
from ..joint_configurations import find_missing_joints


def _measure(inputs: InputToCheck) -> InputProblem | None:
    joints, rig = inputs.recording.joints, inputs.rig
    lacking = [] if joints is None or rig is None else find_missing_joints(rig, joints)
    text = f"joints without a column are fixed at zero: {', '.join(lacking)}"
    return InputProblem(text, "Add the columns of joints that move", is_note=True) if lacking else None


JOINT_COLUMNS = InputCheck(
    name="joint columns",
    measures="the columns of joint coordinates against the joints of the rig",
    measure=_measure,
)
