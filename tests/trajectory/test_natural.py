"""Laws of the posture that dances start from, and of feet that swing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.check_options import CheckOptions
from solver.contacts.schedule import Schedule, stance
from solver.coordinates import to_manifold
from solver.errors import InvalidValue
from solver.feasibility import CollisionDetector, FrameChecker
from solver.motion import Motion
from solver.rigs import hoap3, human
from solver.trajectory.legged_rig import LeggedRig

PERSON = human(1.75, 65.0, "female")
HANGING = replace(PERSON, provenance={k: v for k, v in PERSON.provenance.items() if k != "standing"})
"""Whose arms, straight down, are in its thighs."""


def test_home_is_free_of_contact() -> None:
    """Where the neutral posture has hands in the thighs, home has them aside, left as right."""
    legged = LeggedRig(HANGING, shrink=0.4)
    home = legged.home(legged.footing("both"))
    none = np.zeros((1, HANGING.nv))
    detector = CollisionDetector(HANGING, CheckOptions())
    assert detector.least(HANGING.neutral[None]).min() < -0.02
    assert detector.least(to_manifold(HANGING, home[None, : HANGING.nv], none, none).q).min() > 0.001


@pytest.mark.parametrize("rig", [PERSON, hoap3()], ids=lambda rig: rig.name)
def test_a_clear_home_stays(rig: object) -> None:
    """A posture that is clear is home as it is, whatever is asked of others."""
    legged = LeggedRig(rig, shrink=0.4)  # type: ignore[arg-type]
    home = legged.home(legged.footing("both"))
    other = LeggedRig(rig, shrink=0.4, checks=CheckOptions(pairs=()))  # type: ignore[arg-type]
    np.testing.assert_array_equal(home, other.home(other.footing("both")))


def test_reserves_and_swing_are_taken_off_the_margins() -> None:
    """A tenth of the torque, 3 mm of balance and 20 mm of clearance asked: so much less is left, and nothing else."""
    rig = hoap3(torque="peak")
    schedule = Schedule.constant(stance(rig, "right"), 0.0, 1.0)
    motion = Motion(np.zeros(1), rig.neutral[None], np.zeros((1, rig.nv)), np.zeros((1, rig.nv)))
    asked = CheckOptions(torque_reserve=0.1, balance_reserve=0.003, swing=0.02)
    plain, held = (FrameChecker(rig, schedule, options).check_frames(motion) for options in (CheckOptions(), asked))
    less = {margin.name: margin.values - other.values for margin, other in zip(plain.margins, held.margins)}
    np.testing.assert_allclose(less.pop("joint torque"), 0.1)
    np.testing.assert_allclose(less.pop("zmp"), 0.003)
    floor = less.pop("floor")
    swinging = rig.index(rig.patch(rig.sides["left"]).link)
    assert floor[0, swinging] == pytest.approx(0.02)
    assert np.nan_to_num(np.delete(floor, swinging, axis=1)).max() == 0.0
    assert all(np.nan_to_num(values).max() == 0.0 for values in less.values())


def test_senseless_reserves_are_refused() -> None:
    """A reserve of the whole torque leaves nothing to dance with."""
    with pytest.raises(InvalidValue, match="torque reserve"):
        CheckOptions(torque_reserve=1.0)
    with pytest.raises(InvalidValue, match="swing"):
        CheckOptions(swing=-0.01)
