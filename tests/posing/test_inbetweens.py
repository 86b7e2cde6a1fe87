"""Laws of postures between two others: soles move evenly from the one to the other, limits and balance hold."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue
from solver.contacts.schedule import anchors_at
from solver.contacts.support import support_polygon
from solver.dynamics import com_and_jacobian, contact_corners, link_poses
from solver.dynamics.coordinates import joint_coordinates, static_motion, to_flat
from solver.options.checks import CheckOptions
from solver.posing import Drag, Target
from solver.posing.inbetweens import inbetween_postures
from solver.rigs import hrp2, human
from solver.skeleton.rig import Rig

COUNT = 25
"""Postures from one end to the other."""


def interpolated(rig: Rig, q: np.ndarray, shift: np.ndarray, planted: list[str]) -> np.ndarray:
    """Postures (COUNT, nq) from one to another whose root is moved, the flat coordinates interpolated."""
    drag = Drag(rig, q, planted)
    target = Target(rig.links[0], link_poses(rig, q)[1][0] + shift, np.zeros(3))
    found = drag.move([target])
    while not found.converged:
        found = drag.move([target])
    part = np.linspace(0.0, 1.0, COUNT)[:, None]
    return static_motion(rig, (1.0 - part) * to_flat(rig, q) + part * to_flat(rig, found.q)).q


def corners(rig: Rig, q: np.ndarray) -> np.ndarray:
    """Corners (K, 3) [m] of all patches."""
    return np.concatenate(contact_corners(rig, q))


@pytest.mark.parametrize("name", ["person", "robot"])
def test_soles_stay_limits_and_balance_hold(name: str) -> None:
    """Interpolated, the soles move by millimetres; fitted, by less than the tolerance of a drag. The person starts with
    straight knees."""
    rig = human(1.75, 70.0, "male") if name == "person" else hrp2()
    q = np.array(rig.provenance["standing" if name == "person" else "half_sitting"])
    planted = [sole.name for sole in rig.soles]
    ways = interpolated(rig, q, np.array([0.02, 0.03, -0.12]), planted)
    assert max(np.abs(corners(rig, each) - corners(rig, q)).max() for each in ways) > 5e-3
    found = list(inbetween_postures(rig, ways, planted, checks=CheckOptions(shrink=0.0)))
    assert len(found) == COUNT - 2
    polygon = support_polygon(rig, anchors_at(rig, q, planted))
    for result, poses in found:
        assert result.converged
        assert np.abs(corners(rig, result.q) - corners(rig, q)).max() < 1e-4
        np.testing.assert_allclose(poses[1], link_poses(rig, result.q)[1], atol=1e-12)
        coordinates = joint_coordinates(rig, result.q)
        assert (coordinates >= rig.limits.lower - 1e-9).all()
        assert (coordinates <= rig.limits.upper + 1e-9).all()
        assert polygon.margin(com_and_jacobian(rig, result.q[None])[0][:, :2])[0] > -3e-4
    y = np.array([to_flat(rig, each) for each in (ways[0], *(result.q for result, _ in found), ways[-1])])
    assert np.abs(np.diff(y, 2, axis=0)).max() < 5e-3, "the postures follow each other without jumps"


def test_postures_that_keep_their_soles_are_not_changed() -> None:
    """Arms that swing above planted feet: the fit changes nothing."""
    rig = hrp2()
    q = np.array(rig.provenance["half_sitting"])
    y = np.tile(to_flat(rig, q), (COUNT, 1))
    elbow = rig.v_slices[rig.index("left_elbow")].start if "left_elbow" in rig.links else rig.nv - 1
    y[:, elbow] = np.linspace(rig.limits.lower[elbow - 6], rig.limits.upper[elbow - 6], COUNT)
    ways = static_motion(rig, y).q
    found = inbetween_postures(rig, ways, [sole.name for sole in rig.soles], checks=CheckOptions(shrink=0.0))
    for (result, _), before in zip(found, ways[1:-1], strict=True):
        np.testing.assert_allclose(result.q, before, atol=1e-9)


def test_a_sole_that_ends_elsewhere_moves_there_evenly() -> None:
    """The middle posture has the sole midway between its places in the first and the last."""
    rig = human(1.75, 70.0, "male")
    q = np.array(rig.provenance["standing"])
    planted = [sole.name for sole in rig.soles]
    ways = interpolated(rig, q, np.array([0.0, 0.0, -0.1]), planted)
    y = np.array([to_flat(rig, each) for each in ways])
    y[:, 1] += np.linspace(0.0, 0.004, COUNT)  # the whole body shifts sideways
    ways = static_motion(rig, y).q
    results = [result for result, _ in inbetween_postures(rig, ways, planted, checks=CheckOptions(shrink=0.0))]
    middle = corners(rig, results[COUNT // 2 - 1].q)
    np.testing.assert_allclose(middle, 0.5 * (corners(rig, ways[0]) + corners(rig, ways[-1])), atol=1e-4)


def test_unknown_patches_are_named() -> None:
    """The error names the patch that the rig does not have."""
    rig = hrp2()
    q = np.tile(np.array(rig.provenance["half_sitting"]), (3, 1))
    with pytest.raises(InvalidValue, match="tail"):
        list(inbetween_postures(rig, q, ["tail"], checks=CheckOptions(shrink=0.0)))
