"""Laws of the base wrench, its regressor, and the momentum of the whole body."""

from __future__ import annotations

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownLink
from solver.dynamics import (
    centroidal_momentum,
    com_trajectory,
    external_wrench,
    link_motions,
    predicted_wrench,
    regressor_pieces,
    wrench_regressor,
)
from solver.rigs import hrp2, human
from solver.skeleton.rig import Rig
from solver.values.inertials import InertialParameters
from solver.values.motion import Motion
from tests.pinocchio import data_of, pin
from tests.random_motion import humanoid_rig, measured, mixed_rig, random_motion

FRAMES = 7
RIGS = {
    "mixed": mixed_rig,
    "humanoid": humanoid_rig,
    "human": lambda: human(1.78, 70.0, "male"),
    "hrp2": hrp2,
}


@pytest.fixture(params=RIGS)
def rig(request: pytest.FixtureRequest) -> Rig:
    return RIGS[request.param]()


def test_regressor_equals_the_first_rows_of_the_joint_torque_regressor(rig: Rig) -> None:
    """Column by column; times any parameters, physical or not, it is the wrench."""
    motion = random_motion(rig, FRAMES)
    data = data_of(rig)
    rows = [pin.computeJointTorqueRegressor(rig.model, data, *s)[:6].copy() for s in zip(motion.q, motion.v, motion.a)]
    np.testing.assert_allclose(wrench_regressor(rig, motion), rows, rtol=0, atol=1e-11 * np.abs(rows).max())
    some = InertialParameters(rig.links, -2.0 * rig.prior.values)
    np.testing.assert_allclose(predicted_wrench(rig, motion, some), rows @ some.vector, rtol=0, atol=1e-9)


def test_any_base_link_writes_the_same_wrench(rig: Rig) -> None:
    """Moved to the root's origin and axes, the wrench at the last link is the wrench at the root."""
    motion = random_motion(rig, FRAMES)
    last = rig.links[-1]
    at_root, at_last = wrench_regressor(rig, motion), wrench_regressor(rig, motion, base=last)
    data = data_of(rig)
    for frame, q in enumerate(motion.q):
        pin.forwardKinematics(rig.model, data, q)
        to_root = data.oMi[1].actInv(data.oMi[rig.index(last) + 1]).toDualActionMatrix()
        np.testing.assert_allclose(to_root @ at_last[frame], at_root[frame], rtol=0, atol=1e-10)


def test_world_axes_are_link_axes_turned(rig: Rig) -> None:
    """Force and moment in world axes are those in link axes times the base link's rotation."""
    motion = random_motion(rig, FRAMES)
    base = len(rig.links) // 2
    turn = np.moveaxis(link_motions(rig, motion).rotation[:, :, base], -1, 0)
    link = wrench_regressor(rig, motion, base).reshape(FRAMES, 2, 3, -1)
    world = wrench_regressor(rig, motion, base, axes="world").reshape(FRAMES, 2, 3, -1)
    np.testing.assert_allclose(turn[:, None] @ link, world, rtol=0, atol=1e-11)


def test_standing_still_needs_the_weight(rig: Rig) -> None:
    """At rest the force is the total mass times gravity, upwards, in every posture."""
    motion = random_motion(rig, FRAMES, still=True)
    wrench = predicted_wrench(rig, motion, rig.prior, axes="world")
    weight = [0.0, 0.0, rig.prior.total_mass * 9.81]
    np.testing.assert_allclose(wrench[:, :3], np.tile(weight, (FRAMES, 1)), rtol=0, atol=1e-9)


def test_free_fall_needs_no_wrench(rig: Rig) -> None:
    """A body that moves as one and falls with gravity touches nothing."""
    still = random_motion(rig, FRAMES, still=True)
    falling = np.zeros_like(still.a)
    turns = np.moveaxis(link_motions(rig, still).rotation[:, :, 0], -1, 0)
    falling[:, :3] = np.array([0.0, 0.0, -9.81]) @ turns  # the root's axes: R' g
    wrench = predicted_wrench(rig, Motion(still.times, still.q, still.v, falling), rig.prior)
    np.testing.assert_allclose(wrench, 0.0, atol=1e-10)


def test_measured_wrench_is_taken_about_the_moving_base_link() -> None:
    """A force f at the point p has the moment (p - o) x f about the base link's origin o, in that link's axes."""
    rig = mixed_rig()
    motion = random_motion(rig, FRAMES)
    wrenches = measured(rig, motion)
    total = wrenches.total
    data = data_of(rig)
    found = external_wrench(rig, motion, wrenches, base="end")
    for frame, q in enumerate(motion.q):
        pin.forwardKinematics(rig.model, data, q)
        expected = data.oMi[rig.index("end") + 1].actInv(pin.Force(total[frame])).vector
        np.testing.assert_allclose(found[frame], expected, rtol=0, atol=1e-11)


def test_measured_and_predicted_wrench_agree_at_every_base_link() -> None:
    """Simulated measurements meet Y phi = f wherever the equation is written."""
    rig = mixed_rig()
    motion = random_motion(rig, 300)
    wrenches = measured(rig, motion)
    for base in rig.links:
        for axes in ("link", "world"):
            left = predicted_wrench(rig, motion, rig.prior, base, axes)
            right = external_wrench(rig, motion, wrenches, base, axes)
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-9)
            moved = [
                piece.express_wrenches(wrenches.total[piece.frames])
                for piece in regressor_pieces(rig, motion, base, axes)
            ]
            np.testing.assert_allclose(np.concatenate(moved, axis=1).T, right, rtol=0, atol=1e-9)


def test_pieces_do_not_depend_on_their_length() -> None:
    """The same columns come out whatever the number of frames treated at once."""
    rig = mixed_rig()
    motion = random_motion(rig, 20)
    whole = next(iter(regressor_pieces(rig, motion, rows=20)))
    pieces = list(regressor_pieces(rig, motion, rows=7))
    assert [piece.frames for piece in pieces] == [slice(0, 7), slice(7, 14), slice(14, 20)]
    np.testing.assert_array_equal(np.concatenate([p.force for p in pieces], axis=-1), whole.force)
    np.testing.assert_array_equal(np.concatenate([p.moment for p in pieces], axis=-1), whole.moment)


def test_centre_of_mass_and_momentum_are_pinocchios(rig: Rig) -> None:
    """Centre of mass, centroidal momentum and its rate equal Pinocchio's centroidal algorithms."""
    motion = random_motion(rig, FRAMES)
    data = data_of(rig)
    found = centroidal_momentum(rig, motion, rig.prior)
    coms = com_trajectory(rig, motion, rig.prior)
    for frame, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a)):
        pin.computeCentroidalMomentumTimeVariation(rig.model, data, q, v, a)
        np.testing.assert_allclose(coms[frame], data.com[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.momentum[frame], data.hg.vector, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.rate[frame], data.dhg.vector, rtol=0, atol=1e-9)


def test_wrong_input_is_named() -> None:
    """Another rig's motion, an unknown base link, wrong axes or wrench counts raise one clear error."""
    rig = mixed_rig()
    motion = random_motion(rig, 3)
    with pytest.raises(UnknownLink, match="hinge"):
        wrench_regressor(rig, motion, base="hing")
    with pytest.raises(InvalidValue, match="7 links"):
        wrench_regressor(rig, motion, base=7)
    with pytest.raises(InvalidValue, match="axes"):
        wrench_regressor(rig, motion, axes="body")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="coordinates"):
        wrench_regressor(humanoid_rig(), motion)
    with pytest.raises(InvalidValue, match="other links"):
        predicted_wrench(rig, motion, humanoid_rig().prior)
    with pytest.raises(InvalidValue, match="wrench samples"):
        external_wrench(rig, motion.part(0, 2), measured(rig, motion))
    with pytest.raises(InvalidValue, match="centre of mass"):
        com_trajectory(rig, motion, InertialParameters(rig.links, 0.0 * rig.prior.values))
