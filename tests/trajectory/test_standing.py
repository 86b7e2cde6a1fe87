"""Where a rig whose zero posture is no stance stands: legs spread, toes below the sole, a root on the floor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solver.base.so3 import exp
from solver.contacts.schedule import Schedule, stance
from solver.dynamics.coordinates import joint_slices
from solver.feasibility import FrameChecker
from solver.feasibility.check_results import Checks
from solver.rigs import from_urdf
from solver.skeleton.rig import Rig
from solver.trajectory.legged_rig import LeggedRig
from solver.values.motion import Motion
from tests.bipeds import Biped, on_a_base

SHRINK = 0.4


def _across(rig: Rig) -> float:
    """[m] between the middles of the soles of both feet as they stand."""
    right, left = (anchor.points(rig).mean(axis=0) for anchor in stance(rig, "both"))
    return float(np.linalg.norm((left - right)[:2]))


def _turned(rig: Rig, turns: dict[str, np.ndarray]) -> Rig:
    """The rig with the links that these joints move turned by rotation vectors, every joint at zero."""
    joints = tuple(
        replace(joint, rotation=joint.rotation @ exp(turns[joint.name])) if joint.name in turns else joint
        for joint in rig.joints
    )
    return replace(rig, joints=joints)


def _home(rig: Rig) -> tuple[np.ndarray, Checks]:
    """The home posture (D,) on both feet, and every check of it."""
    legged = LeggedRig(rig, shrink=SHRINK)
    footing = legged.get_footing("both")
    y = legged.home_posture(footing)
    curves = legged.solve_static(y[None], footing.solved)[1]
    checker = FrameChecker(rig, Schedule.constant(footing.anchors, -1.0, 1.0))
    return y, checker.check_frames(Motion(np.zeros(1), curves.q, curves.v, curves.a))


@pytest.mark.parametrize(("spread", "apart"), [(0.1, 0.2 + 2 * 0.76 * np.sin(0.1)), (0.4, 0.2)])
def test_feet_stand_below_the_hips_of_spread_legs(tmp_path: Path, spread: float, apart: float) -> None:
    """Feet a little apart stay there; those of legs drawn spread stand as far apart as the hips, level."""
    rig = from_urdf(Biped().write(tmp_path))
    lean = {f"{side}_hip_yaw": np.array([sign * spread, 0.0, 0.0]) for side, sign in (("left", 1.0), ("right", -1.0))}
    spread_rig = _turned(rig, lean)
    assert _across(rig) == pytest.approx(0.2)
    assert _across(spread_rig) == pytest.approx(apart, abs=0.03)
    for anchor in stance(spread_rig, "both"):
        np.testing.assert_allclose(anchor.points(spread_rig)[:, 2], 0.0, atol=1e-9)
    assert _home(spread_rig)[1].feasible


def test_toes_below_the_sole_are_lifted(tmp_path: Path) -> None:
    """Toes that hang into the floor are turned up by as little as lifts them; toes that lie on it stay."""
    rig = from_urdf(Biped(toes=True).write(tmp_path))
    places = {joint.name: moves for joint, _, moves in joint_slices(rig)}
    columns = [places[f"{side}_toes"].start for side in ("left", "right")]
    np.testing.assert_array_equal(_home(rig)[0][columns], 0.0)
    hanging = _turned(rig, {f"{side}_toes": np.array([0.0, 0.3, 0.0]) for side in ("left", "right")})
    home, checks = _home(hanging)
    assert checks.feasible
    assert np.all(home[columns] < -0.25)
    assert np.all(home[columns] > -0.5)


def test_a_root_on_the_floor_does_not_stretch_the_legs(tmp_path: Path) -> None:
    """Home bends the knees as much wherever the file puts the root's origin."""
    path = Biped().write(tmp_path)
    rig = from_urdf(path)
    path.write_text(on_a_base(path.read_text(), 0.84))
    low = from_urdf(path)
    assert low.links[0] == "base"
    assert low.standing_height == pytest.approx(0.0, abs=0.01)
    assert low.leg_length == pytest.approx(rig.leg_length, abs=0.1)
    knees = []
    for own in (rig, low):
        places = {joint.name: moves for joint, _, moves in joint_slices(own)}
        home, checks = _home(own)
        assert checks.feasible
        knees.append(float(home[places["left_knee"]][0]))
    assert knees[1] == pytest.approx(knees[0], abs=0.1)
    assert knees[1] > 0.4
