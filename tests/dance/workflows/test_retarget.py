"""Retargeting to legs that cannot keep flat soles in place ends early, and says why."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solver.base.so3 import product, quaternion_exp
from solver.dance.workflows.retarget import retarget
from solver.rigs import from_urdf
from solver.tracking.retargeting.performer import Performer
from solver.values.motion import Motion
from tests.bipeds import Biped
from tests.tracking.test_retargeting import person, squat

HIPS_WITHOUT_YAW = (("roll", "1 0 0"), ("pitch", "0 1 0"))


def toes_out() -> Performer:
    """Simulated: a person who bends its knees, the feet turned outwards by 0.3 rad each."""
    rig, given = person(), squat(person())
    q = np.array(given.q)
    for side, yaw in (("right", -0.3), ("left", 0.3)):
        thigh = rig.q_slices[rig.index(f"{side}_thigh")]
        q[:, thigh] = product(quaternion_exp(np.array([[0.0, 0.0, yaw]])), q[:, thigh])
    return Performer.from_motion(rig, Motion(given.times, q, given.v, given.a))


def test_legs_that_cannot_turn_their_feet_are_named(tmp_path: Path) -> None:
    """Hips without yaw do not reach turned feet: a note says so, and nothing is repaired."""
    rig = from_urdf(Biped(hip=HIPS_WITHOUT_YAW).write(tmp_path))
    result = retarget(toes_out(), rig)
    assert not result.after.feasible
    assert any("legs of five joints" in note for note in result.summary().notes)
    assert result.repaired is None
    np.testing.assert_array_equal(result.motion.q, result.unrepaired.motion.q)
