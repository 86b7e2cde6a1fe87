"""Degrees or radians: joint angles against the limits of the rig."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dynamics.coordinates import coordinate_lengths
from ...signals.trial import Recording
from ...values.joints import ROOT_NV
from ..check_definition import InputCheck, InputProblem, InputToCheck, OtherReading
from ..joint_configurations import joint_tangents
from ..opensim_configurations import is_opensim_motion

LARGEST_ANGLE = 6.0 * np.pi
"""[rad] A joint without limits turns less than this, by convention."""
MAX_EXCESS = 0.5 * np.pi
"""[rad] A joint that is farther beyond its limits in half of the frames is in another unit. Zeros and limits of real
robots and people differ by less: chosen on the recordings of HRP-2, HOAP-3 and TX40, which stay within .2."""
SMALL_RANGE = np.radians(np.pi)
"""[rad] If no joint reaches this angle, radians may have been read as degrees."""


def _measure(inputs: InputToCheck) -> InputProblem | None:
    rig, joints = inputs.rig, inputs.recording.joints
    if rig is None or joints is None or is_opensim_motion(rig, joints.names):
        return None
    turning = ~coordinate_lengths(rig)
    angles = joint_tangents(rig, joints)[:, ROOT_NV:][:, turning]
    if not angles.size or not np.isfinite(angles).any():
        return None
    lower = np.maximum(rig.limits.lower[turning], -LARGEST_ANGLE)
    upper = np.minimum(rig.limits.upper[turning], LARGEST_ANGLE)
    excess = np.nanmax(np.maximum(lower - angles, angles - upper), axis=1, initial=-np.inf)
    reached = float(np.nanmax(np.abs(angles)))
    if np.median(excess) > MAX_EXCESS:
        return InputProblem(
            f"joint angles reach {reached:.3g} rad and are {np.median(excess):.3g} rad beyond the limits of {rig.name}",
            "Check the unit of the angles (--angle-units deg or rad)",
        )
    if reached < SMALL_RANGE:
        text = f"no joint angle exceeds {np.degrees(reached):.2g} degrees"
        return InputProblem(text, "Check the angles' unit", is_note=True)
    return None


def _read_degrees(recording: Recording) -> Recording:
    assert recording.joints is not None
    units = tuple("deg or m" if unit.startswith("rad") else unit for unit in recording.joints.units)
    return replace(recording, joints=replace(recording.joints, units=units))


ANGLE_UNIT = InputCheck(
    name="angle unit",
    measures="joint angles against the limits of the rig",
    measure=_measure,
    readings=lambda _: (OtherReading("angles in degrees", "--angle-units rad", _read_degrees),),
    option="angle_units",
)
