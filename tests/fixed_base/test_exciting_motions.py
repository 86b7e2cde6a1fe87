"""Exciting motions of an arm, checked with Pinocchio's fixed-base model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.fixed_base.exciting_motions import build_margins, exciting_motion
from solver.fixed_base.robot import FixedBaseRobot
from solver.fixed_base.search import compute_criterion
from solver.options.exciting import CONDITION, DEVIATIONS, ExcitingOptions
from solver.rigs import hoap3
from tests.pinocchio import pin

from .arm import arm, arm_text


@pytest.mark.parametrize(
    ("name", "power"), [(CONDITION, np.inf), (CONDITION, 2.0), (CONDITION, 20.0), (DEVIATIONS, np.inf)]
)
def test_derivatives_of_criteria(name: str, power: float) -> None:
    """The derivative by the rows is that of finite differences."""
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((60, 8)) * np.logspace(0.0, -1.5, 8)
    way = generator.standard_normal(rows.shape)
    _, slope = compute_criterion(rows, name, power)
    step = 1e-6
    ends = [compute_criterion(rows + sign * step * way, name, power)[0] for sign in (1.0, -1.0)]
    change = (ends[0] - ends[1]) / (2.0 * step)
    assert (slope * way).sum() == pytest.approx(change, rel=1e-5)


def test_smooth_bounds_approach_the_condition_number() -> None:
    """From above, the nearer the larger their power; the first is the root of tr(W'W) tr((W'W)^-1)."""
    rows = np.random.default_rng(1).standard_normal((40, 6))
    bounds = [np.exp(compute_criterion(rows, CONDITION, power)[0]) for power in (2.0, 6.0, 20.0, 200.0, np.inf)]
    assert np.all(np.diff(bounds) < 0.0)
    assert bounds[-2] == pytest.approx(bounds[-1], rel=0.01)
    square = rows.T @ rows
    assert bounds[0] == pytest.approx(np.sqrt(np.trace(square) * np.trace(np.linalg.inv(square))))


def test_a_motion_keeps_limits_and_beats_random_motion(tmp_path: Path) -> None:
    """From rest to rest; ranges, speeds and torques hold with another model, at more samples than the search checks."""
    rig = arm(tmp_path)
    options = ExcitingOptions(seconds=5.0, max_iterations=16)
    found = exciting_motion(FixedBaseRobot(rig, drives=False), options)
    assert found.condition < 0.5 * found.random_condition
    motion = found.sample(1000.0)
    y, dy, ddy = motion.q[:, 7:], motion.v[:, 6:], motion.a[:, 6:]
    limits = rig.limits
    assert (y >= limits.lower - 1e-9).all()
    assert (y <= limits.upper + 1e-9).all()
    assert (np.abs(dy) <= options.speed * limits.speed + 1e-9).all()
    model = pin.buildModelFromXML(arm_text())
    data = model.createData()
    torques = np.array([pin.rnea(model, data, *state) for state in zip(y, dy, ddy)])
    assert (np.abs(torques) <= options.effort * limits.torque * 1.001).all()
    for end in (0, -1):
        assert np.abs(dy[end]).max() < 1e-9
        assert np.abs(ddy[end]).max() < 1e-6
    assert min(found.margins.values()) >= 0.0


def test_the_surface_is_avoided(tmp_path: Path) -> None:
    """No moving link comes nearer to a given surface than the clearance."""
    bench = FixedBaseRobot(arm(tmp_path), drives=False)
    high = exciting_motion(bench, ExcitingOptions(seconds=4.0, max_iterations=8, surface=0.2, clearance=0.03))
    model = pin.buildModelFromXML(arm_text())
    data = model.createData()
    for q in high.sample(50.0).q[:, 7:]:
        pin.forwardKinematics(model, data, q)
        for joint, ends in ((3, (0.1, 0.3)), (4, (0.1, 0.2))):
            for end in ends:
                place = data.oMi[joint].act(np.array([0.0, 0.0, end]))
                assert place[2] >= 0.2 + 0.03 - 1e-6


def test_a_surface_above_the_arm_is_refused(tmp_path: Path) -> None:
    """The error says what to lower."""
    rig = arm(tmp_path)
    with pytest.raises(InvalidValue, match="lower the clearance"):
        exciting_motion(FixedBaseRobot(rig), ExcitingOptions(seconds=2.0, surface=3.0))


def test_the_default_surface_is_below_the_static_links() -> None:
    """For a robot fixed at its waist with locked legs, the soles define the surface, and an arm may hang below."""
    rig = hoap3()
    held = tuple(link for link in rig.links[1:] if not link.startswith(("right_upper", "right_elbow")))
    bench = FixedBaseRobot(rig, locked_links=held)
    options = ExcitingOptions(seconds=2.0, max_iterations=2)
    surface = build_margins(bench, options).surface
    assert surface == pytest.approx(-rig.standing_height, abs=5e-3)
    found = exciting_motion(bench, options)
    assert found.condition <= found.random_condition
